// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arena of a piece at given sizes.

#ifndef ASHLAR_RUNTIME_LIB_PLACEVALUES_H
#define ASHLAR_RUNTIME_LIB_PLACEVALUES_H

#include "ArenaPlacement.h"
#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "OwnMemory.h"
#include "ashlar/runtime/kernel_abi.h"

namespace ashlar::runtime {

/// Gives each value of the arena, if they may move, its size and place, and
/// says how many bytes all of it takes; `evaluate(size, value)` knows the
/// sizes.
template <typename Evaluate>
Status placeValues(const fb::ProgramEntry &piece, const Evaluate &evaluate,
                   Vector<ArenaValue> &values, uint64_t &bytes) {
  bytes = piece.contract()->arena_bytes();
  if (count(piece.buffers()) == 0)
    return {};
  constexpr uint64_t line = ASHLAR_KERNEL_BUFFER_ALIGNMENT;
  values.resize(count(piece.buffers()));
  for (uint32_t i = 0; i < values.size(); ++i) {
    const fb::ArenaBuffer &buffer = *piece.buffers()->Get(i);
    int64_t size = 0;
    ASHLAR_RETURN_IF_ERROR(evaluate(*buffer.size(), size));
    // The plan has room for the largest only.
    if (!fits(buffer.offset(), uint64_t(size), bytes))
      return corrupt(concat("a value of ", size,
                            " bytes is larger than at the largest sizes"),
                     concat("buffers[", i, "]"));
    values[i] = {(uint64_t(size) + line - 1) / line * line, buffer.offset(),
                 buffer.first(), buffer.last(), 0};
  }
  uint64_t needed = placeInArena(values);
  if (needed <= bytes) {
    bytes = needed;
    return {};
  }
  // The compiler's plan holds all sizes, unless one grows as others shrink.
  if (!takePlan(values))
    return corrupt("a value is larger than at the largest sizes", "buffers");
  return {};
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_PLACEVALUES_H
