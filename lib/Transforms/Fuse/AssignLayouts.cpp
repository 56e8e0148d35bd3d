// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk in program order. A contraction with constant weights asks for the
// order of dims in which its sums lie side by side (channels last, for a
// convolution); what reads the result follows it as long as it can, so that
// data is brought back into the model's order only where somebody insists.
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Copies.h"
#include "ashlar/Analysis/MapElements.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// The model's dim that lies at each place, outermost first.
using Layout = SmallVector<int64_t>;

Layout identityLayout(int64_t rank) {
  Layout layout(rank);
  std::iota(layout.begin(), layout.end(), 0);
  return layout;
}
bool isIdentity(ArrayRef<int64_t> layout) { return llvm::is_sorted(layout); }

template <typename T>
SmallVector<T> permuted(ArrayRef<T> values, ArrayRef<int64_t> layout) {
  SmallVector<T> result;
  for (int64_t d : layout)
    result.push_back(values[d]);
  return result;
}

RankedTensorType permuted(RankedTensorType type, ArrayRef<int64_t> layout) {
  return RankedTensorType::get(permuted(type.getShape(), layout),
                               type.getElementType());
}

bool isStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isIntOrFloat();
}

class LayoutAssigner {
public:
  explicit LayoutAssigner(func::FuncOp function)
      : function(function), b(function.getContext()) {}

  int64_t run() {
    SmallVector<Operation *> ops;
    for (Operation &op : function.getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      current = op;
      follows = true;
      if (!visit(op)) {
        follows = false;
        keep(op);
      }
    }
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
    dropUnread();
    int64_t bytes = 0;
    for (Transpose &transpose : transposes) {
      bytes += byteSize(transpose.op.getResult(0).getType());
      explain(transpose);
    }
    remark::analysis(function.getLoc(), about(function, "Layouts", "layout"))
        << remark::metric("Transposes", transposes.size())
        << " transposes were set, of " << remark::metric("Bytes", bytes)
        << " bytes";
    return int64_t(transposes.size());
  }

private:
  Layout layoutOf(Value value) const {
    auto found = known.find(value);
    if (found != known.end())
      return found->second.second;
    return identityLayout(cast<RankedTensorType>(value.getType()).getRank());
  }
  bool isMoved(Value value) const { return known.count(value) != 0; }

  /// `value` in memory in the order `layout`.
  Value get(Value value, ArrayRef<int64_t> layout) {
    if (ArrayRef(layoutOf(value)) == layout)
      return isMoved(value) ? known.lookup(value).first : value;
    auto type = cast<RankedTensorType>(value.getType());
    RankedTensorType target = permuted(type, layout);
    if (value.getDefiningOp<tensor::EmptyOp>())
      return tensor::EmptyOp::create(b, value.getLoc(), target.getShape(),
                                     target.getElementType());
    if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
      Value init = get(fill.getOutputs()[0], layout);
      return linalg::FillOp::create(b, value.getLoc(), fill.getInputs()[0],
                                    init)
          .getResult(0);
    }
    DenseElementsAttr splat;
    if (matchPattern(value, m_Constant(&splat)) && splat.isSplat())
      return arith::ConstantOp::create(b, value.getLoc(),
                                       splat.resizeSplat(target));
    Value &copy = copies[{value, Layout(layout)}];
    if (!copy || copy.getDefiningOp()->getBlock() != b.getInsertionBlock())
      copy = transpose(value, layout, target);
    return copy;
  }

  Value transpose(Value value, ArrayRef<int64_t> layout,
                  RankedTensorType target) {
    Layout from = layoutOf(value);
    Value source = isMoved(value) ? known.lookup(value).first : value;
    MLIRContext *context = b.getContext();
    int64_t rank = target.getRank();
    // Loop p runs along dim layout[p].
    SmallVector<AffineExpr> loopOf(rank), read;
    for (int64_t p = 0; p != rank; ++p)
      loopOf[layout[p]] = getAffineDimExpr(p, context);
    for (int64_t d : from)
      read.push_back(loopOf[d]);
    linalg::GenericOp made =
        copyElements(b, value.getLoc(), source,
                     AffineMap::get(rank, 0, read, context), target.getShape());
    transposes.push_back({made, current->getLoc(), whyTransposed(value)});
    return made.getResult(0);
  }

  const char *whyTransposed(Value value) const {
    return isa<func::ReturnOp>(current) ? "the model's result has its own order"
           : !follows ? "what reads it cannot follow another order of dims"
           : isMoved(value)
               ? "its reader goes through other data in another order"
               : "its reader wants the dims that it sums or keeps innermost";
  }

  /// A transpose that was set, and for whom.
  struct Transpose {
    linalg::GenericOp op;
    Location reader;
    const char *why;
  };

  /// Who asked for a transpose may be gone by now, having been written anew.
  void dropUnread() {
    // One may read another that was set before it.
    for (Transpose &transpose : llvm::reverse(transposes))
      if (transpose.op->use_empty()) {
        transpose.op->erase();
        transpose.op = {};
      }
    llvm::erase_if(transposes,
                   [](Transpose &transpose) { return !transpose.op; });
  }

  static void explain(Transpose &transpose) {
    Value result = transpose.op.getResult(0);
    remark::missed(transpose.reader, about(transpose.op, "Transpose", "layout"))
        << nodeName(result.getLoc()) << " is transposed, "
        << remark::metric("Bytes", byteSize(result.getType()))
        << " bytes: " << remark::metric("Reason", std::string(transpose.why));
  }

  Value inModelOrder(Value value) {
    return get(value, identityLayout(
                          cast<RankedTensorType>(value.getType()).getRank()));
  }

  /// The op stays; whoever moved its operands moves them back.
  void keep(Operation *op) {
    auto restore = [&](OpOperand &operand) {
      if (isMoved(operand.get()))
        operand.set(inModelOrder(operand.get()));
    };
    for (OpOperand &operand : op->getOpOperands())
      restore(operand);
    op->walk([&](Operation *inner) {
      if (inner != op)
        for (OpOperand &operand : inner->getOpOperands())
          restore(operand);
    });
  }

  void record(Value original, Value moved, const Layout &layout) {
    known[original] = {moved, layout};
  }

  /// Whether `op` was written anew in another order.
  bool visit(Operation *op) {
    if (op->getNumResults() != 1 || !isStatic(op->getResult(0)))
      return false;
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return visitGeneric(generic);
    if (llvm::none_of(op->getOperands(),
                      [&](Value operand) { return isMoved(operand); }))
      return false;
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      return visitPad(pad);
    if (auto concat = dyn_cast<tensor::ConcatOp>(op))
      return visitConcat(concat);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return visitSlice(slice);
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return visitExpand(expand);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      return visitCollapse(collapse);
    return false;
  }

  /// A model that moves channels to the end, or back to the front, says in
  /// which order of dims its data lies: nothing has to be moved for that.
  bool visitTranspose(linalg::GenericOp op) {
    std::optional<AffineMap> dims = permutationOf(op);
    if (!dims || dims->getNumResults() < 4)
      return false;
    int64_t rank = dims->getNumResults();
    // Which dim of the result each of the source is: a rotation of all but the
    // first.
    auto dimOf = [&](int64_t d) { return int64_t(dims->getDimPosition(d)); };
    if (dimOf(0) != 0 || (dimOf(1) != 2 && dimOf(1) != rank - 1))
      return false;
    for (int64_t d = 1; d != rank; ++d)
      if (dimOf(d) != 1 + (dimOf(1) - 1 + d - 1) % (rank - 1))
        return false;
    Value source = op.getDpsInputs()[0];
    Layout layout = llvm::map_to_vector(layoutOf(source), dimOf);
    if (!isIdentity(layout) && !feedsWeights(op.getResult(0)))
      return false;
    record(op.getResult(0),
           isMoved(source) ? known.lookup(source).first : source, layout);
    return true;
  }

  /// Whether contractions with constant weights read a value, padded or not.
  bool feedsWeights(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (auto pad = dyn_cast<tensor::PadOp>(user))
        return feedsWeights(pad.getResult());
      auto generic = dyn_cast<linalg::GenericOp>(user);
      return generic && generic.getNumReductionLoops() != 0 &&
             llvm::any_of(generic.getDpsInputs(), isConstantBehindReshapes);
    });
  }

  bool visitPad(tensor::PadOp pad) {
    Value fill = pad.getConstantPaddingValue();
    Layout layout = layoutOf(pad.getSource());
    SmallVector<OpFoldResult> low = pad.getMixedLowPad(),
                              high = pad.getMixedHighPad();
    if (!fill)
      return false;
    auto moved = tensor::PadOp::create(
        b, pad.getLoc(), permuted(pad.getResultType(), layout),
        get(pad.getSource(), layout), permuted(ArrayRef(low), layout),
        permuted(ArrayRef(high), layout), fill, pad.getNofold());
    record(pad.getResult(), moved.getResult(), layout);
    return true;
  }

  bool visitConcat(tensor::ConcatOp concat) {
    Layout layout = layoutOf(largestMoved(concat->getOperands()));
    SmallVector<Value> inputs;
    for (Value input : concat.getInputs())
      inputs.push_back(get(input, layout));
    int64_t dim = llvm::find(layout, int64_t(concat.getDim())) - layout.begin();
    Value moved = tensor::ConcatOp::create(
        b, concat.getLoc(), permuted(concat.getResultType(), layout), dim,
        inputs);
    record(concat.getResult(), moved, layout);
    return true;
  }

  bool visitSlice(tensor::ExtractSliceOp slice) {
    if (slice.getSourceType().getRank() != slice.getType().getRank())
      return false;
    Layout layout = layoutOf(slice.getSource());
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                              sizes = slice.getMixedSizes(),
                              strides = slice.getMixedStrides();
    Value moved = tensor::ExtractSliceOp::create(
        b, slice.getLoc(), permuted(slice.getType(), layout),
        get(slice.getSource(), layout), permuted(ArrayRef(offsets), layout),
        permuted(ArrayRef(sizes), layout), permuted(ArrayRef(strides), layout));
    record(slice.getResult(), moved, layout);
    return true;
  }

  /// Each dim of the source becomes its group, in the source's order.
  bool visitExpand(tensor::ExpandShapeOp expand) {
    Layout from = layoutOf(expand.getSrc()), layout;
    SmallVector<ReassociationIndices> groups = expand.getReassociationIndices(),
                                      movedGroups;
    for (int64_t d : from) {
      ReassociationIndices group;
      for (int64_t inner : groups[d]) {
        group.push_back(layout.size());
        layout.push_back(inner);
      }
      movedGroups.push_back(group);
    }
    auto type = cast<RankedTensorType>(expand.getType());
    Value moved = tensor::ExpandShapeOp::create(
        b, expand.getLoc(), permuted(type, layout), get(expand.getSrc(), from),
        movedGroups);
    record(expand.getResult(), moved, layout);
    return true;
  }

  /// Possible where the dims of each group lie side by side.
  bool visitCollapse(tensor::CollapseShapeOp collapse) {
    Layout from = layoutOf(collapse.getSrc()), layout;
    SmallVector<ReassociationIndices> groups =
                                          collapse.getReassociationIndices(),
                                      movedGroups;
    for (size_t p = 0; p != from.size();) {
      auto group = llvm::find_if(groups, [&](const ReassociationIndices &g) {
        return g.front() == from[p];
      });
      if (group == groups.end() || p + group->size() > from.size())
        return false;
      ReassociationIndices moved;
      for (int64_t inner : *group) {
        if (from[p] != inner)
          return false;
        moved.push_back(p++);
      }
      movedGroups.push_back(moved);
      layout.push_back(group - groups.begin());
    }
    auto type = cast<RankedTensorType>(collapse.getType());
    Value moved = tensor::CollapseShapeOp::create(
        b, collapse.getLoc(), permuted(type, layout),
        get(collapse.getSrc(), from), movedGroups);
    record(collapse.getResult(), moved, layout);
    return true;
  }

  Value largestMoved(ValueRange values) {
    Value largest;
    for (Value value : values)
      if (isMoved(value) &&
          (!largest || byteSize(value.getType()) > byteSize(largest.getType())))
        largest = value;
    return largest;
  }

  bool visitGeneric(linalg::GenericOp op) {
    if (op.hasIndexSemantics() || op.getNumDpsInits() != 1 ||
        !op.hasPureTensorSemantics() ||
        !llvm::all_of(op.getDpsInputs(), isStatic))
      return false;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    if (llvm::any_of(captured, [](Value value) {
          return isa<RankedTensorType>(value.getType());
        }))
      return false;
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!result.isProjectedPermutation())
      return false;
    if (visitTranspose(op) || visitContraction(op, result))
      return true;
    return followOperands(op, result);
  }

  /// Sums side by side, for weights that are constant.
  bool visitContraction(linalg::GenericOp op, AffineMap result) {
    if (op.getNumDpsInputs() != 2 || op.getNumReductionLoops() == 0 ||
        result.getNumResults() < 2)
      return false;
    OpOperand *image = op.getDpsInputOperand(0);
    OpOperand *weight = op.getDpsInputOperand(1);
    if (isConstantBehindReshapes(image->get()))
      std::swap(image, weight);
    if (isConstantBehindReshapes(image->get()) ||
        !isConstantBehindReshapes(weight->get()))
      return false;
    AffineMap read = op.getMatchingIndexingMap(image);
    AffineMap weights = op.getMatchingIndexingMap(weight);
    auto isColumn = [&](AffineExpr expr) {
      return weights.isFunctionOfDim(cast<AffineDimExpr>(expr).getPosition());
    };
    bool anyColumn = llvm::any_of(result.getResults(), isColumn);
    if (!anyColumn)
      return false;
    // Rows, then groups, then the longest run of columns; a stable sort keeps
    // their order.
    Layout layout = identityLayout(result.getNumResults());
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    auto isGroup = [&](int64_t d) {
      AffineExpr expr = result.getResult(d);
      return isColumn(expr) &&
             read.isFunctionOfDim(cast<AffineDimExpr>(expr).getPosition());
    };
    auto extent = [&](int64_t d) {
      return ranges[cast<AffineDimExpr>(result.getResult(d)).getPosition()];
    };
    int64_t lanes = -1;
    for (int64_t d : layout)
      if (isColumn(result.getResult(d)) && !isGroup(d) &&
          (lanes < 0 || extent(d) >= extent(lanes)))
        lanes = d;
    auto resultRank = [&](int64_t d) {
      return d == lanes ? 2 : isGroup(d) ? 1 : 0;
    };
    llvm::stable_sort(layout, [&](int64_t x, int64_t y) {
      return resultRank(x) < resultRank(y);
    });
    // Where rows lie, then groups, then what is only summed.
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    auto readRank = [&](int64_t d) {
      bool isRow = false, isParallel = false;
      for (unsigned dim = 0; dim != read.getNumDims(); ++dim)
        if (read.getResult(d).isFunctionOfDim(dim) &&
            iterators[dim] == utils::IteratorType::parallel) {
          isParallel = true;
          isRow |= !weights.isFunctionOfDim(dim);
        }
      return isRow ? 0 : isParallel ? 1 : 2;
    };
    Layout imageLayout = identityLayout(read.getNumResults());
    llvm::stable_sort(imageLayout, [&](int64_t x, int64_t y) {
      return readRank(x) < readRank(y);
    });
    if (isIdentity(layout) && isIdentity(imageLayout) && !isMoved(image->get()))
      return false;
    SmallVector<Layout> layouts(2, identityLayout(weights.getNumResults()));
    layouts[image->getOperandNumber()] = imageLayout;
    rewrite(op, layouts, layout);
    return true;
  }

  /// Elementwise ops, reductions, windows: in the order of the data they read
  /// most of.
  bool followOperands(linalg::GenericOp op, AffineMap result) {
    Value leader = largestMoved(op.getDpsInputs());
    if (!leader)
      return false;
    int64_t moved = 0, unmoved = 0;
    for (Value input : op.getDpsInputs())
      if (!isConstantBehindReshapes(input))
        (isMoved(input) ? moved : unmoved) += byteSize(input.getType());
    if (moved < unmoved)
      return false;
    AffineMap leaderMap;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (operand->get() == leader)
        leaderMap = op.getMatchingIndexingMap(operand);
    Layout order = layoutOf(leader);
    // Where in the leader's memory a dim of `map` moves.
    auto place = [&](AffineMap map, int64_t d) -> int64_t {
      for (auto [p, dim] : llvm::enumerate(order))
        for (unsigned loop = 0; loop != map.getNumDims(); ++loop)
          if (map.getResult(d).isFunctionOfDim(loop) &&
              leaderMap.getResult(dim).isFunctionOfDim(loop))
            return p;
      return -1;
    };
    auto follow = [&](AffineMap map) {
      Layout layout = identityLayout(map.getNumResults()), places;
      for (int64_t d : layout) {
        int64_t found = place(map, d);
        // A new dim stays beside the one before it.
        places.push_back(found < 0 && d != 0 ? places.back() : found);
      }
      llvm::stable_sort(
          layout, [&](int64_t x, int64_t y) { return places[x] < places[y]; });
      return layout;
    };
    SmallVector<Layout> layouts;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      layouts.push_back(isConstantBehindReshapes(operand->get())
                            ? identityLayout(map.getNumResults())
                            : follow(map));
    }
    Layout resultLayout = follow(result);
    if (isOfBoth(op, result.getResult(resultLayout.back())))
      return false;
    rewrite(op, layouts, resultLayout);
    return true;
  }

  /// Whether a dim is one of both operands of a product of rows and columns, as
  /// heads are: side by side, its sums would share no operand.
  static bool isOfBoth(linalg::GenericOp op, AffineExpr dim) {
    if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2)
      return false;
    AffineMap x = op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
              y = op.getMatchingIndexingMap(op.getDpsInputOperand(1)),
              result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    auto hasOwn = [&](AffineMap own, AffineMap other) {
      return llvm::any_of(result.getResults(), [&](AffineExpr expr) {
        unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        return own.isFunctionOfDim(loop) && !other.isFunctionOfDim(loop);
      });
    };
    unsigned loop = cast<AffineDimExpr>(dim).getPosition();
    return hasOwn(x, y) && hasOwn(y, x) && x.isFunctionOfDim(loop) &&
           y.isFunctionOfDim(loop);
  }

  /// Writes `op` on operands and a result in these orders, its loops in the
  /// order of the result.
  void rewrite(linalg::GenericOp op, ArrayRef<Layout> layouts,
               const Layout &resultLayout) {
    MLIRContext *context = b.getContext();
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    SmallVector<AffineExpr> renamed(op.getNumLoops());
    SmallVector<utils::IteratorType> old = op.getIteratorTypesArray(), loops;
    auto place = [&](unsigned dim) {
      renamed[dim] = getAffineDimExpr(loops.size(), context);
      loops.push_back(old[dim]);
    };
    for (int64_t d : resultLayout)
      place(cast<AffineDimExpr>(result.getResult(d)).getPosition());
    for (unsigned dim = 0; dim != old.size(); ++dim)
      if (!renamed[dim])
        place(dim);
    auto move = [&](AffineMap map, ArrayRef<int64_t> layout) {
      return AffineMap::get(map.getNumDims(), 0,
                            permuted(map.getResults(), layout), context)
          .replaceDimsAndSymbols(renamed, {}, map.getNumDims(), 0);
    };
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (auto [operand, layout] :
         llvm::zip(op.getDpsInputOperands(), layouts)) {
      inputs.push_back(get(operand->get(), layout));
      maps.push_back(move(op.getMatchingIndexingMap(operand), layout));
    }
    Value init = get(op.getDpsInits()[0], resultLayout);
    maps.push_back(move(result, resultLayout));
    auto moved = linalg::GenericOp::create(b, op.getLoc(), init.getType(),
                                           inputs, init, maps, loops);
    IRMapping mapping;
    op.getRegion().cloneInto(&moved.getRegion(), mapping);
    record(op.getResult(0), moved.getResult(0), resultLayout);
  }

  func::FuncOp function;
  OpBuilder b;
  llvm::DenseMap<Value, std::pair<Value, Layout>> known;
  struct CopyLess {
    bool operator()(const std::pair<Value, Layout> &x,
                    const std::pair<Value, Layout> &y) const {
      if (x.first != y.first)
        return x.first.getAsOpaquePointer() < y.first.getAsOpaquePointer();
      return x.second < y.second;
    }
  };
  /// By value and order; never iterated.
  std::map<std::pair<Value, Layout>, Value, CopyLess> copies;
  SmallVector<Transpose> transposes;
  /// What is being visited, and whether it takes another order.
  Operation *current = nullptr;
  bool follows = false;
};

struct AssignLayouts : ashlar::impl::AssignLayoutsPassBase<AssignLayouts> {
  void runOnOperation() override {
    if (!llvm::hasSingleElement(getOperation().getBody()))
      return;
    numTransposes += LayoutAssigner(getOperation()).run();
  }
};
} // namespace
