// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device is a table of functions. To add one, copy devices/null, fill in the
// table and name its sources in CMakeLists.txt; the conformance suite then runs
// on it. Nothing outside a device's folder asks which device it is.
//
// All functions may be called from any thread; those that take a queue from
// one thread at a time per queue.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_DEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_DEVICE_H

#include "../Status.h"
#include "Sequencer.h"

#include <memory>
#include <mutex>

namespace ashlar::runtime {

class Logger;

/// Among the features of a device that is a driver's name for the processor of
/// this machine, which `cpu` reaches without one.
inline constexpr const char *hostProcessorFeature = "host-processor";

/// What a queue is made for. All that it points to outlives it.
struct QueueOptions {
  uint32_t workers;                  // at least 1
  const ashlar_executor_t *executor; // null: threads of the queue's own
  uint64_t scratchBytes;             // per worker, of the device's memory
  DeviceAddress scratch;             // workers * scratchBytes, aligned to 64
  void *stream;                      // the caller's, of takesStreams; or null
};

/// Where a device's memory is, as the host sees it.
enum class MemoryKind {
  Host,   // the host's own: what is there, kernels use where it is
  Shared, // the device's, at addresses where the host sees it as well
  Device  // the device's alone: only copies reach it
};

/// Which sides of a copy are the device's: a handle does not tell by itself.
enum class CopyKind { In, Out, Within };

/// How a kernel's function is called, as the module says.
struct KernelForm {
  const char *symbol;   // in the executable
  uint32_t bindings;    // how many addresses a dispatch gives
  uint32_t integers;    // how many numbers
  uint32_t block[3];    // threads of a workgroup; zeros: it has none
  uint32_t cluster[3];  // workgroups; ones where there are none
  uint64_t sharedBytes; // of a workgroup, beyond what the code itself has
  /// The function's arguments in order; empty: all addresses, then all numbers.
  struct Argument {
    enum Kind : uint8_t { Pointer, Integer, TensorMap } kind;
    uint32_t index; // of the dispatch's bindings, or of its parameters
  };
  Vector<Argument> arguments;

  /// Addresses, then numbers, without workgroups: what processors are given.
  bool isPlain() const { return block[0] == 0 && arguments.empty(); }
};

/// What an opaque argument of a device says about the memory that it is for.
/// Sizes, strides and boxes from the innermost dimension on, whose elements
/// follow each other.
struct TensorMap {
  static constexpr uint32_t maximumRank = 5;
  uint32_t elementType;         // ashlar_element_type_t
  uint32_t rank;                // at least 1
  int64_t sizes[maximumRank];   // elements
  int64_t strides[maximumRank]; // bytes; the first is an element's
  uint32_t box[maximumRank];    // elements that one copy takes
  uint32_t steps[maximumRank];  // elements from one taken to the next
  uint32_t swizzle;             // bytes of the pattern; 0: none
};

/// What a queue is given at once: commands without control flow. It begins when
/// all that the queue was given before is finished. List and control stay until
/// it is finished, the counters until the call has returned.
struct Submission {
  const CommandList &list;      // stays until it is finished
  CommandRange range;           // of work and barriers alone
  RunControl &control;          // stays until it is finished
  const LoopCounters &counters; // of this turn; until the call returns

  /// Where a copy's source (0) or target (1) lies in this turn of its loop.
  DeviceAddress side(const Command &copy, unsigned i) const {
    return list.addresses[copy.firstPointer + i] +
           uint64_t(counters.moved(copy, i));
  }
};

/// Memory that other processes and libraries can have as well.
struct ExternalMemory {
  DeviceAddress address; // its first byte
  uint64_t size = 0;     // bytes
  uint64_t handle = 0;   // the device's
};

/// How a device has such memory; all are there.
struct ExternalOps {
  /// Its sizes are multiples of that. UNSUPPORTED, with what to do: this one
  /// has none.
  Status (*granularity)(void *device, uint64_t *outBytes);
  /// Of so many bytes; a new one where the descriptor is negative, else what it
  /// stands for, which stays the caller's.
  Status (*open)(void *device, int descriptor, uint64_t size,
                 ExternalMemory *out);
  /// A descriptor for the caller.
  Status (*share)(void *device, const ExternalMemory &memory,
                  int *outDescriptor);
  /// Others who have a descriptor keep theirs.
  void (*close)(void *device, const ExternalMemory &memory);
};

/// Those that are not said to be null are there.
struct DeviceOps {
  /// "cpu": what device names say.
  const char *type;
  /// What Program.device_type says of programs for it: mostly `type`.
  const char *programs;
  MemoryKind memory; // of all that it allocates
  /// Executables are machine code of this process.
  bool runsNativeCode;
  /// Errors offer it among the devices there are; false where only those who
  /// know its name want it.
  bool isOffered;
  /// Submissions and copies return before they are finished. Otherwise the
  /// caller's thread does the work, and events have always come.
  bool returnsEarly;

  /// How many there are; 0 also when a driver is missing.
  uint32_t (*count)();
  /// `ordinal` is below `count`.
  Status (*open)(uint32_t ordinal, void **outDevice);
  /// Nothing that was made there is left.
  void (*close)(void *device);
  /// Instruction sets, in LLVM's names, separated by commas.
  String (*features)(void *device);
  /// Whether executables of this format can be loaded.
  bool (*accepts)(void *device, std::string_view format);

  /// Whether the device could have `size` bytes more: asked before a module's
  /// weights are allocated one by one.
  Status (*checkMemory)(void *device, uint64_t size);
  /// Memory aligned to 64 bytes and contents undefined, its address without an
  /// offset. Zero bytes give an address that may be freed. No queue uses it any
  /// more when it is freed.
  Status (*allocate)(void *device, uint64_t size, ashlar_memory_kind_t use,
                     DeviceAddress *outAddress);
  /// With the size that was asked for.
  void (*free)(void *device, DeviceAddress address, uint64_t size);

  /// Copies what it needs of the image. CORRUPT: it is none; UNSUPPORTED: the
  /// driver does not take it.
  Status (*loadExecutable)(void *device, const void *image, uint64_t size,
                           void **outExecutable);
  /// No queue uses it any more.
  void (*unloadExecutable)(void *device, void *executable);
  /// The handle lives as long as the executable. UNSUPPORTED for a form that
  /// the device does not have.
  Status (*findKernel)(void *executable, const KernelForm &form,
                       const void **outKernel);

  /// What one queue is given runs in that order; a status other than OK, of
  /// any function of a queue, means that the device is lost.
  Status (*createQueue)(void *device, const QueueOptions &options,
                        void **outQueue);
  /// Finishes what it was given.
  void (*destroyQueue)(void *queue);
  /// In queue order. The host's side stays until the copy is finished.
  Status (*copy)(void *queue, CopyKind kind, DeviceAddress to,
                 DeviceAddress from, uint64_t size);
  /// A kernel that fails is reported through the control.
  Status (*submit)(void *queue, const Submission &submission);
  /// Waits for all that the queue was given, then copies to the host.
  Status (*readBack)(void *queue, DeviceAddress from, void *host,
                     uint64_t size);
  /// May be null. Runs all of the sequencer's list, its control flow included,
  /// to its end: for devices whose threads can see what decides.
  Status (*follow)(void *queue, Sequencer &sequencer);

  /// An event has come when all that its queue had been given when it was
  /// recorded is finished; before that, it has. It is used again and again, so
  /// that runs allocate nothing.
  Status (*createEvent)(void *device, void **outEvent);
  /// Nobody waits for it.
  void (*destroyEvent)(void *event);
  /// In queue order; takes the place of the last time.
  Status (*record)(void *queue, void *event);
  /// What the queue is given from now on waits for the event, which is of a
  /// device of the same type and lives until then.
  Status (*waitFor)(void *queue, void *event);
  /// Whether it has come within the time; 0 only asks, UINT64_MAX is forever.
  Status (*wait)(void *event, uint64_t timeoutNanoseconds, bool *outCame);

  /// May be null: there are no tensor maps. Fills a CommandList::Blob, before
  /// the first run and whenever the address has changed.
  Status (*encode)(void *device, const TensorMap &map, DeviceAddress address,
                   void *outBlob);

  /// All three may be null. A graph is a submission that is given again and
  /// again: it keeps what it needs of the list, in which no copy moves. Null is
  /// one that the device does not make: the list is submitted as before.
  Status (*capture)(void *queue, const CommandList &list, CommandRange range,
                    void **outGraph);
  /// As `submit`; the graph and the control stay until it is finished.
  Status (*launch)(void *queue, void *graph, RunControl &control);
  /// It is not under way.
  void (*destroyGraph)(void *graph);

  /// May be null. Right after it was opened: the folder where it keeps what its
  /// driver compiles, in a DriverCache, which is linked for those who use it.
  /// The logger lives longer.
  void (*useCache)(void *device, const char *folder,
                   const Logger &logger) = nullptr;

  /// May be null. What has to be there for it, for errors where it is not:
  /// "NVIDIA's driver".
  const char *needs = nullptr;

  /// May be null. Of executables that it accepts, in programs for the same
  /// targets: how well one suits it, the best having the highest number.
  /// `required` is the program's features, separated by commas.
  uint32_t (*rank)(void *device, std::string_view format,
                   std::string_view required) = nullptr;

  /// A queue may be one of the driver's that a caller has, who destroys it.
  bool takesStreams = false;

  /// May be null: no memory goes by descriptor.
  const ExternalOps *external = nullptr;

  /// May be null. What failed, where that is why there are no devices; else
  /// empty.
  String (*whyNone)() = nullptr;

  /// May be null: its waits have ends. Right after it was opened: how long one
  /// goes on, at most. Who has waited for so long has DEVICE_LOST; what the
  /// device may still be using is then not given back, whatever is asked.
  void (*limitWaits)(void *device, uint64_t nanoseconds) = nullptr;
};

/// Nanoseconds that a wait for a device goes on, at most, unless somebody says
/// otherwise: ten minutes.
inline constexpr uint64_t defaultDeviceWait = 600'000'000'000;

/// Of queues that have finished whenever a call returns.
namespace finished {
Status createEvent(void *device, void **outEvent);
/// Nothing: all have the same one.
void destroyEvent(void *event);
Status record(void *queue, void *event);
Status waitFor(void *queue, void *event);
Status wait(void *event, uint64_t timeoutNanoseconds, bool *outCame);
/// Where addresses are the host's, too.
Status copy(void *queue, CopyKind kind, DeviceAddress to, DeviceAddress from,
            uint64_t size);
/// By `copy`, where addresses are the host's.
Status readBack(void *queue, DeviceAddress from, void *host, uint64_t size);
} // namespace finished

/// UNSUPPORTED unless the form is plain.
Status requirePlain(const KernelForm &form, const char *device);

/// Devices compiled in, the preferred first.
const Vector<const DeviceOps *> &allDevices();

} // namespace ashlar::runtime

namespace ashlar::runtime {
struct VirtualPart;
}

/// An opened device. This is the C API's handle.
struct ashlar_device_t {
public:
  ashlar_device_t(const ashlar::runtime::DeviceOps &ops,
                  ashlar::runtime::String name)
      : ops(ops), name(std::move(name)), whole(*this) {}
  /// A part of one that lives at least as long, and is no part itself.
  ashlar_device_t(ashlar_device_t &whole, ashlar::runtime::String name,
                  std::shared_ptr<ashlar::runtime::VirtualPart> part)
      : ops(whole.ops), name(std::move(name)), features(whole.features),
        state(whole.state), whole(whole), part(std::move(part)) {}
  ~ashlar_device_t() {
    if (state && !part)
      ops.close(state);
  }
  ashlar_device_t(const ashlar_device_t &) = delete;
  ashlar_device_t &operator=(const ashlar_device_t &) = delete;

  /// Once, before everything else.
  ashlar::runtime::Status open(uint32_t ordinal);
  /// Whether it is among the features, as a whole.
  bool hasFeature(std::string_view feature) const;
  /// Weights, inputs and outputs are used where they are.
  bool usesHostMemory() const {
    return ops.memory == ashlar::runtime::MemoryKind::Host;
  }

  /// Keeps the first failure, which is what all later calls report, those of
  /// all its parts as well.
  void lose(const ashlar::runtime::Status &cause);
  /// OK, or the failure that it was lost by.
  ashlar::runtime::Status status() const;

  const ashlar::runtime::DeviceOps &ops; // of its type
  const ashlar::runtime::String name;    // "cpu:0", "cpu:0/tenant-a"
  ashlar::runtime::String features;      // separated by commas
  void *state = nullptr;                 // DeviceOps' handle; null until open
  ashlar_device_t &whole;                // itself, unless it is a part
  const std::shared_ptr<ashlar::runtime::VirtualPart> part; // null: it is none

private:
  mutable std::mutex mutex;
  ashlar::runtime::Status firstFailure; // OK: it is not lost
};

#endif // ASHLAR_RUNTIME_LIB_DEVICES_DEVICE_H
