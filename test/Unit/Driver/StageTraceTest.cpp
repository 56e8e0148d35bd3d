// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/StageTrace.h"
#include "TraceEvents.h"
#include <thread>

using namespace ashlar;
using namespace ashlar::test;

// Held to what the runtime's traces are held to: events as the format has them,
// and on each thread within or beside each other.
TEST(StageTrace, IsInTheTraceEventFormat) {
  StageTrace trace;
  {
    StageTrace::Span outer(&trace, "compile");
    {
      StageTrace::Span inner(&trace, "im\"port\\\n\xff");
    }
    {
      StageTrace::Span inner(&trace, "emit");
    }
    std::thread([&] { StageTrace::Span other(&trace, "beside"); }).join();
  }
  Json file = JsonReader(trace.json()).read();
  ASSERT_EQ(file.kind, Json::object);
  std::map<double, std::vector<const Json *>> threads;
  for (const Json &event : file["traceEvents"].items) {
    expectEvent(event);
    if (event["ph"].text == "X")
      threads[event["tid"].value].push_back(&event);
  }
  ASSERT_EQ(threads.size(), 2u);
  for (auto &[thread, slices] : threads)
    expectNested(slices);
}

TEST(StageTrace, IsValidWithoutEvents) {
  EXPECT_EQ(JsonReader(StageTrace().json()).read().kind, Json::object);
}

// Nothing is recorded for nobody.
TEST(StageTrace, NeedsNoTrace) { StageTrace::Span none(nullptr, "nothing"); }
