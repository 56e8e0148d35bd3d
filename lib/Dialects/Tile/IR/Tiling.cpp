// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets upstream's tiling cut `tile.contract` along parallel dims that stand
// alone in all maps that they are in: a box of the result is a contraction of
// parts of the operands.
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace ashlar::tile;

namespace {
using Places = SmallVector<OpFoldResult>;

/// Whether a box has less than the whole of dim `d`. A size that is a value is
/// that of the dim: nothing cuts what a caller chooses but into single ones.
bool isCut(ContractOp op, ArrayRef<OpFoldResult> sizes, unsigned d) {
  std::optional<int64_t> size = getConstantIntValue(sizes[d]);
  return size && *size != op.getParallel()[d];
}

/// The part of `operand` that its map reaches from a box of the dims; dims
/// behind the box are whole. Fails where a dim that is cut does not stand
/// alone.
LogicalResult findPart(ContractOp op, unsigned operand,
                       ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes, OpBuilder &b,
                       Places &partOffsets, Places &partSizes) {
  AffineMap map = op.getMap(operand);
  Places shape = tensor::getMixedSizes(b, op.getLoc(), op->getOperand(operand));
  for (auto [expr, extent] : llvm::zip(map.getResults(), shape)) {
    bool cuts = false;
    for (unsigned d = 0; d != sizes.size(); ++d)
      cuts |= isCut(op, sizes, d) && expr.isFunctionOfDim(d);
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (cuts && !dim)
      return failure();
    partOffsets.push_back(cuts ? offsets[dim.getPosition()]
                               : OpFoldResult(b.getIndexAttr(0)));
    partSizes.push_back(cuts ? sizes[dim.getPosition()] : extent);
  }
  return success();
}

struct ContractTiling
    : TilingInterface::ExternalModel<ContractTiling, ContractOp> {
  /// Terms are never cut: their chunks are the strategy's.
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(
        cast<ContractOp>(op).getParallel().size(),
        utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &b) const {
    auto contract = cast<ContractOp>(op);
    SmallVector<Range> domain;
    for (int64_t size : contract.getParallel())
      domain.push_back(
          {b.getIndexAttr(0), b.getIndexAttr(size), b.getIndexAttr(1)});
    // Where a caller chooses a size, the type holds the largest one.
    for (auto [expr, size] :
         llvm::zip(contract.getResultMap().getResults(),
                   tensor::getMixedSizes(b, op->getLoc(), contract.getInit())))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && isa<Value>(size))
        domain[dim.getPosition()].size = size;
    return domain;
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &b,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    auto contract = cast<ContractOp>(op);
    if (contract.getPad() || contract->getNumResults() != 1)
      return failure();
    SmallVector<int64_t> box(contract.getParallel());
    for (auto [d, size] : llvm::enumerate(sizes))
      box[d] = getConstantIntValue(size).value_or(box[d]);
    TilingResult result;
    SmallVector<Value> parts;
    for (auto [i, operand] : llvm::enumerate(contract->getOperands())) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      Places from, lengths;
      if (!type ||
          failed(findPart(contract, i, offsets, sizes, b, from, lengths)))
        return failure();
      Places steps(from.size(), b.getIndexAttr(1));
      auto slice = tensor::ExtractSliceOp::create(b, op->getLoc(), operand,
                                                  from, lengths, steps);
      parts.push_back(slice);
      result.generatedSlices.push_back(slice);
    }
    auto part = cast<ContractOp>(
        clone(b, op, TypeRange{parts.back().getType()}, parts));
    part.setParallel(box);
    // Who cuts shares out the parts.
    if (StrategyAttr strategy = contract.getStrategyAttr())
      part.setStrategyAttr(strategy.withoutGrid());
    result.tiledOps.push_back(part);
    result.tiledValues.push_back(part->getResult(0));
    return result;
  }

  LogicalResult getResultTilePosition(Operation *op, OpBuilder &b, unsigned,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes,
                                      Places &resultOffsets,
                                      Places &resultSizes) const {
    auto contract = cast<ContractOp>(op);
    return findPart(contract, contract.getInitMutable().getOperandNumber(),
                    offsets, sizes, b, resultOffsets, resultSizes);
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *op, OpBuilder &b, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes, SmallVectorImpl<OpFoldResult> &from,
      SmallVectorImpl<OpFoldResult> &lengths) const {
    auto contract = cast<ContractOp>(op);
    AffineMap map = contract.getResultMap();
    if (!map.isPermutation())
      return failure();
    from.resize(map.getNumDims());
    lengths.resize(map.getNumDims());
    for (auto [expr, offset, size] :
         llvm::zip(map.getResults(), offsets, sizes)) {
      unsigned d = cast<AffineDimExpr>(expr).getPosition();
      from[d] = offset;
      lengths[d] = size;
    }
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *op, OpBuilder &b, unsigned number,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    Places from, lengths;
    if (failed(getIterationDomainTileFromResultTile(op, b, number, offsets,
                                                    sizes, from, lengths)))
      return failure();
    return getTiledImplementation(op, b, from, lengths);
  }
};
} // namespace

void ashlar::tile::registerTiling(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TileDialect *) {
    ContractOp::attachInterface<ContractTiling>(*context);
  });
}
