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
  struct Record {
    const char *label;
    const char *context;
    uint64_t begin;
    uint64_t end; // of a counter, its value
    uint32_t worker;
    uint32_t thread;
    std::atomic<bool> filled;
  };
  static constexpr uint64_t capacity = 1000000;

  void writeLines(std::FILE *file, const char *&separator) const;

  const String path;
  const Clock clock;
  const uint64_t start;
  mutable std::mutex mutex;
  Set<String> labels;
  // Group and name; the first has number firstLine.
  Vector<std::pair<String, String>> lines;
  static constexpr uint32_t firstLine = uint32_t(1) << 31;
  // In the place of a worker.
  static constexpr uint32_t counter = UINT32_MAX;
  Record *records = nullptr;
  const OwnMemory::Pages pages{capacity * sizeof(Record)};
  std::atomic<uint64_t> next{0};
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_TRACE_H
