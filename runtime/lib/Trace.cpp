// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Trace.h"

#include "JsonText.h"
#include "NewFile.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ashlar::runtime {

Trace::Trace(String path, const Clock &clock)
    : path(std::move(path)), clock(clock), start(now()) {
  // Zeroed and only there once touched.
  void *memory =
      mmap(nullptr, capacity * sizeof(Record), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  records = static_cast<Record *>(memory);
}

Trace::~Trace() { munmap(records, capacity * sizeof(Record)); }

uint64_t monotonicTime() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

const char *Trace::intern(const String &text) {
  std::lock_guard<std::mutex> lock(mutex);
  return labels.insert(text).first->c_str();
}

uint32_t Trace::line(const String &group, const String &name) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = std::find(lines.begin(), lines.end(), std::pair(group, name));
  if (found == lines.end())
    found = lines.insert(lines.end(), {group, name});
  return firstLine + uint32_t(found - lines.begin());
}

void Trace::record(const char *label, uint32_t worker, uint64_t begin,
                   uint64_t end, const char *context) {
  uint64_t place = next.fetch_add(1, std::memory_order_relaxed);
  if (place >= capacity)
    return;
  static thread_local const uint32_t thread = uint32_t(syscall(SYS_gettid));
  Record &record = records[place];
  record.label = label;
  record.context = context;
  record.begin = begin;
  record.end = end;
  record.worker = worker;
  record.thread = thread;
  record.filled.store(true, std::memory_order_release);
}

/// A line is a thread of a process of its group's name. Linux gives no process
/// such a high number.
static int processOf(size_t group) { return 1000000000 + int(group); }

/// The first line of the same group.
static size_t groupOf(const Vector<std::pair<String, String>> &lines,
                      size_t line) {
  size_t first = 0;
  while (lines[first].first != lines[line].first)
    ++first;
  return first;
}

void Trace::writeLines(std::FILE *file, const char *&separator) const {
  auto name = [&](const char *what, size_t line, const String &text) {
    std::fprintf(file,
                 "%s{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%zu,"
                 "\"args\":{\"name\":%s}}",
                 separator, what, processOf(groupOf(lines, line)), line + 1,
                 jsonText(text).c_str());
    separator = ",\n";
  };
  for (size_t line = 0; line < lines.size(); ++line) {
    if (groupOf(lines, line) == line)
      name("process_name", line, lines[line].first);
    name("thread_name", line, lines[line].second);
  }
}

Status Trace::write() const {
  std::lock_guard<std::mutex> lock(mutex);
  NewFile output;
  auto fail = [&](std::string_view why) {
    return invalidArgument(concat("cannot write the trace: ", why), path);
  };
  std::string problem = output.create(path.c_str(), /*streams=*/true);
  if (!problem.empty())
    return fail(problem);
  std::FILE *file = fdopen(dup(output.descriptor()), "w");
  if (!file)
    return fail(std::strerror(errno));
  uint64_t count = next.load();
  uint64_t kept = std::min(count, capacity);
  std::fprintf(file,
               "{\"displayTimeUnit\":\"ns\",\"otherData\":"
               "{\"dropped\":\"%" PRIu64 "\"},\"traceEvents\":[\n",
               count - kept);
  const char *separator = "";
  writeLines(file, separator);
  for (uint64_t i = 0; i < kept; ++i) {
    const Record &record = records[i];
    if (!record.filled.load(std::memory_order_acquire))
      continue; // a run is still going on
    // A run may have been asked for before the trace began.
    uint64_t begin = std::max(record.begin, start);
    uint64_t length = std::max(record.end, begin) - begin;
    begin -= start;
    int process = getpid();
    uint32_t thread = record.thread, worker = record.worker;
    if (worker >= firstLine && worker != counter) {
      worker -= firstLine;
      process = processOf(groupOf(lines, worker));
      thread = worker + 1;
    }
    std::fprintf(
        file, "%s{\"name\":%s,\"pid\":%d,\"tid\":%u,\"ts\":%" PRIu64 ".%03u,",
        separator, jsonText(record.label).c_str(), process, thread,
        begin / 1000, unsigned(begin % 1000));
    separator = ",\n";
    if (worker == counter) {
      std::fprintf(file, "\"ph\":\"C\",\"args\":{\"value\":%" PRIu64 "}}",
                   record.end);
      continue;
    }
    std::fprintf(
        file,
        "\"ph\":\"X\",\"dur\":%" PRIu64 ".%03u,\"args\":{\"worker\":%u%s%s%s}}",
        length / 1000, unsigned(length % 1000), worker,
        record.context ? ",\"traceparent\":\"" : "",
        record.context ? record.context : "", record.context ? "\"" : "");
  }
  std::fprintf(file, "\n]}\n");
  bool failed = std::ferror(file) != 0;
  failed |= std::fclose(file) != 0;
  if (failed)
    return fail(std::strerror(errno));
  problem = output.keep();
  if (!problem.empty())
    return fail(problem);
  return {};
}

} // namespace ashlar::runtime
