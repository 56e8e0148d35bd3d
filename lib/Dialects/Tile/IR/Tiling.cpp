// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets upstream's tiling cut `tile.contract` and `tile.attention` along
// parallel dims whose parts are parts of the operands: a box of the result is
// the same op on them. The last box of an attention may be shorter.
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace ashlar::tile;

namespace {
using Places = SmallVector<OpFoldResult>;

/// The largest a box can be whose size is that of a tile, or what is left; 0:
/// it is all of a dim.
int64_t tileOf(OpFoldResult size) {
  auto least = cast<Value>(size).getDefiningOp<affine::AffineMinOp>();
  int64_t tile = 0;
  if (least)
    for (AffineExpr expr : least.getMap().getResults())
      if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        tile = constant.getValue();
  return tile;
}

/// What a box takes of the dims of `op`. A size that is a value is that of the
/// dim: nothing cuts what a caller chooses but into single ones.
SmallVector<Cut> cutsOf(ArrayRef<int64_t> dims, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<Cut> cuts(dims.size());
  for (auto [d, cut] : llvm::enumerate(cuts))
    if (std::optional<int64_t> size = getConstantIntValue(sizes[d]);
        size && *size != dims[d])
      cut = {offsets[d], *size};
  return cuts;
}

/// The same where a dim may be cut into tiles, of which the last is shorter.
SmallVector<Cut> tilesOf(ArrayRef<int64_t> dims, ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) {
  SmallVector<Cut> cuts = cutsOf(dims, offsets, sizes);
  for (auto [d, cut] : llvm::enumerate(cuts))
    if (!getConstantIntValue(sizes[d]))
      if (int64_t tile = tileOf(sizes[d]))
        cut = {offsets[d], tile};
  return cuts;
}

/// The sizes that are left.
SmallVector<int64_t> apply(ArrayRef<Cut> cuts, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> box(sizes);
  for (auto [size, cut] : llvm::zip(box, cuts))
    size = cut.size ? cut.size : size;
  return box;
}

/// Of ops whose parallel dims these are, which lie in the result at `map`.
SmallVector<Range> domainOf(OpBuilder &b, ArrayRef<int64_t> dims, AffineMap map,
                            Value result) {
  SmallVector<Range> domain;
  for (int64_t size : dims)
    domain.push_back(
        {b.getIndexAttr(0), b.getIndexAttr(size), b.getIndexAttr(1)});
  // Where a caller chooses a size, the type holds the largest one.
  for (auto [expr, size] : llvm::zip(
           map.getResults(), tensor::getMixedSizes(b, result.getLoc(), result)))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && isa<Value>(size))
      domain[dim.getPosition()].size = size;
  return domain;
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
    return domainOf(b, contract.getParallel(), contract.getResultMap(),
                    contract.getInit());
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &b,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    auto contract = cast<ContractOp>(op);
    if (contract.getPad() || contract->getNumResults() != 1)
      return failure();
    SmallVector<Cut> cuts = cutsOf(contract.getParallel(), offsets, sizes);
    TilingResult result;
    SmallVector<Value> parts;
    for (auto [i, operand] : llvm::enumerate(contract->getOperands())) {
      FailureOr<Value> part = failure();
      if (isa<RankedTensorType>(operand.getType()))
        part = cutOperand(b, operand, contract.getMap(i), cuts);
      if (failed(part))
        return failure();
      parts.push_back(*part);
      result.generatedSlices.push_back(part->getDefiningOp());
    }
    auto part = cast<ContractOp>(
        clone(b, op, TypeRange{parts.back().getType()}, parts));
    part.setParallel(apply(cuts, contract.getParallel()));
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
    return findPart(b, contract.getInit(), contract.getResultMap(),
                    cutsOf(contract.getParallel(), offsets, sizes),
                    resultOffsets, resultSizes);
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

/// Along the parallel dims that the weights have, too: a box of the result is
/// an attention of some queries to all keys.
struct AttentionTiling
    : TilingInterface::ExternalModel<AttentionTiling, AttentionOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(
        cast<AttentionOp>(op).getParallel().size(),
        utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &b) const {
    auto attention = cast<AttentionOp>(op);
    return domainOf(b, attention.getParallel(), attention.getResultMap(),
                    attention.getInit());
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &b,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    auto attention = cast<AttentionOp>(op);
    SmallVector<Cut> cuts = tilesOf(attention.getParallel(), offsets, sizes);
    SmallVector<Cut> ofScores = attention.getCutsOfScores(cuts);
    Places lengths(ofScores.size());
    for (auto [length, expr] :
         llvm::zip(lengths, attention.getWeightsMap().getResults().drop_back()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        length = sizes[dim.getPosition()];
    TilingResult result;
    SmallVector<Value> parts;
    bool isCut = true;
    attention.forEachOperand(
        [&](Value operand, AffineMap map, bool isOfScores) {
          FailureOr<Value> part =
              cutOperand(b, operand, map, isOfScores ? ofScores : cuts,
                         isOfScores ? ArrayRef<OpFoldResult>(lengths) : sizes);
          isCut &= succeeded(part);
          if (!isCut)
            return;
          parts.push_back(*part);
          result.generatedSlices.push_back(part->getDefiningOp());
        });
    if (!isCut)
      return failure();
    auto part = cast<AttentionOp>(
        clone(b, op, TypeRange{parts.back().getType()}, parts));
    part.setParallel(apply(cuts, attention.getParallel()));
    part.setScoresParallel(apply(ofScores, attention.getScoresParallel()));
    part.removeLevels(LevelKind::Grid);
    if (StrategyAttr strategy = part.getScoresStrategyAttr())
      part.setScoresStrategyAttr(strategy.withoutGrid());
    if (StrategyAttr strategy = part.getStrategyAttr())
      part.setStrategyAttr(strategy.withoutGrid());
    part.offsetIndices(b, ofScores);
    result.tiledOps.push_back(part);
    result.tiledValues.push_back(part->getResult(0));
    return result;
  }

  LogicalResult getResultTilePosition(Operation *op, OpBuilder &b, unsigned,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes,
                                      Places &resultOffsets,
                                      Places &resultSizes) const {
    auto attention = cast<AttentionOp>(op);
    return findPart(b, attention.getInit(), attention.getResultMap(),
                    tilesOf(attention.getParallel(), offsets, sizes),
                    resultOffsets, resultSizes, sizes);
  }
};
} // namespace

void ashlar::tile::registerTiling(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TileDialect *) {
    AttentionOp::attachInterface<AttentionTiling>(*context);
    ContractOp::attachInterface<ContractTiling>(*context);
  });
}
