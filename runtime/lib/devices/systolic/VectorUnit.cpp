// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the vector unit computes. Words of 32 bits hold f32 or s32, as the
// type of the instruction says.

#include "Function.h"
#include "Inputs.h"

#include <algorithm>
#include <limits>

namespace ashlar::systolic {

// Of a row; checkMachine knows no wider one.
constexpr size_t mostColumns = 1024;

static float expOf(float x) {
  if (!(x == x))
    return x;
  if (x > 88.7228394f)
    return std::numeric_limits<float>::infinity();
  if (x < -103.972084f)
    return 0;
  // Cephes' expf: x = n ln 2 + r, ln 2 in two parts.
  float n = std::floor(x * 1.44269502f + 0.5f);
  float r = (x - n * 0.693359375f) + n * 2.12194442e-4f;
  float p = 1.98756912e-4f;
  p = p * r + 1.39819994e-3f;
  p = p * r + 8.33345205e-3f;
  p = p * r + 4.16657962e-2f;
  p = p * r + 1.66666657e-1f;
  p = p * r + 5.00000012e-1f;
  float y = (p * (r * r) + r) + 1;
  int32_t exponent = int32_t(n), half = exponent / 2;
  auto power = [](int32_t e) { return bitsAs<float>(uint32_t(e + 127) << 23); };
  return y * power(half) * power(exponent - half);
}

static float lookUp(const ashlar_systolic_table_t &table, float x) {
  float u = (x - table.first) * table.parts_per_unit;
  int32_t part = roundTo(std::floor(u), 0, ASHLAR_SYSTOLIC_TABLE_SEGMENTS - 1);
  float t = u - float(part);
  const float *c = table.coefficients[part];
  return c[0] + t * (c[1] + t * c[2]);
}

/// Operations that read the same in both types.
template <typename T> static T combine(uint32_t funct, T left, T right) {
  switch (funct) {
  case ASHLAR_SYSTOLIC_ADD:
  case ASHLAR_SYSTOLIC_ADD_IMMEDIATE:
    if constexpr (std::is_same_v<T, float>)
      return left + right;
    else
      return addWrapping(left, right);
  case ASHLAR_SYSTOLIC_SUBTRACT:
    if constexpr (std::is_same_v<T, float>)
      return left - right;
    else
      return T(uint32_t(left) - uint32_t(right));
  case ASHLAR_SYSTOLIC_MULTIPLY:
  case ASHLAR_SYSTOLIC_MULTIPLY_IMMEDIATE:
    if constexpr (std::is_same_v<T, float>)
      return left * right;
    else
      return T(uint32_t(left) * uint32_t(right));
  case ASHLAR_SYSTOLIC_MAXIMUM:
  case ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE:
    return left < right ? right : left;
  case ASHLAR_SYSTOLIC_MINIMUM:
  case ASHLAR_SYSTOLIC_MINIMUM_IMMEDIATE:
    return right < left ? right : left;
  case ASHLAR_SYSTOLIC_FILL:
    return right;
  default: // copy
    return left;
  }
}

template <typename T>
static void combineRow(uint32_t funct, int32_t *result, const int32_t *left,
                       const int32_t *right, bool isOne, uint32_t columns) {
  // Hoisted out of the loop, `funct` lets it be vectorised.
  auto loop = [&](auto operation) {
    for (uint32_t j = 0; j < columns; ++j)
      result[j] = bitsAs<int32_t>(
          operation(bitsAs<T>(left[j]), bitsAs<T>(right[isOne ? 0 : j])));
  };
#define ASHLAR_CASE(FUNCT)                                                     \
  case FUNCT:                                                                  \
    return loop([](T l, T r) { return combine<T>(FUNCT, l, r); })
  switch (funct) {
    ASHLAR_CASE(ASHLAR_SYSTOLIC_ADD);
    ASHLAR_CASE(ASHLAR_SYSTOLIC_MULTIPLY);
    ASHLAR_CASE(ASHLAR_SYSTOLIC_MAXIMUM);
    ASHLAR_CASE(ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE);
  default:
    return loop([&](T l, T r) { return combine<T>(funct, l, r); });
  }
#undef ASHLAR_CASE
}

template <typename T>
static T reduceRow(bool isMaximum, const int32_t *left, uint32_t columns) {
  if (isMaximum) {
    T greatest = bitsAs<T>(left[0]);
    for (uint32_t j = 1; j < columns; ++j)
      greatest = combine(ASHLAR_SYSTOLIC_MAXIMUM, greatest, bitsAs<T>(left[j]));
    return greatest;
  }
  T sums[16] = {};
  for (uint32_t j = 0; j < columns; ++j)
    sums[j % 16] =
        combine(ASHLAR_SYSTOLIC_ADD, sums[j % 16], bitsAs<T>(left[j]));
  for (uint32_t width = 8; width; width /= 2)
    for (uint32_t l = 0; l < width; ++l)
      sums[l] = combine(ASHLAR_SYSTOLIC_ADD, sums[l], sums[l + width]);
  return sums[0];
}

/// Widens a row of an operand. Returns why that may not be.
std::string Function::readVector(const Action &action, const Operand &operand,
                                 bool asIntegers, Row row, int32_t *words) {
  RowMemory &chip = memoryOf(operand.place);
  std::string why =
      chip.read(row, 0, operand.columns, action.queue, number, ordering);
  if (!why.empty())
    return why;
  const uint8_t *from = chip.row(row);
  if (operand.place.inAccumulator) {
    std::memcpy(words, from, operand.columns * sizeof(int32_t));
    return "";
  }
  if (isBF16 && asIntegers)
    return "an integer operation cannot read bf16";
  for (uint32_t j = 0; j < operand.columns; ++j) {
    if (isBF16)
      words[j] = bitsAs<int32_t>(fromBF16(loadAs<uint16_t>(from + 2 * j)));
    else if (auto value = int8_t(from[j]); asIntegers)
      words[j] = value;
    else
      words[j] = bitsAs<int32_t>(float(value));
  }
  return "";
}

/// Adds to what is there, if asked to, then narrows.
std::string Function::writeVector(const Action &action, bool isInteger, Row row,
                                  int32_t *words) {
  const Operand &result = action.result;
  RowMemory &chip = memoryOf(result.place);
  if (result.place.accumulates) {
    int32_t before[mostColumns];
    std::string why = readVector(action, result, isInteger, row, before);
    if (!why.empty())
      return why;
    uint32_t how = action.funct == ASHLAR_SYSTOLIC_ROW_MAXIMUM
                       ? ASHLAR_SYSTOLIC_MAXIMUM
                       : ASHLAR_SYSTOLIC_ADD;
    if (isInteger)
      combineRow<int32_t>(how, words, before, words, false, result.columns);
    else
      combineRow<float>(how, words, before, words, false, result.columns);
  }
  std::string why =
      chip.write(row, 0, result.columns, action.queue, number, ordering);
  if (!why.empty())
    return why;
  uint8_t *to = chip.row(row);
  if (result.place.inAccumulator) {
    std::memcpy(to, words, result.columns * sizeof(int32_t));
    return "";
  }
  for (uint32_t j = 0; j < result.columns; ++j) {
    float asFloat = isInteger ? float(words[j]) : bitsAs<float>(words[j]);
    if (isBF16)
      storeAs(to + 2 * j, toBF16(asFloat));
    else
      to[j] = uint8_t(isInteger ? saturate(words[j], -128, 127)
                                : roundTo(asFloat, -128, 127));
  }
  return "";
}

/// One row of a result: `width` elements of `left`, beside as many of `right`
/// or, with `isOne`, its first.
static void computeRow(const Action &action,
                       const ashlar_systolic_table_t *tables, uint32_t width,
                       bool isOne, const int32_t *left, const int32_t *right,
                       int32_t *result) {
  auto each = [&](auto operation) {
    for (uint32_t j = 0; j < width; ++j)
      result[j] = bitsAs<int32_t>(operation(bitsAs<float>(left[j])));
  };
  switch (action.funct) {
  case ASHLAR_SYSTOLIC_EXP:
    return each(expOf);
  case ASHLAR_SYSTOLIC_RECIPROCAL:
    return each([](float x) { return 1 / x; });
  case ASHLAR_SYSTOLIC_RECIPROCAL_ROOT:
    return each([](float x) { return 1 / std::sqrt(x); });
  case ASHLAR_SYSTOLIC_LOOKUP:
    return each([&](float x) { return lookUp(tables[action.immediate], x); });
  case ASHLAR_SYSTOLIC_TO_FLOAT:
    for (uint32_t j = 0; j < width; ++j)
      result[j] = bitsAs<int32_t>(float(left[j]));
    return;
  case ASHLAR_SYSTOLIC_TO_INTEGER:
    for (uint32_t j = 0; j < width; ++j)
      result[j] =
          roundTo(bitsAs<float>(left[j]), std::numeric_limits<int32_t>::min(),
                  std::numeric_limits<int32_t>::max());
    return;
  case ASHLAR_SYSTOLIC_ROW_MAXIMUM:
  case ASHLAR_SYSTOLIC_ROW_SUM: {
    bool isMaximum = action.funct == ASHLAR_SYSTOLIC_ROW_MAXIMUM;
    result[0] = action.isInteger
                    ? reduceRow<int32_t>(isMaximum, left, width)
                    : bitsAs<int32_t>(reduceRow<float>(isMaximum, left, width));
    return;
  }
  default:
    if (action.isInteger)
      combineRow<int32_t>(action.funct, result, left, right, isOne, width);
    else
      combineRow<float>(action.funct, result, left, right, isOne, width);
  }
}

bool Function::vector(const Action &action) {
  const uint32_t funct = action.funct, columns = action.left.columns;
  if (funct == ASHLAR_SYSTOLIC_LOOKUP && !hasTable[action.immediate])
    return fail(action, "table " + std::to_string(action.immediate) +
                            " was never loaded");
  auto list = [](const Operand &operand, Vector<Row> &rows) {
    rows.resize(operand.walk.rows);
    operand.walk.forEach([&](uint32_t i, int64_t row, int64_t) {
      rows[i] = Row(operand.place.row + row);
    });
  };
  const bool hasLeft = action.left.place.exists;
  const bool hasRight = action.second.place.exists;
  list(action.result, cRows);
  if (hasLeft)
    list(action.left, aRows);
  if (hasRight)
    list(action.second, dRows);

  int32_t left[mostColumns], right[mostColumns], result[mostColumns];
  right[0] = int32_t(action.immediate);
  const bool isOne = !hasRight || action.right == ASHLAR_SYSTOLIC_ONE_COLUMN;
  const bool takesIntegers =
      funct == ASHLAR_SYSTOLIC_TO_FLOAT ||
      (action.isInteger && funct != ASHLAR_SYSTOLIC_TO_INTEGER);
  const bool givesIntegers =
      funct == ASHLAR_SYSTOLIC_TO_INTEGER ||
      (action.isInteger && funct != ASHLAR_SYSTOLIC_TO_FLOAT);
  const uint32_t width = hasLeft ? columns : action.result.columns;
  std::fill_n(left, width, 0);
  for (size_t i = 0; i < cRows.size(); ++i) {
    std::string why;
    if (hasLeft)
      why = readVector(action, action.left, takesIntegers, aRows[i], left);
    if (hasRight && why.empty())
      why = readVector(action, action.second, takesIntegers, dRows[i], right);
    if (!why.empty())
      return fail(action, why);
    computeRow(action, tables, width, isOne, left, right, result);
    why = writeVector(action, givesIntegers, cRows[i], result);
    if (!why.empty())
      return fail(action, why);
  }
  return true;
}

} // namespace ashlar::systolic
