// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of the processor on a device whose memory nobody may touch outside
// its own work: numbers, what faults, and that the session waits where it must.

#include "ProductTest.h"
#include "devices/Device.h"

#include <thread>

using namespace ashlar::test;
using ashlar::runtime::DeviceAddress;
using ashlar::runtime::DeviceOps;
namespace fb = ashlar::fb;

namespace {

class Guard : public ProductTest {
protected:
  void runSample(SampleArguments &&a, bool isOwned = false) {
    if (isOwned)
      a.outputs[0].data = nullptr;
    ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
    a.expectResult();
  }
};

TEST_F(Guard, ComputesWhatTheProcessorDoes) {
  loadOn("guard:0", sampleModule());
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_STREQ(info.device, "guard:0");
  for (uint32_t threads : {1u, 2u}) {
    start(threads);
    for (size_t misalignment : {0, 4})
      for (bool isOwned : {false, true})
        runSample(SampleArguments(sampleCount, misalignment), isOwned);
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(Guard, IsTakenOnlyByName) {
  load(sampleModule());
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_STREQ(info.device, "cpu:0");
  EXPECT_EQ(std::strstr(ashlar_device_names(runtime), "guard"), nullptr);
}

TEST_F(Guard, FollowsSizes) {
  loadOn("guard:1", growingModule());
  start();
  for (int64_t count : {256, 1, 17, 200})
    runSample(SampleArguments(count));
}

TEST_F(Guard, ReadsSizesThatTheProgramFinds) {
  loadOn("guard:0", sizedModule());
  start();
  Floats x(sampleCount), z(sampleCount);
  int64_t count = 0;
  ashlar_tensor_t inputs[2] = {tensorOf(x.data(), sampleCount), {}};
  inputs[1].data = &count;
  inputs[1].capacity = sizeof(count);
  inputs[1].type = ASHLAR_TYPE_I64;
  inputs[1].rank = 1;
  inputs[1].shape[0] = 1;
  ashlar_tensor_t output = tensorOf(z.data(), sampleCount);
  for (int64_t wanted : {3, 0, 256}) {
    count = wanted;
    x[0] = float(wanted);
    ASSERT_OK(ashlar_session_run(session, "main", inputs, 2, &output, 1));
    EXPECT_EQ(output.shape[0], wanted);
    EXPECT_EQ(z[0], float(wanted));
  }
  count = 257;
  EXPECT_CODE(ASHLAR_INTERNAL,
              ashlar_session_run(session, "main", inputs, 2, &output, 1));
}

TEST_F(Guard, ReadsConditionsBack) {
  loadOn("guard:0", controlModule());
  start();
  Floats x(sampleCount), z(sampleCount);
  for (size_t i = 0; i < sampleCount; ++i)
    x[i] = float(i);
  uint8_t flags[2];
  ashlar_tensor_t inputs[] = {tensorOf(x.data(), sampleCount), flagsOf(flags)};
  ashlar_tensor_t output = tensorOf(z.data(), sampleCount);
  for (int round = 0; round < 2; ++round)
    for (uint8_t isSet : {0, 1}) {
      flags[0] = isSet;
      flags[1] = 1;
      ASSERT_OK(ashlar_session_run(session, "main", inputs, 2, &output, 1));
      for (size_t i = 0; i < sampleCount; ++i) {
        size_t from = isSet && i >= 16 && i < 32 ? i - 16 : i;
        ASSERT_EQ(z[i], (isSet ? 2 : 1) * x[from]) << i;
      }
      flags[1] = 0;
      EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
                  ashlar_session_run(session, "main", inputs, 2, &output, 1));
    }
}

TEST_F(Guard, GivesKernelsTensorMapsAndEncodesThemAgain) {
  loadOn("guard:0", mappedModule());
  start();
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "guard:0", &device));
  // In the device's memory, so that the map's address changes with the tensor.
  for (size_t misalignment : {0, 4, 0}) {
    Floats x(sampleCount, misalignment), z(sampleCount / 2, misalignment);
    for (size_t i = 0; i < sampleCount; ++i)
      x[i] = float(i) + float(misalignment);
    ashlar_tensor_t in = tensorOf(x.data(), sampleCount),
                    out = tensorOf(z.data(), sampleCount / 2);
    ASSERT_OK(ashlar_session_run(session, "main", &in, 1, &out, 1));
    for (size_t i = 0; i < sampleCount / 2; ++i)
      ASSERT_EQ(z[i], 2 * x[i / 8 * 16 + i % 8]) << i;
  }
}

TEST_F(Guard, BindingsRunAgainAndAgainByGraphs) {
  loadOn("guard:0", sampleModule());
  start();
  SampleArguments a;
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(ashlar_bindings_create(session, entry, a.inputs, 2, a.outputs, 1,
                                   &bindings));
  for (int round = 0; round < 5; ++round) {
    for (int64_t i = 0; i < sampleCount; ++i) {
      a.x[size_t(i)] = float(i % 17 + round);
      a.z[size_t(i)] = -999;
    }
    if (round % 2) {
      ASSERT_OK(ashlar_bindings_run(bindings));
    } else {
      ashlar_event_t *event = nullptr;
      int32_t done = 0;
      ASSERT_OK(ashlar_bindings_run_async(bindings, &event));
      ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
      ashlar_event_release(event);
    }
    a.expectResult();
  }
  ashlar_bindings_release(bindings);
}

TEST_F(Guard, CancelsAndIsLate) {
  loadOn("guard:0", spinningModule(3000000, 1));
  start();
  // One kernel of some milliseconds: late before what comes next.
  ashlar_status_t status =
      ashlar_session_run_within(session, entry, nullptr, 0, nullptr, 0, 1000);
  EXPECT_EQ(status.code, ASHLAR_CANCELLED) << status.message;
  ASSERT_OK(ashlar_session_run(session, "main", nullptr, 0, nullptr, 0));
}

TEST_F(Guard, AKernelsErrorIsReported) {
  loadOn("guard:0", checkingModule());
  start();
  Floats x(sampleCount), z(sampleCount);
  ashlar_tensor_t in = tensorOf(x.data(), sampleCount),
                  out = tensorOf(z.data(), sampleCount);
  for (float first : {-1.f, -2.f, 3.f}) {
    x[0] = first;
    ashlar_status_t status =
        ashlar_session_run(session, "main", &in, 1, &out, 1);
    EXPECT_EQ(status.code, first == -1   ? ASHLAR_INVALID_ARGUMENT
                           : first == -2 ? ASHLAR_INTERNAL
                                         : ASHLAR_OK)
        << status.message;
  }
}

TEST_F(Guard, PassesTensorsOnToADeviceOfAnotherType) {
  for (auto make : {sharedModule, orderedModule}) {
    loadOn("guard:0", make());
    start();
    runShared();
    ashlar_session_release(session);
    ashlar_module_release(module);
    session = nullptr, module = nullptr;
  }
}

TEST_F(Guard, SessionsRunBesideEachOther) {
  loadOn("guard:0", sampleModule());
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      ashlar_session_t *own = nullptr;
      ashlar_session_options_t options = withThreads(1);
      ASSERT_OK(ashlar_session_create(module, budget, &options, &own));
      for (int round = 0; round < 50; ++round) {
        SampleArguments a;
        ASSERT_OK(ashlar_session_run(own, "main", a.inputs, 2, a.outputs, 1));
        a.expectResult();
      }
      ashlar_session_release(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Whatever the index says: refused, or loaded and bound.
TEST_F(Guard, ChangedModulesAreRefusedOrHarmless) {
  uint64_t refused = 0, bound = 0;
  for (auto make : {mappedModule, orderedModule, awayModule}) {
    const ModuleBytes sound = make().build();
    const auto *header =
        reinterpret_cast<const ashlar_module_header_t *>(sound.data());
    for (uint64_t at = 0; at < header->index_size; at += 2) {
      ModuleBytes file(sound);
      uint8_t &byte = file.data()[header->index_offset + at];
      byte ^= uint8_t(1u << (at / 2 % 8)) | uint8_t(at % 3 == 0 ? 0x80 : 0);
      rehashIndex(file);
      const char *device = make == awayModule ? "cpu:0" : "guard:0";
      ashlar_load_options_t options = trusting();
      options.devices = &device;
      options.device_count = 1;
      ashlar_module_t *tried = nullptr;
      ashlar_session_t *runner = nullptr;
      ashlar_bindings_t *bindings = nullptr;
      ashlar_entry_t *first = nullptr;
      ashlar_session_options_t small = withThreads(1);
      ashlar_status_t status = ashlar_module_load_memory(
          runtime, file.data(), file.size(), &options, &tried);
      if (status.code == ASHLAR_OK)
        status = ashlar_session_create(tried, nullptr, &small, &runner);
      if (status.code == ASHLAR_OK)
        status = ashlar_module_entry_at(tried, 0, &first);
      Floats x(sampleCount), z(sampleCount);
      ashlar_tensor_t in = tensorOf(x.data(), sampleCount), out = {};
      if (make != mappedModule) {
        in.rank = 2;
        in.shape[0] = in.shape[1] = 8;
      }
      if (status.code == ASHLAR_OK)
        status =
            ashlar_bindings_create(runner, first, &in, 1, &out, 1, &bindings);
      status.code == ASHLAR_OK ? ++bound : ++refused;
      if (status.code != ASHLAR_OK)
        EXPECT_NE(*status.message, 0);
      ashlar_bindings_release(bindings);
      ashlar_session_release(runner);
      ashlar_module_release(tried);
    }
  }
  EXPECT_GT(refused, 500u);
  EXPECT_GT(bound, 100u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// What must not be, is a fault.
class GuardDeathTest : public Guard {};

TEST_F(GuardDeathTest, TheHostCannotTouchItsMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "guard:0", &device));
  DeviceAddress address;
  ASSERT_TRUE(
      device->ops.allocate(device->state, 64, ASHLAR_MEMORY_ARENA, &address)
          .ok());
  auto *bytes = static_cast<volatile char *>(address.base);
  EXPECT_DEATH((void)bytes[0], "");
  EXPECT_DEATH(bytes[63] = 1, "");
  device->ops.free(device->state, address, 64);
}

TEST_F(GuardDeathTest, AKernelCannotWriteWhatItOnlyReads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ModuleBuilder b = checkingModule();
  // The file says that nobody writes the output.
  b.programEntry().commands[0].AsDispatch()->bindings[1]->written = false;
  loadOn("guard:0", std::move(b));
  start();
  Floats x(sampleCount), z(sampleCount);
  ashlar_tensor_t in = tensorOf(x.data(), sampleCount),
                  out = tensorOf(z.data(), sampleCount);
  EXPECT_DEATH((void)ashlar_session_run(session, "main", &in, 1, &out, 1), "");
}
#endif

} // namespace
