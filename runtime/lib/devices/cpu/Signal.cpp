// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Signal.h"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ashlar::runtime {

static void pauseCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void Signal::advance() {
  // Both accesses are sequentially consistent, as are those in waitWhile:
  // either the sleeper sees the new value or we see the sleeper.
  counter.fetch_add(1);
  if (sleepers.load() != 0)
    syscall(SYS_futex, &counter, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr,
            0);
}

void Signal::waitWhile(uint32_t old, unsigned spins) {
  for (unsigned i = 0; i < spins; ++i) {
    if (value() != old)
      return;
    pauseCpu();
  }
  sleepers.fetch_add(1);
  while (counter.load() == old)
    syscall(SYS_futex, &counter, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
  sleepers.fetch_sub(1);
}

} // namespace ashlar::runtime
