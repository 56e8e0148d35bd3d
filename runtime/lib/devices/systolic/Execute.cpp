// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the arrays compute.

#include "ArrayMath.h"
#include "Function.h"
#include "Inputs.h"

#include <algorithm>

namespace ashlar::systolic {

/// Columns of a row of sums or weights in ArrayMath.
static size_t strideOf(uint32_t dim) {
  return (dim + sumBlock - 1) / sumBlock * sumBlock;
}

/// Every row the operand visits, checked for reading.
bool Function::rowsOf(const Action &action, const Operand &operand,
                      Vector<Row> &rows) {
  rows.resize(operand.walk.rows);
  std::string why;
  operand.walk.forEach([&](uint32_t i, int64_t row, int64_t) {
    rows[i] = Row(operand.place.row + row);
    if (why.empty())
      why = scratchpad.read(rows[i], 0, operand.columns, action.queue, number,
                            ordering);
  });
  return why.empty() || fail(action, why);
}

namespace {
/// Row k of B where ArrayMath wants it: rows of integers alternate in pairs.
template <typename Factor>
Factor &weightAt(Vector<Factor> &values, size_t stride, size_t k, size_t j) {
  if constexpr (std::is_same_v<Factor, float>)
    return values[k * stride + j];
  else
    return values[k / 2 * 2 * stride + 2 * j + k % 2];
}

size_t evenUp(size_t value) { return (value + 1) / 2 * 2; }
} // namespace

template <typename Input> bool Function::preload(const Action &action) {
  using Stored = typename Input::Stored;
  Array<Input> &array =
      arrays->at<Input>(action.queue - ASHLAR_SYSTOLIC_EXECUTE);
  const size_t stride = strideOf(machine.dim);
  const Operand &matrix = action.stationary;
  dRows.clear();
  if (matrix.place.exists && !rowsOf(action, matrix, dRows))
    return false;
  array.pendingIsSums = action.outputStationary;
  if (action.outputStationary) {
    array.pendingSums.assign(machine.dim * stride, 0);
    for (size_t i = 0; i < dRows.size(); ++i)
      for (uint32_t j = 0; j < matrix.columns; ++j)
        array.pendingSums[i * stride + j] = Input::widen(
            loadAs<Stored>(scratchpad.row(dRows[i]) + j * sizeof(Stored)));
    return true;
  }
  auto &pending = array.pending;
  pending.rows = uint32_t(dRows.size());
  pending.columns = matrix.place.exists ? matrix.columns : 0;
  if (action.bTransposed)
    std::swap(pending.rows, pending.columns);
  pending.values.assign(evenUp(pending.rows) * stride, 0);
  for (size_t i = 0; i < dRows.size(); ++i)
    for (uint32_t j = 0; j < matrix.columns; ++j) {
      size_t k = action.bTransposed ? j : i, n = action.bTransposed ? i : j;
      weightAt(pending.values, stride, k, n) = Input::factor(
          loadAs<Stored>(scratchpad.row(dRows[i]) + j * sizeof(Stored)));
    }
  return true;
}

template <typename Input> bool Function::compute(const Action &action) {
  Array<Input> &array =
      arrays->at<Input>(action.queue - ASHLAR_SYSTOLIC_EXECUTE);
  if (action.flips) {
    if (array.pendingIsSums != action.outputStationary)
      return fail(action, "what was preloaded is for the other dataflow");
    if (action.outputStationary) {
      array.sums = array.pendingSums;
      array.hasSums = true;
    } else {
      array.current = array.pending;
      array.hasWeights = true;
    }
  } else if (action.outputStationary ? !array.hasSums : !array.hasWeights) {
    return fail(action, "the array holds nothing yet");
  }
  return action.outputStationary ? accumulateOutputStationary(action, array)
                                 : streamWeightStationary(action, array);
}

template <typename Input>
bool Function::writeC(const Action &action, const typename Input::Sum *sums,
                      size_t stride, uint32_t firstRow, uint32_t rows) {
  using Sum = typename Input::Sum;
  using Stored = typename Input::Stored;
  const Place &place = action.c.place;
  const uint32_t columns = action.c.columns;
  RowMemory &chip = memoryOf(place);
  std::string why;
  for (uint32_t i = 0; i < rows; ++i) {
    Row at = cRows[firstRow + i];
    bool adds = place.inAccumulator && place.accumulates;
    if (adds)
      why = chip.read(at, 0, columns, action.queue, number, ordering);
    if (why.empty())
      why = chip.write(at, 0, columns, action.queue, number, ordering);
    if (!why.empty())
      return fail(action, why);
    uint8_t *row = chip.row(at);
    const Sum *sum = sums + i * stride;
    if (!place.inAccumulator)
      for (uint32_t j = 0; j < columns; ++j)
        storeAs(row + j * sizeof(Stored),
                Input::shifted(sum[j], action.shift, action.relu));
    else if (adds)
      for (uint32_t j = 0; j < columns; ++j)
        storeAs(row + j * sizeof(Sum),
                Input::add(loadAs<Sum>(row + j * sizeof(Sum)), sum[j]));
    else
      std::memcpy(row, sum, columns * sizeof(Sum));
  }
  return true;
}

/// The rows that a walk visits, in order.
static void listRows(const Operand &operand, Vector<uint32_t> &rows) {
  rows.resize(operand.walk.rows);
  operand.walk.forEach([&](uint32_t i, int64_t row, int64_t) {
    rows[i] = uint32_t(operand.place.row + row);
  });
}

template <typename Input>
bool Function::streamWeightStationary(const Action &action,
                                      Array<Input> &array) {
  using Stored = typename Input::Stored;
  using Factor = typename Input::Factor;
  using Sum = typename Input::Sum;
  const size_t stride = strideOf(machine.dim);
  if (!rowsOf(action, action.a, aRows))
    return false;
  dRows.clear();
  if (action.moving.place.exists && !rowsOf(action, action.moving, dRows))
    return false;
  if (!action.c.place.exists)
    return true;
  listRows(action.c, cRows);

  // A transposed lies there as columns.
  uint32_t heightOfA =
      action.aTransposed ? action.a.columns : action.a.walk.rows;
  uint32_t widthOfA =
      action.aTransposed ? action.a.walk.rows : action.a.columns;
  uint32_t depth = std::min(widthOfA, array.current.rows);
  size_t aStride = evenUp(depth);
  constexpr uint32_t chunk = 64;
  aBuffer.assign(chunk * aStride * sizeof(Factor), 0);
  sumBuffer.resize(chunk * stride * sizeof(Sum));
  auto *a = reinterpret_cast<Factor *>(aBuffer.data());
  auto *sums = reinterpret_cast<Sum *>(sumBuffer.data());
  const uint32_t columns = std::min(action.c.columns, array.current.columns);

  for (uint32_t first = 0; first < cRows.size(); first += chunk) {
    uint32_t rows = std::min(chunk, uint32_t(cRows.size()) - first);
    uint32_t rowsWithA =
        first < heightOfA ? std::min(rows, heightOfA - first) : 0;
    for (uint32_t i = 0; i < rowsWithA; ++i)
      for (uint32_t k = 0; k < depth; ++k) {
        Row row = aRows[action.aTransposed ? k : first + i];
        uint32_t column = action.aTransposed ? first + i : k;
        a[i * aStride + k] = Input::factor(
            loadAs<Stored>(scratchpad.row(row) + column * sizeof(Stored)));
      }
    for (uint32_t i = 0; i < rows; ++i) {
      std::fill_n(sums + i * stride, stride, Sum(0));
      if (first + i < dRows.size())
        for (uint32_t j = 0; j < action.moving.columns; ++j)
          sums[i * stride + j] = Input::widen(loadAs<Stored>(
              scratchpad.row(dRows[first + i]) + j * sizeof(Stored)));
    }
    multiplyAdd(a, aStride, array.current.values.data(), sums, stride,
                rowsWithA, Input::isInteger ? aStride : depth, columns);
    if (!writeC<Input>(action, sums, stride, first, rows))
      return false;
  }
  return true;
}

template <typename Input>
bool Function::accumulateOutputStationary(const Action &action,
                                          Array<Input> &array) {
  using Stored = typename Input::Stored;
  using Factor = typename Input::Factor;
  const size_t stride = strideOf(machine.dim);
  if (!rowsOf(action, action.a, aRows) || !rowsOf(action, action.moving, dRows))
    return false;
  uint32_t height = action.aTransposed ? action.a.columns : action.a.walk.rows;
  uint32_t width = action.aTransposed ? action.a.walk.rows : action.a.columns;
  const auto &b = action.moving;
  uint32_t depthOfB = action.bTransposed ? b.columns : b.walk.rows;
  uint32_t columns = action.bTransposed ? b.walk.rows : b.columns;
  uint32_t depth = std::min(width, depthOfB);
  auto element = [&](Row row, uint32_t column) {
    return Input::factor(
        loadAs<Stored>(scratchpad.row(row) + column * sizeof(Stored)));
  };
  size_t aStride = evenUp(depth);
  Vector<Factor> a(height * aStride), weights(aStride * stride);
  for (uint32_t i = 0; i < height; ++i)
    for (uint32_t k = 0; k < depth; ++k)
      a[i * aStride + k] =
          action.aTransposed ? element(aRows[k], i) : element(aRows[i], k);
  for (uint32_t k = 0; k < depth; ++k)
    for (uint32_t j = 0; j < columns; ++j)
      weightAt(weights, stride, k, j) =
          action.bTransposed ? element(dRows[j], k) : element(dRows[k], j);
  multiplyAdd(a.data(), aStride, weights.data(), array.sums.data(), stride,
              height, Input::isInteger ? aStride : depth, columns);
  if (!action.c.place.exists)
    return true;
  listRows(action.c, cRows);
  if constexpr (Input::isInteger) {
    // Modulo 2^bits, so that only what leaves the array has to fit.
    const uint32_t bits = machine.array_sum_bits ? machine.array_sum_bits : 32;
    for (size_t i = 0; i < cRows.size(); ++i)
      for (uint32_t j = 0; j < action.c.columns; ++j) {
        int32_t sum = array.sums[i * stride + j];
        if (sum >> (bits - 1) != 0 && sum >> (bits - 1) != -1)
          return fail(action, "row " + std::to_string(i) + ", column " +
                                  std::to_string(j) + " of C: the sum " +
                                  std::to_string(sum) +
                                  " has no room in the array's " +
                                  std::to_string(bits) + " bits");
      }
  }
  return writeC<Input>(action, array.sums.data(), stride, 0,
                       uint32_t(cRows.size()));
}

template bool Function::preload<BF16>(const Action &);
template bool Function::preload<S8>(const Action &);
template bool Function::compute<BF16>(const Action &);
template bool Function::compute<S8>(const Action &);

} // namespace ashlar::systolic
