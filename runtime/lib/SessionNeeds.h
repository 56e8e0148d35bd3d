// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session of a module takes, from the module's index alone.

#ifndef ASHLAR_RUNTIME_LIB_SESSIONNEEDS_H
#define ASHLAR_RUNTIME_LIB_SESSIONNEEDS_H

#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "Module.h"
#include "OwnMemory.h"

namespace ashlar::runtime {

/// In bytes.
struct SessionNeeds {
  uint64_t arenaRoom = 0;   // of arena 0, for the largest sizes
  Vector<uint64_t> arenas;  // by number; at first
  Vector<uint64_t> scratch; // by device, of all workers
  uint64_t outputs = 0;     // of all entries, at their largest
  uint64_t staging = 0;     // likewise

  /// What is charged when the session is created: all arenas, then all
  /// scratch; and with `all`, what any run may need beyond. Arenas that are
  /// shared ask for nothing here.
  Vector<Budget::Request> requests(const Module &module, bool all,
                                   bool hasArenas) const;
};

/// Bytes of an input's or output's buffer: whole lines of cache. False where
/// they overflow.
[[nodiscard]] bool bufferBytes(uint64_t bytes, uint64_t &out);

/// Of all tensors, each by `shapeOf(tensor, shape, bytes)`, added to `sum`;
/// false where something overflows.
template <typename Tensors, typename ShapeOf>
bool addTensors(const Tensors *tensors, const ShapeOf &shapeOf, uint64_t &sum) {
  for (uint32_t i = 0; i < count(tensors); ++i) {
    int64_t shape[ASHLAR_MAX_RANK];
    uint64_t bytes = 0;
    // A state is the caller's.
    if (tensors->Get(i)->state_bytes())
      continue;
    if (!shapeOf(*tensors->Get(i), shape, bytes) ||
        !bufferBytes(bytes, bytes) || !checkedAdd(sum, bytes, sum))
      return false;
  }
  return true;
}

/// How many workers a session has that asks for `threads`, or with 0 for none
/// in particular; of a virtual device, at most those that it has.
uint32_t sessionWorkers(const Module &module, uint32_t threads);

/// With `all`, the arena is that of the largest sizes from the start.
Status sessionNeeds(const Module &module, uint32_t workers, bool all,
                    SessionNeeds &out);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SESSIONNEEDS_H
