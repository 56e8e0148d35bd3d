// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeptValues.h"
#include "ChipLayout.h"
#include "PackColumns.h"
#include "ashlar/Planner/Planner.h"

#include <algorithm>

using namespace ashlar;
using namespace ashlar::systolic;

namespace {
/// Bytes of a binding.
struct Range {
  uint32_t binding;
  int64_t begin, end;

  bool overlaps(const Range &other) const {
    return binding == other.binding && begin < other.end && other.begin < end;
  }
  bool contains(const Range &other) const {
    return binding == other.binding && begin <= other.begin && other.end <= end;
  }
};

/// A result that later contractions read.
struct Candidate {
  size_t writer, lastReader;
  std::vector<Access *> readers; ///< on chip
  KeptValue value;
  int64_t planes, savedBytes;
};

class Finder {
public:
  Finder(std::vector<Contraction> &contractions, const Machine &machine,
         std::optional<uint32_t> inner)
      : contractions(contractions), machine(machine), inner(inner) {
    // By as much as a value's way out and back takes at least.
    for (const Contraction &contraction : contractions)
      isPacked.push_back(savedByPacking(contraction, machine) >
                         2 * int64_t(machine.memory_latency));
  }

  std::vector<Candidate> find();

private:
  bool describe(const Contraction &contraction, const Range &range,
                KeptValue &value) const;
  bool canRead(size_t reader, const Access &access,
               const KeptValue &value) const;

  std::vector<Contraction> &contractions;
  const Machine &machine;
  const std::optional<uint32_t> inner;
  std::vector<bool> isPacked; ///< by contraction: several results in a row
};
} // namespace

static Range rangeOf(const Contraction &contraction, const Access &access) {
  int64_t begin = access.offset, last = access.offset;
  for (size_t d = 0; d < contraction.sizes.size(); ++d) {
    int64_t reach = access.strides[d] * (contraction.sizes[d] - 1);
    (reach < 0 ? begin : last) += reach;
  }
  int64_t bytes = bytesOf(access.element);
  return {access.binding, begin * bytes, (last + 1) * bytes};
}

/// With what is around the result.
static Range rangeOfResult(const Contraction &contraction) {
  Range range = rangeOf(contraction, contraction.result);
  int64_t bytes = bytesOf(contraction.result.element);
  for (const Margin &margin : contraction.margins) {
    int64_t last = margin.offset;
    for (const Digit &digit : margin.digits)
      last += digit.bytes * (digit.size - 1);
    range.begin = std::min(range.begin, margin.offset * bytes);
    range.end = std::max(range.end, (last + 1) * bytes);
  }
  return range;
}

/// A result as planes of rows; false: it is no such thing.
bool Finder::describe(const Contraction &contraction, const Range &range,
                      KeptValue &value) const {
  const Access &result = contraction.result;
  int column = innermost(contraction, contraction.n);
  if (isWide(result.element) || contraction.epilogue.scale != 1 || column < 0 ||
      result.strides[size_t(column)] != 1 || contraction.m.size() > 4)
    return false;
  int64_t bytes = bytesOf(result.element);
  value.first = range.begin / bytes;
  value.columns = contraction.sizes[size_t(column)];
  value.rows = (range.end - range.begin) / bytes / value.columns;
  // A block of columns does not go beyond a row.
  if (contraction.count(contraction.n) > value.columns &&
      value.columns % machine.dim)
    return false;
  for (size_t d = 0; d < contraction.sizes.size(); ++d)
    if (int(d) != column && contraction.sizes[d] > 1 &&
        result.strides[d] % value.columns)
      return false;
  // All of the range is written.
  int64_t elements = contraction.count(contraction.batch) *
                     contraction.count(contraction.m) *
                     contraction.count(contraction.n);
  for (const Margin &margin : contraction.margins) {
    int64_t size = 1;
    for (const Digit &digit : margin.digits)
      size *= digit.size;
    elements += size;
    if ((margin.offset - value.first) % value.columns || size % value.columns)
      return false;
  }
  return elements * bytes == range.end - range.begin;
}

/// Whether an operand's columns go along the value's rows from the beginning of
/// a plane, and all else walks over rows.
bool Finder::canRead(size_t reader, const Access &access,
                     const KeptValue &value) const {
  const Contraction &contraction = contractions[reader];
  if (isPacked[reader] || &access == &contraction.b ||
      contraction.m.size() > 4 || isWide(access.element))
    return false;
  bool isA = &access == &contraction.a;
  int column =
      innermost(contraction, isA && !contraction.isDepthwise ? contraction.k
                                                             : contraction.n);
  int64_t at = (access.offset - value.first) % value.columns;
  if (column < 0 || access.strides[size_t(column)] != 1 || at % machine.dim ||
      at + contraction.sizes[size_t(column)] > value.columns)
    return false;
  for (size_t d = 0; d < contraction.sizes.size(); ++d)
    if (int(d) != column && contraction.sizes[d] > 1 &&
        (access.strides[d] < 0 || access.strides[d] % value.columns))
      return false;
  if (isA)
    return canReadTapsInPlace(contraction);
  // A row for each row of the result, block by block.
  for (const EpilogueValue &one : contraction.epilogue.values)
    if (one.kind == EpilogueValue::Operand &&
        &contraction.operands[one.operand] == &access &&
        one.reach != Reach::Each)
      return false;
  for (const EpilogueValue &one : contraction.rows.values)
    if (one.kind == EpilogueValue::Operand &&
        &contraction.operands[one.operand] == &access)
      return false;
  if (contraction.epilogue.bias >= 0 &&
      &contraction.operands[size_t(contraction.epilogue.bias)] == &access)
    return false;
  return contraction.count(contraction.n) ==
             contraction.sizes[size_t(column)] ||
         contraction.sizes[size_t(column)] % machine.dim == 0;
}

std::vector<Candidate> Finder::find() {
  std::vector<Candidate> candidates;
  for (size_t p = 0; p + 1 < contractions.size(); ++p) {
    Candidate candidate{p, p, {}, {}, 0, 0};
    Range range = rangeOfResult(contractions[p]);
    if (isPacked[p] || !describe(contractions[p], range, candidate.value))
      continue;
    KeptValue &value = candidate.value;
    value.isStored = !inner || range.binding != *inner;
    for (size_t q = p + 1; q < contractions.size(); ++q) {
      Contraction &contraction = contractions[q];
      std::vector<Access *> all = {&contraction.a, &contraction.b};
      for (Access &operand : contraction.operands)
        all.push_back(&operand);
      for (Access *access : all) {
        Range read = rangeOf(contraction, *access);
        if (!range.overlaps(read))
          continue;
        if (!range.contains(read) || !canRead(q, *access, value)) {
          value.isStored = true;
          continue;
        }
        candidate.readers.push_back(access);
        candidate.lastReader = q;
        candidate.savedBytes += read.end - read.begin;
      }
      // Another value lies there from now on.
      if (range.overlaps(rangeOfResult(contraction)) ||
          (contraction.unrounded &&
           range.overlaps(rangeOf(contraction, *contraction.unrounded))))
        break;
    }
    if (!value.isStored)
      candidate.savedBytes += range.end - range.begin;
    candidate.planes = (value.columns + machine.dim - 1) / machine.dim;
    if (!candidate.readers.empty())
      candidates.push_back(std::move(candidate));
  }
  return candidates;
}

/// The lowest places for some of them.
static planner::Plan planRows(const std::vector<Candidate> &candidates,
                              const std::vector<size_t> &chosen) {
  std::vector<planner::Buffer> buffers;
  for (size_t i : chosen) {
    const Candidate &one = candidates[i];
    buffers.push_back({int64_t(one.writer), int64_t(one.lastReader) + 1,
                       one.planes * one.value.rows, 1});
  }
  planner::Limits limits;
  limits.steps = 1'000'000;
  return planner::planLowest(buffers, limits);
}

KeptValues ashlar::systolic::keepValues(std::vector<Contraction> &contractions,
                                        const Machine &machine,
                                        std::optional<uint32_t> inner,
                                        int64_t mostRows) {
  KeptValues kept;
  // The way from the accumulator to the scratchpad is the vector unit's.
  if (!(machine.flags & ASHLAR_SYSTOLIC_EXTENDED))
    return kept;
  std::vector<Candidate> candidates =
      Finder(contractions, machine, inner).find();
  // First those that save most for the rows that they take, as long as they do.
  std::vector<size_t> order(candidates.size()), chosen;
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  auto worth = [&](size_t i) {
    const Candidate &one = candidates[i];
    return double(one.savedBytes) / double(one.planes * one.value.rows) /
           double(one.lastReader - one.writer);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return worth(a) > worth(b); });
  planner::Plan plan;
  for (size_t i : order) {
    chosen.push_back(i);
    planner::Plan more = planRows(candidates, chosen);
    if (more.peak > mostRows)
      chosen.pop_back();
    else
      plan = std::move(more);
  }
  kept.rows = plan.peak;
  for (size_t i = 0; i < chosen.size(); ++i) {
    Candidate &one = candidates[chosen[i]];
    one.value.place = plan.offsets[i];
    kept.savedBytes += one.savedBytes;
    kept.values.push_back(std::make_unique<KeptValue>(one.value));
    contractions[one.writer].result.kept = kept.values.back().get();
    for (Access *reader : one.readers)
      reader->kept = kept.values.back().get();
  }
  return kept;
}
