// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OwnMemory.h"

#include <algorithm>

namespace ashlar::runtime {

/// In front of what was asked for.
struct OwnMemory::Block {
  OwnMemory *memory;
  size_t bytes; // with this
};

static thread_local OwnMemory *threads = nullptr;
OwnMemory OwnMemory::all;
OwnMemory OwnMemory::none;

OwnMemory::Owner OwnMemory::create() {
  Owner made(new OwnMemory);
  count(made.get(), sizeof(OwnMemory));
  return made;
}

OwnMemory *OwnMemory::ofThread() noexcept { return threads; }

OwnMemory::Scope::Scope(OwnMemory *memory) noexcept : before(threads) {
  threads = memory;
}

OwnMemory::Scope::~Scope() { threads = before; }

OwnMemory::Pages::Pages(uint64_t bytes) noexcept
    : memory(threads), bytes(bytes) {
  count(memory, bytes);
}

OwnMemory::Pages::~Pages() { discount(memory, bytes); }

void OwnMemory::add(uint64_t more) noexcept {
  uint64_t now = bytes.fetch_add(more, std::memory_order_relaxed) + more;
  uint64_t before = most.load(std::memory_order_relaxed);
  while (before < now &&
         !most.compare_exchange_weak(before, now, std::memory_order_relaxed))
    ;
}

/// As long as a runtime or a block lives, its count is not zero.
void OwnMemory::remove(uint64_t less) noexcept {
  if (bytes.fetch_sub(less, std::memory_order_acq_rel) == less &&
      this != &all && this != &none)
    delete this;
}

void OwnMemory::count(OwnMemory *memory, uint64_t more) noexcept {
  if (!memory)
    return none.add(more);
  all.add(more);
  memory->add(more);
}

void OwnMemory::discount(OwnMemory *memory, uint64_t less) noexcept {
  if (!memory)
    return none.remove(less);
  all.remove(less);
  memory->remove(less);
}

/// Behind a head that keeps the alignment.
static size_t headOf(size_t alignment, size_t head) {
  return std::max(alignment, head);
}

void *OwnMemory::allocate(size_t bytes, size_t alignment) {
  size_t head = headOf(alignment, sizeof(Block));
  size_t all = bytes + head;
  if (all < bytes)
    throw std::bad_alloc();
  auto *start =
      static_cast<char *>(alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
                              ? ::operator new(all, std::align_val_t(alignment))
                              : ::operator new(all));
  char *block = start + head;
  new (block - sizeof(Block)) Block{threads, all};
  count(threads, all);
  return block;
}

void OwnMemory::free(void *block, size_t alignment) noexcept {
  if (!block)
    return;
  auto *at = static_cast<char *>(block);
  Block was = *reinterpret_cast<Block *>(at - sizeof(Block));
  char *start = at - headOf(alignment, sizeof(Block));
  if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    ::operator delete(start, std::align_val_t(alignment));
  else
    ::operator delete(start);
  discount(was.memory, was.bytes);
}

} // namespace ashlar::runtime
