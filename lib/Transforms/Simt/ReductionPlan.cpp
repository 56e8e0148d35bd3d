// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ReductionPlan.h"
#include "ashlar/Analysis/Combinations.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

/// Of a body that is one op whose operands may change places; null: it is not.
static TypedAttr neutralOfBody(Block &body) {
  if (!llvm::hasSingleElement(body.without_terminator()))
    return {};
  Operation &inner = body.front();
  if (inner.getNumOperands() != 2 ||
      inner.getOperand(0) == inner.getOperand(1) ||
      !isa<BlockArgument>(inner.getOperand(0)) ||
      !isa<BlockArgument>(inner.getOperand(1)) ||
      body.getTerminator()->getOperand(0) != inner.getResult(0))
    return {};
  return neutralOf(&inner).value_or(TypedAttr());
}

ReductionPlan::ReductionPlan(tile::ReduceOp op, const Threads &threads,
                             ImplicitLocOpBuilder &b)
    : neutral(neutralOfBody(op.getBody().front())), op(op), threads(threads),
      values(threads), shape(op.getAcc().getType().getShape()) {
  Share from(op.getAcc().getType(), threads);
  for (int64_t i = 0; i != from.count(); ++i) {
    points.push_back(from.point(b, i));
    conditions.push_back(from.exists(b, i));
  }
  if (!locateAll() || !formParts() || !layOut())
    takeElements();
}

int64_t ReductionPlan::countResults() {
  return ShapedType::getNumElements(op.getResult().getType().getShape());
}

int64_t ReductionPlan::countTerms() {
  return ShapedType::getNumElements(shape) / countResults();
}

/// The number of a point along the dims of results or of terms, row by row, on
/// each thread; false: it is not known.
bool ReductionPlan::number(ArrayRef<Value> point, bool ofTerms,
                           std::vector<int64_t> &all) {
  all.assign(threads.count, 0);
  for (auto [d, place] : llvm::enumerate(point)) {
    if (llvm::is_contained(op.getDims(), int64_t(d)) != ofTerms)
      continue;
    const std::vector<int64_t> *places = values.of(place);
    if (!places)
      return false;
    for (auto [one, own] : llvm::zip(all, *places))
      one = one * shape[d] + own;
  }
  return true;
}

/// Which result a point is of, and which term of it, on each thread.
bool ReductionPlan::locate(ArrayRef<Value> point, Value condition,
                           std::vector<int64_t> &result,
                           std::vector<int64_t> &term) {
  if (!number(point, false, result) || !number(point, true, term))
    return false;
  if (!condition)
    return true;
  const std::vector<int64_t> *exists = values.of(condition);
  if (!exists)
    return false;
  for (auto [one, holds] : llvm::zip(result, *exists))
    one = holds ? one : none;
  return true;
}

bool ReductionPlan::locateAll() {
  results.resize(points.size());
  terms.resize(points.size());
  for (size_t i = 0; i != points.size(); ++i)
    if (!locate(points[i], conditions[i], results[i], terms[i]))
      return false;
  return true;
}

/// Whether both are of the same result wherever both exist; then `x` is what
/// both together are of.
bool ReductionPlan::merge(std::vector<int64_t> &x,
                          const std::vector<int64_t> &y) {
  for (auto [one, other] : llvm::zip(x, y))
    if (one != none && other != none && one != other)
      return false;
  for (auto [one, other] : llvm::zip(x, y))
    one = std::max(one, other);
  return true;
}

bool ReductionPlan::formParts() {
  for (size_t i = 0; i != points.size(); ++i) {
    // There must be something to have instead.
    if (conditions[i] && !neutral)
      return false;
    auto found = llvm::find_if(
        parts, [&](Part &part) { return merge(part.results, results[i]); });
    if (found == parts.end())
      parts.push_back({{int64_t(i)}, results[i]});
    else
      found->elements.push_back(i);
  }
  if (neutral && llvm::isPowerOf2_64(threads.lanes))
    for (Part &part : parts)
      joinLanes(part);
  return true;
}

void ReductionPlan::joinLanes(Part &part) {
  for (int64_t bit = 1; bit != threads.lanes; bit *= 2) {
    std::vector<int64_t> others(part.results.size());
    for (size_t t = 0; t != others.size(); ++t)
      others[t] = part.results[t ^ bit];
    if (merge(part.results, others))
      part.lanes |= bit;
  }
}

/// False where not all results have as many parts left, at the same terms.
bool ReductionPlan::layOut() {
  std::map<int64_t, SmallVector<int64_t>> places;
  for (const Part &part : parts)
    for (size_t t = 0; t != part.results.size(); ++t) {
      if (part.results[t] == none || (t & part.lanes) != 0)
        continue;
      int64_t first = part.elements.front();
      if (results[first][t] == none)
        return false;
      places[part.results[t]].push_back(terms[first][t]);
    }
  for (auto &[result, own] : places)
    llvm::sort(own);
  left = places.begin()->second.size();
  step = countTerms() / left;
  if (left > 1)
    step = places.begin()->second[1];
  for (auto &[result, own] : places) {
    if (int64_t(own.size()) != left)
      return false;
    for (auto [i, term] : llvm::enumerate(own))
      if (term != int64_t(i) * step)
        return false;
  }
  return true;
}

/// All elements, each for itself, go through memory.
void ReductionPlan::takeElements() {
  parts.clear();
  for (size_t i = 0; i != points.size(); ++i)
    parts.push_back({{int64_t(i)}, {}});
  step = 1;
  left = countTerms();
}

std::optional<SmallVector<int64_t>>
ReductionPlan::findAtHand(const Share &to, ImplicitLocOpBuilder &b) {
  if (left != 1 || parts.front().results.empty())
    return std::nullopt;
  SmallVector<int64_t> found;
  for (int64_t i = 0; i != to.count(); ++i) {
    std::vector<int64_t> result, term;
    if (!locate(to.point(b, i), to.exists(b, i), result, term))
      return std::nullopt;
    auto part = llvm::find_if(parts, [&](const Part &part) {
      return llvm::all_of(llvm::zip(result, part.results), [](auto both) {
        auto [needed, own] = both;
        return needed == none || needed == own;
      });
    });
    if (part == parts.end())
      return std::nullopt;
    found.push_back(part - parts.begin());
  }
  return found;
}
