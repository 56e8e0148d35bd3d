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

namespace {
/// Behind a head that keeps the alignment.
size_t headOf(size_t alignment, size_t head) {
  return std::max(alignment, head);
}
} // namespace

/// Marks and counts what begins at `start`, with a head.
void *OwnMemory::enter(void *start, size_t head, size_t all) noexcept {
  char *block = static_cast<char *>(start) + head;
  new (block - sizeof(Block)) Block{threads, all};
  count(threads, all);
  return block;
}

/// What operator new gave.
void *OwnMemory::leave(void *block, size_t head) noexcept {
  auto *at = static_cast<char *>(block);
  auto *was = reinterpret_cast<Block *>(at - sizeof(Block));
  discount(was->memory, was->bytes);
  return at - head;
}

/// With the head; what overflows is more than there can be.
static size_t withHead(size_t bytes, size_t head) {
  return bytes > SIZE_MAX - head ? SIZE_MAX : bytes + head;
}

void *OwnMemory::allocate(size_t bytes) {
  size_t all = withHead(bytes, sizeof(Block));
  return enter(::operator new(all), sizeof(Block), all);
}

void OwnMemory::free(void *block) noexcept {
  if (block)
    ::operator delete(leave(block, sizeof(Block)));
}

void *OwnMemory::allocate(size_t bytes, size_t alignment) {
  size_t head = headOf(alignment, sizeof(Block));
  size_t all = withHead(bytes, head);
  return enter(::operator new(all, std::align_val_t(alignment)), head, all);
}

void OwnMemory::free(void *block, size_t alignment) noexcept {
  if (block)
    ::operator delete(leave(block, headOf(alignment, sizeof(Block))),
                      std::align_val_t(alignment));
}

} // namespace ashlar::runtime

template class std::basic_string<char, std::char_traits<char>,
                                 ashlar::runtime::OwnAllocator<char>>;
