// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream of the driver's. What it is given it hands over and comes back;
// barriers are free. A kernel that fails writes so to two words of the device's
// memory, which the host sees with the next event or read-back.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUQUEUE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUQUEUE_H

#include "../../OwnMemory.h"
#include "../LaunchedKernels.h"
#include "GpuProgram.h"
#include "GpuTrace.h"
#include "PinnedCopies.h"
#include "ashlar/runtime/gpu_abi.h"

namespace ashlar::runtime {

class GpuQueue;

/// A mark in a stream's order, the same of the driver's for each record.
class GpuEvent {
public:
  ASHLAR_OWN_NEW
  explicit GpuEvent(const GpuDevice &device) : device(device) {}
  ~GpuEvent();
  GpuEvent(const GpuEvent &) = delete;
  Status create();

  Status wait(uint64_t timeoutNanoseconds, bool *outCame);

private:
  friend class GpuQueue;
  Status await(uint64_t timeoutNanoseconds, bool &came) const;

  const GpuDevice &device;
  gpu::EventId event = nullptr;
  std::mutex mutex;
  GpuQueue *queue = nullptr; // null: it was never recorded
  // Of its queue, when it was recorded.
  uint64_t launches = 0, copies = 0;
};

/// Commands of a list as the driver launches them at once.
class GpuGraph {
public:
  ASHLAR_OWN_NEW
  GpuGraph(const GpuDevice &device, bool hasLaunches)
      : device(device), hasLaunches(hasLaunches) {}
  ~GpuGraph();
  GpuGraph(const GpuGraph &) = delete;

private:
  friend class GpuQueue;
  const GpuDevice &device;
  const bool hasLaunches; // it then reads the fault, too
  gpu::GraphExec exec = nullptr;
};

class GpuQueue {
public:
  ASHLAR_OWN_NEW
  GpuQueue(GpuDevice &device, const QueueOptions &options)
      : device(device), api(device.api), workers(options.workers),
        scratch(options.scratch), scratchBytes(options.scratchBytes),
        callers(static_cast<gpu::Stream>(options.stream)), pending(device) {}
  ~GpuQueue();
  GpuQueue(const GpuQueue &) = delete;
  Status start();

  Status copy(CopyKind kind, DeviceAddress to, DeviceAddress from,
              uint64_t size);
  Status submit(const Submission &submission);
  /// Null where the driver makes none.
  Status capture(const CommandList &list, CommandRange range,
                 std::unique_ptr<GpuGraph> &out);
  Status launch(const GpuGraph &graph, RunControl &control);
  Status readBack(DeviceAddress from, void *host, uint64_t size);
  Status record(GpuEvent &event);
  Status waitFor(GpuEvent &event);

private:
  friend class GpuEvent;
  static constexpr size_t faultBytes =
      ASHLAR_GPU_STATUS_WORDS * sizeof(uint32_t);
  /// Not of no bytes or groups.
  static bool isWork(const Command &command) {
    return command.kind <= Command::Copy && command.extent > 0;
  }
  gpu::Code launchKernel(const CommandList &list, uint32_t index);
  gpu::Code give(const CommandList &list, uint32_t index,
                 const LoopCounters &counters, const void *&call);
  gpu::Code captureCommands(const CommandList &list, CommandRange range,
                            bool hasLaunches, const void *&call);
  Status openStream();
  Status expectFaults(RunControl &run);
  Status readFault(uint64_t &launches);
  Status finish();
  Status settle(const void *host, size_t size);
  Status copyOut(void *host, const void *from, size_t size);
  Status lookAtFault(uint64_t seenLaunches);
  Status lose(const Status &cause);
  Status check(const Status &status) {
    return status.ok() ? status : lose(status);
  }
  Status check(const void *call, gpu::Code code) {
    return check(device.check(call, code));
  }

  GpuDevice &device;
  const gpu::Functions &api;
  const uint32_t workers;
  const DeviceAddress scratch;
  const uint64_t scratchBytes; // of one worker
  const gpu::Stream callers;   // the caller's; null: the stream is its own
  gpu::Stream stream = nullptr;
  void *fault = nullptr;         // the device's words
  uint32_t *seenFault = nullptr; // the host's, which the driver copies to

  LaunchFaults<GpuTrace> pending;
  uint64_t readBehind = 0; // so many launches the fault's words were read last
  PinnedCopies copies;

  // Of the launch that is being made.
  Vector<uint64_t> values;
  Vector<void *> parameters;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUQUEUE_H
