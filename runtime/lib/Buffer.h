// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that a session owns, charged as long as it exists and is in use.

#ifndef ASHLAR_RUNTIME_LIB_BUFFER_H
#define ASHLAR_RUNTIME_LIB_BUFFER_H

#include "OwnMemory.h"
#include "Runtime.h"

namespace ashlar::runtime {

/// Whose memory and what for.
struct BufferUse {
  Runtime &runtime;          // whose allocator and budget it is
  ashlar_device_t *device;   // null: the host's memory, whatever the device
  ashlar_memory_kind_t kind; // as it is charged
};

class SharedArena;

/// One session's; one thread at a time.
class Buffer {
public:
  ASHLAR_OWN_NEW
  Buffer() = default;
  Buffer(Buffer &&) = delete;
  ~Buffer();

  /// Takes over the receipt of what has been charged. At most once. It can grow
  /// to `room` bytes where it is; on a CPU, room is no memory until it is used.
  Status allocate(const BufferUse &use, uint64_t bytes, Charge receipt,
                  uint64_t room = 0);
  /// To at least `bytes`, within the room; what is new is charged first.
  Status grow(uint64_t bytes, Budget &budget, const String &holder);
  /// Gives back the memory and what was charged for it; the place stays.
  /// Nothing where memory comes from the embedder or is a device's own, for
  /// that cannot be given back in place. Returns the bytes.
  uint64_t trim() { return shared ? trimShared() : shrink(0); }
  /// The same of all but the first `bytes`.
  uint64_t shrink(uint64_t bytes);
  /// What was charged for the one whose place this takes.
  void takeCharges(Buffer &before);

  /// Whether memory is taken as it is needed, so that it is worth asking for
  /// less than the room.
  static bool growsInPlace(const Runtime &runtime,
                           const ashlar_device_t *device);

  /// Of the first byte; a shared arena's may have moved since the last run.
  DeviceAddress at() const { return shared ? sharedPlace() : address; }
  /// Of the host's memory.
  void *data() const { return address.pointer(); }
  /// Bytes that may be used and are charged.
  uint64_t size() const { return used; }
  /// What it can grow to.
  uint64_t room() const { return byteCount; }

private:
  friend class SharedArena;
  /// Its memory is that of arena `number` there.
  void share(SharedArena &of, uint32_t number, ashlar_device_t *device,
             uint64_t bytes);
  /// Asks the arena.
  DeviceAddress sharedPlace() const;
  /// As `trim`, of its part in the arena.
  uint64_t trimShared();

  Vector<Charge> charges;            // one for each time that it grew
  Runtime *runtime = nullptr;        // null: nothing was allocated
  SharedArena *shared = nullptr;     // null: its memory is its own
  uint32_t sharedNumber = 0;         // of the arena there
  ashlar_device_t *device = nullptr; // null: the host's memory
  ashlar_memory_kind_t kind = ASHLAR_MEMORY_ARENA; // as it is charged
  bool isEmbedders = false;                        // from its allocator
  DeviceAddress address;                           // nothing where it is shared
  uint64_t byteCount = 0;                          // with room
  uint64_t used = 0;                               // of these, charged
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_BUFFER_H
