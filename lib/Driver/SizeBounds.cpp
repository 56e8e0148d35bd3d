// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most formulas grow with each symbol, which their form shows; the others are
// looked at everywhere.
#include "SizeBounds.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ashlar;

/// As many sizes are looked at in a moment.
static constexpr int64_t mostSizes = int64_t(1) << 20;

SizeBounds::SizeBounds(std::vector<SizeRange> given)
    : symbols(std::move(given)) {
  for (const SizeRange &range : symbols) {
    least.push_back(range.minimum);
    largest.push_back(range.maximum);
  }
}

static SmallVector<size_t> symbolsOf(AffineExpr formula, size_t count) {
  SmallVector<size_t> found;
  for (size_t i = 0; i != count; ++i)
    if (formula.isFunctionOfSymbol(unsigned(i)))
      found.push_back(i);
  return found;
}

bool SizeBounds::isWithin(AffineExpr formula, const SizePoint &point) const {
  std::optional<int64_t> value = evaluateFormula(formula, point),
                         most = evaluateFormula(formula, largest);
  return value && most && *value >= 0 && *value <= *most;
}

/// Of a formula of one symbol.
bool SizeBounds::growsAlong(AffineExpr formula, size_t symbol) const {
  const SizeRange &range = symbols[symbol];
  if ((range.maximum - range.minimum) / range.step >= mostSizes)
    return false;
  SizePoint point = least;
  std::optional<int64_t> before = evaluateFormula(formula, point);
  for (; before && point[symbol] != range.maximum;) {
    point[symbol] += range.step;
    std::optional<int64_t> next = evaluateFormula(formula, point);
    if (!next || *next < *before)
      return false;
    before = next;
  }
  return before.has_value();
}

/// Whether it never falls as symbols grow, as far as its form shows that.
bool SizeBounds::grows(AffineExpr formula) {
  if (isa<AffineConstantExpr, AffineSymbolExpr>(formula))
    return true;
  if (auto it = growing.find(formula); it != growing.end())
    return it->second;
  auto binary = cast<AffineBinaryOpExpr>(formula);
  AffineExpr left = binary.getLHS(), right = binary.getRHS();
  auto isPositive = [&](AffineExpr each) {
    std::optional<int64_t> value = evaluateFormula(each, least);
    return value && *value >= 0;
  };
  bool result = false;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    result = grows(left) && grows(right);
    break;
  case AffineExprKind::Mul:
    result =
        grows(left) && grows(right) && isPositive(left) && isPositive(right);
    break;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    result = isa<AffineConstantExpr>(right) && grows(left);
    break;
  default:
    break;
  }
  if (!result)
    if (auto own = symbolsOf(formula, symbols.size()); own.size() == 1)
      result = growsAlong(formula, own.front());
  growing[formula] = result;
  return result;
}

/// On the way from the largest sizes to `bad`, one symbol after the other.
SizeCut SizeBounds::cutBefore(AffineExpr formula, const SizePoint &bad) const {
  SizePoint point = largest;
  for (size_t i = 0; i != bad.size(); ++i) {
    SizePoint next = point;
    next[i] = bad[i];
    if (next != bad && isWithin(formula, next)) {
      point = next;
      continue;
    }
    while (point[i] - symbols[i].step > bad[i]) {
      point[i] -= symbols[i].step;
      if (!isWithin(formula, point))
        return {i, point[i] + symbols[i].step};
    }
    return {i, point[i]};
  }
  return {0, largest[0]};
}

std::optional<OutgrownSize> SizeBounds::search(AffineExpr formula) {
  if (grows(formula) && isWithin(formula, least) && isWithin(formula, largest))
    return std::nullopt;
  SmallVector<size_t> own = symbolsOf(formula, symbols.size());
  auto outgrown = [&](const SizePoint &point) -> OutgrownSize {
    OutgrownSize size{point, std::nullopt};
    if (point != largest)
      size.cut = cutBefore(formula, point);
    return size;
  };
  // Along one symbol at first: that is a part of its range.
  int64_t all = 1;
  for (size_t i : own) {
    int64_t count =
        (symbols[i].maximum - symbols[i].minimum) / symbols[i].step + 1;
    SizePoint point = largest;
    for (int64_t j = 0; j != std::min(count, mostSizes); ++j) {
      point[i] = symbols[i].maximum - j * symbols[i].step;
      if (!isWithin(formula, point))
        return outgrown(point);
    }
    all = count >= mostSizes ? mostSizes + 1
                             : std::min(all * count, mostSizes + 1);
  }
  if (all > mostSizes)
    return OutgrownSize();
  SizePoint point = largest;
  while (isWithin(formula, point)) {
    // The next one, as an odometer counts.
    auto turned = llvm::find_if(
        own, [&](size_t i) { return point[i] != symbols[i].minimum; });
    if (turned == own.end())
      return std::nullopt;
    point[*turned] -= symbols[*turned].step;
    for (auto before = own.begin(); before != turned; ++before)
      point[*before] = symbols[*before].maximum;
  }
  return outgrown(point);
}

std::optional<OutgrownSize> SizeBounds::find(AffineExpr formula) {
  auto it = found.find(formula);
  if (it == found.end())
    it = found.try_emplace(formula, search(formula)).first;
  return it->second;
}
