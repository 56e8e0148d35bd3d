// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionProblem.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Cost/Core.h"
#include "ashlar/Cost/UnitOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ashlar;

std::string AttentionProblem::find() {
  std::string why = findDims();
  return why.empty() ? findUnit() : why;
}

/// The dim of a size other than one, if there is at most one; of none the
/// first.
static std::optional<unsigned> oneOf(ArrayRef<int64_t> sizes) {
  std::optional<unsigned> found;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (size != 1) {
      if (found)
        return std::nullopt;
      found = d;
    }
  return found ? found : std::optional<unsigned>(0);
}

std::string AttentionProblem::findDims() {
  bool isPlain = true;
  op.forEachOperand([&](Value, AffineMap map, bool) {
    isPlain &= map.isProjectedPermutation(/*allowZeroInResults=*/true);
  });
  if (!isPlain)
    return "an operand does not lie at dims alone";
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front().without_terminator())
      if (llvm::any_of(inner.getOperandTypes(), llvm::IsaPred<ShapedType>))
        return "its scores read a tensor at places of their own";
  std::optional<unsigned> keys = oneOf(reduced),
                          depth = oneOf(op.getScoresReduced());
  if (!keys || !depth)
    return "keys or terms are of several dims";
  keyDim = *keys;
  termDim = *depth;
  // Of the dims that weights have, those that values have, too, are batches;
  // of all others the last are rows, and the rest are walked like batches.
  int64_t last = int64_t(parallel.size()) - 1;
  auto isIn = [&](AffineMap map, unsigned d) { return map.isFunctionOfDim(d); };
  if (isIn(op.getWeightsMap(), last) || !isIn(op.getValuesMap(), last))
    return "values are not the result's last dim";
  for (int64_t d = 0; d != last; ++d)
    if (!isIn(op.getWeightsMap(), d) && parallel[d] != 1)
      return "the result has a dim that weights have not";
    else if (isIn(op.getWeightsMap(), d) && !isIn(op.getValuesMap(), d) &&
             (row < 0 || parallel[d] != 1))
      row = d;
  if (row < 0)
    return "there are no rows";
  for (auto [i, expr] :
       llvm::enumerate(op.getWeightsMap().getResults().drop_back()))
    if (expr == getAffineDimExpr(row, op.getContext()))
      scoreRow = i;
  if (scoreRow < 0)
    return "rows of weights are not those of the result";
  Type sums = op.getBody().front().getArgument(0).getType();
  Value weight = op.getWeigh().front().getTerminator()->getOperand(0);
  if (auto rounded = weight.getDefiningOp<arith::TruncFOp>())
    weight = rounded.getIn();
  if (!sums.isF32() || op.getScoreType() != sums ||
      op.getScore().front().getArgument(0).getType() != sums ||
      weight != op.getWeigh().front().getArgument(0))
    return "scores and sums are not all of f32, or weights not only rounded";
  return "";
}

std::string AttentionProblem::findUnit() {
  Type query = getElementTypeOrSelf(op.getQueries()),
       key = getElementTypeOrSelf(op.getKeys()),
       value = getElementTypeOrSelf(op.getValues()),
       sum = Float32Type::get(op.getContext());
  if (!areRowsPlain())
    return "an operand has neither rows nor terms side by side";
  bool isTaken = false;
  for (const MultiplyUnit &one : machine.units) {
    if (!one.fragment ||
        !llvm::is_contained(one.leftFrom, one.accumulatorSpace) ||
        !machine.scope(one.scope) || !one.takes(productOf(query, key, sum)) ||
        !one.takes(productOf(op.getWeightType(), value, sum)))
      continue;
    isTaken = true;
    if (suits(one) && (!unit || one.flopsPerCycle() > unit->flopsPerCycle()))
      unit = &one;
  }
  if (!isTaken)
    return "no unit takes the weights from where its sums are";
  if (!unit)
    return "terms or columns are no multiples of what a unit takes, or too "
           "many";
  group = machine.scope(unit->scope);
  near = nearOf(*unit);
  fragment = fragmentOf(op.getContext(), *unit);
  return "";
}

const Memory *AttentionProblem::nearOf(const MultiplyUnit &one) {
  const Memory *found = nullptr;
  for (const Memory &memory : machine.memories)
    if (memory.managed && llvm::is_contained(one.rightFrom, memory.name))
      found = &memory;
  return found;
}

bool AttentionProblem::suits(const MultiplyUnit &one) {
  int64_t columns = parallel.back();
  const Memory *memory = nearOf(one);
  if (!memory || op.getScoresReduced()[termDim] % one.k != 0 ||
      columns % one.n != 0 || (one.mostN != 0 && columns > one.mostN))
    return false;
  // A unit that goes on by itself finds rows by their swizzle.
  auto last = cast<AffineDimExpr>(op.getValuesMap().getResults().back());
  return one.fragment->inFlight == 0 ||
         last.getPosition() != parallel.size() - 1 ||
         swizzledRows(op.getContext(), *memory,
                      elementBytes(getElementTypeOrSelf(op.getValues())),
                      columns);
}

bool AttentionProblem::areRowsPlain() {
  unsigned term = scores.size() + termDim;
  auto endsIn = [&](AffineMap map, ArrayRef<unsigned> dims) {
    if (map.getNumResults() < 2)
      return false;
    auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
    return last && llvm::is_contained(dims, last.getPosition());
  };
  SmallVector<AffineMap> maps(
      op.getScoresMaps().getAsValueRange<AffineMapAttr>());
  unsigned key = parallel.size() + keyDim, column = parallel.size() - 1;
  return endsIn(maps[0], {unsigned(scoreRow), term}) &&
         endsIn(maps[1], {unsigned(scores.size() - 1), term}) &&
         endsIn(op.getValuesMap(), {key, column});
}
