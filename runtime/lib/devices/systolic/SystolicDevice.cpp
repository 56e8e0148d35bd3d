// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator as a device. Which machine it is, an image says: until one is
// loaded, the device's memory is as large as need be; then no larger than that
// of any machine that is loaded.

#include "SystolicDevice.h"

#include "../../Trace.h"
#include "../Device.h"
#include "Function.h"
#include "Timing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace ashlar::runtime {

using namespace ashlar::systolic;

namespace {
struct Device {
  ASHLAR_OWN_NEW
  std::mutex mutex;
  uint64_t allocated = 0;
  Vector<const Machine *> machines; // of the images that are loaded

  /// Whether `bytes` more fit.
  Status check(uint64_t bytes) {
    // More than any host has; some allocators abort instead of refusing it.
    constexpr uint64_t most = uint64_t(1) << 40;
    uint64_t limit = most;
    const char *name = "the host";
    for (const Machine *machine : machines)
      if (machine->memory_bytes < limit) {
        limit = machine->memory_bytes;
        name = machine->name;
      }
    if (bytes <= limit && allocated <= limit - bytes)
      return {};
    return failure(ASHLAR_OUT_OF_BUDGET,
                   concat("no memory for ", bytes, " bytes: machine ", name,
                          " has ", limit, ", of which ", allocated,
                          " are in use"));
  }
};

struct LoadedKernel {
  const Machine *machine;
  const Kernel *kernel;
};

struct Executable {
  ASHLAR_OWN_NEW
  Image image;
  Map<String, LoadedKernel> kernels; // the handles
};
} // namespace

static uint32_t systolicCount() { return 1; }

static Status systolicOpen(uint32_t, void **outDevice) {
  *outDevice = new Device;
  return {};
}

static void systolicClose(void *device) {
  delete static_cast<Device *>(device);
}

static String systolicFeatures(void *) { return ""; }

static bool systolicAccepts(void *, std::string_view format) {
  return format == ASHLAR_SYSTOLIC_FORMAT;
}

static Status systolicCheckMemory(void *opaque, uint64_t size) {
  auto &device = *static_cast<Device *>(opaque);
  std::lock_guard<std::mutex> lock(device.mutex);
  return device.check(size);
}

static Status systolicAllocate(void *opaque, uint64_t size,
                               ashlar_memory_kind_t,
                               DeviceAddress *outAddress) {
  auto &device = *static_cast<Device *>(opaque);
  std::lock_guard<std::mutex> lock(device.mutex);
  ASHLAR_RETURN_IF_ERROR(device.check(size));
  void *memory = std::aligned_alloc(64, (size + 64) / 64 * 64);
  if (!memory)
    return failure(ASHLAR_OUT_OF_BUDGET,
                   concat("the system has no ", size, " bytes of memory"));
  device.allocated += size;
  *outAddress = {memory, 0};
  return {};
}

static void systolicFree(void *opaque, DeviceAddress address, uint64_t size) {
  auto &device = *static_cast<Device *>(opaque);
  std::lock_guard<std::mutex> lock(device.mutex);
  device.allocated -= size;
  std::free(address.base);
}

static Status systolicLoad(void *opaque, const void *image, uint64_t size,
                           void **outExecutable) {
  auto &device = *static_cast<Device *>(opaque);
  auto loaded = std::make_unique<Executable>();
  std::string error = readImage(image, size, loaded->image);
  if (!error.empty())
    return corrupt(error, ASHLAR_SYSTOLIC_FORMAT);
  for (const Kernel &kernel : loaded->image.kernels)
    loaded->kernels[String(kernel.name)] = {&loaded->image.machine, &kernel};
  std::lock_guard<std::mutex> lock(device.mutex);
  device.machines.push_back(&loaded->image.machine);
  *outExecutable = loaded.release();
  return {};
}

static void systolicUnload(void *opaque, void *executable) {
  auto &device = *static_cast<Device *>(opaque);
  auto *loaded = static_cast<Executable *>(executable);
  std::lock_guard<std::mutex> lock(device.mutex);
  auto &machines = device.machines;
  machines.erase(
      std::find(machines.begin(), machines.end(), &loaded->image.machine));
  delete loaded;
}

static Status systolicFindKernel(void *executable, const KernelForm &form,
                                 const void **outKernel) {
  ASHLAR_RETURN_IF_ERROR(requirePlain(form, "systolic"));
  const char *symbol = form.symbol;
  auto &kernels = static_cast<Executable *>(executable)->kernels;
  auto found = kernels.find(symbol);
  if (found == kernels.end())
    return corrupt(concat("the image lacks the kernel ", symbol), symbol);
  *outKernel = &found->second;
  return {};
}

/// Beyond the codes of host kernels; the message says the rest.
static constexpr int32_t streamFailed = -1;

namespace {
class Queue {
public:
  ASHLAR_OWN_NEW
  void submit(const Submission &submission);

private:
  void dispatch(const CommandList &list, size_t index, RunControl &control);
  std::string run(const LoadedKernel &kernel, Vector<Binding> bindings,
                  Timing *timing, RunControl &control);

  // Of the last machine: its memories are large.
  std::unique_ptr<Function> function;
  Machine machine = {};
};

/// Draws each command on the line of its engine. Cycles are drawn as long as
/// they would take, from when the simulator began.
class Drawing {
public:
  Drawing(Trace &trace, const LoadedKernel &loaded);
  void draw(const Slice &slice) const;
  const uint64_t start;

private:
  Trace &trace;
  const Kernel &kernel;
  const double nanoseconds; // of a cycle
  uint32_t lines[queueCount] = {};
};

Drawing::Drawing(Trace &trace, const LoadedKernel &loaded)
    : start(trace.now()), trace(trace), kernel(*loaded.kernel),
      nanoseconds(1e9 / double(loaded.machine->clock_hz)) {
  for (uint32_t q = 0; q < ASHLAR_SYSTOLIC_EXECUTE + loaded.machine->arrays;
       ++q)
    lines[q] = trace.line(concat("systolic:0, ", loaded.machine->name),
                          String(queueName(q)));
}

void Drawing::draw(const Slice &slice) const {
  std::string funct = nameOf(slice.funct);
  bool isNamed = slice.region < kernel.regions.size();
  String label = concat(isNamed ? kernel.regions[slice.region].name : "",
                        isNamed ? ": " : "", funct);
  trace.record(trace.intern(label), lines[slice.queue],
               start + uint64_t(double(slice.begin) * nanoseconds),
               start + uint64_t(double(slice.end) * nanoseconds));
}

/// Empty, or what the kernel failed with.
std::string Queue::run(const LoadedKernel &loaded, Vector<Binding> bindings,
                       Timing *timing, RunControl &control) {
  if (!function ||
      std::memcmp(&machine, loaded.machine, sizeof(machine)) != 0) {
    machine = *loaded.machine;
    function = std::make_unique<Function>(machine);
  }
  function->start(std::move(bindings));
  Decoder decoder(machine, *loaded.kernel);
  for (Action action; !control.stopped() && decoder.next(action);) {
    if (timing)
      timing->add(action);
    if (!function->execute(action))
      return function->error();
  }
  if (timing)
    timing->finish();
  return decoder.error();
}

void Queue::dispatch(const CommandList &list, size_t index,
                     RunControl &control) {
  const Command &command = list.commands[index];
  const auto &loaded = *static_cast<const LoadedKernel *>(command.kernel);
  if (command.pointers != loaded.kernel->bindings) {
    control.fail(uint32_t(index), streamFailed,
                 concat("it takes ", loaded.kernel->bindings,
                        " bindings, the dispatch gives ", command.pointers));
    return;
  }
  Vector<Binding> bindings;
  for (uint32_t i = 0; i < command.pointers; ++i) {
    const CommandList::Extent &extent = list.extents[command.firstPointer + i];
    bindings.push_back({list.pointers[command.firstPointer + i], extent.bytes,
                        extent.isWritten});
  }
  // Without anybody who looks, time need not be counted.
  std::unique_ptr<Timing> timing;
  std::optional<Drawing> drawing;
  if (control.trace) {
    drawing.emplace(*control.trace, loaded);
    timing = std::make_unique<Timing>(*loaded.machine,
                                      loaded.kernel->regions.size());
    timing->observe = [&](const Slice &slice) { drawing->draw(slice); };
  }
  for (int64_t group = 0; group < command.extent && !control.stopped();
       ++group) {
    std::string error = run(loaded, bindings, timing.get(), control);
    if (!error.empty()) {
      control.fail(uint32_t(index), streamFailed, String(error));
      return;
    }
  }
  if (drawing)
    control.trace->record(list.labels[index], 0, drawing->start,
                          control.trace->now());
}

void Queue::submit(const Submission &given) {
  const CommandList &list = given.list;
  for (size_t i = given.range.begin;
       i < given.range.end && !given.control.stopped(); ++i) {
    const Command &command = list.commands[i];
    auto side = [&](unsigned number) {
      return static_cast<char *>(list.pointers[command.firstPointer + number]) +
             given.counters.moved(command, number);
    };
    if (command.kind == Command::Copy)
      std::memcpy(side(1), side(0), size_t(command.extent));
    else if (command.kind == Command::Dispatch)
      dispatch(list, i, given.control);
  }
}
} // namespace

static Status systolicCreateQueue(void *, const QueueOptions &,
                                  void **outQueue) {
  *outQueue = new Queue;
  return {};
}

static void systolicDestroyQueue(void *queue) {
  delete static_cast<Queue *>(queue);
}

static Status systolicSubmit(void *queue, const Submission &submission) {
  static_cast<Queue *>(queue)->submit(submission);
  return {};
}

const DeviceOps systolicDeviceOps = {
    "systolic",
    /*programs=*/"systolic",
    MemoryKind::Device,
    /*runsNativeCode=*/false,
    /*isOffered=*/true,
    /*returnsEarly=*/false,
    systolicCount,
    systolicOpen,
    systolicClose,
    systolicFeatures,
    systolicAccepts,
    systolicCheckMemory,
    systolicAllocate,
    systolicFree,
    systolicLoad,
    systolicUnload,
    systolicFindKernel,
    systolicCreateQueue,
    systolicDestroyQueue,
    finished::copy,
    systolicSubmit,
    finished::readBack,
    /*follow=*/nullptr,
    finished::createEvent,
    finished::destroyEvent,
    finished::record,
    finished::waitFor,
    finished::wait,
    /*encode=*/nullptr,
    /*capture=*/nullptr,
    /*launch=*/nullptr,
    /*destroyGraph=*/nullptr,
};

} // namespace ashlar::runtime
