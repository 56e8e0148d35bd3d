// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An in-order command queue. What it is given it hands to the driver and comes
// back; barriers are free. A kernel that fails writes so to two words of the
// device's memory, which the host sees with the next event or read-back.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLQUEUE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLQUEUE_H

#include "../../OwnMemory.h"
#include "../LaunchedKernels.h"
#include "OpenCLProgram.h"
#include "OpenCLTrace.h"
#include "ashlar/runtime/opencl_abi.h"

namespace ashlar::runtime {

class OpenCLQueue;

/// A marker in a queue's order, a new one of the driver's for each record.
class OpenCLEvent {
public:
  ASHLAR_OWN_NEW
  explicit OpenCLEvent(const OpenCLDevice &device) : device(device) {}
  ~OpenCLEvent();
  OpenCLEvent(const OpenCLEvent &) = delete;

  /// See DeviceOps::wait. Any thread; a fault of what came before is then told
  /// to its run.
  Status wait(uint64_t timeoutNanoseconds, bool *outCame);

private:
  friend class OpenCLQueue;
  /// Null: it was never recorded. The caller releases it.
  opencl::EventId take(OpenCLQueue *&outQueue, uint64_t &outLaunches);
  opencl::Code await(opencl::EventId marker, uint64_t timeoutNanoseconds,
                     bool &came, const char *&call) const;

  const OpenCLDevice &device; // outlives it
  std::mutex mutex;
  opencl::EventId marker = nullptr; // null: it was never recorded
  OpenCLQueue *queue = nullptr;     // which lives longer
  uint64_t launches = 0;            // of its queue, when it was recorded
};

/// A part of a list, recorded by the driver.
struct OpenCLGraph {
  ASHLAR_OWN_NEW
  explicit OpenCLGraph(const OpenCLDevice &device) : device(device) {}
  ~OpenCLGraph() {
    if (commands)
      device.recorder->ReleaseCommandBufferKHR(commands);
  }
  OpenCLGraph(const OpenCLGraph &) = delete;

  const OpenCLDevice &device;               // outlives it
  opencl::CommandBuffer commands = nullptr; // null until recorded
};

/// One thread at a time, but for events of it, which any thread waits for. What
/// it is given lives until it is finished.
class OpenCLQueue {
public:
  ASHLAR_OWN_NEW
  OpenCLQueue(OpenCLDevice &device, const QueueOptions &options)
      : device(device), cl(device.cl), workers(options.workers),
        scratch(options.scratch), scratchBytes(options.scratchBytes),
        pending(device) {}
  ~OpenCLQueue();
  OpenCLQueue(const OpenCLQueue &) = delete;
  /// Once, before it is used.
  Status start();

  /// In queue order; the host's side stays until it is finished.
  Status copy(CopyKind kind, DeviceAddress to, DeviceAddress from,
              uint64_t size);
  /// A kernel that fails is told to the run with the next event or read-back.
  Status submit(const Submission &submission);
  /// Waits for everything, then the bytes are there.
  Status readBack(DeviceAddress from, void *host, uint64_t size);
  /// The event has come when all that was given so far is finished.
  Status record(OpenCLEvent &event);
  /// What is given from now on begins after the event; of another context, the
  /// caller waits.
  Status waitFor(OpenCLEvent &event);
  /// Null: the device records none of it.
  Status capture(const CommandList &list, CommandRange range,
                 std::unique_ptr<OpenCLGraph> &out);
  /// As `submit`; the graph lives until it is finished.
  Status launch(const OpenCLGraph &graph, RunControl &control);

private:
  friend class OpenCLEvent;
  /// What was asked of the driver, and what it said.
  using Called = OpenCLMemory::Called;
  /// How a kernel is launched, in one dimension.
  struct Launch {
    opencl::Kernel object; // the queue's own
    size_t all, threads;   // work items in all and of a workgroup
  };
  /// With all its arguments set. Where something fails, that is what is
  /// returned.
  Called prepare(const CommandList &list, uint32_t index, Launch &out);
  Called launch(const CommandList &list, uint32_t index,
                opencl::EventId *outEvent);
  /// Into the graph's command buffer, which is then closed.
  Called recordKernels(const CommandList &list, CommandRange range,
                       OpenCLGraph &graph);
  Status profile(bool wanted);
  Status expectFaults(RunControl &run);
  /// Nothing is asked of the driver for zero bytes or the same place.
  Called copyWithin(DeviceAddress to, DeviceAddress from, uint64_t size);
  opencl::Code kernelFor(const OpenCLKernel &kernel, opencl::Kernel &out);
  /// Begins to copy the fault's words to the host. The marker, if it is asked
  /// for, is the caller's to release.
  opencl::Code readFault(opencl::EventId *outMarker);
  Status lookAtFault(uint64_t seenLaunches);
  /// All that it was given; faults are told.
  Status finish();
  Status lose(const char *call, opencl::Code code);
  /// OK, or the queue is lost: see `lose`.
  Status check(const char *call, opencl::Code code) {
    return code == 0 ? Status() : lose(call, code);
  }
  Status check(const Called &called) { return check(called.name, called.code); }

  OpenCLDevice &device;        // outlives it
  const opencl::Functions &cl; // the device's
  const uint32_t workers;      // that scratch is for
  const DeviceAddress scratch; // of all workers; the session's
  const uint64_t scratchBytes; // of one worker
  std::atomic<opencl::CommandQueue> queue{nullptr};
  opencl::CommandQueue other = nullptr; // with the other answer to this:
  bool isProfiled = false;              // events know when they ran
  opencl::Memory fault = nullptr;       // the device's words

  /// A kernel object of this queue's, since arguments are kept in it.
  struct OwnKernel {
    const OpenCLKernel *kernel; // the program's
    opencl::Kernel object;      // released with the queue
  };
  Vector<OwnKernel> kernels; // by address

  uint32_t seenFault[ASHLAR_OPENCL_STATUS_WORDS] = {}; // as the host read it
  LaunchFaults<OpenCLTrace> pending; // whose faults nobody has looked at
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLQUEUE_H
