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

  Status wait(uint64_t timeoutNanoseconds, bool *outCame);

private:
  friend class OpenCLQueue;
  /// Null: it was never recorded. The caller releases it.
  opencl::EventId take(OpenCLQueue *&outQueue, uint64_t &outLaunches);
  opencl::Code await(opencl::EventId marker, uint64_t timeoutNanoseconds,
                     bool &came, const char *&call) const;

  const OpenCLDevice &device;
  std::mutex mutex;
  opencl::EventId marker = nullptr;
  OpenCLQueue *queue = nullptr;
  uint64_t launches = 0; // of its queue, when it was recorded
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

  const OpenCLDevice &device;
  opencl::CommandBuffer commands = nullptr;
};

class OpenCLQueue {
public:
  ASHLAR_OWN_NEW
  OpenCLQueue(OpenCLDevice &device, const QueueOptions &options)
      : device(device), cl(device.cl), workers(options.workers),
        scratch(options.scratch), scratchBytes(options.scratchBytes),
        pending(device) {}
  ~OpenCLQueue();
  OpenCLQueue(const OpenCLQueue &) = delete;
  Status start();

  Status copy(CopyKind kind, DeviceAddress to, DeviceAddress from,
              uint64_t size);
  Status submit(const Submission &submission);
  Status readBack(DeviceAddress from, void *host, uint64_t size);
  Status record(OpenCLEvent &event);
  Status waitFor(OpenCLEvent &event);
  /// Null: the device records none of it.
  Status capture(const CommandList &list, CommandRange range,
                 std::unique_ptr<OpenCLGraph> &out);
  Status launch(const OpenCLGraph &graph, RunControl &control);

private:
  friend class OpenCLEvent;
  using Called = OpenCLMemory::Called;
  /// How a kernel is launched, in one dimension.
  struct Launch {
    opencl::Kernel object;
    size_t all, threads;
  };
  /// With all its arguments set. Where something fails, that is what is
  /// returned.
  Called prepare(const CommandList &list, uint32_t index, Launch &out);
  Called launch(const CommandList &list, uint32_t index,
                opencl::EventId *outEvent);
  Called recordKernels(const CommandList &list, CommandRange range,
                       OpenCLGraph &graph);
  Status profile(bool wanted);
  Status expectFaults(RunControl &run);
  Called copyWithin(DeviceAddress to, DeviceAddress from, uint64_t size);
  opencl::Code kernelFor(const OpenCLKernel &kernel, opencl::Kernel &out);
  opencl::Code readFault(opencl::EventId *outMarker);
  Status lookAtFault(uint64_t seenLaunches);
  Status finish();
  Status lose(const char *call, opencl::Code code);
  Status check(const char *call, opencl::Code code) {
    return code == 0 ? Status() : lose(call, code);
  }
  Status check(const Called &called) { return check(called.name, called.code); }

  OpenCLDevice &device;
  const opencl::Functions &cl;
  const uint32_t workers;
  const DeviceAddress scratch;
  const uint64_t scratchBytes; // of one worker
  std::atomic<opencl::CommandQueue> queue{nullptr};
  opencl::CommandQueue other = nullptr; // with the other answer to this:
  bool isProfiled = false;              // events know when they ran
  opencl::Memory fault = nullptr;

  struct OwnKernel {
    const OpenCLKernel *kernel;
    opencl::Kernel object;
  };
  Vector<OwnKernel> kernels; // by address

  uint32_t seenFault[ASHLAR_OPENCL_STATUS_WORDS] = {};
  LaunchFaults<OpenCLTrace> pending;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLQUEUE_H
