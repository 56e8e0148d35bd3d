// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which process a handle was made. A child made by fork has its parent's
// memory, but neither its threads nor its drivers.

#ifndef ASHLAR_RUNTIME_LIB_BIRTH_H
#define ASHLAR_RUNTIME_LIB_BIRTH_H

#include <atomic>
#include <cstdint>

namespace ashlar::runtime {

/// How many lie between this process and the one that opened the library.
/// ApiRuntime.cpp counts.
inline std::atomic<uint32_t> forks{0};

/// Kept beside a handle, which a child refuses to use.
class Birth {
public:
  /// False in a child of the process that made it.
  bool isOurs() const {
    return forksBefore == forks.load(std::memory_order_relaxed);
  }

private:
  uint32_t forksBefore = forks.load(std::memory_order_relaxed);
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_BIRTH_H
