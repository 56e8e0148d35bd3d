// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedArena.h"

#include "BoundCall.h"

#include <algorithm>

namespace ashlar::runtime {

uint64_t SharedArena::Memory::needed() const {
  uint64_t most = 0;
  for (const Buffer *user : users)
    most = std::max(most, user->size());
  return most;
}

SharedArena::Memory *SharedArena::find(uint32_t number,
                                       const ashlar_device_t *device) {
  for (Memory &memory : memories)
    if (memory.number == number && memory.device == device)
      return &memory;
  return nullptr;
}

Status SharedArena::enter(const String &who, bool mayWait, int32_t priority,
                          const RunControl &control, Gate::Pass &out) {
  RunControl never;
  never.cancel();
  bool isIn = gate.enter(tenant, 1, priority, mayWait ? control : never, out);
  std::lock_guard<std::mutex> lock(mutex);
  if (isIn) {
    runner = &who;
    return {};
  }
  return mayWait ? stoppedStatus(control)
                 : failure(ASHLAR_CANCELLED,
                           concat("session ", who, " cannot run: ",
                                  runner ? runner->c_str() : "another session",
                                  " runs in arena ", name,
                                  ", which they share; run it later, or create "
                                  "the session with ASHLAR_ARENA_WAIT"),
                           name);
}

void SharedArena::leave(const Gate::Pass &pass) {
  if (!pass.tenant)
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    runner = nullptr;
  }
  gate.leave(pass, 0);
}

uint64_t SharedArena::missing(uint32_t number, const ashlar_device_t *device,
                              uint64_t bytes, uint64_t room) {
  std::lock_guard<std::mutex> lock(mutex);
  Memory *memory = find(number, device);
  if (!memory || (memory->buffer->room() < room &&
                  !Buffer::growsInPlace(*runtime, device)))
    return bytes;
  return bytes - std::min(bytes, memory->buffer->size());
}

Status SharedArena::join(Buffer &user, uint32_t number, ashlar_device_t *device,
                         uint64_t bytes, uint64_t room) {
  struct Turn {
    ~Turn() { gate.leave(pass, 0); }
    Gate &gate;
    Gate::Pass pass = {};
  } turn = {gate};
  std::unique_lock<std::mutex> lock(mutex);
  Memory *memory = find(number, device);
  if (memory && memory->buffer->room() < room) {
    // Who runs may need the lock to end.
    lock.unlock();
    RunControl forever;
    gate.enter(tenant, 1, INT32_MAX, forever, turn.pass);
    lock.lock();
    memory = find(number, device);
  }
  return place(memory, user, number, device, bytes, room);
}

Status SharedArena::place(Memory *memory, Buffer &user, uint32_t number,
                          ashlar_device_t *device, uint64_t bytes,
                          uint64_t room) {
  Vector<Buffer *> users;
  if (memory)
    users = memory->users;
  users.push_back(&user);
  memories.reserve(memories.size() + 1);
  memory = find(number, device);
  std::unique_ptr<Buffer> larger;
  if (memory && memory->buffer->room() >= room) {
    ASHLAR_RETURN_IF_ERROR(memory->buffer->grow(bytes, *budget, name));
  } else {
    // Where pages come as they are used, the old ones are gone by then.
    bool isOne = memory && Buffer::growsInPlace(*runtime, device);
    uint64_t held = memory ? memory->buffer->size() : 0,
             wanted = std::max(held, bytes);
    Charge receipt;
    ASHLAR_RETURN_IF_ERROR(budget->charge(
        name, {{ASHLAR_MEMORY_ARENA, isOne ? wanted - held : wanted, &receipt,
                device}}));
    larger = std::make_unique<Buffer>();
    ASHLAR_RETURN_IF_ERROR(
        larger->allocate({*runtime, device, ASHLAR_MEMORY_ARENA}, wanted,
                         std::move(receipt), room));
    if (isOne)
      larger->takeCharges(*memory->buffer);
  }
  // From here on nothing fails.
  if (larger && memory)
    ++moves;
  if (!memory)
    memory = &memories.emplace_back(Memory{device, number, nullptr, {}});
  if (larger)
    memory->buffer = std::move(larger);
  memory->users = std::move(users);
  user.share(*this, number, device, bytes);
  return {};
}

DeviceAddress SharedArena::at(uint32_t number, const ashlar_device_t *device) {
  std::lock_guard<std::mutex> lock(mutex);
  return find(number, device)->buffer->at();
}

Status SharedArena::grow(Buffer &user, uint32_t number, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  ASHLAR_RETURN_IF_ERROR(
      find(number, user.device)->buffer->grow(bytes, *budget, name));
  user.used = bytes;
  return {};
}

uint64_t SharedArena::trim(Buffer &user, uint32_t number) {
  if (!Buffer::growsInPlace(*runtime, user.device))
    return 0;
  std::lock_guard<std::mutex> lock(mutex);
  Memory &memory = *find(number, user.device);
  user.used = 0;
  return memory.buffer->shrink(memory.needed());
}

void SharedArena::quit(const Buffer &user, uint32_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  Memory &memory = *find(number, user.device);
  memory.users.erase(
      std::find(memory.users.begin(), memory.users.end(), &user));
  if (memory.users.empty())
    memories.erase(memories.begin() + (&memory - memories.data()));
  else
    memory.buffer->shrink(memory.needed());
}

} // namespace ashlar::runtime
