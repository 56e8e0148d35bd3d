// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs that repeat are launched as graphs, and compute what submissions do;
// whatever changes is submitted, then captured anew. Runs with the double as
// its driver, and with one that has no graphs.

#include "GpuVendor.h"
#include "Loaded.h"
#include "TemporaryFolder.h"

#include <algorithm>
#include <dlfcn.h>
#include <thread>

using namespace ashlar::test;
using ashlar::runtime::CopyKind;
using ashlar::runtime::DeviceAddress;
namespace fb = ashlar::fb;

namespace {

class GpuGraphs : public RuntimeTest {
protected:
  void SetUp() override {
    if (std::string why = whyNoDouble(driver); !why.empty())
      GTEST_SKIP() << why;
    void *library = dlopen(gpuLibrary, RTLD_NOW);
    hasGraphs =
        dlsym(library, (std::string(gpuPrefix) + "GraphLaunch").c_str()) !=
        nullptr;
    driver->isMisuseFailure = true;
    misusesBefore = driver->misuses;
    RuntimeTest::SetUp();
  }
  void TearDown() override {
    RuntimeTest::TearDown();
    if (!driver)
      return;
    EXPECT_EQ(driver->misuses, misusesBefore);
    expectNothingAlive(*driver);
  }
  void loadThere(ModuleBuilder builder) {
    ASSERT_TRUE((builder.*useGpu)());
    loadOn(gpuDevice, std::move(builder));
    driver->start(0, 0, false);
    driver->graphLaunches = 0;
  }
  /// Several times, with other numbers each; what of it was a graph.
  void run(ashlar_session_t *on, int rounds, int graphs,
           int64_t count = sampleCount) {
    const uint64_t before = driver->graphLaunches, kernels = driver->launches;
    for (int round = 0; round < rounds; ++round) {
      SampleArguments a(count);
      for (size_t i = 0; i < size_t(count); ++i)
        a.x[i] += float(round);
      ASSERT_OK(ashlar_session_run(on, "main", a.inputs, 2, a.outputs, 1));
      a.expectResult();
    }
    EXPECT_EQ(driver->graphLaunches - before, uint64_t(hasGraphs ? graphs : 0));
    EXPECT_EQ(driver->launches - kernels, uint64_t(3 * rounds));
  }

  CudaDouble *driver = nullptr;
  bool hasGraphs = false;
  uint64_t misusesBefore = 0;
};

TEST_F(GpuGraphs, WhatRepeatsIsLaunchedAsOne) {
  loadThere(sampleModule());
  start(2);
  run(session, 6, 5);
}

TEST_F(GpuGraphs, ARunAsksTheDriverForLittle) {
  loadThere(sampleModule());
  ashlar_session_options_t options = withThreads(2);
  options.poison = 0;
  ASSERT_OK(ashlar_session_create(module, nullptr, &options, &session));
  run(session, 3, 2);
  driver->start(0, 0, false);
  run(session, 10, 10);
  // Two copies in, the kernels or the graph, a copy out, an event: recorded and
  // awaited; in front of each of these six the context. Without a graph the
  // fault is read as well.
  EXPECT_EQ(driver->calls,
            10u * (6 + 6 * gpuContextCalls + (hasGraphs ? 0 : 3)));
}

TEST_F(GpuGraphs, OtherSizesAreCapturedAnew) {
  // Extents, numbers and places in the arena follow them.
  loadThere(growingModule());
  start(2);
  run(session, 3, 2, 256);
  run(session, 3, 2, 17);
  run(session, 1, 0, 200);
  run(session, 3, 2, 256);
}

TEST_F(GpuGraphs, AnArenaThatHasMovedIsCapturedAnew) {
  ashlar_arena_t *arena = nullptr;
  ASSERT_OK(ashlar_arena_create(runtime, nullptr, "arena", &arena));
  ashlar_session_options_t options = withThreads(2);
  options.arena = arena;
  loadThere(sampleModule());
  ashlar_session_t *small = nullptr, *large = nullptr;
  ASSERT_OK(ashlar_session_create(module, nullptr, &options, &small));
  run(small, 3, 2);
  ashlar_module_t *first = module;
  std::unique_ptr<ModuleBytes> file = std::move(bytes);
  ModuleBuilder b = sampleModule();
  constexpr uint64_t more = 1 << 20;
  b.contract().arena_bytes += more;
  b.contract().arena_lower_bound_bytes += more;
  b.contract().peak_bytes += more;
  loadThere(std::move(b));
  ASSERT_OK(ashlar_session_create(module, nullptr, &options, &large));
  run(large, 3, 2);
  run(small, 3, 2);
  run(large, 3, 3);
  ashlar_session_release(small);
  ashlar_session_release(large);
  ashlar_arena_release(arena);
  ashlar_module_release(first);
}

TEST_F(GpuGraphs, TheCallersMemoryOnTheDeviceMayBeAnother) {
  loadThere(sampleModule());
  start(2);
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, gpuDevice, &device));
  const auto &ops = device->ops;
  constexpr uint64_t bytes = sampleCount * sizeof(float);
  ashlar::runtime::QueueOptions alone = {};
  alone.workers = 1;
  void *queue = nullptr;
  ASSERT_TRUE(ops.createQueue(device->state, alone, &queue).ok());
  DeviceAddress places[2];
  for (DeviceAddress &place : places)
    ASSERT_TRUE(
        ops.allocate(device->state, bytes, ASHLAR_MEMORY_OUTPUTS, &place).ok());
  for (int round = 0; round < 4; ++round) {
    const DeviceAddress &place = places[round % 2];
    const uint64_t before = driver->graphLaunches;
    for (int i = 0; i < 3; ++i) {
      SampleArguments a;
      a.x[5] += float(round + i);
      ASSERT_TRUE(
          ops.copy(queue, CopyKind::In, place, {a.x.data(), 0}, bytes).ok());
      ASSERT_TRUE(ops.readBack(queue, place, a.y.data(), 0).ok());
      a.inputs[0].data = place.pointer();
      a.inputs[0].device = device;
      ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
      a.expectResult();
    }
    EXPECT_EQ(driver->graphLaunches - before, hasGraphs ? 2u : 0u);
  }
  for (DeviceAddress &place : places)
    ops.free(device->state, place, bytes);
  ops.destroyQueue(queue);
}

/// Small results wait in pinned memory.
TEST_F(GpuGraphs, ACallersMemoryIsItsOwnAfterAFailure) {
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, gpuDevice, &device));
  const auto &ops = device->ops;
  ashlar::runtime::QueueOptions alone = {};
  alone.workers = 1;
  for (bool isFailing : {true, false}) {
    void *queue = nullptr, *event = nullptr;
    ASSERT_TRUE(ops.createQueue(device->state, alone, &queue).ok());
    ASSERT_TRUE(ops.createEvent(device->state, &event).ok());
    DeviceAddress place;
    ASSERT_TRUE(
        ops.allocate(device->state, 64, ASHLAR_MEMORY_OUTPUTS, &place).ok());
    std::vector<char> in(64, 'i'), out(64, 'o');
    ASSERT_TRUE(ops.copy(queue, CopyKind::In, place, {in.data(), 0}, 64).ok());
    ASSERT_TRUE(
        ops.copy(queue, CopyKind::Out, {out.data(), 0}, place, 64).ok());
    // The context is pushed first.
    driver->start(isFailing ? gpuEnterCalls + 1 : 0, /*out of memory*/ 2,
                  false);
    EXPECT_EQ(ops.record(queue, event).ok(), !isFailing);
    driver->start(0, 0, false);
    ops.destroyQueue(queue);
    EXPECT_EQ(out, std::vector<char>(64, isFailing ? 'o' : 'i'));
    ops.destroyEvent(event);
    ops.free(device->state, place, 64);
  }
}

/// checkingModule whose kernel is the second of two.
ModuleBuilder checkingSecond() {
  constexpr int64_t size = sampleCount * sizeof(float);
  ModuleBuilder b = checkingModule();
  uint32_t add = b.addKernel("add_f32", 3, 2);
  std::vector<std::unique_ptr<fb::BindingT>> bindings;
  for (int i = 0; i < 3; ++i)
    bindings.push_back(b.bind(i == 2 ? fb::Storage::Arena : fb::Storage::Input,
                              0, constant(0), constant(size), i == 2));
  std::vector<Size> parameters;
  parameters.push_back(constant(sampleCount));
  parameters.push_back(constant(sampleChunk));
  b.dispatch(add, std::move(bindings), std::move(parameters),
             constant(sampleCount / sampleChunk));
  b.barrier();
  auto &commands = b.programEntry().commands;
  std::rotate(commands.begin(), commands.begin() + 1, commands.end());
  b.contract().arena_bytes = uint64_t(size);
  b.contract().arena_lower_bound_bytes = uint64_t(size);
  b.contract().peak_bytes += uint64_t(size);
  return b;
}

TEST_F(GpuGraphs, AFaultInAGraphIsNamedAndTheNextRunGoesWell) {
  loadThere(checkingSecond());
  start(2);
  Floats x(sampleCount), z(sampleCount);
  for (size_t i = 0; i < size_t(sampleCount); ++i)
    x[i] = float(i);
  ashlar_tensor_t input = tensorOf(x.data(), sampleCount),
                  output = tensorOf(z.data(), sampleCount);
  for (int round = 0; round < 5; ++round) {
    x[0] = float(round);
    ASSERT_OK(ashlar_session_run(session, "main", &input, 1, &output, 1));
    EXPECT_EQ(z[0], float(round));
    EXPECT_EQ(z[255], 255);
    x[0] = -1;
    expectSays(ashlar_session_run(session, "main", &input, 1, &output, 1),
               ASHLAR_INVALID_ARGUMENT, "node_of_check_f32");
    x[0] = -2;
    expectSays(ashlar_session_run(session, "main", &input, 1, &output, 1),
               ASHLAR_INTERNAL, "77");
  }
  EXPECT_EQ(driver->graphLaunches, hasGraphs ? 14u : 0u);
  // And what takes the device with it.
  x[0] = 3.2e38f;
  ashlar_status_t status =
      ashlar_session_run(session, "main", &input, 1, &output, 1);
  expectSays(status, ASHLAR_DEVICE_LOST, gpuErrors);
  expectSays(status, ASHLAR_DEVICE_LOST, "check_f32.0 (node_of_check_f32)");
}

TEST_F(GpuGraphs, ARunThatIsTracedIsSubmitted) {
  loadThere(sampleModule());
  start(2);
  run(session, 3, 2);
  const std::string path = temporaryPath("graph_trace.json");
  ASSERT_OK(ashlar_trace_start(runtime, path.c_str()));
  run(session, 2, 0);
  ASSERT_OK(ashlar_trace_stop(runtime));
  std::remove(path.c_str());
  run(session, 2, 2);
}

TEST_F(GpuGraphs, EachSessionHasItsOwn) {
  loadThere(sampleModule());
  ashlar_session_options_t options = withThreads(2);
  ashlar_session_t *sessions[3] = {};
  for (ashlar_session_t *&each : sessions)
    ASSERT_OK(ashlar_session_create(module, nullptr, &options, &each));
  std::vector<std::thread> threads;
  for (ashlar_session_t *each : sessions)
    threads.emplace_back([each] {
      for (int round = 0; round < 50; ++round) {
        SampleArguments a;
        a.x[3] = float(round);
        ASSERT_OK(ashlar_session_run(each, "main", a.inputs, 2, a.outputs, 1));
        a.expectResult();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(driver->graphLaunches, hasGraphs ? 3u * 49 : 0u);
  for (ashlar_session_t *each : sessions) {
    run(each, 2, 2);
    ashlar_session_release(each);
  }
}

TEST_F(GpuGraphs, ASessionIsReleasedWhileOneIsUnderWay) {
  for (int round = 0; round < 5; ++round) {
    loadThere(sampleModule());
    start(2);
    run(session, 3, 2);
    SampleArguments a;
    ashlar_event_t *event = nullptr;
    ASSERT_OK(ashlar_session_run_async(session, entry, a.inputs, 2, a.outputs,
                                       1, &event));
    ashlar_session_release(session);
    session = nullptr;
    int32_t isDone = 0;
    ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &isDone));
    ashlar_event_release(event);
    a.expectResult();
    EXPECT_EQ(driver->graphLaunches, hasGraphs ? 3u : 0u);
    ashlar_module_release(module);
    module = nullptr;
  }
}

} // namespace
