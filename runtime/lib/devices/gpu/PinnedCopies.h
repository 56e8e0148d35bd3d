// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small copies to the host go by way of memory that the driver has pinned: it
// would wait for the end of each one that goes anywhere else. What it has
// copied there is brought to its place when the host waits anyway.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_PINNEDCOPIES_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_PINNEDCOPIES_H

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace ashlar::runtime {

/// Of one queue. Any thread.
class PinnedCopies {
public:
  static constexpr size_t bytes = 64 * 1024; // of pinned memory

  /// The driver's, of so many bytes; stays as long as this.
  void use(char *pinned) { memory = pinned; }
  /// Where the driver is to copy what is for `host`; null: there is no room,
  /// until what was given is delivered.
  char *add(void *host, size_t size);
  /// Of all times.
  uint64_t given() const;
  /// The driver has finished those before number `end`: they go to their
  /// places.
  void deliver(uint64_t end);
  /// Nobody wants them any more.
  void drop();
  /// Whether one of those before number `end` is not delivered.
  bool isPending(uint64_t end) const;
  /// Whether one is not delivered that goes into these bytes.
  bool isFor(const void *host, size_t size) const;

private:
  /// What the driver copied to pinned memory, and where it goes.
  struct Copy {
    char *host;         // the caller's
    const char *pinned; // in `memory`
    size_t size;        // bytes
  };
  static constexpr size_t most = 16; // that may be on their way

  mutable std::mutex mutex;
  char *memory = nullptr;    // of `bytes`; the queue's
  size_t used = 0;           // bytes, until all is delivered
  Copy copies[most];         // all since the last time that none was left
  size_t begin = 0, end = 0; // those in `copies` that are not delivered
  uint64_t delivered = 0;    // of all times
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_PINNEDCOPIES_H
