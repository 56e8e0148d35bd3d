// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which ops become one kernel. Ops are visited from the last to the
// first, so that a consumer finds its producer still free.
#include "Dispatches.h"
#include "RowChoices.h"
#include "RowGroup.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RowDims.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMDISPATCHESPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

int64_t ashlar::deviceOf(Operation *op) {
  if (auto contract = dyn_cast<tile::ContractOp>(op))
    return contract.getDevice().value_or(0);
  auto device = op->getAttrOfType<IntegerAttr>(exec::deviceAttrName);
  return device ? device.getInt() : 0;
}

/// A contraction elsewhere, behind which its target takes what it can; or one
/// of threads that share accumulators, who compute nothing else.
static bool standsAlone(Operation *op) {
  auto contract = dyn_cast<tile::ContractOp>(op);
  return contract && (contract.getDevice().value_or(0) != 0 ||
                      (contract.getStrategyAttr() &&
                       contract.getStrategyAttr().isShared()));
}

namespace {
bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Ops that every dispatch makes for itself rather than reads from memory.
bool isMadeAnew(Operation *op) {
  if (isa<tensor::EmptyOp, tile::DecodeOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return !isTensor(constant);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
  // A scalar that the bodies of linalg ops read, hoisted out of them.
  return op->getNumRegions() == 0 && isPure(op) &&
         llvm::none_of(op->getResults(), isTensor);
}

bool staysOutside(Operation *op) {
  return isa<func::ReturnOp, arith::ConstantOp, tile::PackOp>(op) ||
         isView(op) || servesControlFlow(op);
}

/// The contraction or reduction that `root` can finish in place, or null.
linalg::LinalgOp findProducer(Operation *root) {
  auto consumer = dyn_cast<linalg::GenericOp>(root);
  if (!consumer || consumer.getNumReductionLoops() != 0 ||
      consumer->getNumResults() != 1 || consumer.hasIndexSemantics())
    return {};
  AffineMap resultMap =
      consumer.getMatchingIndexingMap(consumer.getDpsInitOperand(0));
  for (OpOperand *operand : consumer.getDpsInputOperands()) {
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    if (producer && producer->hasOneUse() && producer->getNumResults() == 1 &&
        producer->getBlock() == root->getBlock() &&
        deviceOf(producer) == deviceOf(root) &&
        producer.getNumReductionLoops() != 0 &&
        consumer.getMatchingIndexingMap(operand) == resultMap &&
        resultMap.isIdentity())
      return producer;
  }
  return {};
}

/// The state that `root` changes in place, or null.
Value changedPlace(Operation *root) {
  Value place;
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(root))
    place = slice.getDest();
  else if (root->getNumResults() != 1 || !isState(root->getResult(0)))
    return {};
  else if (auto loop = dyn_cast<scf::ForOp>(root))
    place = loop.getInitArgs()[0];
  else if (auto element = dyn_cast<tensor::InsertOp>(root))
    place = element.getDest(); // of loops of one step
  return place && isState(place) ? place : Value();
}

/// What a reader of a reduction has against finishing it in place.
void explainRefusal(Operation *root) {
  auto consumer = dyn_cast<linalg::GenericOp>(root);
  if (!consumer || !wantsRemarks(root))
    return;
  for (OpOperand *operand : consumer.getDpsInputOperands()) {
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    if (!producer || producer.getNumReductionLoops() == 0)
      continue;
    AffineMap read = consumer.getMatchingIndexingMap(operand);
    std::string why =
        !producer->hasOneUse()
            ? "its result has several readers: " + readerNames(producer)
        : consumer.getNumReductionLoops() != 0
            ? "rows are too few, or too large to stay near"
        : read.getNumResults() < consumer.getNumLoops()
            ? "each result is read many times"
            : "the reader has another shape or order";
    remark::missed(root->getLoc(), about(root, "Dispatch", "fusion"))
        << nodeName(producer->getLoc())
        << " stays apart: " << remark::metric("Reason", why) << "; "
        << remark::metric("Bytes", byteSize(operand->get().getType()))
        << " bytes are read back";
  }
}
} // namespace

void ashlar::explainDispatch(ArrayRef<Operation *> group) {
  Operation *root = group.back();
  if (group.size() == 1)
    return explainRefusal(root);
  if (!wantsRemarks(root))
    return;
  int64_t saved = 0;
  SmallVector<Location> locations;
  for (Operation *op : group.drop_back()) {
    saved += 2 * byteSize(op->getResult(0).getType());
    locations.push_back(op->getLoc());
  }
  remark::passed(root->getLoc(), about(root, "Dispatch", "fusion"))
      << "one kernel with "
      << nodeName(FusedLoc::get(root->getContext(), locations)) << ", saving "
      << remark::metric("BytesSaved", saved) << " bytes";
}

namespace {
/// How many ops may share the rows of one kernel: a softmax has five, a layer
/// norm nine. More are found in longer and longer searches, and make kernels
/// that LLVM takes longer and longer for.
constexpr size_t mostOfRows = 64;

/// Slices of one tensor that are kernels of their own until there are this
/// many: then as many as this share one.
constexpr size_t slicesOfBundle = 32;
/// Of a slice that one worker copies.
constexpr int64_t smallSliceBytes = 16 * 1024;

class DispatchFormer {
public:
  DispatchFormer(Block &block, bool fuse, int64_t rowBytes, bool fewRows,
                 bool openSizes, RowChoices &rowChoices)
      : block(block), fuse(fuse), rowBytes(rowBytes), fewRows(fewRows),
        openSizes(openSizes), rowChoices(rowChoices) {}
  /// For a block of control flow in the one of `outer`.
  DispatchFormer(Block &block, const DispatchFormer &outer)
      : DispatchFormer(block, outer.fuse, outer.rowBytes, outer.fewRows,
                       outer.openSizes, outer.rowChoices) {
    middles = outer.middles;
  }

  LogicalResult run() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        if (generic.getNumReductionLoops() != 0 ||
            llvm::any_of(generic.getDpsInputs(), [&](Value input) {
              return summed.contains(input.getDefiningOp());
            }))
          summed.insert(generic);
    for (Operation &op : llvm::reverse(block)) {
      ops.push_back(&op);
      auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      if (slice && !isView(slice) && !isLoopSlice(slice) &&
          (isState(slice.getSource()) ||
           isa_and_nonnull<tile::ContractOp, tile::WinogradOp>(
               slice.getSource().getDefiningOp())))
        middles.insert(slice);
    }
    for (Operation *op : ops) {
      if (isControlFlow(op)) {
        for (Region &region : op->getRegions())
          if (failed(DispatchFormer(region.front(), *this).run()))
            return failure();
        continue;
      }
      if (taken.contains(op) || staysOutside(op) ||
          (isCopiedIn(op) && !isReadOutside(op)))
        continue;
      for (Value result : op->getResults())
        if (!isTensor(result)) {
          InFlightDiagnostic error =
              op->emitError("computes a ")
              << result.getType()
              << " outside of any kernel; only tensors can flow between "
                 "kernels";
          for (Operation *reader : result.getUsers())
            error.attachNote(reader->getLoc()) << "read here";
          return error;
        }
      if (op->use_empty())
        continue;
      SmallVector<Operation *> group = {op};
      bool joins = fuse && !standsAlone(op);
      if (linalg::LinalgOp producer = joins ? findProducer(op) : nullptr)
        group.insert(group.begin(), producer);
      if (joins) {
        addRowProducers(group);
        explainDispatch(group);
      }
      taken.insert(group.begin(), group.end());
      groups.push_back(group);
    }
    if (fuse && !openSizes)
      bundleSlices();
    for (ArrayRef<Operation *> group : llvm::reverse(groups))
      form(group);
    for (ArrayRef<Operation *> group : groups)
      for (Operation *op : llvm::reverse(group))
        op->erase();
    for (Operation *op : ops)
      if (!taken.contains(op) && isOpTriviallyDead(op))
        op->erase();
    return success();
  }

private:
  /// Whether a worker can make a row at a time of all of `ops`, with what it
  /// passes on near, and rows are enough to share among workers.
  bool fitsRows(ArrayRef<linalg::GenericOp> ops, Operation *root) const {
    constexpr int64_t enough = 8;
    int64_t rows = countRowDims(ops);
    if (rows == 0)
      return false;
    if (std::optional<bool> known = rowChoices.shared(ops.back(), root))
      return *known;
    for (linalg::GenericOp op : ops)
      if (llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
        return false;
    if (fewRows && deviceOf(root) == 0)
      return RowGroup(ops, rows).bytesPassed() <= rowBytes;
    for (linalg::GenericOp op : ops) {
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      auto ofRow = ArrayRef(ranges).drop_front(rows);
      // The same for all sizes that a caller may choose.
      if ((!openSizes && ShapedType::getNumElements(
                             ArrayRef(ranges).take_front(rows)) < enough) ||
          ShapedType::getNumElements(ofRow) *
                  elementBytes(getElementTypeOrSelf(op.getResult(0))) >
              rowBytes)
        return false;
    }
    return true;
  }

  /// Lets what only the group reads, row by row, join it: a softmax or a layer
  /// norm becomes one kernel.
  void addRowProducers(SmallVectorImpl<Operation *> &group) {
    SmallVector<linalg::GenericOp> ops;
    for (Operation *op : group) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic || generic->getNumResults() != 1)
        return;
      ops.push_back(generic);
    }
    // Without sums along rows there is nothing to keep near.
    if (!summed.contains(group.back()))
      return;
    llvm::SmallPtrSet<Operation *, 16> inside(group.begin(), group.end());
    Block *block = group.back()->getBlock();
    for (size_t i = 0; i != ops.size() && ops.size() < mostOfRows; ++i)
      for (Value input : ops[i].getDpsInputs()) {
        auto producer = input.getDefiningOp<linalg::GenericOp>();
        if (!producer || producer->getNumResults() != 1 ||
            producer->getBlock() != block || taken.contains(producer) ||
            producer->hasAttr(partsAttrName) || inside.contains(producer) ||
            deviceOf(producer) != deviceOf(group.back()) ||
            !llvm::all_of(producer->getUsers(), [&](Operation *user) {
              return inside.contains(block->findAncestorOpInBlock(*user));
            }))
          continue;
        ops.push_back(producer);
        if (!fitsRows(ops, group.back())) {
          ops.pop_back();
          continue;
        }
        inside.insert(producer);
        // Others may have waited for this one.
        i = size_t(-1);
        break;
      }
    if (llvm::none_of(ops, [](linalg::GenericOp op) {
          return op.getNumReductionLoops() != 0;
        }))
      return;
    rowChoices.note(ops, group.back());
    group.assign(ops.begin(), ops.end());
    llvm::sort(group, [](Operation *x, Operation *y) {
      return x->isBeforeInBlock(y);
    });
  }

  /// Lets many small slices of one tensor, such as the parts of a Split, share
  /// a kernel: of a thousand kernels, each would be compiled and launched.
  void bundleSlices() {
    llvm::MapVector<Value, SmallVector<size_t>> slicesOf;
    for (auto [i, group] : llvm::enumerate(groups)) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(group.back());
      if (slice && group.size() == 1 && slice->getNumOperands() == 1 &&
          slice.getType().hasStaticShape() &&
          byteSize(slice.getType()) <= smallSliceBytes)
        slicesOf[slice.getSource()].push_back(i);
    }
    for (auto &[source, numbers] : slicesOf) {
      if (numbers.size() <= slicesOfBundle)
        continue;
      // Groups lie from the last to the first; a bundle stands with its first.
      for (ArrayRef<size_t> left = numbers; left.size() > 1;) {
        ArrayRef<size_t> bundle =
            left.take_back(std::min(left.size(), slicesOfBundle));
        left = left.drop_back(bundle.size());
        SmallVector<Operation *> slices;
        for (size_t number : llvm::reverse(bundle))
          llvm::append_range(slices, std::exchange(groups[number], {}));
        groups[bundle.back()] = slices;
      }
    }
    llvm::erase_if(groups, [](auto &group) { return group.empty(); });
  }

  bool isCopiedIn(Operation *op) const {
    return isMadeAnew(op) || middles.contains(op);
  }

  /// A fill that a view, control flow or the block's end reads must exist in
  /// memory.
  bool isReadOutside(Operation *op) {
    return isTensor(op->getResult(0)) &&
           llvm::any_of(op->getUsers(), [](Operation *user) {
             return isa<func::ReturnOp>(user) || isView(user) ||
                    isControlFlow(user) || servesControlFlow(user);
           });
  }

  void copyIn(Value value, OpBuilder &b, IRMapping &mapping) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      copyIn(operand, b, mapping);
    b.clone(*op, mapping);
  }

  void form(ArrayRef<Operation *> group) {
    Operation *root = group.back();
    llvm::SetVector<Value> operands, copied;
    std::function<void(Value)> visit = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (op && llvm::is_contained(group, op))
        return;
      if (!op || !isCopiedIn(op)) {
        operands.insert(value);
        return;
      }
      if (copied.insert(value))
        for (Value operand : op->getOperands())
          visit(operand);
    };
    for (Operation *op : group) {
      for (Value operand : op->getOperands())
        visit(operand);
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        visit(value);
    }
    SmallVector<Location> locations;
    for (Operation *op : group)
      locations.push_back(op->getLoc());
    // Slices that share a kernel are all results; else the last op is.
    bool isBundle = group.size() > 1 && isa<tensor::ExtractSliceOp>(root);
    SmallVector<Value> computed(root->getResults());
    if (isBundle)
      computed = llvm::map_to_vector(
          group, [](Operation *op) -> Value { return op->getResult(0); });
    OpBuilder b(isBundle ? group.front() : root);
    auto dispatch = exec::DispatchOp::create(
        b, b.getFusedLoc(locations), ValueRange(computed).getTypes(),
        operands.getArrayRef(), uint64_t(deviceOf(root)));
    Block *body = b.createBlock(&dispatch.getBody());
    IRMapping mapping;
    for (Value operand : operands)
      mapping.map(operand,
                  body->addArgument(operand.getType(), operand.getLoc()));
    b.setInsertionPointToStart(body);
    for (Value value : copied)
      copyIn(value, b, mapping);
    for (Operation *op : group)
      b.clone(*op, mapping)->removeAttr(exec::deviceAttrName);
    SmallVector<Value> results;
    for (Value result : computed)
      results.push_back(mapping.lookup(result));
    exec::YieldOp::create(b, dispatch.getLoc(), results);
    if (Value place = changedPlace(root))
      dispatch->setAttr(
          inPlaceAttrName,
          b.getI64IntegerAttr(llvm::find(operands, place) - operands.begin()));
    for (auto [from, to] : llvm::zip(computed, dispatch.getResults()))
      from.replaceAllUsesWith(to);
  }

  Block &block;
  bool fuse;
  int64_t rowBytes; ///< of what a row passes on
  bool fewRows;     ///< are enough
  bool openSizes;
  RowChoices &rowChoices;
  llvm::SmallPtrSet<Operation *, 32> taken;
  /// Sums along rows and what is computed of them.
  llvm::SmallPtrSet<Operation *, 32> summed;
  /// Slices of padded tensors, which are read where they are.
  llvm::SmallPtrSet<Operation *, 8> middles;
  SmallVector<SmallVector<Operation *>> groups;
};

struct FormDispatches : ashlar::impl::FormDispatchesPassBase<FormDispatches> {
  using FormDispatchesPassBase::FormDispatchesPassBase;
  FormDispatches(FormDispatchesPassOptions options,
                 std::shared_ptr<FirstChoices> choices)
      : FormDispatchesPassBase(std::move(options)),
        choices(std::move(choices)) {}
  void runOnOperation() override {
    simplifyBranches();
    RowChoices rowChoices(getOperation(), choices);
    if (failed(DispatchFormer(getOperation().getBody().front(), fuse, rowBytes,
                              fewRows, openSizes, rowChoices)
                   .run()))
      return signalPassFailure();
    rowChoices.keep();
  }

private:
  /// A condition between two values that are there anyway is a selection,
  /// which needs a kernel: later it would be too late for one.
  void simplifyBranches() {
    RewritePatternSet patterns(&getContext());
    scf::IfOp::getCanonicalizationPatterns(patterns, &getContext());
    SmallVector<Operation *> branches;
    getOperation().walk([&](scf::IfOp op) {
      if (isControlFlow(op))
        branches.push_back(op);
    });
    // What is rewritten is left as it is where it cannot be finished.
    (void)applyOpPatternsGreedily(branches, std::move(patterns));
  }

  std::shared_ptr<FirstChoices> choices;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createFormDispatchesPass(FormDispatchesPassOptions options,
                                 std::shared_ptr<FirstChoices> choices) {
  return std::make_unique<FormDispatches>(std::move(options),
                                          std::move(choices));
}
