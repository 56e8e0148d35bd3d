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
  void drop();

private:
  struct Launch {
    const char *label;
    opencl::EventId event;
  };
  uint64_t timeOf(opencl::EventId event, uint32_t what) const;

  const OpenCLDevice &device;
  std::shared_ptr<Trace> into;
  Vector<Launch> launches;
  uint64_t firstHanded = 0; // by the trace's clock
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLTRACE_H
