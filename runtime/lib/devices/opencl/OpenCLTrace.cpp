// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenCLTrace.h"
#include "../../Trace.h"

namespace ashlar::runtime {

using namespace opencl;

void OpenCLTrace::add(const std::shared_ptr<Trace> &trace, const char *label,
                      EventId event, uint64_t handed) {
  if (into != trace)
    drop();
  if (launches.empty()) {
    into = trace;
    firstHanded = handed;
  }
  launches.push_back({label, event});
}

/// Nanoseconds of the device's clock; 0: the driver does not say.
uint64_t OpenCLTrace::timeOf(EventId event, uint32_t what) const {
  uint64_t time = 0;
  Code code = device.cl.GetEventProfilingInfo(event, what, sizeof(time), &time,
                                              nullptr);
  return code == 0 ? time : 0;
}

void OpenCLTrace::tell() {
  if (launches.empty())
    return;
  // Both clocks tell when the first one was handed over.
  const uint64_t queued = timeOf(launches.front().event, profilingQueued);
  const uint32_t line = into->line(device.name, "kernels");
  for (const Launch &each : launches) {
    uint64_t begin = timeOf(each.event, profilingStart),
             end = timeOf(each.event, profilingEnd);
    if (queued != 0 && begin >= queued && end >= begin)
      into->record(each.label, line, firstHanded + (begin - queued),
                   firstHanded + (end - queued));
  }
  drop();
}

void OpenCLTrace::drop() {
  for (const Launch &each : launches)
    device.cl.ReleaseEvent(each.event);
  launches.clear();
  into.reset();
}

} // namespace ashlar::runtime
