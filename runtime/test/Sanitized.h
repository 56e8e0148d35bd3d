// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which sanitizer a test is built with: they keep memory of their own, and make
// what looks at every byte of a file many times slower.

#ifndef ASHLAR_RUNTIME_TEST_SANITIZED_H
#define ASHLAR_RUNTIME_TEST_SANITIZED_H

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <unistd.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define ASHLAR_TEST_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define ASHLAR_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASHLAR_TEST_ASAN 1
#elif __has_feature(thread_sanitizer)
#define ASHLAR_TEST_TSAN 1
#endif
#endif
#ifndef ASHLAR_TEST_ASAN
#define ASHLAR_TEST_ASAN 0
#endif
#ifndef ASHLAR_TEST_TSAN
#define ASHLAR_TEST_TSAN 0
#endif

namespace ashlar::test {

inline constexpr bool isSanitized = ASHLAR_TEST_ASAN || ASHLAR_TEST_TSAN;

/// Of the changes to byte i of a file: all, under a sanitizer one in turn.
inline std::vector<uint8_t> changesAt(size_t i,
                                      std::initializer_list<uint8_t> all) {
  if (isSanitized)
    return {all.begin()[i % all.size()]};
  return all;
}

/// Bytes of the process in memory.
inline uint64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * uint64_t(sysconf(_SC_PAGESIZE));
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_SANITIZED_H
