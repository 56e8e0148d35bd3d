// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the double knows: devices, contexts, and what lives in them. Handles
// are numbers that are never used again, so that a late use is seen. One mutex
// guards all of it; work of streams runs without it.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_CUDASTATE_H
#define ASHLAR_RUNTIME_TEST_CUDA_CUDASTATE_H

#include "CudaApi.h"
#include "CudaDouble.h"
#include "PtxRun.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

// HipNames.h says otherwise.
#ifndef ASHLAR_DOUBLE_PREFIX
#define ASHLAR_DOUBLE_PREFIX "ASHLAR_CUDA_DOUBLE_"
#define ASHLAR_DOUBLE_MAJOR 8
#define ASHLAR_DOUBLE_MINOR 0
#endif

namespace ashlar::cuda {

struct Context;
struct CodeObject;
struct CodeKernel;

/// A point in a stream's work.
struct Mark {
  bool isDone = false;
  double milliseconds = 0;
};

struct Range {
  uint64_t begin, end;
};

struct Task {
  const char *what = "";
  std::function<void()> run;
  /// Device memory that it may touch.
  std::vector<Range> uses;
  /// Runs on a faulted context, too: what others wait for.
  bool isAlways = false;
  bool isLaunch = false;
  /// Of a launch, so that its module lives.
  std::shared_ptr<void> keeps;
};

/// What a stream captured, in order.
struct Graph {
  Context *context = nullptr;
  std::vector<Task> nodes;
};

struct Stream {
  Context *context = nullptr;
  CUstream handle = nullptr;
  bool isBlocking = true;
  int priority = 0;
  std::deque<Task> queue;
  const Task *current = nullptr;
  uint64_t submitted = 0, completed = 0;
  bool isClosing = false;
  std::shared_ptr<Graph> capturing; // null: it does not
  bool isCaptureInvalid = false;    // by a call that it does not take
  std::thread thread;
};

struct Event {
  Context *context = nullptr;
  unsigned flags = 0;
  std::shared_ptr<Mark> mark; // null: never recorded
};

struct LoadedModule {
  Context *context = nullptr;
  std::unique_ptr<ptx::Program> program;
  std::shared_ptr<CodeObject> object; // of HIP's
  std::map<std::string, CUfunction> functions;
};

struct Kernel {
  Context *context = nullptr;
  std::shared_ptr<LoadedModule> module;
  const ptx::Code *code = nullptr;
  const CodeKernel *form = nullptr; // of HIP's
  int maxDynamicShared = 0;
  bool allowsLargeClusters = false;
};

struct MemoryPool;

struct DeviceMemory {
  Context *context = nullptr;
  uint64_t size = 0, taken = 0;
  bool isBeingFreed = false;        // in a stream's order
  bool isMapped = false;            // of a reservation: nobody frees it
  std::shared_ptr<MemoryPool> pool; // null: of none
};

struct Device {
  int ordinal = 0;
  uint64_t memory = 0, used = 0;
  int references = 0;
  std::shared_ptr<Context> primary;
};

/// From which memory comes and goes in a stream's order.
struct MemoryPool {
  Device *device = nullptr;
  uint64_t held = 0; // bytes that are free and not yet the device's again
  bool isDestroyed = false;
};

/// Memory without an address, which handles and mappings hold.
struct PhysicalMemory {
  ~PhysicalMemory();
  Device *device = nullptr;
  uint64_t size = 0;
  int descriptor = -1;
  bool isCounted = false; // it was created here
  bool isExportable = false;
};

/// Addresses, by the first of them.
struct Reservation {
  uint64_t begin = 0, all = 0; // of the host's, with what aligns it
  uint64_t size = 0;
  std::shared_ptr<PhysicalMemory> mapped; // null: nothing is
  Context *context = nullptr;             // that reaches it
};

struct Context {
  Device *device = nullptr;
  CUcontext handle = nullptr;
  CUresult fault = SUCCESS; // of a kernel; stays
  ptx::Memory memory;
  std::shared_ptr<Stream> standard; // the stream 0
  std::map<CUdeviceptr, DeviceMemory> allocations;
  std::map<uint64_t, uint64_t> pinned; // host address, size
  std::atomic<bool> isGone{false};
};

template <class Object>
using Handles = std::unordered_map<uint64_t, std::shared_ptr<Object>>;

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  bool isInitialized = false;
  int major = ASHLAR_DOUBLE_MAJOR, minor = ASHLAR_DOUBLE_MINOR;
  int driver = 12040;
  int multiprocessors = 0; // 0: as many as the architecture has
  bool hasDescriptors = true, hasPools = true;
  std::vector<std::unique_ptr<Device>> devices;
  Handles<Context> contexts;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<LoadedModule> modules;
  Handles<Kernel> kernels;
  Handles<Graph> graphs, executableGraphs;
  Handles<PhysicalMemory> physical;
  Handles<MemoryPool> pools;
  std::map<CUdeviceptr, Reservation> reservations;
  std::unordered_map<uint64_t, const char *> gone; // what handles were
  uint64_t nextHandle = 0x7a0000010;

  uint64_t newHandle() { return nextHandle += 16; }
};
State &state();

/// Of a thread that has none; with the lock. Null: there is no such.
CUcontext contextByDefault();

/// The current contexts of this thread, the innermost last.
std::vector<CUcontext> &currentContexts();

/// Streams whose capture this thread has begun and not ended.
std::vector<std::shared_ptr<Stream>> &threadCaptures();

using Lock = std::unique_lock<std::mutex>;

/// One call of the API: its name, whether it may go on, what is wrong with it.
class Call {
public:
  enum Needs { Nothing, Initialized, Current };
  /// `givesBack`: it does its work even where it fails.
  Call(const char *name, Needs needs, bool givesBack = false);

  /// What the call returns before it does anything; SUCCESS: goes on.
  CUresult refusal = SUCCESS;
  /// What to return where it goes well: the loss of a device that it gave
  /// something back to.
  CUresult result = SUCCESS;
  Context *context = nullptr; // the current one
  Lock lock;

  /// A program must not do this.
  CUresult misuse(CUresult code, const std::string &what);
  /// One that ends the capture of the stream, too.
  CUresult misuseOfCapture(Stream &stream, const std::string &what);
  /// The object; null: misuse, which `refusal` tells.
  template <class Object, class Handle>
  std::shared_ptr<Object> find(Handles<Object> &in, Handle handle,
                               const char *kind) {
    auto found = in.find(reinterpret_cast<uint64_t>(handle));
    if (found == in.end()) {
      unknown(reinterpret_cast<uint64_t>(handle), kind);
      return nullptr;
    }
    if (found->second->context != context && context) {
      refusal = misuse(INVALID_HANDLE, std::string("the ") + kind +
                                           " is of another context than the "
                                           "current one");
      return nullptr;
    }
    return found->second;
  }
  /// The device of a number; null: misuse, which `refusal` tells.
  Device *device(int ordinal);
  /// The stream of a handle, the standard one for 0.
  std::shared_ptr<Stream> stream(CUstream handle);
  /// All bytes within one allocation that lives.
  bool checkDevice(CUdeviceptr address, uint64_t size, const char *which);
  const char *name() const { return called; }

private:
  void unknown(uint64_t handle, const char *kind);
  const char *called;
};

void count(test::CudaDouble::Kind kind, int64_t by);

// CudaQueue.cpp
std::shared_ptr<Stream> openStream(Context &context, bool isBlocking);
/// Runs what is there, then ends.
void closeStream(Lock &lock, const std::shared_ptr<Stream> &stream);
/// In the stream's order, after what the standard stream demands.
uint64_t submit(const std::shared_ptr<Stream> &stream, Task task);
void waitFor(Lock &lock, const Stream &stream, uint64_t ticket);
void waitForMark(Lock &lock, const std::shared_ptr<Mark> &mark);
void waitForAll(Lock &lock, Context &context);
/// What work of a context that is not done uses there; null: none does.
const char *userOf(Context &context, Range range, const Stream *except);
double nowInMilliseconds();
/// Which allocations a kernel may reach: those that its parameters point into.
std::vector<Range> usedBy(const Context &context,
                          const std::vector<uint8_t> &parameters);

// CudaMemory.cpp
/// Of the pool, or of none.
CUresult allocate(Context &context, CUdeviceptr *address, size_t size,
                  std::shared_ptr<MemoryPool> pool = nullptr);
/// As a wait of the host does: what pools hold is the device's again.
void trimPools();
void releaseMemory(Context &context, CUdeviceptr address);
/// What is mapped there.
void unmap(CUdeviceptr address);

} // namespace ashlar::cuda

#endif // ASHLAR_RUNTIME_TEST_CUDA_CUDASTATE_H
