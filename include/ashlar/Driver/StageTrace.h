// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When the stages of a compile began and ended, in the trace-event format that
// ui.perfetto.dev opens, as the runtime's traces are.
#ifndef ASHLAR_DRIVER_STAGETRACE_H
#define ASHLAR_DRIVER_STAGETRACE_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace ashlar {

/// Any thread, several at the same time.
class StageTrace {
public:
  StageTrace() : start(Clock::now()) {}

  /// From its begin to its end, within what is open on the same thread. Without
  /// a trace it does nothing.
  class Span {
  public:
    Span(StageTrace *trace, const std::string &name)
        : trace(trace), name(trace ? name : ""),
          begin(trace ? Clock::now() : Clock::time_point()) {}
    Span(const Span &) = delete;
    Span &operator=(const Span &) = delete;
    ~Span() {
      if (trace)
        trace->record(name, begin, Clock::now());
    }

  private:
    StageTrace *const trace;
    const std::string name;
    const std::chrono::steady_clock::time_point begin;
  };

  /// Its file is another one of the compile's, which stays as it is.
  void forbid() { isForbidden = true; }
  /// Not before a compile has looked at the names of its files, either.
  bool mayBeWritten() const;
  /// The whole file, with times in microseconds from the trace's begin on.
  std::string json() const;

private:
  using Clock = std::chrono::steady_clock;
  struct Event {
    std::string name;
    Clock::time_point begin, end;
    long thread;
  };

  void record(const std::string &name, Clock::time_point begin,
              Clock::time_point end);
  uint64_t sinceStart(Clock::time_point time) const;

  const Clock::time_point start;
  mutable std::mutex mutex;
  std::vector<Event> events;
  std::atomic<bool> isForbidden{false};
};

} // namespace ashlar

#endif // ASHLAR_DRIVER_STAGETRACE_H
