// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets one allocation of this thread fail. For one source of an executable.

#ifndef ASHLAR_RUNTIME_TEST_FAILINGNEW_H
#define ASHLAR_RUNTIME_TEST_FAILINGNEW_H

#include "Sanitized.h"

#include <cstdlib>
#include <new>

namespace ashlar::test {
/// Allocations until the one that fails; negative: none does.
inline thread_local long allocationsLeft = -1;
} // namespace ashlar::test

// ThreadSanitizer brings these along itself: there, nothing fails.
#if !ASHLAR_TEST_TSAN
void *operator new(std::size_t size) {
  if (ashlar::test::allocationsLeft >= 0 &&
      ashlar::test::allocationsLeft-- == 0)
    throw std::bad_alloc();
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace ashlar::test {

/// Calls act() with the first allocation failing, then the second, and so on
/// until none does; failed(status) looks at what happened. How many there were.
template <typename Act, typename Failed>
long failEachAllocation(const Act &act, const Failed &failed) {
  for (long n = 0;; ++n) {
    allocationsLeft = n;
    auto status = act();
#if ASHLAR_TEST_TSAN
    return n;
#endif
    bool wasReached = allocationsLeft < 0;
    allocationsLeft = -1;
    if (!wasReached)
      return n;
    failed(status);
  }
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_FAILINGNEW_H
