// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream of the driver's. What it is given it hands over and comes back;
// barriers are free. A kernel that fails writes so to two words of the device's
// memory, which the host sees with the next event or read-back.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUQUEUE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUQUEUE_H

#include "../LaunchedKernels.h"
#include "GpuProgram.h"
#include "GpuTrace.h"
#include "ashlar/runtime/gpu_abi.h"

namespace ashlar::runtime {

class GpuQueue;

/// A mark in a stream's order, the same of the driver's for each record.
class GpuEvent {
public:
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
  uint64_t launches = 0;     // of its queue, when it was recorded
};

class GpuQueue {
public:
  GpuQueue(GpuDevice &device, const QueueOptions &options)
      : device(device), api(device.api), workers(options.workers),
        scratch(options.scratch), scratchBytes(options.scratchBytes),
        pending(device) {}
  ~GpuQueue();
  GpuQueue(const GpuQueue &) = delete;
  Status start();

  Status copy(CopyKind kind, DeviceAddress to, DeviceAddress from,
              uint64_t size);
  Status submit(const Submission &submission);
  Status readBack(DeviceAddress from, void *host, uint64_t size);
  Status record(GpuEvent &event);
  Status waitFor(GpuEvent &event);

private:
  friend class GpuEvent;
  gpu::Code launch(const CommandList &list, uint32_t index);
  Status expectFaults(RunControl &run);
  Status readFault();
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
  gpu::Stream stream = nullptr;
  void *fault = nullptr;         // the device's words
  uint32_t *seenFault = nullptr; // the host's, which the driver copies to

  LaunchFaults<GpuTrace> pending;

  // Of the launch that is being made.
  std::vector<uint64_t> values;
  std::vector<void *> parameters;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUQUEUE_H
