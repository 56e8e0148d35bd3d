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
#include "PinnedUploads.h"
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
  /// Once, before it is used.
  Status create();

  /// See DeviceOps::wait. Any thread; a fault of what came before is then told
  /// to its run.
  Status wait(uint64_t timeoutNanoseconds, bool *outCame);

private:
  friend class GpuQueue;
  const GpuDevice &device;      // outlives it
  gpu::EventId event = nullptr; // null until created
  std::mutex mutex;
  GpuQueue *queue = nullptr; // null: it was never recorded
  // Of its queue, when it was recorded.
  uint64_t launches = 0, copies = 0;
};

/// Commands of a list as the driver launches them at once.
class GpuGraph {
public:
  ASHLAR_OWN_NEW
  GpuGraph(const GpuDevice &device, bool hasLaunches, CommandRange range)
      : device(device), hasLaunches(hasLaunches), range(range) {}
  ~GpuGraph();
  GpuGraph(const GpuGraph &) = delete;

private:
  friend class GpuQueue;
  const GpuDevice &device;       // outlives it
  const bool hasLaunches;        // it then reads the fault, too
  const CommandRange range;      // of the list
  gpu::GraphExec exec = nullptr; // null until captured
};

/// One thread at a time, but for events of it, which any thread waits for. What
/// it is given lives until it is finished.
class GpuQueue {
public:
  ASHLAR_OWN_NEW
  GpuQueue(GpuDevice &device, const QueueOptions &options)
      : device(device), api(device.api), workers(options.workers),
        scratch(options.scratch), scratchBytes(options.scratchBytes),
        callers(static_cast<gpu::Stream>(options.stream)), pending(device),
        uploads(device) {}
  ~GpuQueue();
  GpuQueue(const GpuQueue &) = delete;
  /// Once, before it is used. Fails where the caller's stream is not one of
  /// this device's or is being captured.
  Status start();

  /// In queue order; the host's side stays until it is finished.
  Status copy(CopyKind kind, DeviceAddress to, DeviceAddress from,
              uint64_t size);
  /// A kernel that fails is told to the run with the next event or read-back.
  Status submit(const Submission &submission);
  /// Null where the driver makes none.
  Status capture(const CommandList &list, CommandRange range,
                 std::unique_ptr<GpuGraph> &out);
  /// As `submit`; the graph lives until it is finished.
  Status launch(const GpuGraph &graph, RunControl &control);
  /// Waits for everything, then the bytes are there.
  Status readBack(DeviceAddress from, void *host, uint64_t size);
  /// The event has come when all that was given so far is finished.
  Status record(GpuEvent &event);
  /// What is given from now on begins after the event.
  Status waitFor(GpuEvent &event);

private:
  friend class GpuEvent;
  static constexpr size_t faultBytes = // gpu_abi.h
      ASHLAR_GPU_STATUS_WORDS * sizeof(uint32_t);
  /// Not of no bytes or groups.
  static bool isWork(const Command &command) {
    return command.kind <= Command::Copy && command.extent > 0;
  }
  /// A dispatch of at least one group, with its arguments.
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
  Status copyIn(void *target, const void *source, size_t size);
  /// Without waiting, by way of pinned memory where that has room.
  Status copyOut(void *host, const void *from, size_t size);
  Status lookAtFault(uint64_t seenLaunches);
  Status lose(const Status &cause);
  /// OK, or the queue is lost: see `lose`.
  Status check(const Status &status) {
    return status.ok() ? status : lose(status);
  }
  Status check(const void *call, gpu::Code code) {
    return check(device.check(call, code));
  }

  GpuDevice &device;             // outlives it
  const gpu::Functions &api;     // the device's
  const uint32_t workers;        // that scratch is for
  const DeviceAddress scratch;   // of all workers; the session's
  const uint64_t scratchBytes;   // of one worker
  const gpu::Stream callers;     // the caller's; null: the stream is its own
  gpu::Stream stream = nullptr;  // null until started
  void *fault = nullptr;         // the device's words, of statusBytes
  uint32_t *seenFault = nullptr; // the host's, which the driver copies to

  LaunchFaults<GpuTrace> pending; // whose faults nobody has looked at
  uint64_t readBehind = 0; // so many launches the fault's words were read last
  PinnedCopies copies;     // on their way to the host
  PinnedUploads uploads;   // large ones to the device
  // Since the last wait, by a copy of this stream or what that waits for.
  bool mayWriteHost = false;

  // Of the launch that is being made.
  Vector<uint64_t> values;
  Vector<void *> parameters; // where each of them is, then tensor maps
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUQUEUE_H
