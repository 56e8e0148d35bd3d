// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mark that is set in a stream's order again and again. The driver's events
// are set once, until somebody resets them; so there are several of those.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEEVENT_H
#define ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEEVENT_H

#include "ZeStream.h"

namespace ashlar::runtime::ze {

/// Any thread; recorded by one at a time.
class Mark {
public:
  ASHLAR_OWN_NEW
  Mark(Gpu &gpu, bool keepsTime) : gpu(gpu), keepsTime(keepsTime) {}
  /// Nobody waits for it any more.
  ~Mark();
  Mark(const Mark &) = delete;
  /// Once, before it is used.
  Code create();

  /// Behind all that the stream was given. The stream lives longer.
  Code record(Stream &stream);
  /// What the stream is given from now on waits. notReady: another one does
  /// already.
  Code waitIn(Stream &stream);
  /// notReady: it has not come.
  Code query();
  /// In the device's ticks. It has come.
  uint64_t time() const { return timestamp ? *timestamp : 0; }

  Gpu &gpu; // retained, and outlives it

private:
  /// notReady: it has not come. A wait that is over at once, since drivers
  /// without hardware end waits, but never say that an event has come.
  Code statusOf(EventId event) const {
    return gpu.api.EventHostSynchronize(event, 0);
  }
  /// A pair of the driver's events that is set once, then waits to be reset.
  struct Once {
    PoolId pool;      // of both
    EventId come;     // what was recorded has ended
    EventId seen;     // a stream that waits has gone on
    bool isWaitedFor; // by a stream
  };
  Code findIdle(size_t &out);
  /// One more pair, at the end.
  Code addOnce();

  const bool keepsTime;          // the device writes when it came
  uint64_t *timestamp = nullptr; // the host's, which the device writes
  Stream *timed = nullptr;       // that is to; it lives longer
  std::mutex mutex;
  Vector<Once> all;       // as many as were ever waited for at a time
  size_t last = SIZE_MAX; // the one recorded last; SIZE_MAX: none was
};

} // namespace ashlar::runtime::ze

#endif // ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEEVENT_H
