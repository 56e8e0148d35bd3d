// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a queue's kernels ran on the device, for the trace of a run.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLTRACE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLTRACE_H

#include "../../OwnMemory.h"
#include "OpenCLDevice.h"

#include <memory>

namespace ashlar::runtime {

class Trace;

/// Kernels of a run that have not been told yet. Its owner locks.
class OpenCLTrace {
public:
  explicit OpenCLTrace(const OpenCLDevice &device) : device(device) {}
  ~OpenCLTrace() { drop(); }
  OpenCLTrace(const OpenCLTrace &) = delete;

  /// One that was handed to the driver at `handed`; takes the event.
  void add(const std::shared_ptr<Trace> &trace, const char *label,
           opencl::EventId event, uint64_t handed);
  /// All of them have ended: the trace is told, if the driver knows when.
  void tell();
  /// Nothing is told of them.
  void drop();

private:
  /// A kernel with the driver's event, which is this object's.
  struct Launch {
    const char *label;     // the trace's
    opencl::EventId event; // knows when it ran
  };
  uint64_t timeOf(opencl::EventId event, uint32_t what) const;

  const OpenCLDevice &device;  // outlives it
  std::shared_ptr<Trace> into; // null: nothing is to be told
  Vector<Launch> launches;     // in queue order
  uint64_t firstHanded = 0;    // by the trace's clock
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLTRACE_H
