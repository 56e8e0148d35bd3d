// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every call of every path to a device fails once. The first cause is what is
// reported, what depends on it fails with that cause, other sessions and other
// devices go on, nothing leaks or hangs, and the work can be done anew on
// another device.

#include "Handles.h"
#include "NeedsCuda.h"
#include "NeedsHip.h"
#include "NeedsLevelZero.h"
#include "NeedsOpenCL.h"
#include "SampleModules.h"
#include "WrappedDevice.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace ashlar::test;
using ashlar::runtime::DeviceOps;
using ashlar::runtime::Runtime;
using ashlar::runtime::Status;

namespace {

/// Arguments for any entry of the sample modules.
struct Arguments {
  Arguments(const ashlar_entry_t *entry, size_t misalignment) {
    size_t inputCount = ashlar_entry_input_count(entry);
    for (size_t i = 0; i < inputCount + ashlar_entry_output_count(entry); ++i) {
      ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
      (void)(i < inputCount
                 ? ashlar_entry_input(entry, i, &info)
                 : ashlar_entry_output(entry, i - inputCount, &info));
      storage.emplace_back(info.maximum_bytes + 128);
      auto address = reinterpret_cast<uintptr_t>(storage.back().data());
      ashlar_tensor_t tensor = {};
      tensor.data =
          reinterpret_cast<void *>((address + 63) / 64 * 64 + misalignment);
      tensor.capacity = info.maximum_bytes;
      tensor.type = info.type;
      tensor.rank = info.rank;
      std::copy_n(info.maximum, info.rank, tensor.shape);
      if (i >= inputCount) {
        outputs.push_back(tensor);
        continue;
      }
      // Small numbers; conditions are set.
      if (info.type == ASHLAR_TYPE_F32)
        for (uint64_t j = 0; j < info.maximum_bytes / 4; ++j)
          static_cast<float *>(tensor.data)[j] = float(j % 7) + 1;
      else
        std::memset(tensor.data, 1, size_t(info.maximum_bytes));
      inputs.push_back(tensor);
    }
  }
  std::vector<std::vector<char>> storage;
  std::vector<ashlar_tensor_t> inputs, outputs;
};

struct Sample {
  const char *name;
  ModuleBuilder (*make)();
  const char *here, *elsewhere; // where it is served
  // Beyond the first calls, every so many fails: where each load takes long.
  uint64_t step = 1;
  // Of all calls, where an emulator of code objects runs the kernels: what it
  // shows is that they do what is asked, not which call fails.
  uint64_t emulatedStep = 1;
  uint64_t stepFrom(uint64_t call) const {
    if (emulatedStep != 1 && std::getenv("ASHLAR_HIP_DOUBLE_EMULATOR"))
      return emulatedStep;
    return call < 30 ? 1 : step;
  }
  // Over two devices, of which the further one is always ":0".
  bool isShared() const { return make == sharedModule; }
};
ModuleBuilder onSystolic() { return systolicModule(); }
template <ModuleBuilder (*make)()> ModuleBuilder onOpenCL() {
  ModuleBuilder b = make();
  (void)b.useOpenCL();
  return b;
}
template <ModuleBuilder (*make)()> ModuleBuilder onCuda() {
  ModuleBuilder b = make();
  (void)b.useCuda();
  return b;
}
template <ModuleBuilder (*make)()> ModuleBuilder onHip() {
  ModuleBuilder b = make();
  (void)b.useHip();
  return b;
}
template <ModuleBuilder (*make)()> ModuleBuilder onLevelZero() {
  ModuleBuilder b = make();
  (void)b.useLevelZero();
  return b;
}
const Sample samples[] = {
    {"cpu", sampleModule, "cpu:0", "cpu:1"},
    {"symbolic", symbolicModule, "cpu:0", "cpu:1"},
    {"control", controlModule, "cpu:0", "cpu:1"},
    {"systolic", onSystolic, "systolic:0", "systolic:1"},
    {"guarded", sampleModule, "guard:0", "guard:1"},
    {"guardedSizes", growingModule, "guard:0", "guard:1"},
    {"guardedControl", controlModule, "guard:0", "guard:1"},
    {"guardedMaps", mappedModule, "guard:0", "guard:1"},
    {"opencl", onOpenCL<sampleModule>, "opencl:0", "opencl:1", 5},
    {"openclSizes", onOpenCL<growingModule>, "opencl:0", "opencl:1", 5},
    {"openclControl", onOpenCL<controlModule>, "opencl:0", "opencl:1", 17},
    {"cuda", onCuda<sampleModule>, "cuda:0", "cuda:1"},
    {"cudaSizes", onCuda<growingModule>, "cuda:0", "cuda:1"},
    {"cudaControl", onCuda<controlModule>, "cuda:0", "cuda:1"},
    {"levelZero", onLevelZero<sampleModule>, "level-zero:0", "level-zero:1", 5},
    {"levelZeroSizes", onLevelZero<growingModule>, "level-zero:0",
     "level-zero:1", 5},
    {"levelZeroControl", onLevelZero<controlModule>, "level-zero:0",
     "level-zero:1", 17},
    {"hip", onHip<sampleModule>, "hip:0", "hip:1", 1, 4},
    {"hipSizes", onHip<growingModule>, "hip:0", "hip:1", 1, 4},
    {"hipControl", onHip<controlModule>, "hip:0", "hip:1", 1, 17},
    {"shared", sharedModule, "cpu:0", "cpu:1"},
    {"guardedShared", sharedModule, "guard:0", "guard:1"}};

class Faults : public testing::TestWithParam<Sample> {
protected:
  void SetUp() override {
    std::string why;
    if (std::string(GetParam().here) == "opencl:0")
      why = whyNoOpenCL();
    if (std::string(GetParam().here) == "cuda:0")
      why = whyNoCuda();
    if (std::string(GetParam().here) == "hip:0")
      why = whyNoHip();
    if (std::string(GetParam().here) == "level-zero:0")
      why = whyNoLevelZero();
    if (!why.empty())
      GTEST_SKIP() << why;
    bytes = std::make_unique<ModuleBytes>(GetParam().make().build());
    runtime =
        new ashlar_runtime_t{std::make_shared<Runtime>(wrapDevices(hooks))};
  }
  void TearDown() override {
    ashlar_runtime_release(runtime);
    EXPECT_EQ(hooks.alive, 0);
  }
  /// What a server does with a model, on devices of one number. The first
  /// failure ends it.
  ashlar_status_t serve(const std::vector<const char *> &devices) {
    ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
    options.allow_native_code = 1;
    options.devices = devices.data();
    options.device_count = devices.size();
    options.budget = budget;
    ashlar_module_t *module = nullptr;
    ashlar_session_t *session = nullptr;
    ashlar_status_t status = ashlar_module_load_memory(
        runtime, bytes->data(), bytes->size(), &options, &module);
    if (status.code == ASHLAR_OK) {
      ashlar_session_options_t two = ASHLAR_SESSION_OPTIONS_INIT;
      two.threads = 2;
      status = ashlar_session_create(module, budget, &two, &session);
    }
    if (status.code == ASHLAR_OK)
      status = runAll(module, session);
    if (status.code == ASHLAR_DEVICE_LOST) {
      // What depends on the device fails with the same cause.
      std::string cause = status.message;
      ashlar_status_t again = runAll(module, session);
      EXPECT_EQ(again.code, ASHLAR_DEVICE_LOST);
      EXPECT_EQ(cause, again.message);
      status = again;
    }
    ashlar_session_release(session);
    ashlar_module_release(module);
    return status;
  }
  ashlar_status_t runAll(ashlar_module_t *module, ashlar_session_t *session) {
    ashlar_entry_t *entry = nullptr;
    ashlar_status_t status = ashlar_module_entry_at(module, 0, &entry);
    for (size_t misalignment : {0, 4}) {
      Arguments a(entry, misalignment);
      auto each = [&](ashlar_status_t now) {
        if (status.code == ASHLAR_OK)
          status = now;
        return status.code == ASHLAR_OK;
      };
      if (!each(ashlar_session_run_entry(session, entry, a.inputs.data(),
                                         a.inputs.size(), a.outputs.data(),
                                         a.outputs.size())))
        return status;
      ashlar_bindings_t *bindings = nullptr;
      a.outputs[0].data = nullptr;
      if (!each(ashlar_bindings_create(session, entry, a.inputs.data(),
                                       a.inputs.size(), a.outputs.data(),
                                       a.outputs.size(), &bindings)))
        return status;
      ashlar_event_t *event = nullptr;
      if (each(ashlar_bindings_run_async(bindings, &event))) {
        int32_t done = 0;
        each(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
        EXPECT_EQ(done, 1);
      }
      // The message is the thread's until its next call.
      if (status.code != ASHLAR_OK) {
        message = status.message;
        status.message = message.c_str();
      }
      ashlar_event_release(event);
      ashlar_bindings_release(bindings);
      if (status.code != ASHLAR_OK)
        return status;
    }
    return status;
  }

  const std::vector<const char *> here = {GetParam().here};
  const std::vector<const char *> elsewhere = {GetParam().elsewhere};
  DeviceHooks hooks;
  ashlar_runtime_t *runtime = nullptr;
  ashlar_budget_t *budget = nullptr;
  std::unique_ptr<ModuleBytes> bytes;
  std::string message;
};

TEST_P(Faults, EveryCallFailsOnce) {
  // Of a program over two devices the further one is always ":0".
  bool isShared = GetParam().isShared();
  std::atomic<uint64_t> calls{0};
  uint64_t failing = 0, reached = 0;
  DeviceCall failed = DeviceCall::Open;
  auto failNow = [&](DeviceCall call, uint32_t ordinal) -> Status {
    if (ordinal != 0 || ++calls != failing)
      return {};
    failed = call;
    return Status(ASHLAR_INTERNAL, "injected failure");
  };
  for (failing = 1;; failing += GetParam().stepFrom(failing)) {
    // A runtime each, since a lost device stays lost.
    ashlar_runtime_release(runtime);
    runtime =
        new ashlar_runtime_t{std::make_shared<Runtime>(wrapDevices(hooks))};
    ASSERT_EQ(
        ashlar_budget_create(runtime, "tenant", ASHLAR_UNLIMITED, &budget).code,
        ASHLAR_OK);
    calls = 0;
    hooks.before = failNow;
    ashlar_status_t status = serve(here);
    uint64_t made = calls;
    std::string said = status.message;
    int32_t code = status.code;
    if (made >= failing) {
      ++reached;
      EXPECT_NE(code, ASHLAR_OK) << name(failed);
      EXPECT_NE(said.find("injected failure"), said.npos)
          << name(failed) << ": " << said;
    } else {
      EXPECT_EQ(code, ASHLAR_OK) << said;
    }
    ashlar_budget_statistics_t left = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_EQ(ashlar_budget_query(budget, &left).code, ASHLAR_OK);
    EXPECT_EQ(left.current, 0u) << name(failed);
    // Elsewhere all is well.
    if (!isShared) {
      ashlar_status_t other = serve(elsewhere);
      EXPECT_EQ(other.code, ASHLAR_OK) << other.message;
    }
    ashlar_budget_release(budget);
    budget = nullptr;
    if (made < failing || HasFailure())
      break;
  }
  // Opening, loading, a queue, runs, copies: there was something to fail.
  EXPECT_GT(reached, 8u);
  RecordProperty("calls", int(reached));
}

TEST_P(Faults, OutOfMemoryAtEachAllocationIsARefusal) {
  ASSERT_EQ(
      ashlar_budget_create(runtime, "tenant", ASHLAR_UNLIMITED, &budget).code,
      ASHLAR_OK);
  std::atomic<uint64_t> calls{0};
  uint64_t failing = 1, made = 0;
  hooks.before = [&](DeviceCall call, uint32_t) -> Status {
    if (call != DeviceCall::Allocate || ++calls != failing)
      return {};
    return Status(ASHLAR_OUT_OF_BUDGET, "no memory there");
  };
  // One runtime: whoever was refused loses no device.
  for (;; ++failing) {
    calls = 0;
    ashlar_status_t status = serve(here);
    made = calls;
    EXPECT_EQ(status.code, made < failing ? ASHLAR_OK : ASHLAR_OUT_OF_BUDGET)
        << status.message;
    ashlar_budget_statistics_t left = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_EQ(ashlar_budget_query(budget, &left).code, ASHLAR_OK);
    EXPECT_EQ(left.current, 0u);
    if (made < failing || HasFailure())
      break;
  }
  EXPECT_GE(failing, 3u);
  ashlar_budget_release(budget);
  budget = nullptr;
}

/// Without the programs over two devices, whose further one is always ":0".
class SeparateFaults : public Faults {};

TEST_P(SeparateFaults, OtherSessionsGoOnWhileADeviceIsLost) {
  hooks.before = [&](DeviceCall call, uint32_t ordinal) -> Status {
    if (ordinal == 0 && runsCommands(call))
      return Status(ASHLAR_INTERNAL, "injected failure");
    return {};
  };
  std::thread witness([&] {
    for (int round = 0; round < 50; ++round) {
      ashlar_status_t status = serve(elsewhere);
      ASSERT_EQ(status.code, ASHLAR_OK) << status.message;
    }
  });
  ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
  options.allow_native_code = 1;
  options.devices = here.data();
  options.device_count = here.size();
  ashlar_module_t *module = nullptr;
  ashlar_session_t *session = nullptr;
  ashlar_entry_t *entry = nullptr;
  ASSERT_EQ(ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                      &options, &module)
                .code,
            ASHLAR_OK);
  ASSERT_EQ(ashlar_session_create(module, nullptr, nullptr, &session).code,
            ASHLAR_OK);
  ASSERT_EQ(ashlar_module_entry_at(module, 0, &entry).code, ASHLAR_OK);
  Arguments a(entry, 0);
  for (int round = 0; round < 50; ++round)
    EXPECT_EQ(ashlar_session_run_entry(session, entry, a.inputs.data(),
                                       a.inputs.size(), a.outputs.data(),
                                       a.outputs.size())
                  .code,
              ASHLAR_DEVICE_LOST);
  ashlar_session_t *late = nullptr;
  EXPECT_EQ(ashlar_session_create(module, nullptr, nullptr, &late).code,
            ASHLAR_DEVICE_LOST);
  witness.join();
  ashlar_session_release(session);
  ashlar_module_release(module);
}

TEST_P(Faults, SlowAndSpoiltCallsHangAndLeakNothing) {
  std::atomic<uint64_t> calls{0};
  uint64_t chosen = 0;
  hooks.before = [&](DeviceCall, uint32_t) -> Status {
    if (++calls == chosen)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return {};
  };
  hooks.spoils = [&](DeviceCall, uint32_t) { return calls == chosen; };
  for (chosen = 1; chosen < 60; chosen += GetParam().stepFrom(1)) {
    calls = 0;
    (void)serve(here); // numbers may be wrong, and a size may be refused
    if (calls < chosen)
      break;
  }
}

std::string nameOf(const testing::TestParamInfo<Sample> &info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(All, Faults, testing::ValuesIn(samples), nameOf);
INSTANTIATE_TEST_SUITE_P(All, SeparateFaults,
                         testing::ValuesIn(samples, samples + 11), nameOf);

} // namespace
