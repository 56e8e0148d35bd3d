// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction as parts that workgroups of their own reduce, and a second one
// over what they come to. Parts are places of a tensor, and what combines them
// does so in their order: results are the same bytes each time.
#include "ReductionParts.h"
#include "RowGroup.h"
#include "ashlar/Analysis/BoxReach.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/VectorBodies.h"
#include "ashlar/Dialects/Exec/Utils/UnreadBytes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

bool ashlar::hasParts(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1 ||
      !op.hasPureTensorSemantics() || op.hasIndexSemantics())
    return false;
  for (int64_t range : op.getStaticLoopRanges())
    if (ShapedType::isDynamic(range) || range == 0)
      return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || !type.getElementType().isIntOrFloat() ||
        !isLinear(op.getMatchingIndexingMap(&operand)))
      return false;
  }
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!result.isProjectedPermutation() ||
      result.getNumResults() != op.getNumParallelLoops())
    return false;
  return op.getRegionOutputArgs()[0].hasOneUse() && combinationOf(op, 0);
}

/// Points of one loop iteration along `dim` that lie behind it.
static int64_t pointsBehind(linalg::GenericOp op, unsigned dim) {
  return ShapedType::getNumElements(
      ArrayRef(op.getStaticLoopRanges()).drop_front(dim + 1));
}

/// Whether terms along the dim lie side by side in an operand.
static int64_t elementsOfVector(linalg::GenericOp op, unsigned dim) {
  constexpr int64_t vectorBytes = 16;
  int64_t most = 1;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() != 0 &&
        map.getResults().back().isFunctionOfDim(dim))
      most = std::max(
          most, vectorBytes /
                    std::min(vectorBytes,
                             elementBytes(getElementTypeOrSelf(input->get()))));
  }
  return most;
}

std::optional<ReductionParts> ashlar::chooseParts(linalg::GenericOp op,
                                                  unsigned dim, int64_t wanted,
                                                  int64_t tile,
                                                  int64_t readers) {
  int64_t all = op.getStaticLoopRanges()[dim];
  int64_t about = all / wanted;
  if (wanted < 2 || about == 0)
    return std::nullopt;
  // Whole tiles, where a part has several; else whole vectors.
  int64_t rows = std::max<int64_t>(1, tile / pointsBehind(op, dim));
  int64_t unit = about >= 4 * rows ? rows : elementsOfVector(op, dim);
  ReductionParts best;
  double least = 0;
  for (int64_t terms = llvm::alignDown(std::max(about * 3 / 4, unit), unit);
       terms <= about + about / 3; terms += unit) {
    int64_t count = all / terms, rest = all % terms;
    // What is left is read by few; parts that end a tile early leave threads
    // without work, while others still ask for theirs.
    int64_t idle = llvm::alignTo(terms, std::min(rows, terms)) - terms;
    double cost =
        (double(count * (terms + idle / 4)) + double((3 + readers) * rest)) /
        double(all);
    if (count < 2 || (best.terms != 0 && cost >= least))
      continue;
    best = {dim, count, terms, rest};
    least = cost;
  }
  return best.terms != 0 ? std::optional(best) : std::nullopt;
}

linalg::GenericOp ashlar::joinDims(linalg::GenericOp op) {
  if (!hasParts(op))
    return {};
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // The dims of a window are places of no operand.
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {};
  SmallVector<ReassociationIndices> groups;
  bool joins = false;
  for (auto [d, kind] : llvm::enumerate(kinds)) {
    bool fits = d != 0 && kind == utils::IteratorType::reduction &&
                kinds[d - 1] == utils::IteratorType::reduction;
    if (fits) {
      ReassociationIndices both = {int64_t(d) - 1, int64_t(d)};
      fits = linalg::areDimSequencesPreserved(maps, both);
    }
    joins |= fits;
    if (fits)
      groups.back().push_back(d);
    else
      groups.push_back({int64_t(d)});
  }
  if (!joins)
    return {};
  IRRewriter rewriter(op);
  FailureOr<linalg::CollapseResult> joined =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(joined))
    return {};
  rewriter.replaceOp(op, joined->results);
  // Reductions of one tensor are found by what they read.
  for (Value input : joined->collapsedOp.getDpsInputs())
    if (auto view = input.getDefiningOp<tensor::CollapseShapeOp>())
      for (Operation *user : view.getSrc().getUsers())
        if (auto other = dyn_cast<tensor::CollapseShapeOp>(user);
            other && other != view && other.getType() == view.getType() &&
            other->getBlock() == view->getBlock()) {
          if (view->isBeforeInBlock(other))
            other->moveBefore(view);
          view.replaceAllUsesWith(other.getResult());
          break;
        }
  return dyn_cast<linalg::GenericOp>(joined->collapsedOp.getOperation());
}

PartsWriter::PartsWriter(linalg::GenericOp op, const ReductionParts &parts)
    : op(op), parts(parts), combination(*combinationOf(op, 0)), b(op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  place = llvm::count_if(result.getResults(), [&](AffineExpr expr) {
    return cast<AffineDimExpr>(expr).getPosition() < parts.dim;
  });
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(op.getResult(0).getType()).getShape());
  shape.insert(shape.begin() + place, parts.count);
  AffineExpr part = b.getAffineDimExpr(parts.dim);
  AffineMap map = moved(result, part, /*hasPart=*/true);
  SmallVector<AffineExpr> places(map.getResults());
  places.insert(places.begin() + place, part);
  map = AffineMap::get(map.getNumDims(), 0, places, b.getContext());
  linalg::GenericOp made =
      write(neutralFill(shape),
            part * parts.terms + b.getAffineDimExpr(parts.dim + 1),
            /*hasPart=*/true, parts.terms, map);
  made->setAttr(partsAttrName, b.getUnitAttr());
  partial = made.getResult(0);
}

Value PartsWriter::neutralFill(ArrayRef<int64_t> shape) {
  Location at = op.getLoc();
  Value neutral = arith::ConstantOp::create(b, at, combination.neutral);
  Value empty =
      tensor::EmptyOp::create(b, at, shape, combination.neutral.getType());
  return linalg::FillOp::create(b, at, neutral, empty).getResult(0);
}

/// `map` over the dims of before, those behind the split one later by one where
/// the number of a part stands in front of it.
AffineMap PartsWriter::moved(AffineMap map, AffineExpr place,
                             bool hasPart) const {
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d != map.getNumDims(); ++d)
    dims.push_back(
        getAffineDimExpr(d + (hasPart && d > parts.dim), map.getContext()));
  dims[parts.dim] = place;
  return map.replaceDimsAndSymbols(dims, {}, map.getNumDims() + hasPart, 0);
}

/// The reduction of `terms` of the split dim, which lie at `place`.
linalg::GenericOp PartsWriter::write(Value init, AffineExpr place, bool hasPart,
                                     int64_t terms, AffineMap result) {
  Location at = op.getLoc();
  SmallVector<Value> inputs(op.getDpsInputs());
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(moved(op.getMatchingIndexingMap(input), place, hasPart));
  // Of a loop whose dim no operand has alone, a tensor that nobody reads says
  // how far it goes.
  inputs.push_back(tensor::EmptyOp::create(b, at, ArrayRef<int64_t>{terms},
                                           combination.neutral.getType()));
  maps.push_back(AffineMap::get(result.getNumDims(), 0,
                                b.getAffineDimExpr(parts.dim + hasPart)));
  maps.push_back(result);
  SmallVector<utils::IteratorType> loops = op.getIteratorTypesArray();
  if (hasPart)
    loops.insert(loops.begin() + parts.dim, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      b, at, TypeRange(init.getType()), inputs, init, maps, loops,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        IRMapping mapping;
        unsigned own = op.getNumDpsInputs();
        mapping.map(op.getBody()->getArguments().take_front(own),
                    arguments.take_front(own));
        mapping.map(op.getRegionOutputArgs()[0], arguments.back());
        for (Operation &each : *op.getBody())
          inner.clone(each, mapping);
      });
}

Value PartsWriter::combine() {
  Location at = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  unsigned rank = type.getRank();
  // Results first: then all ops go through them alike, and share a kernel.
  AffineMap results =
      AffineMap::getMultiDimIdentityMap(rank + 1, b.getContext())
          .dropResult(rank);
  SmallVector<AffineExpr> places(results.getResults());
  places.insert(places.begin() + place, b.getAffineDimExpr(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  Value sum =
      linalg::GenericOp::create(
          b, at, TypeRange(type), partial, op.getDpsInits()[0],
          ArrayRef<AffineMap>{
              AffineMap::get(rank + 1, 0, places, b.getContext()), results},
          loops,
          [&](OpBuilder &inner, Location, ValueRange each) {
            linalg::YieldOp::create(inner, at,
                                    combination.write(inner, each[1], each[0]));
          })
          .getResult(0);
  if (parts.rest == 0)
    return sum;
  Value rest = writeRest();
  Value empty =
      tensor::EmptyOp::create(b, at, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(rank));
  loops.pop_back();
  return linalg::GenericOp::create(
             b, at, TypeRange(type), ValueRange{sum, rest}, empty, maps, loops,
             [&](OpBuilder &inner, Location, ValueRange each) {
               linalg::YieldOp::create(
                   inner, at, combination.write(inner, each[0], each[1]));
             })
      .getResult(0);
}

/// What lies behind the last part.
Value PartsWriter::writeRest() {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineExpr behind = b.getAffineDimExpr(parts.dim) + parts.count * parts.terms;
  linalg::GenericOp rest = write(
      neutralFill(cast<RankedTensorType>(op.getResult(0).getType()).getShape()),
      behind, /*hasPart=*/false, parts.rest, result);
  rest->setAttr(exec::readsPartAttrName, b.getUnitAttr());
  SmallVector<unsigned> order;
  for (AffineExpr expr : result.getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      order.push_back(d);
  if (llvm::is_sorted(order))
    return rest.getResult(0);
  IRRewriter rewriter(b);
  FailureOr<linalg::GenericOp> moved =
      linalg::interchangeGenericOp(rewriter, rest, order);
  assert(succeeded(moved) && "loops may go in any order");
  return moved->getResult(0);
}
