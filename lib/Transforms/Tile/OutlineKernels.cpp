// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a kernel and its body of each dispatch, once for all dispatches whose
// bodies are equal but for their locations.
#include "KernelBody.h"
#include "ashlar/Analysis/BoxReach.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/LoopRuns.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Dialects/Exec/Utils/UnreadBytes.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/ModelNodes.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// Equality of dispatches, for a DenseMap.
struct DispatchInfo : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    auto *dispatch = const_cast<Operation *>(op);
    llvm::hash_code hash =
        llvm::hash_combine_range(dispatch->getOperandTypes());
    dispatch->walk([&](Operation *inner) {
      hash = llvm::hash_combine(hash, inner->getName());
    });
    return hash;
  }
  static bool isEqual(const Operation *lhs, const Operation *rhs) {
    if (lhs == rhs)
      return true;
    if (lhs == getEmptyKey() || lhs == getTombstoneKey() ||
        rhs == getEmptyKey() || rhs == getTombstoneKey())
      return false;
    auto *first = const_cast<Operation *>(lhs);
    // What is passed may differ, who reads what inside may not.
    llvm::DenseMap<Value, Value> inside;
    return OperationEquivalence::isEquivalentTo(
        first, const_cast<Operation *>(rhs),
        [&](Value x, Value y) {
          return success(
              !first->isAncestor(x.getParentBlock()->getParentOp()) ||
              inside.lookup(x) == y);
        },
        [&](Value x, Value y) { inside[x] = y; },
        OperationEquivalence::IgnoreLocations);
  }
};

bool isEmpty(Type type) {
  return cast<RankedTensorType>(type).getNumElements() == 0;
}

/// All names in a location, in order, without repeats.
void collectNames(Location location, llvm::SetVector<StringAttr> &names) {
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner))
      names.insert(name.getName());
    return WalkResult::advance();
  });
}

/// What the strategies of its contractions promise, if there are any.
void recordPrediction(exec::DispatchOp dispatch, exec::KernelOp kernel) {
  int64_t cycles = 0, most = 0;
  Attribute bound;
  dispatch.walk([&](Operation *op) {
    auto one = op->getAttrOfType<IntegerAttr>(exec::cyclesAttrName);
    if (!one)
      return;
    int64_t all = one.getInt() * countRuns(op, dispatch);
    if (!bound || all > most)
      bound = op->getAttr(exec::boundAttrName);
    most = std::max(most, all);
    cycles += all;
  });
  if (!bound)
    return;
  kernel.setCycles(cycles);
  kernel.setBoundAttr(cast<StringAttr>(bound));
}

/// "conv1/Relu" becomes "conv1_Relu": an identifier that a profiler shows.
std::string symbolFor(StringRef name, unsigned number) {
  std::string symbol = "k" + std::to_string(number) + "_";
  for (char c : name.take_back(40))
    symbol += llvm::isAlnum(c) ? c : '_';
  return symbol;
}

/// Operations of one call: each element that a linalg op computes counts its
/// body's arithmetic once.
int64_t countFlops(exec::DispatchOp dispatch) {
  int64_t flops = 0;
  auto count = [&](int64_t points, Block &body) {
    points *= countRuns(body.getParentOp(), dispatch);
    int64_t perPoint = 0;
    for (Operation &inner : body)
      if (isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) &&
          !isa<arith::ConstantOp>(inner))
        ++perPoint;
    flops += points * perPoint;
  };
  dispatch.walk([&](linalg::LinalgOp op) {
    int64_t points = 1;
    for (int64_t range : op.getStaticLoopRanges())
      points *= std::max<int64_t>(range, 0);
    count(points, *op.getBlock());
  });
  dispatch.walk([&](tile::ContractOp op) {
    int64_t points = ShapedType::getNumElements(op.getParallel());
    count(points, op.getBody().front());
    // A product and a sum for each term.
    flops += 2 * points * ShapedType::getNumElements(op.getReduced()) *
             countRuns(op, dispatch);
  });
  dispatch.walk([&](tile::AttentionOp op) {
    int64_t scores = ShapedType::getNumElements(op.getScoresParallel());
    int64_t points = ShapedType::getNumElements(op.getParallel());
    count(scores, op.getScore().front());
    count(scores, op.getHide().front());
    count(scores, op.getWeigh().front());
    count(points, op.getBody().front());
    // The largest, distances and their exponentials, the sum and the quotients.
    flops += (op.getZeroRows() ? 9 : 5) * scores;
    flops += 2 * scores * ShapedType::getNumElements(op.getScoresReduced());
    flops += 2 * points * ShapedType::getNumElements(op.getReduced());
  });
  dispatch.walk([&](tile::WinogradOp op) {
    int64_t places = (op.getOutputSize() + 2) * (op.getOutputSize() + 2);
    int64_t boxes = op.getParallel()[0] * op.getBoxes(1) * op.getBoxes(2);
    count(ShapedType::getNumElements(op.getParallel()), op.getBody().front());
    auto input = cast<ShapedType>(op.getA().getType());
    // Of the products; the transforms come on top.
    flops += 2 * places * boxes * input.getDimSize(3) * op.getParallel()[3];
  });
  return flops;
}

/// Of an operand: what the places of a map over these loops are in it.
int64_t elementsAt(AffineMap map, ArrayRef<int64_t> ranges) {
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d != ranges.size(); ++d)
    dims.push_back(d);
  int64_t elements = 1;
  for (AffineExpr expr : map.getResults())
    elements *= BoxReach(expr, dims, ranges).length;
  return elements;
}

/// Elements of an operand that one call takes from it at most, where all that
/// reads it are bodies that take an element at a time, or ops that say they
/// read a part; nothing: some op reads all of it.
std::optional<int64_t> countTaken(BlockArgument operand,
                                  exec::DispatchOp dispatch) {
  int64_t taken = 0;
  for (OpOperand &use : operand.getUses()) {
    if (auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
        op && op->hasAttr(exec::readsPartAttrName)) {
      taken +=
          elementsAt(op.getMatchingIndexingMap(&use), op.getStaticLoopRanges());
      continue;
    }
    auto body = isa<tensor::ExtractOp>(use.getOwner())
                    ? use.getOwner()->getParentOfType<linalg::GenericOp>()
                    : linalg::GenericOp();
    if (!body)
      return std::nullopt;
    int64_t points = countRuns(body, dispatch);
    for (int64_t range : body.getStaticLoopRanges()) {
      if (ShapedType::isDynamic(range))
        return std::nullopt;
      points *= range;
    }
    taken += points;
  }
  return taken;
}

/// Bytes of its operands that one call does not read: the rows of a table that
/// it does not take, parts that another kernel has read.
int64_t countUnread(exec::DispatchOp dispatch) {
  int64_t unread = 0;
  for (BlockArgument operand : dispatch.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape() || operand.use_empty())
      continue;
    std::optional<int64_t> taken = countTaken(operand, dispatch);
    if (taken && *taken < type.getNumElements())
      unread +=
          byteSize(type) -
          byteSize(RankedTensorType::get({*taken}, type.getElementType()));
  }
  return unread;
}

/// The operands whose memory result 0 may take over: those that only the last
/// op reads, each element for the result's element at the same place.
SmallVector<int64_t> findAliases(exec::DispatchOp dispatch) {
  SmallVector<int64_t> aliases;
  if (auto inPlace = dispatch->getAttrOfType<IntegerAttr>(inPlaceAttrName))
    return {inPlace.getInt()};
  if (dispatch.getNumResults() != 1)
    return aliases;
  auto root =
      dispatch.getYield().getOperand(0).getDefiningOp<linalg::GenericOp>();
  if (!root || root.getNumReductionLoops() != 0 || root->getNumResults() != 1 ||
      root.hasIndexSemantics() ||
      root.getBody()
          ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
          .wasInterrupted() ||
      !root.getMatchingIndexingMap(root.getDpsInitOperand(0)).isIdentity())
    return aliases;
  auto result = cast<RankedTensorType>(root->getResult(0).getType());
  for (BlockArgument argument : dispatch.getBody().getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    bool mayShare =
        type.getElementTypeBitWidth() == result.getElementTypeBitWidth() &&
        type.getShape() == result.getShape() && !argument.use_empty() &&
        llvm::all_of(argument.getUses(), [&](OpOperand &use) {
          return use.getOwner() == root && root.isDpsInput(&use) &&
                 root.getMatchingIndexingMap(&use).isIdentity();
        });
    if (mayShare)
      aliases.push_back(argument.getArgNumber());
  }
  return aliases;
}

struct OutlineKernels : ashlar::impl::OutlineKernelsPassBase<OutlineKernels> {
  void runOnOperation() override {
    SmallVector<exec::DispatchOp> dispatches;
    if (auto names =
            getOperation()->getAttrOfType<ArrayAttr>(modelNodesAttrName))
      for (Attribute name : names)
        modelNodes.insert(cast<StringAttr>(name));
    recordOutside();
    getOperation().walk([&](exec::DispatchOp op) { dispatches.push_back(op); });
    llvm::DenseMap<Operation *, exec::KernelOp, DispatchInfo> kernels;
    SymbolTable symbols(getOperation());
    SmallVector<std::pair<exec::DispatchOp, exec::KernelOp>> calls;
    // The call knows its own nodes, the kernel those of all calls.
    llvm::MapVector<Operation *, llvm::SetVector<StringAttr>> nodesOfKernel;
    SmallVector<llvm::SetVector<StringAttr>> nodesOfCall;
    for (exec::DispatchOp dispatch : dispatches) {
      recordOperandSizes(dispatch);
      auto [it, isNew] = kernels.try_emplace(dispatch);
      if (isNew)
        it->second = outline(dispatch, kernels.size() - 1, symbols);
      calls.emplace_back(dispatch, it->second);
      nodesOfCall.push_back(nodesOf(dispatch));
      nodesOfKernel[it->second].insert_range(nodesOfCall.back());
    }
    for (auto &[kernel, nodes] : nodesOfKernel)
      cast<exec::KernelOp>(kernel).setNodesAttr(ArrayAttr::get(
          &getContext(), SmallVector<Attribute>(nodes.begin(), nodes.end())));
    for (auto [call, nodes] : llvm::zip(calls, nodesOfCall)) {
      auto [dispatch, kernel] = call;
      OpBuilder b(dispatch);
      SmallVector<Location> names;
      for (StringAttr name : nodes)
        names.push_back(NameLoc::get(name));
      Location location = names.empty() ? dispatch.getLoc()
                                        : FusedLoc::get(&getContext(), names);
      auto invoke = exec::InvokeOp::create(
          b, location, dispatch.getResultTypes(),
          FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
          dispatch.getOperands());
      if (Attribute sizes = dispatch->getAttr(exec::sizesAttrName))
        invoke->setAttr(exec::sizesAttrName, sizes);
      dispatch.replaceAllUsesWith(invoke.getResults());
    }
    for (exec::DispatchOp dispatch : dispatches)
      dispatch.erase();
    if (failedBodies)
      signalPassFailure();
  }

private:
  /// What stays outside of kernels hands on data as it lies, or
  /// decides what runs.
  void recordOutside() {
    llvm::SetVector<StringAttr> views, commands;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<exec::DispatchOp>(op))
          return WalkResult::skip();
        if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                tensor::ExtractSliceOp>(op))
          collectNames(op->getLoc(), views);
        else if (!isa<func::FuncOp, func::ReturnOp, arith::ConstantOp,
                      tile::PackOp>(op))
          collectNames(op->getLoc(), commands);
        return WalkResult::advance();
      });
    auto record = [&](StringRef attribute,
                      const llvm::SetVector<StringAttr> &names) {
      if (!names.empty())
        getOperation()->setAttr(
            attribute,
            ArrayAttr::get(&getContext(),
                           SmallVector<Attribute>(names.begin(), names.end())));
    };
    record(exec::viewsAttrName, views);
    record(exec::commandNodesAttrName, commands);
  }

  /// The nodes of the dispatch and of every op in it that computes. Weights
  /// have names, too; they are no nodes.
  llvm::SetVector<StringAttr> nodesOf(exec::DispatchOp dispatch) {
    llvm::SetVector<StringAttr> names, inner;
    collectNames(dispatch.getLoc(), names);
    dispatch->walk([&](Operation *op) {
      if (!isa<arith::ConstantOp, tensor::EmptyOp>(op))
        collectNames(op->getLoc(), inner);
    });
    for (StringAttr name : inner)
      if (modelNodes.contains(name))
        names.insert(name);
    return names;
  }

  /// Kernels are equal only if their operands have the same open sizes.
  static void recordOperandSizes(exec::DispatchOp dispatch) {
    SmallVector<Attribute> all;
    bool isOpen = false;
    for (Value operand : dispatch.getOperands()) {
      exec::SizeList sizes = exec::sizesOf(operand);
      isOpen |= !sizes.empty();
      all.push_back(
          ArrayAttr::get(dispatch.getContext(),
                         SmallVector<Attribute>(sizes.begin(), sizes.end())));
    }
    if (isOpen)
      dispatch->setAttr(exec::operandSizesAttrName,
                        ArrayAttr::get(dispatch.getContext(), all));
  }

  exec::KernelOp outline(exec::DispatchOp dispatch, unsigned number,
                         SymbolTable &symbols) {
    llvm::SetVector<StringAttr> names;
    collectNames(dispatch.getLoc(), names);
    StringRef name = names.empty() ? "kernel" : names.back().getValue();
    auto memory = [](TypeRange tensors) {
      SmallVector<Type> types;
      for (Type type : tensors) {
        auto tensor = cast<RankedTensorType>(type);
        // Shapes like 3x0x5 have no address that upstream would lower.
        SmallVector<int64_t> shape(tensor.getShape());
        if (isEmpty(type))
          shape = {0};
        types.push_back(MemRefType::get(shape, tensor.getElementType()));
      }
      return types;
    };
    OpBuilder b(&getContext());
    FunctionType bindings = b.getFunctionType(
        memory(dispatch.getOperandTypes()), memory(dispatch.getResultTypes()));
    KernelBody body(dispatch);
    SmallVector<Type> parameters(body.parameters().size(), b.getIndexType());
    auto [kernel, function] =
        exec::addKernel(symbols, dispatch.getLoc(), symbolFor(name, number),
                        bindings, parameters);
    kernel.setFlopsAttr(
        exec::SizeAttr::get(&getContext(), countFlops(dispatch)));
    if (int64_t unread = countUnread(dispatch))
      kernel->setAttr(exec::unreadBytesAttrName, b.getI64IntegerAttr(unread));
    if (!body.parameters().empty())
      kernel.setParametersAttr(b.getArrayAttr(SmallVector<Attribute>(
          body.parameters().begin(), body.parameters().end())));
    for (auto [i, size] : llvm::enumerate(body.parameters()))
      function.setArgAttr(kernel.getNumBindings() + i, exec::sizeAttrName,
                          size);
    recordPrediction(dispatch, kernel);
    kernel.setDevice(dispatch.getDevice());
    SmallVector<int64_t> aliases = findAliases(dispatch);
    if (!aliases.empty())
      kernel.setAliases(aliases);
    if (failed(body.writeInto(function)))
      failedBodies = true;
    return kernel;
  }

  llvm::DenseSet<StringAttr> modelNodes;
  bool failedBodies = false;
};
} // namespace
