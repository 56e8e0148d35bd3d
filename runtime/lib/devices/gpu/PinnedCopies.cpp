// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PinnedCopies.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

static constexpr size_t alignment = 64;

char *PinnedCopies::add(void *host, size_t size) {
  std::lock_guard<std::mutex> lock(mutex);
  if (end == most || size > bytes - used)
    return nullptr;
  char *pinned = memory + used;
  copies[end++] = {static_cast<char *>(host), pinned, size};
  used = std::min(bytes, (used + size + alignment - 1) / alignment * alignment);
  return pinned;
}

uint64_t PinnedCopies::given() const {
  std::lock_guard<std::mutex> lock(mutex);
  return delivered + (end - begin);
}

void PinnedCopies::deliver(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  for (; begin != end && delivered < number; ++delivered) {
    const Copy &each = copies[begin++];
    std::memcpy(each.host, each.pinned, each.size);
  }
  if (begin == end)
    begin = end = used = 0;
}

void PinnedCopies::drop() {
  std::lock_guard<std::mutex> lock(mutex);
  delivered += end - begin;
  begin = end = used = 0;
}

bool PinnedCopies::isPending(uint64_t number) const {
  std::lock_guard<std::mutex> lock(mutex);
  return begin != end && delivered < number;
}

bool PinnedCopies::isFor(const void *host, size_t size) const {
  std::lock_guard<std::mutex> lock(mutex);
  const auto at = reinterpret_cast<uintptr_t>(host);
  return std::any_of(copies + begin, copies + end, [&](const Copy &each) {
    const auto there = reinterpret_cast<uintptr_t>(each.host);
    return at < there + each.size && there < at + size;
  });
}

} // namespace ashlar::runtime
