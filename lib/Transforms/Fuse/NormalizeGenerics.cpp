// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One form for what may come in several: named ops become generic ones, a sum
// of products that begins at something begins at zero and is added to it
// afterwards, which an epilogue can do, what is read backwards is read by its
// indices, and sums that kept their dim as one of size 1 are read without it.
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_NORMALIZEGENERICSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// The addition of a product to what `op` has summed so far, or null.
Operation *findAddition(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return nullptr;
  BlockArgument sum = op.getRegionOutputArgs()[0];
  Operation *add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) || !sum.hasOneUse())
    return nullptr;
  for (unsigned side : {0u, 1u}) {
    Operation *product = add->getOperand(1 - side).getDefiningOp();
    if (add->getOperand(side) == sum &&
        isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
      return add;
  }
  return nullptr;
}

/// sum(init) becomes init + sum(0).
void startAtZero(linalg::GenericOp op, Operation *addition) {
  Value init = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType());
  OpBuilder b(op);
  Location location = op.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, location, init);
  auto emptyTensor = [&]() -> Value {
    return tensor::EmptyOp::create(b, location, sizes, type.getElementType());
  };
  Value zero = arith::ConstantOp::create(b, location,
                                         b.getZeroAttr(type.getElementType()));
  auto fill = linalg::FillOp::create(b, location, zero, emptyTensor());
  op.getDpsInitsMutable()[0].set(fill.getResult(0));
  b.setInsertionPointAfter(op);
  SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto total = linalg::GenericOp::create(
      b, location, type, ValueRange{init, op.getResult(0)}, emptyTensor(), maps,
      loops, [&](OpBuilder &inner, Location at, ValueRange x) {
        IRMapping operands;
        operands.map(addition->getOperands(), x.take_front(2));
        linalg::YieldOp::create(inner, at,
                                inner.clone(*addition, operands)->getResults());
      });
  op.getResult(0).replaceAllUsesExcept(total.getResult(0), total);
}

/// Whether a dim counts down somewhere.
bool isBackwards(AffineMap map) {
  bool found = false;
  for (AffineExpr expression : map.getResults())
    expression.walk([&](AffineExpr part) {
      auto product = dyn_cast<AffineBinaryOpExpr>(part);
      if (!product || product.getKind() != AffineExprKind::Mul)
        return;
      auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
      found |= factor && factor.getValue() < 0;
    });
  return found;
}

/// Later stages take slices of operands, from where a tile's first element lies
/// to where its last one does; that is the wrong way around for these.
linalg::GenericOp readByIndex(linalg::GenericOp op) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (isBackwards(map))
      continue;
    inputs.push_back(input->get());
    maps.push_back(map);
  }
  if (inputs.size() == op.getInputs().size())
    return op;
  for (OpOperand &output : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&output));
  OpBuilder b(op);
  auto made = linalg::GenericOp::create(
      b, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        IRMapping values;
        SmallVector<Value> dims;
        for (unsigned dim = 0; dim != op.getNumLoops(); ++dim)
          dims.push_back(linalg::IndexOp::create(inner, at, dim));
        for (OpOperand *input : op.getDpsInputOperands()) {
          AffineMap map = op.getMatchingIndexingMap(input);
          Value old = op.getMatchingBlockArgument(input);
          if (!isBackwards(map)) {
            values.map(old, arguments.front());
            arguments = arguments.drop_front();
            continue;
          }
          SmallVector<Value> place;
          for (AffineExpr expression : map.getResults())
            place.push_back(
                affine::expandAffineExpr(inner, at, expression, dims, {}));
          values.map(old,
                     tensor::ExtractOp::create(inner, at, input->get(), place));
        }
        values.map(op.getRegionOutputArgs(), arguments);
        for (Operation &old : *op.getBody())
          inner.clone(old, values);
      });
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(made);
  op.erase();
  return made;
}

/// Dims of an expanded tensor that are its source's, if all others have size 1;
/// else nothing.
SmallVector<unsigned> dimsOfSource(tensor::ExpandShapeOp expand) {
  ArrayRef<int64_t> shape = expand.getResultType().getShape();
  SmallVector<unsigned> dims;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    auto large = llvm::make_filter_range(
        group, [&](int64_t dim) { return shape[dim] != 1; });
    if (llvm::range_size(large) > 1)
      return {};
    dims.push_back(large.empty() ? group.front() : *large.begin());
  }
  return dims;
}

/// The kernel of a norm sees what makes a row's mean and deviation.
void readWithoutUnitDims(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isFirst = [&](AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue() == 0;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && ranges[dim.getPosition()] == 1;
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto expand = input->get().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || !expand.getSrc().getDefiningOp<linalg::GenericOp>())
      continue;
    AffineMap &map = maps[input->getOperandNumber()];
    SmallVector<unsigned> kept = dimsOfSource(expand);
    bool all = !kept.empty();
    for (unsigned dim = 0; dim != map.getNumResults(); ++dim)
      all &= llvm::is_contained(kept, dim) || isFirst(map.getResult(dim));
    if (!all)
      continue;
    // The range of a loop comes from an operand: an outer product's terms, one,
    // have no other.
    AffineMap whole = std::exchange(map, map.getSubMap(kept));
    if (inversePermutation(concatAffineMaps(maps, op.getContext())))
      input->set(expand.getSrc());
    else
      map = whole;
  }
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

struct NormalizeGenerics
    : ashlar::impl::NormalizeGenericsPassBase<NormalizeGenerics> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      // Fills stay what passes look for.
      if (isa<linalg::FillOp>(op))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::GenericOp> made =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(made))
          continue;
        generic = *made;
      }
      if (generic.hasPureTensorSemantics()) {
        generic = readByIndex(generic);
        readWithoutUnitDims(generic);
      }
      Operation *addition = findAddition(generic);
      if (addition && !generic.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
        startAtZero(generic, addition);
    }
  }
};
} // namespace
