// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules on devices that a driver runs, through the C API.

#include "Json.h"
#include "Loaded.h"
#include "NeedsCuda.h"
#include "NeedsHip.h"
#include "NeedsLevelZero.h"
#include "NeedsOpenCL.h"
#include "Place.h"
#include "TemporaryFolder.h"

#include <fstream>
#include <sstream>
#include <thread>

using namespace ashlar::test;

namespace {

struct DriverCase {
  const char *type, *device;
  std::string (*whyNot)();
  bool (ModuleBuilder::*use)();
};

class Driver : public RuntimeTest,
               public testing::WithParamInterface<DriverCase> {
protected:
  void SetUp() override {
    if (std::string why = GetParam().whyNot(); !why.empty())
      GTEST_SKIP() << why;
    RuntimeTest::SetUp();
  }
  void loadThere(ModuleBuilder builder) {
    ASSERT_TRUE((builder.*GetParam().use)());
    loadOn(GetParam().device, std::move(builder));
  }
};

INSTANTIATE_TEST_SUITE_P(
    All, Driver,
    testing::Values(
        DriverCase{"opencl", "opencl:0", whyNoOpenCL,
                   &ModuleBuilder::useOpenCL},
        DriverCase{"cuda", "cuda:0", whyNoCuda, &ModuleBuilder::useCuda},
        DriverCase{"hip", "hip:0", whyNoHip, &ModuleBuilder::useHip},
        DriverCase{"levelzero", "level-zero:0", whyNoLevelZero,
                   &ModuleBuilder::useLevelZero}),
    [](const auto &info) { return std::string(info.param.type); });

TEST_P(Driver, ComputesWhatTheProcessorDoes) {
  loadThere(sampleModule());
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_STREQ(info.device, GetParam().device);
  for (uint32_t threads : {1u, 2u, 5u}) {
    start(threads);
    for (size_t misalignment : {0, 4})
      for (bool isOwned : {false, true}) {
        SampleArguments a(sampleCount, misalignment);
        if (isOwned)
          a.outputs[0].data = nullptr;
        ASSERT_OK(
            ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
        a.expectResult();
      }
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_P(Driver, TakesTensorsInItsOwnMemory) {
  loadThere(sampleModule());
  start();
  ashlar_device_t *there = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, GetParam().device, &there));
  for (ashlar_device_t *in : {there, (ashlar_device_t *)nullptr})
    for (ashlar_device_t *out : {there, (ashlar_device_t *)nullptr}) {
      SampleArguments a;
      Place x(in, sampleCount, 0), y(in, sampleCount, 0),
          z(out, sampleCount, 0);
      auto numbers = [](float *of) {
        return std::vector<float>(of, of + sampleCount);
      };
      x.fill(numbers(a.x.data()));
      y.fill(numbers(a.y.data()));
      z.fill(std::vector<float>(sampleCount, -999));
      ashlar_tensor_t inputs[] = {x.tensor({sampleCount}),
                                  y.tensor({sampleCount})},
                      output = z.tensor({sampleCount});
      for (int round = 0; round < 3; ++round)
        ASSERT_OK(ashlar_session_run(session, "main", inputs, 2, &output, 1));
      EXPECT_EQ(output.device, out);
      std::vector<float> result = z.read();
      std::copy(result.begin(), result.end(),
                static_cast<float *>(a.outputs[0].data));
      a.expectResult();
    }
}

TEST_P(Driver, FollowsSizes) {
  loadThere(growingModule());
  start(2);
  for (int64_t count : {256, 1, 17, 200}) {
    SampleArguments a(count);
    ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
    a.expectResult();
  }
}

TEST_P(Driver, ReadsWhatDecides) {
  loadThere(controlModule());
  start(2);
  for (uint8_t isSet : {0, 1}) {
    uint8_t flags[2] = {isSet, 1};
    Floats x(sampleCount), z(sampleCount);
    for (int64_t i = 0; i < sampleCount; ++i)
      x[size_t(i)] = float(i % 31);
    ashlar_tensor_t inputs[2] = {tensorOf(x.data(), sampleCount),
                                 flagsOf(flags)};
    ashlar_tensor_t output = tensorOf(z.data(), sampleCount);
    ASSERT_OK(ashlar_session_run(session, "main", inputs, 2, &output, 1));
    for (size_t i = 0; i < size_t(sampleCount); ++i) {
      // The first row has moved on to the second.
      size_t from = isSet && i / 16 == 1 ? i - 16 : i;
      EXPECT_EQ(z[i], (isSet ? 2 : 1) * x[from]) << i;
    }
    flags[1] = 0;
    expectSays(ashlar_session_run(session, "main", inputs, 2, &output, 1),
               ASHLAR_INVALID_ARGUMENT, "the second flag must be set");
  }
}

TEST_P(Driver, AKernelThatFailsIsNamedAndTheNextRunGoesWell) {
  loadThere(checkingModule());
  start(2);
  Floats x(sampleCount), z(sampleCount);
  for (size_t i = 0; i < size_t(sampleCount); ++i)
    x[i] = float(i);
  ashlar_tensor_t input = tensorOf(x.data(), sampleCount),
                  output = tensorOf(z.data(), sampleCount);
  for (int round = 0; round < 3; ++round) {
    x[0] = 3;
    ASSERT_OK(ashlar_session_run(session, "main", &input, 1, &output, 1));
    EXPECT_EQ(z[0], 3);
    EXPECT_EQ(z[255], 255);
    x[0] = -1;
    expectSays(ashlar_session_run(session, "main", &input, 1, &output, 1),
               ASHLAR_INVALID_ARGUMENT, "node_of_check_f32");
    x[0] = -2;
    expectSays(ashlar_session_run(session, "main", &input, 1, &output, 1),
               ASHLAR_INTERNAL, "77");
    // A wrong number of the command is told, not followed.
    x[0] = -3;
    expectSays(ashlar_session_run(session, "main", &input, 1, &output, 1),
               ASHLAR_INTERNAL, "which is no kernel");
  }
}

TEST_P(Driver, SessionsOnTwoThreadsDoNotMeet) {
  loadThere(sampleModule());
  auto serve = [&](float shift) {
    ashlar_session_options_t options = withThreads(2);
    ashlar_session_t *own = nullptr;
    ASSERT_OK(ashlar_session_create(module, nullptr, &options, &own));
    for (int round = 0; round < 200; ++round) {
      SampleArguments a;
      for (size_t i = 0; i < size_t(sampleCount); ++i)
        a.x[i] += shift;
      ASSERT_OK(ashlar_session_run(own, "main", a.inputs, 2, a.outputs, 1));
      a.expectResult();
    }
    ashlar_session_release(own);
  };
  std::thread other([&] { serve(100); });
  serve(7);
  other.join();
}

TEST_P(Driver, ATraceSaysWhenKernelsRan) {
  loadThere(sampleModule());
  start(2);
  const std::string path = temporaryPath("driver_trace.json");
  auto run = [&] {
    SampleArguments a;
    ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
    a.expectResult();
  };
  run();
  ASSERT_OK(ashlar_trace_start(runtime, path.c_str()));
  for (int i = 0; i < 3; ++i)
    run();
  ASSERT_OK(ashlar_trace_stop(runtime));
  run();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  Json trace = JsonReader(text.str()).read();
  double process = -1;
  std::vector<const Json *> runs, kernels;
  for (const Json &event : trace["traceEvents"].items) {
    if (event["name"].text == "process_name" &&
        event["args"]["name"].text.rfind(std::string(GetParam().device) + " (",
                                         0) == 0)
      process = event["pid"].value;
    if (event["name"].text == "run main")
      runs.push_back(&event);
  }
  for (const Json &event : trace["traceEvents"].items)
    if (event["ph"].text == "X" && event["pid"].value == process)
      kernels.push_back(&event);
  ASSERT_EQ(runs.size(), 3u) << text.str();
  ASSERT_GE(kernels.size(), 3u) << text.str();
  // Each within some run; clocks of two devices agree to a millisecond.
  for (const Json *kernel : kernels) {
    double begin = (*kernel)["ts"].value, end = begin + (*kernel)["dur"].value;
    EXPECT_TRUE(std::any_of(runs.begin(), runs.end(), [&](const Json *each) {
      double from = (*each)["ts"].value;
      return begin >= from - 1000 && end <= from + (*each)["dur"].value + 1000;
    })) << text.str();
  }
}

TEST_P(Driver, MemoryIsChargedAndGivenBack) {
  ASSERT_OK(ashlar_budget_create(runtime, "tenant", ASHLAR_UNLIMITED, &budget));
  loadThere(sampleModule());
  ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query(budget, &now));
  uint64_t weights = sampleCount * sizeof(float);
  EXPECT_GE(now.current, weights);
  start(2);
  ashlar_budget_statistics_t more = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query(budget, &more));
  EXPECT_GE(more.current, now.current + 2 * weights);
  ashlar_session_release(session);
  ashlar_module_release(module);
  session = nullptr;
  module = nullptr;
  ASSERT_OK(ashlar_budget_query(budget, &now));
  EXPECT_EQ(now.current, 0u);
}

TEST_P(Driver, RequirementsAreFeatures) {
  ModuleBuilder b = sampleModule();
  b.program().required_features.push_back("ashlar_imaginary");
  ASSERT_TRUE((b.*GetParam().use)());
  ModuleBytes file = b.build();
  ashlar_load_options_t options = trusting();
  const char *there = GetParam().device;
  options.devices = &there;
  options.device_count = 1;
  expectSays(ashlar_module_load_memory(runtime, file.data(), file.size(),
                                       &options, &module),
             ASHLAR_UNSUPPORTED, "lacks ashlar_imaginary");
}

} // namespace
