// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fuzzers demand of what they call.

#ifndef ASHLAR_RUNTIME_FUZZ_REQUIRE_H
#define ASHLAR_RUNTIME_FUZZ_REQUIRE_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sanitizer/allocator_interface.h>

namespace ashlar::fuzz {

inline void require(bool holds) {
  if (!holds)
    std::abort();
}

/// While it lives, no more is allocated at the same time than a multiple of the
/// file's size and some bytes that every file may take.
class MemoryBound {
public:
  MemoryBound(size_t fileBytes, int64_t multiple, int64_t some)
      : allowed(some + multiple * int64_t(fileBytes)) {
    static const bool installed =
        __sanitizer_install_malloc_and_free_hooks(count, uncount) != 0;
    require(installed);
    held = 0;
    most = 0;
  }
  ~MemoryBound() {
    if (most <= allowed)
      return;
    std::fprintf(stderr, "%lld bytes were held, %lld are allowed\n",
                 (long long)most, (long long)allowed);
    std::abort();
  }

private:
  static void count(const volatile void *, size_t bytes) {
    held += int64_t(bytes);
    int64_t now = held;
    if (now > most)
      most = now;
  }
  static void uncount(const volatile void *memory) {
    if (memory)
      held -= int64_t(
          __sanitizer_get_allocated_size(const_cast<const void *>(memory)));
  }

  static inline std::atomic<int64_t> held{0}, most{0};
  const int64_t allowed;
};

/// The bytes of an input as choices.
class Choices {
public:
  Choices(const uint8_t *data, size_t size) : at(data), end(data + size) {}
  bool isOver() const { return at == end; }
  uint8_t byte() { return at == end ? 0 : *at++; }
  uint32_t below(uint32_t count) { return byte() % count; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value = value << 8 | byte();
    return value;
  }
  const uint8_t *rest() const { return at; }
  size_t left() const { return size_t(end - at); }

private:
  const uint8_t *at, *end;
};

} // namespace ashlar::fuzz

#endif // ASHLAR_RUNTIME_FUZZ_REQUIRE_H
