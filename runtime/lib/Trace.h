// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records what ran when, for ui.perfetto.dev. Recording takes no lock: a place
// is reserved by counting, filled, then marked as filled.

#ifndef ASHLAR_RUNTIME_LIB_TRACE_H
#define ASHLAR_RUNTIME_LIB_TRACE_H

#include "Clock.h"
#include "Status.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

namespace ashlar::runtime {

/// Any thread records. What does not fit any more is dropped and counted.
class Trace {
public:
  Trace(String path, const Clock &clock);
  ~Trace();

  /// By the runtime's clock.
  uint64_t now() const { return clock.now(); }
  /// A copy of the text that lives as long as the trace.
  const char *intern(const String &text);
  /// A line of its own in a group, such as an engine of a device, to record on
  /// in place of a worker; its times are the caller's. The same names give the
  /// same line.
  uint32_t line(const String &group, const String &name);
  /// `label` has been interned, and so has `context`, the traceparent of who
  /// asked for it, if there is one.
  void record(const char *label, uint32_t worker, uint64_t begin, uint64_t end,
              const char *context = nullptr);
  /// What `label` comes to from now on.
  void count(const char *label, uint64_t value) {
    record(label, counter, now(), value);
  }
  /// Writes the file: beside it, then renamed.
  Status write() const;

private:
  /// A span, or what a counter came to.
  struct Record {
    const char *label;        // interned
    const char *context;      // interned; null: none
    uint64_t begin;           // by the clock, as all times
    uint64_t end;             // of a counter, its value
    uint32_t worker;          // or a line, or `counter`
    uint32_t thread;          // Linux' number of who recorded
    std::atomic<bool> filled; // all of it is there
  };
  static constexpr uint64_t capacity = 1000000; // records

  /// Their names, as metadata events.
  void writeLines(std::FILE *file, const char *&separator) const;

  const String path;    // of the file
  const Clock clock;    // the runtime's
  const uint64_t start; // when it was made
  mutable std::mutex mutex;
  Set<String> labels; // all that were interned
  // Group and name; the first has number firstLine.
  Vector<std::pair<String, String>> lines;
  static constexpr uint32_t firstLine = uint32_t(1) << 31;
  // In the place of a worker.
  static constexpr uint32_t counter = UINT32_MAX;
  Record *records = nullptr; // pages that come with their first record
  const OwnMemory::Pages pages{capacity * sizeof(Record)}; // counted
  std::atomic<uint64_t> next{0}; // of all, dropped ones too
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_TRACE_H
