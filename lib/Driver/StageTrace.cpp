// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/StageTrace.h"
#include "JsonText.h"
#include <cinttypes>
#include <cstdio>
#include <sys/syscall.h>
#include <unistd.h>

using namespace ashlar;

void StageTrace::record(const std::string &name, Clock::time_point begin,
                        Clock::time_point end) {
  std::lock_guard<std::mutex> lock(mutex);
  events.push_back({name, begin, end, syscall(SYS_gettid)});
}

uint64_t StageTrace::sinceStart(Clock::time_point time) const {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time - start)
          .count());
}

bool StageTrace::mayBeWritten() const {
  std::lock_guard<std::mutex> lock(mutex);
  return !isForbidden && !events.empty();
}

std::string StageTrace::json() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                     "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" +
                     std::to_string(getpid()) +
                     ",\"tid\":" + std::to_string(getpid()) +
                     ",\"args\":{\"name\":\"ashlar-compile\"}}";
  for (const Event &event : events) {
    uint64_t begin = sinceStart(event.begin);
    uint64_t length = sinceStart(event.end) - begin;
    char numbers[160];
    std::snprintf(numbers, sizeof(numbers),
                  ",\"ph\":\"X\",\"pid\":%d,\"tid\":%ld,\"ts\":%" PRIu64
                  ".%03u,\"dur\":%" PRIu64 ".%03u,\"args\":{}}",
                  getpid(), event.thread, begin / 1000, unsigned(begin % 1000),
                  length / 1000, unsigned(length % 1000));
    text += ",\n{\"name\":" + runtime::jsonText(event.name) + numbers;
  }
  return text + "\n]}\n";
}
