// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime allocates for itself, such as handles, names, resolved
// commands and tables: counted for each runtime, apart from budgets, which
// count what models need.
//
// A block remembers the count that it is part of: that of the runtime which the
// allocating thread worked for. Operators new and delete are as they were, for
// in a static library they would be the embedder's as well; what is kept is
// allocated by the types here. Tests find objects that allocate otherwise.

#ifndef ASHLAR_RUNTIME_LIB_OWNMEMORY_H
#define ASHLAR_RUNTIME_LIB_OWNMEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ashlar::runtime {

/// The count of one runtime. Any thread.
class OwnMemory {
public:
  /// The owner's part is gone; blocks may be left.
  struct Release {
    void operator()(OwnMemory *memory) const noexcept {
      discount(memory, sizeof(OwnMemory));
    }
  };
  /// It is gone once its owner and all blocks are.
  using Owner = std::unique_ptr<OwnMemory, Release>;
  /// Counts itself as well.
  static Owner create();

  /// Bytes now.
  uint64_t current() const { return bytes.load(std::memory_order_relaxed); }
  /// The most there were at a time.
  uint64_t peak() const { return most.load(std::memory_order_relaxed); }
  /// Of all runtimes together.
  static const OwnMemory &ofAll() { return all; }
  /// What belongs to none of them: what is found out about drivers once.
  static const OwnMemory &ofNone() { return none; }

  /// Whom this thread works for; null: no runtime.
  static OwnMemory *ofThread() noexcept;
  /// While it lives, the thread works for that runtime.
  class Scope {
  public:
    explicit Scope(OwnMemory *memory) noexcept;
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    OwnMemory *const before; // the thread's, set back at the end
  };

  /// Pages that are mapped, for as long as this lives.
  class Pages {
  public:
    explicit Pages(uint64_t bytes) noexcept;
    ~Pages();
    Pages(const Pages &) = delete;

  private:
    OwnMemory *const memory; // where they are counted
    const uint64_t bytes;    // of the mapping
  };

  /// Throws std::bad_alloc, as operator new does.
  static void *allocate(size_t bytes);
  /// Null is nothing. Counts where the block was allocated.
  static void free(void *block) noexcept;
  /// Beyond what operator new keeps by itself.
  static void *allocate(size_t bytes, size_t alignment);
  /// The same.
  static void free(void *block, size_t alignment) noexcept;

private:
  struct Block;
  /// Null: only in the sum of all.
  static void count(OwnMemory *memory, uint64_t more) noexcept;
  /// The last bytes of a count end it.
  static void discount(OwnMemory *memory, uint64_t less) noexcept;
  static void *enter(void *start, size_t head, size_t all) noexcept;
  static void *leave(void *block, size_t head) noexcept;
  constexpr OwnMemory() = default;
  /// And notes the most there were.
  void add(uint64_t more) noexcept;
  void remove(uint64_t less) noexcept;

  std::atomic<uint64_t> bytes{0}; // now
  std::atomic<uint64_t> most{0};  // at a time
  static OwnMemory all, none;     // never end
};

/// For the standard's containers. All are equal: a block knows its count.
template <typename T> struct OwnAllocator {
  using value_type = T;
  OwnAllocator() = default;
  template <typename U> OwnAllocator(const OwnAllocator<U> &) noexcept {}
  T *allocate(size_t count) {
    // What overflows is more than there can be.
    size_t bytes = count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T);
    if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      return static_cast<T *>(OwnMemory::allocate(bytes, alignof(T)));
    else
      return static_cast<T *>(OwnMemory::allocate(bytes));
  }
  void deallocate(T *block, size_t) noexcept {
    if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      OwnMemory::free(block, alignof(T));
    else
      OwnMemory::free(block);
  }
};
template <typename T, typename U>
bool operator==(const OwnAllocator<T> &, const OwnAllocator<U> &) {
  return true;
}
template <typename T, typename U>
bool operator!=(const OwnAllocator<T> &, const OwnAllocator<U> &) {
  return false;
}

/// The standard's, counted.
using String =
    std::basic_string<char, std::char_traits<char>, OwnAllocator<char>>;
template <typename T> using Vector = std::vector<T, OwnAllocator<T>>;
template <typename T> using Deque = std::deque<T, OwnAllocator<T>>;
template <typename T> using List = std::list<T, OwnAllocator<T>>;
template <typename T> using Set = std::set<T, std::less<T>, OwnAllocator<T>>;
template <typename Key, typename Value>
using Map = std::map<Key, Value, std::less<Key>,
                     OwnAllocator<std::pair<const Key, Value>>>;

/// std::make_shared, counted.
template <typename T, typename... Arguments>
std::shared_ptr<T> makeShared(Arguments &&...arguments) {
  return std::allocate_shared<T>(OwnAllocator<T>(),
                                 std::forward<Arguments>(arguments)...);
}

/// In a class, for `new` of its objects.
#define ASHLAR_OWN_NEW                                                         \
  static void *operator new(size_t bytes) {                                    \
    return ::ashlar::runtime::OwnMemory::allocate(bytes);                      \
  }                                                                            \
  static void *operator new[](size_t bytes) { return operator new(bytes); }    \
  static void operator delete(void *block) noexcept {                          \
    ::ashlar::runtime::OwnMemory::free(block);                                 \
  }                                                                            \
  static void operator delete[](void *block) noexcept {                        \
    operator delete(block);                                                    \
  }                                                                            \
  static void *operator new(size_t bytes, std::align_val_t alignment) {        \
    return ::ashlar::runtime::OwnMemory::allocate(bytes, size_t(alignment));   \
  }                                                                            \
  static void *operator new[](size_t bytes, std::align_val_t alignment) {      \
    return operator new(bytes, alignment);                                     \
  }                                                                            \
  static void operator delete(void *block,                                     \
                              std::align_val_t alignment) noexcept {           \
    ::ashlar::runtime::OwnMemory::free(block, size_t(alignment));              \
  }                                                                            \
  static void operator delete[](void *block,                                   \
                                std::align_val_t alignment) noexcept {         \
    operator delete(block, alignment);                                         \
  }

} // namespace ashlar::runtime

// Once in the library, not in each of its objects.
extern template class std::basic_string<char, std::char_traits<char>,
                                        ashlar::runtime::OwnAllocator<char>>;

#endif // ASHLAR_RUNTIME_LIB_OWNMEMORY_H
