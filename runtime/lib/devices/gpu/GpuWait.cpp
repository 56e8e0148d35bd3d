// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a GPU is waited for. A driver's own waits end when the work does, which
// may be never: so it is asked whether the work has ended, as often as its own
// waits look, and who has asked for long enough takes the device for lost.

#include "GpuDevice.h"

#include "../../Clock.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ashlar::runtime {

using namespace gpu;

/// Drivers wait by looking, too: what takes no longer is seen at once.
static constexpr uint64_t spinNanoseconds = 10'000'000;
/// Beyond that, nobody waits longer than by such a part of the whole.
static constexpr uint64_t pauseParts = 128;
static constexpr uint64_t mostPause = 1'000'000; // nanoseconds

/// `out` is NotReady where the time was over, and the status OK then.
template <typename Ask>
Status GpuDevice::poll(uint64_t most, Ask ask, Code &out) const {
  out = ask();
  const uint64_t begin = monotonicTime();
  while (out != 0 && driver.causeOf(out) == Cause::NotReady) {
    const uint64_t waited = monotonicTime() - begin;
    if (waited >= mostWait)
      silent = true;
    if (silent)
      return silence();
    if (waited >= most)
      return {};
    if (waited < spinNanoseconds)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(
          {waited / pauseParts, mostPause, mostWait - waited, most - waited})));
    out = ask();
  }
  return {};
}

Status GpuDevice::finish(Stream stream) const {
  if (silent)
    return silence();
  Code asked;
  ASHLAR_RETURN_IF_ERROR(
      poll(UINT64_MAX, [&] { return api.StreamQuery(stream); }, asked));
  // It has ended; whatever the driver gives back when the host waits, it does.
  const Code waited = api.StreamSynchronize(stream);
  return asked != 0 ? failed(&api.StreamQuery, asked)
                    : check(&api.StreamSynchronize, waited);
}

Status GpuDevice::await(EventId event, uint64_t timeoutNanoseconds,
                        bool &came) const {
  Code asked;
  came = false;
  ASHLAR_RETURN_IF_ERROR(
      poll(timeoutNanoseconds, [&] { return api.EventQuery(event); }, asked));
  came = asked == 0;
  return came || driver.causeOf(asked) == Cause::NotReady
             ? Status()
             : failed(&api.EventQuery, asked);
}

Status GpuDevice::silence() const {
  return failure(
      ASHLAR_DEVICE_LOST,
      concat(name, " has not ended what it was given within ",
             mostWait / 1'000'000,
             " ms, the longest that one waits for it (device_wait_ns of the "
             "runtime's options); the device is lost, and what it may still "
             "use stays with it: end the process when you can"),
      name);
}

} // namespace ashlar::runtime
