// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the double knows. Handles are numbers that are never used again, so that
// a late use is seen. One mutex guards all of it; kernels run without it.

#ifndef ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZESTATE_H
#define ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZESTATE_H

#include "ZeDouble.h"
#include "ZeKernels.h"
#include "devices/level_zero/ZeApi.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ashlar::ze {

using namespace runtime::ze;
using test::ZeDouble;

struct Range {
  uintptr_t begin, end;
};

struct Command {
  const char *what;
  std::function<void()> run;
  std::vector<Range> uses; // of the driver's memory
  bool isBarrier = false;
};

struct ListObject {
  std::vector<Command> commands;
  bool isClosed = false;
  uint64_t given = 0;   // times it was given to a queue
  unsigned running = 0; // of those, not ended yet
};
struct FenceObject {
  bool isSet = false, isExpected = false;
};
struct PoolObject {
  uint32_t count;
};
struct EventObject {
  bool isSet = false;
  unsigned expected = 0; // commands that are to set it or wait for it
};
struct QueueObject {
  struct Batch {
    std::shared_ptr<ListObject> list;
    std::shared_ptr<FenceObject> fence;
    size_t ended = 0; // of its commands
  };
  std::deque<Batch> batches;
  bool isClosing = false, isBusy = false;
  std::thread thread;
};
struct ModuleObject {
  std::shared_ptr<Runnable> program;
};
struct KernelObject {
  const ModuleObject *module;
  std::shared_ptr<Runnable> program;
  std::string name;
  std::vector<uint32_t> sizes;              // of the arguments; 0: an address
  std::vector<std::vector<uint8_t>> values; // empty: not set
  uint32_t threads = 1;
};
struct Allocation {
  uint64_t bytes;
  bool isHost;
};

template <class Object>
using Handles = std::unordered_map<uint64_t, std::shared_ptr<Object>>;

struct State {
  State();
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t next = 0x1000;
  uint64_t devices = 1, memory = uint64_t(8) << 30, local = 65536,
           threads = 1024, used = 0, chip = 0xbd5;
  bool takesSpirv = true, isSilent = false;
  std::map<uintptr_t, Allocation> allocations;
  Handles<int> contexts;
  Handles<QueueObject> queues;
  Handles<ListObject> lists;
  Handles<FenceObject> fences;
  Handles<PoolObject> pools;
  Handles<EventObject> events;
  Handles<ModuleObject> modules;
  Handles<std::string> logs;
  Handles<KernelObject> kernels;
};
State &state();
using Lock = std::unique_lock<std::mutex>;

/// No program may do that.
Code misuse(const char *call, const char *why);
/// Of the double's count; a call that can fail begins so.
bool failsNow(const char *call);

/// The object of a handle; null is a misuse that has been told.
template <class Object, class Handle>
std::shared_ptr<Object> find(Handles<Object> &all, Handle handle,
                             const char *call) {
  auto at = all.find(reinterpret_cast<uint64_t>(handle));
  if (at != all.end())
    return at->second;
  misuse(call, "a handle of nothing that is alive");
  return nullptr;
}
template <class Object, class Handle>
void enter(Handles<Object> &all, std::shared_ptr<Object> object,
           ZeDouble::Kind kind, Handle *out) {
  const uint64_t number = state().next += 16;
  all[number] = std::move(object);
  ++ashlar_ze_double.alive[kind];
  *out = reinterpret_cast<Handle>(number);
}
template <class Object, class Handle>
Code leave(Handles<Object> &all, Handle handle, ZeDouble::Kind kind,
           const char *call) {
  if (!find(all, handle, call))
    return invalidArgument;
  all.erase(reinterpret_cast<uint64_t>(handle));
  --ashlar_ze_double.alive[kind];
  return 0;
}

/// The driver's memory that the bytes lie in; null: none of it.
const Allocation *allocationOf(const void *address, uint64_t bytes,
                               bool &outReachesBeyond);
/// Whether some queue has work left that touches it.
bool isInUse(Range range);
/// All that the queue was given has ended.
void finish(Lock &lock, QueueObject &queue);
void work(std::shared_ptr<QueueObject> queue);

} // namespace ashlar::ze

#define ASHLAR_ZE_EXPORT                                                       \
  extern "C" [[gnu::visibility("default")]] ashlar::runtime::ze::Code

/// A call that can fail: `fails` ends it with the code.
#define ASHLAR_ZE_BEGIN(NAME)                                                  \
  [[maybe_unused]] const char *const call = #NAME;                             \
  if (failsNow(call))                                                          \
    return ashlar_ze_double.code;                                              \
  Lock lock(state().mutex)

#endif // ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZESTATE_H
