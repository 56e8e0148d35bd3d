// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuTrace.h"
#include "../../Trace.h"

namespace ashlar::runtime {

using namespace gpu;

Status GpuTrace::mark(EventId &out, Stream stream) {
  const Functions &api = device.api;
  EventId made = nullptr;
  ASHLAR_RETURN_IF_ERROR(
      device.check(&api.EventCreate, api.EventCreate(&made, 0)));
  out = made;
  return device.check(&api.EventRecord, api.EventRecord(out, stream));
}

Status GpuTrace::begin(const std::shared_ptr<Trace> &trace, const char *label,
                       Stream stream, uint64_t handed) {
  if (into != trace)
    drop();
  if (launches.empty()) {
    into = trace;
    firstHanded = handed;
  }
  launches.push_back({label, nullptr, nullptr});
  return mark(launches.back().begin, stream);
}

Status GpuTrace::end(Stream stream) {
  return mark(launches.back().end, stream);
}

void GpuTrace::tell() {
  if (launches.empty())
    return;
  const uint32_t line = into->line(device.name, "kernels");
  // Milliseconds behind the first one's beginning, which both clocks know.
  auto timeOf = [&](EventId event, uint64_t &time) {
    float after = -1;
    if (!event ||
        device.api.EventElapsedTime(&after, launches.front().begin, event) != 0)
      return false;
    time = firstHanded + uint64_t(double(after) * 1e6);
    return after >= 0;
  };
  for (const Launch &each : launches) {
    uint64_t begin, end;
    if (timeOf(each.begin, begin) && timeOf(each.end, end) && end >= begin)
      into->record(each.label, line, begin, end);
  }
  drop();
}

void GpuTrace::drop() {
  for (const Launch &each : launches)
    for (EventId event : {each.begin, each.end})
      if (event && !device.isSilent())
        device.api.EventDestroy(event);
  launches.clear();
  into.reset();
}

} // namespace ashlar::runtime
