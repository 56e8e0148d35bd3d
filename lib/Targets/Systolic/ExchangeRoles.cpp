// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input-stationary: to the array, weights and inputs are the same. Where a
// model has few rows and many columns, or a few more columns than the array,
// its inputs make the better stationary matrix.
#include "ExchangeRoles.h"

#include <utility>

using namespace ashlar::systolic;

static Reach exchanged(Reach reach) {
  return reach == Reach::Row      ? Reach::Column
         : reach == Reach::Column ? Reach::Row
                                  : reach;
}

/// The vector unit takes a column on the right alone, and narrows whole rows.
static bool exchangeEpilogue(Epilogue &epilogue) {
  // It comes with an mvin, which repeats rows, not columns.
  if (epilogue.bias >= 0)
    return false;
  std::vector<EpilogueValue> &values = epilogue.values;
  for (EpilogueValue &value : values) {
    value.reach = exchanged(value.reach);
    if (value.isNarrow &&
        !(value.reach == Reach::Each || value.reach == Reach::Column))
      return false;
    if (value.kind != EpilogueValue::Result || value.right < 0 ||
        !hasColumns(value.reach) ||
        hasColumns(values[size_t(value.left)].reach))
      continue;
    if (value.funct == ASHLAR_SYSTOLIC_SUBTRACT ||
        !hasColumns(values[size_t(value.right)].reach))
      return false;
    std::swap(value.left, value.right);
  }
  return true;
}

std::optional<Contraction>
ashlar::systolic::exchangeRoles(const Contraction &contraction) {
  if (contraction.isDepthwise || contraction.sideBySide.taps ||
      contraction.rows.exist() || contraction.unrounded)
    return std::nullopt;
  Contraction exchanged = contraction;
  if (!exchangeEpilogue(exchanged.epilogue))
    return std::nullopt;
  exchanged.isExchanged = !contraction.isExchanged;
  std::swap(exchanged.a, exchanged.b);
  std::swap(exchanged.m, exchanged.n);
  // Weights have no taps to be read in place.
  exchanged.aCoordinates.clear();
  return exchanged;
}
