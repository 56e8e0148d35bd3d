// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of cycles.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_INTERVALS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_INTERVALS_H

#include "../../OwnMemory.h"

namespace ashlar::systolic {

using runtime::Vector;

/// A set, as it was added; merged when it is asked.
class Intervals {
public:
  /// [begin, end), in any order; cheap where they mostly come in order.
  void add(uint64_t begin, uint64_t end);
  /// All of theirs.
  void add(const Intervals &others);
  /// Cycles in it.
  uint64_t count() const;
  /// Of those that are not in `others`.
  uint64_t countWithout(const Intervals &others) const;
  /// Those in both.
  Intervals within(const Intervals &others) const;

private:
  /// Sorted and apart.
  Vector<std::pair<uint64_t, uint64_t>> merged() const;

  Vector<std::pair<uint64_t, uint64_t>> parts; // as they were added
};

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_INTERVALS_H
