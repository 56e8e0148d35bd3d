// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a trace is as others read it, for tests of what we write.

#ifndef ASHLAR_RUNTIME_TEST_TRACEEVENTS_H
#define ASHLAR_RUNTIME_TEST_TRACEEVENTS_H

#include "Json.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace ashlar::test {

/// Whether an event is as the "Trace Event Format" of Chromium's developers
/// says: an X has a begin and a length, a C numbers, an M a name.
inline void expectEvent(const Json &event) {
  ASSERT_EQ(event.kind, Json::object);
  ASSERT_EQ(event["name"].kind, Json::string);
  ASSERT_EQ(event["ph"].kind, Json::string);
  for (const char *field : {"pid", "tid"}) {
    ASSERT_EQ(event[field].kind, Json::number) << event["name"].text;
    ASSERT_EQ(event[field].value, std::floor(event[field].value));
    ASSERT_GE(event[field].value, 0);
    ASSERT_LT(event[field].value, double(1u << 31));
  }
  const Json &arguments = event["args"];
  ASSERT_EQ(arguments.kind, Json::object) << event["name"].text;
  std::string phase = event["ph"].text;
  if (phase == "M") {
    EXPECT_TRUE(event["name"].text == "process_name" ||
                event["name"].text == "thread_name");
    EXPECT_EQ(arguments["name"].kind, Json::string);
    return;
  }
  ASSERT_EQ(event["ts"].kind, Json::number) << event["name"].text;
  EXPECT_GE(event["ts"].value, 0);
  if (phase == "C") {
    EXPECT_FALSE(arguments.fields.empty());
    for (auto &[name, value] : arguments.fields)
      EXPECT_EQ(value.kind, Json::number) << name;
    return;
  }
  ASSERT_EQ(phase, "X");
  ASSERT_EQ(event["dur"].kind, Json::number);
  EXPECT_GE(event["dur"].value, 0);
}

/// What happens on one line lies within or beside what else does.
inline void expectNested(std::vector<const Json *> slices) {
  std::sort(slices.begin(), slices.end(), [](const Json *a, const Json *b) {
    double first = (*a)["ts"].value, second = (*b)["ts"].value;
    return first != second ? first<second : (*a)["dur"].value>(*b)["dur"].value;
  });
  constexpr double rounding = 0.0015; // microseconds
  std::vector<double> ends;
  for (const Json *slice : slices) {
    double begin = (*slice)["ts"].value, end = begin + (*slice)["dur"].value;
    while (!ends.empty() && ends.back() <= begin + rounding)
      ends.pop_back();
    if (!ends.empty())
      EXPECT_LE(end, ends.back() + rounding) << (*slice)["name"].text;
    ends.push_back(end);
  }
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_TRACEEVENTS_H
