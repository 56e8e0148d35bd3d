// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a queue's kernels ran on the device, for the trace of a run.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUTRACE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUTRACE_H

#include "../../OwnMemory.h"
#include "GpuDevice.h"

#include <memory>

namespace ashlar::runtime {

class Trace;

/// Kernels of a run that have not been told yet. Its owner locks, and the
/// device is the thread's current one.
class GpuTrace {
public:
  explicit GpuTrace(const GpuDevice &device) : device(device) {}
  GpuTrace(const GpuTrace &) = delete;

  /// In front of a kernel, handed to the driver at `handed`, and behind it.
  Status begin(const std::shared_ptr<Trace> &trace, const char *label,
               gpu::Stream stream, uint64_t handed);
  /// Behind the kernel that began last.
  Status end(gpu::Stream stream);
  /// All of them have ended: the trace is told.
  void tell();
  /// Nothing is told of them.
  void drop();

private:
  /// A kernel with the driver's events around it, which are this object's.
  struct Launch {
    const char *label;       // the trace's
    gpu::EventId begin, end; // null: not recorded
  };
  /// A new event, recorded.
  Status mark(gpu::EventId &out, gpu::Stream stream);

  const GpuDevice &device;     // outlives it
  std::shared_ptr<Trace> into; // null: nothing is to be told
  Vector<Launch> launches;     // in queue order
  uint64_t firstHanded = 0;    // by the trace's clock
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUTRACE_H
