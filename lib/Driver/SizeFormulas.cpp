// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizeFormulas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

std::optional<int64_t> ashlar::evaluateFormula(AffineExpr formula,
                                               const SizePoint &point) {
  if (auto constant = dyn_cast<AffineConstantExpr>(formula))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(formula))
    return point[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(formula);
  std::optional<int64_t> left = evaluateFormula(binary.getLHS(), point),
                         right = evaluateFormula(binary.getRHS(), point);
  if (!left || !right)
    return std::nullopt;
  int64_t result;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*left, *right, result) ? std::nullopt
                                                    : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*left, *right, result) ? std::nullopt
                                                    : std::optional(result);
  default:
    break;
  }
  if (*right <= 0)
    return std::nullopt;
  switch (binary.getKind()) {
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(*left, *right);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(*left, *right);
  default:
    return llvm::mod(*left, *right);
  }
}

SizeFormulas::SizeFormulas(MLIRContext *context, std::vector<SizeRange> given,
                           std::vector<SizePoint> points)
    : context(context), symbols(std::move(given)), where(std::move(points)),
      along(symbols.size()) {
  for (size_t at = 0; at != where.size(); ++at)
    for (size_t i = 0; i != symbols.size(); ++i) {
      SizePoint others = where[at];
      others[i] = where[0][i];
      if (others == where[0] && (at == 0 || where[at] != where[0]))
        along[i].push_back(at);
    }
}

static bool isInt64(__int128 value) { return value == int64_t(value); }

std::optional<SizeFormulas::Line>
SizeFormulas::findLine(unsigned symbol, int64_t unit,
                       ArrayRef<int64_t> values) const {
  ArrayRef<size_t> points = along[symbol];
  // Products of what does not fit may be large.
  using Wide = __int128;
  auto size = [&](size_t i) { return where[points[i]][symbol] / unit; };
  std::optional<Line> mixed; // the first one with a share of W itself
  for (int64_t d = 1; d <= largestDivisor; ++d)
    for (int64_t a = 0; a != d; ++a) {
      auto step = [&](size_t i) { return (size(i) + a) / d; };
      // From where the division gives the same comes what W itself adds, from
      // elsewhere what the division does.
      size_t other = 0, same = 0; // as the one before it
      for (size_t i = 1; i != points.size(); ++i) {
        if (step(i) != step(0))
          other = i;
        if (step(i) == step(i - 1) && size(i) != size(i - 1))
          same = i;
      }
      if (other == 0)
        continue;
      auto value = [&](size_t i) { return values[points[i]]; };
      Line line{0, a, d, 0, 0, unit};
      if (same != 0) {
        int64_t more = value(same) - value(same - 1);
        int64_t further = size(same) - size(same - 1);
        if (more % further != 0)
          continue;
        line.f = more / further;
      }
      Wide rise =
          value(other) - value(0) - Wide(line.f) * (size(other) - size(0));
      Wide run = step(other) - step(0);
      if (rise % run != 0)
        continue;
      Wide c = rise / run;
      Wide e = value(0) - c * step(0) - Wide(line.f) * size(0);
      bool fits = isInt64(c) && isInt64(e);
      for (size_t i = 0; i != points.size(); ++i)
        fits &= value(i) == c * step(i) + Wide(line.f) * size(i) + e;
      line.c = int64_t(c);
      line.e = int64_t(e);
      if (fits && line.f == 0)
        return line;
      if (fits && !mixed)
        mixed = line;
    }
  return mixed;
}

/// Without `e`, and without its factors where it is not wanted as a whole.
AffineExpr SizeFormulas::spell(unsigned symbol, const Line &line,
                               bool whole) const {
  AffineExpr own = getAffineSymbolExpr(symbol, context);
  AffineExpr step = (own + line.a * line.unit).floorDiv(line.d * line.unit);
  return whole ? step * line.c + own.floorDiv(line.unit) * line.f : step;
}

bool SizeFormulas::fits(AffineExpr formula, ArrayRef<int64_t> values) const {
  for (auto [point, value] : llvm::zip(where, values))
    if (evaluateFormula(formula, point) != value)
      return false;
  return true;
}

/// c * (floor + e / c) is a factor, too.
AffineExpr SizeFormulas::multiply(const SymbolLines &factors,
                                  ArrayRef<int64_t> values) const {
  AffineExpr product;
  int64_t left = values[0];
  for (const auto &[symbol, line] : factors) {
    if (line.f != 0 || line.c == 0)
      return {};
    AffineExpr part = spell(symbol, line, false);
    int64_t top = (symbols[symbol].maximum / line.unit + line.a) / line.d;
    if (line.e % line.c == 0) {
      part = part + line.e / line.c;
      top += line.e / line.c;
    }
    product = product ? product * part : part;
    if (left % std::max<int64_t>(top, 1) != 0)
      return {};
    left /= std::max<int64_t>(top, 1);
  }
  return product && left != 0 && fits(product * left, values) ? product * left
                                                              : AffineExpr();
}

AffineExpr SizeFormulas::search(ArrayRef<int64_t> values) {
  // What is added to all lines comes last, so that no constants lie between.
  AffineExpr sum = getAffineConstantExpr(0, context);
  int64_t rest = values[0];
  SymbolLines all, inSteps;
  for (unsigned i = 0; i != symbols.size(); ++i) {
    bool changes = llvm::any_of(
        along[i], [&](size_t at) { return values[at] != values[0]; });
    if (!changes)
      continue;
    std::optional<Line> line = findLine(i, 1, values), ofSteps;
    if (symbols[i].step > 1)
      ofSteps = findLine(i, symbols[i].step, values);
    if (!line)
      line = ofSteps;
    if (!line) {
      sum = {};
      all.clear();
      inSteps.clear();
      break;
    }
    sum = sum + spell(i, *line, true);
    rest = int64_t(uint64_t(rest) - uint64_t(values[0]) + uint64_t(line->e));
    all.push_back({i, *line});
    inSteps.push_back({i, ofSteps.value_or(*line)});
  }
  if (sum)
    sum = sum + rest;
  if (sum && fits(sum, values)) {
    lines.push_back(sum);
    return sum;
  }
  // A step that is divided by less than it has is two factors, maybe.
  for (const SymbolLines &factors : {all, inSteps})
    if (AffineExpr product = multiply(factors, values))
      return product;
  // Two sizes that became one dim.
  for (AffineExpr x : lines)
    for (AffineExpr y : lines) {
      std::optional<int64_t> at = evaluateFormula(x * y, where[0]);
      if (at && *at != 0 && values[0] % *at == 0 &&
          fits(x * y * (values[0] / *at), values))
        return x * y * (values[0] / *at);
    }
  return {};
}

std::optional<exec::SizeAttr> SizeFormulas::find(ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return exec::SizeAttr::get(context, values[0]);
  // No size is that large, and no product of two such numbers overflows.
  constexpr int64_t largest = int64_t(1) << 40;
  if (llvm::any_of(values, [](int64_t value) {
        return value <= -largest || value >= largest;
      }))
    return std::nullopt;
  auto [it, isNew] = known.try_emplace(values.vec());
  if (isNew)
    it->second = search(values);
  if (!it->second)
    return std::nullopt;
  return exec::SizeAttr::get(it->second, symbols.size(), values[0]);
}
