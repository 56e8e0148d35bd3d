// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one part of a machine sums up is shared out among several, where a
// result has fewer tiles than there are parts: partial sums are a tensor, and
// a kernel of its own adds them, in the same order on each run.
#include "SplitTerms.h"
#include "Margins.h"
#include "MergeParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

namespace {
class TermSplitter {
public:
  TermSplitter(tile::ContractOp op, unsigned dim, int64_t parts)
      : op(op), b(op), dim(dim), parts(parts),
        numParallel(op.getParallel().size()),
        numReduced(op.getReduced().size()),
        isWhole(op.getReduced()[dim - numParallel] == parts) {}

  std::optional<TermParts> run() {
    if (!isPlain())
      return std::nullopt;
    std::optional<AffineMap> maps[2];
    for (auto [i, operand, map] : {std::tuple(0, op.getA(), op.getAMap()),
                                   std::tuple(1, op.getB(), op.getBMap())})
      if (maps[i] = cut(operand, map); !maps[i])
        return std::nullopt;
    Value a = reshape(op.getA(), op.getAMap()),
          right = reshape(op.getB(), op.getBMap());
    tile::ContractOp sums = makeSums(a, right, *maps[0], *maps[1]);
    return TermParts{sums, addParts(sums.getResult(0))};
  }

private:
  /// Sums of one type, each in one place.
  bool isPlain() {
    auto type = dyn_cast<RankedTensorType>(op.getInit().getType());
    AffineMap result = op.getResultMap();
    return type && type.hasStaticShape() && !op.getPad() &&
           !op.getUnrounded() && op->getNumResults() == 1 &&
           result.isProjectedPermutation() &&
           result.getNumResults() == numParallel &&
           op.getReduced()[dim - numParallel] % parts == 0 &&
           !op.getBody()
                .walk([](tile::IndexOp) { return WalkResult::interrupt(); })
                .wasInterrupted();
  }

  /// Dims of before, behind the number of the part.
  AffineMap moved(ArrayRef<AffineExpr> places) {
    SmallVector<AffineExpr> dims = {};
    for (unsigned d = 0; d != numParallel + numReduced; ++d) {
      if (d == dim && isWhole)
        dims.push_back(b.getAffineDimExpr(0));
      else
        dims.push_back(b.getAffineDimExpr(d + (isWhole && d > dim ? 0 : 1)));
    }
    SmallVector<AffineExpr> replaced;
    for (AffineExpr place : places)
      replaced.push_back(place.replaceDims(dims));
    return AffineMap::get(1 + numParallel + numReduced - isWhole, 0, replaced,
                          op.getContext());
  }

  /// The one place of an operand that the dim is, if all of it.
  std::optional<unsigned> placeOf(AffineMap map) {
    std::optional<unsigned> found;
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(dim)) {
        if (found || expr != getAffineDimExpr(dim, op.getContext()))
          return std::nullopt;
        found = i;
      }
    return found;
  }

  /// The map of an operand that has the parts as a dim; none: it has no such.
  std::optional<AffineMap> cut(Value operand, AffineMap map) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape() || !map.isFunctionOfDim(dim))
      return std::nullopt;
    SmallVector<AffineExpr> places(map.getResults());
    if (isWhole)
      return moved(places);
    std::optional<unsigned> place = placeOf(map);
    if (!place ||
        type.getDimSize(*place) != op.getReduced()[dim - numParallel] ||
        (tile::hasMargins(operand) && *place + 1 != type.getRank()))
      return std::nullopt;
    AffineMap own = moved(places);
    places.assign(own.getResults().begin(), own.getResults().end());
    places.insert(places.begin() + *place, b.getAffineDimExpr(0));
    return AffineMap::get(own.getNumDims(), 0, places, op.getContext());
  }

  /// An operand with margins is a tensor of which that is done, with these
  /// around it: the last dim has none.
  Value reshape(Value operand, AffineMap map) {
    if (isWhole)
      return operand;
    unsigned place = *placeOf(map);
    auto expand = [&](Value tensor) {
      auto type = cast<RankedTensorType>(tensor.getType());
      SmallVector<int64_t> shape(type.getShape());
      shape[place] /= parts;
      shape.insert(shape.begin() + place, parts);
      return RankedTensorType::get(shape, type.getElementType());
    };
    auto padded = tile::hasMargins(operand)
                      ? operand.getDefiningOp<tile::DecodeOp>()
                      : nullptr;
    Value whole = padded ? padded.getInputs().front() : operand;
    SmallVector<ReassociationIndices> groups;
    int64_t rank = cast<ShapedType>(whole.getType()).getRank();
    for (int64_t d = 0, i = 0; d != rank; ++d) {
      groups.push_back({i++});
      if (d == int64_t(place))
        groups.back().push_back(i++);
    }
    Location at = padded ? padded.getLoc() : op.getLoc();
    Value made =
        tensor::ExpandShapeOp::create(b, at, expand(whole), whole, groups);
    if (!padded)
      return made;
    SmallVector<int64_t> before = *padded.getMargins();
    before.insert(before.begin() + place, 0);
    return addMargins(b, at, made, expand(operand), before);
  }

  tile::ContractOp makeSums(Value a, Value right, AffineMap aMap,
                            AffineMap bMap) {
    SmallVector<int64_t> parallel = {parts}, reduced(op.getReduced()),
                         shape = {parts};
    llvm::append_range(parallel, op.getParallel());
    llvm::append_range(
        shape, cast<RankedTensorType>(op.getInit().getType()).getShape());
    if (isWhole)
      reduced.erase(reduced.begin() + (dim - numParallel));
    else
      reduced[dim - numParallel] /= parts;
    Type sum = op.getAccumulatorType();
    SmallVector<AffineExpr> places = {b.getAffineDimExpr(0)};
    llvm::append_range(places,
                       moved(op.getResultMap().getResults()).getResults());
    AffineMap maps[] = {
        aMap, bMap,
        // Of results, as of all epilogues, over parallel dims.
        AffineMap::get(1 + numParallel, 0, places, op.getContext())};
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), shape, sum);
    auto made = tile::ContractOp::create(
        b, op.getLoc(), TypeRange(empty.getType()), a, right, ValueRange(),
        empty, /*unrounded=*/Value(), b.getDenseI64ArrayAttr(parallel),
        b.getDenseI64ArrayAttr(reduced), b.getAffineMapArrayAttr(maps),
        op.getAUnsignedAttr(), op.getBUnsignedAttr(), /*pad=*/TypedAttr(),
        tile::StrategyAttr(), op.getDeviceAttr());
    Block &body = made.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    tile::YieldOp::create(inner, op.getLoc(),
                          body.addArgument(sum, op.getLoc()));
    return made;
  }

  /// One loop over the result's places.
  Value addParts(Value sums) {
    SmallVector<Value> inputs(parts, sums);
    SmallVector<AffineMap> maps;
    for (int64_t part = 0; part != parts; ++part) {
      SmallVector<AffineExpr> places = {b.getAffineConstantExpr(part)};
      for (unsigned d = 0; d != numParallel; ++d)
        places.push_back(b.getAffineDimExpr(d));
      maps.push_back(AffineMap::get(numParallel, 0, places, op.getContext()));
    }
    return mergeParts(op, inputs, maps, addUp);
  }

  static Value addUp(OpBuilder &b, Location at, ValueRange of) {
    Value sum = of.front();
    for (Value part : of.drop_front())
      sum = isa<FloatType>(sum.getType())
                ? arith::AddFOp::create(b, at, sum, part).getResult()
                : arith::AddIOp::create(b, at, sum, part).getResult();
    return sum;
  }

  tile::ContractOp op;
  OpBuilder b;
  unsigned dim;
  int64_t parts;
  unsigned numParallel, numReduced;
  bool isWhole; ///< each part has one term of the dim
};
} // namespace

std::optional<TermParts> ashlar::splitTerms(tile::ContractOp op, unsigned dim,
                                            int64_t parts) {
  return TermSplitter(op, dim, parts).run();
}
