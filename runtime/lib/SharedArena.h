// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arenas of sessions that never run at the same time, in the same memory. Each
// session has places that begin where the others' do; what is charged, to the
// arena's own budget, is what the largest of them needs. One run at a time has
// it: the others wait, or are refused.
//
// The memory moves only when a session joins that is larger than all before,
// while nobody runs; calls see that and look up their addresses again. A lock
// guards what belongs to whom. It is taken after the pass of a run and before
// the lock of budgets.

#ifndef ASHLAR_RUNTIME_LIB_SHAREDARENA_H
#define ASHLAR_RUNTIME_LIB_SHAREDARENA_H

#include "Buffer.h"
#include "OwnMemory.h"

namespace ashlar::runtime {

/// Any thread.
class SharedArena {
public:
  SharedArena(std::shared_ptr<Runtime> runtime, std::shared_ptr<Budget> budget,
              String name)
      : runtime(std::move(runtime)), budget(std::move(budget)),
        name(std::move(name)) {
    gate.open(1);
  }

  /// Before a run that `who` names; without `mayWait`, CANCELLED while another
  /// one goes on. It is ended by leave.
  Status enter(const String &who, bool mayWait, int32_t priority,
               const RunControl &control, Gate::Pass &out);
  /// Nothing where none was let in.
  void leave(const Gate::Pass &pass);

  /// Gives a buffer its place, arena `number` of a session on a device: `bytes`
  /// now, and room to grow. Waits for a run that goes on if that must move.
  /// Nothing changes where it fails.
  Status join(Buffer &user, uint32_t number, ashlar_device_t *device,
              uint64_t bytes, uint64_t room);
  /// What `join` would charge now.
  uint64_t missing(uint32_t number, const ashlar_device_t *device,
                   uint64_t bytes, uint64_t room);

  // Of buffers that have joined.
  DeviceAddress at(uint32_t number, const ashlar_device_t *device);
  /// Bytes that it may use; charges what none of them used before.
  /// OUT_OF_BUDGET.
  Status grow(Buffer &user, uint32_t number, uint64_t bytes);
  /// What no other one needs is given back; its bytes.
  uint64_t trim(Buffer &user, uint32_t number);
  /// The session has gone; memory that nobody needs goes as well.
  void quit(const Buffer &user, uint32_t number);

  /// How often memory has moved.
  uint64_t moveCount() const { return moves; }

  const std::shared_ptr<Runtime> runtime; // which thus lives longer
  const std::shared_ptr<Budget> budget;   // that it is charged to
  const String name;                      // the holder's

private:
  /// Of all arenas with a number on a device.
  struct Memory {
    ashlar_device_t *device;        // null: the host's memory
    uint32_t number;                // of the arena
    std::unique_ptr<Buffer> buffer; // as large as the largest
    Vector<Buffer *> users;         // sessions', which quit before they go
    /// Of the largest of them now.
    uint64_t needed() const;
  };
  /// Null: there is none. The caller locks.
  Memory *find(uint32_t number, const ashlar_device_t *device);
  /// `join`, with the lock and its turn. `memory`: what `find` gives.
  Status place(Memory *memory, Buffer &user, uint32_t number,
               ashlar_device_t *device, uint64_t bytes, uint64_t room);

  std::mutex mutex;
  Vector<Memory> memories;        // few
  const String *runner = nullptr; // who has it now
  std::atomic<uint64_t> moves{0}; // since it was made
  Gate gate;                      // one run at a time
  Gate::Tenant tenant;            // all sessions
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SHAREDARENA_H
