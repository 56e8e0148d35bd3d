// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GuardMemory.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace ashlar::runtime {

static constexpr uint64_t line = 64;
static const uint64_t pageSize = uint64_t(sysconf(_SC_PAGESIZE));

GuardMemory::~GuardMemory() {
  for (const auto &entry : blocks)
    munmap(entry.second.pages, entry.second.pageBytes + pageSize);
}

Status GuardMemory::allocate(uint64_t size, void **out) {
  // So that sums do not overflow; no machine has as much.
  constexpr uint64_t most = uint64_t(1) << 46;
  Block block = {};
  // An allocation of no bytes has an address of its own, too.
  block.size = ((size < most ? size : most) + line - 1) / line * line;
  block.size = block.size ? block.size : line;
  block.pageBytes = (block.size + pageSize - 1) / pageSize * pageSize;
  void *pages = size < most
                    ? mmap(nullptr, block.pageBytes + pageSize, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                    : MAP_FAILED;
  if (pages == MAP_FAILED)
    return failure(ASHLAR_OUT_OF_BUDGET,
                   concat("the system has no ", size, " bytes of memory"));
  block.pages = static_cast<char *>(pages);
  block.data = block.pages + block.pageBytes - block.size;
  std::lock_guard<std::mutex> lock(mutex);
  blocks[block.data + block.size] = block;
  *out = block.data;
  return {};
}

void GuardMemory::free(void *address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = blocks.upper_bound(static_cast<char *>(address));
  // What is still open is in use: whoever frees it is wrong.
  if (found == blocks.end() || found->second.data != address ||
      found->second.readers || found->second.writers)
    std::abort();
  munmap(found->second.pages, found->second.pageBytes + pageSize);
  blocks.erase(found);
}

GuardMemory::Block *GuardMemory::find(const Range &range) {
  auto *begin = static_cast<const char *>(range.address);
  auto found = blocks.upper_bound(begin);
  if (found == blocks.end() || begin < found->second.data ||
      range.bytes > uint64_t(found->first - begin))
    return nullptr;
  return &found->second;
}

void GuardMemory::protect(const Block &block) {
  int rights = block.writers   ? PROT_READ | PROT_WRITE
               : block.readers ? PROT_READ
                               : PROT_NONE;
  if (mprotect(block.pages, block.pageBytes, rights) != 0)
    std::abort();
}

void GuardMemory::count(const Range &range, uint32_t by) {
  Block *block = find(range);
  if (!block)
    return;
  bool wasRead = block->readers, wasWritten = block->writers;
  (range.isWritten ? block->writers : block->readers) += by;
  if (wasRead != (block->readers != 0) || wasWritten != (block->writers != 0))
    protect(*block);
}

Status GuardMemory::open(const Vector<Range> &ranges) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Range &range : ranges)
    if (range.bytes != 0 && !find(range))
      return failure(
          ASHLAR_INTERNAL,
          concat(range.bytes, " bytes are not within one allocation of guard"));
  for (const Range &range : ranges)
    if (range.bytes != 0)
      count(range, 1);
  return {};
}

void GuardMemory::close(const Vector<Range> &ranges) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Range &range : ranges)
    if (range.bytes != 0)
      count(range, uint32_t(-1));
}

} // namespace ashlar::runtime
