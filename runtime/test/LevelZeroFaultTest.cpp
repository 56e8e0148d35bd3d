// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call of Level Zero fails once, a device is lost at each of them, code is
// not what a module says: a clear status, nothing leaks by the double's own
// count, no call is misused, and whoever begins anew is served. Runs with the
// double as its driver.

#include "NeedsLevelZero.h"
#include "NeedsOpenCL.h"
#include "Sanitized.h"
#include "Served.h"
#include "ashlar/runtime/gpu_abi.h"
#include "level_zero/FindDouble.h"

#include <algorithm>
#if ASHLAR_TEST_ASAN
#include <sanitizer/lsan_interface.h>
#endif

using namespace ashlar::test;

namespace {

class LevelZeroFailing : public Served {
protected:
  void SetUp() override {
    if (std::string why = whyNoLevelZero(); !why.empty())
      GTEST_SKIP() << why;
    driver = findZeDouble();
    if (!driver)
      GTEST_SKIP() << "the double is not in LD_LIBRARY_PATH";
    driver->start(0, 0, false);
    misusesBefore = driver->misuses;
    // The second captures a list that the others run.
    rounds = 4;
    there = std::make_unique<ModuleBytes>(sample().build());
    here = std::make_unique<ModuleBytes>(sampleModule().build());
  }
  void TearDown() override {
    if (driver)
      EXPECT_EQ(driver->misuses, misusesBefore);
  }
  ModuleBuilder sample() {
    ModuleBuilder b = sampleModule();
    EXPECT_TRUE(b.useLevelZero());
    return b;
  }
  void expectNothingAlive() {
    const char *const kinds[] = {"contexts", "memory", "queues", "lists",
                                 "fences",   "pools",  "events", "modules",
                                 "logs",     "kernels"};
    for (int i = 0; i < ZeDouble::Kinds; ++i)
      EXPECT_EQ(driver->alive[i], 0) << kinds[i];
  }

  /// Where it fails, the run does what it would have done without it.
  static bool isSilent(const std::string &failed) {
    return failed.compare(0, 11, "zeDeviceGet") == 0 ||
           failed == "zeModuleBuildLogGetString" ||
           failed == "zeEventHostSynchronize" ||
           failed == "zeCommandQueueSynchronize" ||
           failed == "zeCommandListCreate" || failed == "zeCommandListClose" ||
           failed.compare(0, 19, "zeCommandListAppend") == 0 ||
           failed.compare(0, 11, "zeKernelSet") == 0;
  }

  /// Every `step`-th call fails.
  void failEach(int32_t code, bool isLost, uint64_t step) {
    for (uint64_t failing = 1; !HasFailure(); failing += step) {
      driver->start(failing, code, isLost);
      ashlar_status_t status = serve(*there, "level-zero:0");
      const char *failed = driver->failed;
      SCOPED_TRACE(std::string(failed ? failed : "nothing") + ", call " +
                   std::to_string(failing));
      expectNothingAlive();
      if (!failed) {
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
        EXPECT_LT(driver->calls, failing);
        EXPECT_GT(failing, 100u);
        RecordProperty("calls", int(failing));
        break;
      }
      if (status.code == ASHLAR_OK) {
        // What the driver does not say, the device does not have; what is no
        // list is given anew; and where a queue ends all is done already.
        EXPECT_TRUE(isSilent(failed));
        continue;
      }
      EXPECT_NE(said.find("level-zero:0"), said.npos) << said;
      if (!isSilent(failed))
        EXPECT_NE(said.find("ZE_RESULT_"), said.npos) << said;
      // Others go on meanwhile.
      if (failing % (4 * step) == 1) {
        status = serve(*here, "cpu:0");
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
        driver->start(0, 0, false);
        status = serve(*there, "level-zero:0");
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
      }
    }
  }

  ZeDouble *driver = nullptr;
  uint64_t misusesBefore = 0;
  std::unique_ptr<ModuleBytes> here, there;
};

TEST_F(LevelZeroFailing, EveryCallFailsOnce) {
  failEach(/*ERROR_OUT_OF_DEVICE_MEMORY*/ 0x70000003, /*isLost=*/false, 2);
}

TEST_F(LevelZeroFailing, ADeviceIsLostInTheMiddle) {
  failEach(/*ERROR_DEVICE_LOST*/ 0x70000001, /*isLost=*/true, 7);
}

// What it may still be using stays to the end of the process.
TEST_F(LevelZeroFailing, WorkWithoutAnEndIsALostDeviceAndIsNamed) {
#if ASHLAR_TEST_ASAN
  __lsan::ScopedDisabler keptOnPurpose; // what the device may still use
#endif
  ashlar_runtime_t *runtime = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_session_t *session = nullptr;
  runtimeOptions.device_wait_ns = 300'000'000;
  ASSERT_OK(ashlar_runtime_create(&runtimeOptions, &runtime));
  ashlar_load_options_t options = trusting();
  const char *device = "level-zero:0";
  options.devices = &device;
  options.device_count = 1;
  ASSERT_OK(ashlar_module_load_memory(runtime, there->data(), there->size(),
                                      &options, &module));
  ASSERT_OK(ashlar_session_create(module, nullptr, nullptr, &session));
  auto run = [&] {
    SampleArguments a;
    return ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
  };
  ASSERT_OK(run());
  int64_t alive[ZeDouble::Kinds];
  std::copy_n(driver->alive, size_t(ZeDouble::Kinds), alive);
  driver->isHanging = true;
  static SampleArguments hung; // its inputs may be read later, too
  ashlar_status_t status =
      ashlar_session_run(session, "main", hung.inputs, 2, hung.outputs, 1);
  expectSays(status, ASHLAR_DEVICE_LOST,
             "has not ended what it was given within 300 ms");
  expectSays(status, ASHLAR_DEVICE_LOST, "under way: kernel");
  expectSays(run(), ASHLAR_DEVICE_LOST, "the device is lost");
  ashlar_session_release(session);
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
  for (int i = 0; i < ZeDouble::Kinds; ++i)
    EXPECT_GE(driver->alive[i], alive[i]) << i;
  // It goes on after all: into memory that is still its own.
  driver->isHanging = false;
  runtimeOptions.device_wait_ns = 0;
  status = serve(*there, "level-zero:0");
  EXPECT_EQ(status.code, ASHLAR_OK) << said;
}

TEST_F(LevelZeroFailing, NothingLeaksWhereAllGoesWell) {
  const uint64_t before = driver->repeated;
  for (int round = 0; round < 3; ++round) {
    ashlar_status_t status = serve(*there, "level-zero:0");
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    expectNothingAlive();
  }
  EXPECT_GT(driver->calls, 100u);
  // A list that was recorded once is given to the queue again.
  EXPECT_GT(driver->repeated, before);
}

class LevelZeroCode : public LevelZeroFailing {
protected:
  void expectRefused(ModuleBuilder b, ashlar_status_code_t code,
                     const char *words) {
    expectSays(serve(b.build(), "level-zero:0"), code, words);
    expectNothingAlive();
  }
};

TEST_F(LevelZeroCode, WhatIsNoSpirvIsRefusedBeforeADriverSeesIt) {
  ModuleBuilder b = sample();
  std::vector<uint8_t> &code =
      b.sectionBytes[b.program().executables[0]->section];
  code.assign(code.size(), 'x');
  const uint64_t alive = driver->alive[ZeDouble::Modules];
  expectRefused(std::move(b), ASHLAR_CORRUPT, "no SPIR-V module");
  EXPECT_EQ(driver->alive[ZeDouble::Modules], int64_t(alive));
}

TEST_F(LevelZeroCode, ABuildThatFailsBringsTheDriversLog) {
  ModuleBuilder b = sample();
  b.sectionBytes[b.program().executables[0]->section] = openclUnresolved();
  const auto section = b.program().executables[0]->section;
  b.module.sections[section]->size = openclUnresolved().size();
  expectRefused(std::move(b), ASHLAR_UNSUPPORTED, "its log: ");
}

TEST_F(LevelZeroCode, AKernelThatIsNotThereIsNamed) {
  ModuleBuilder b = sample();
  b.program().kernels[0]->symbol = "nowhere";
  expectRefused(std::move(b), ASHLAR_CORRUPT,
                "the code lacks the kernel nowhere");
}

TEST_F(LevelZeroCode, AKernelOfOtherParametersIsRefused) {
  ModuleBuilder b = sample();
  b.program().kernels[0]->symbol = "bare";
  expectRefused(std::move(b), ASHLAR_CORRUPT,
                "kernel bare takes 1 parameters; expected 10");
}

/// Machine code for a GPU in front of the sample's SPIR-V. The double runs what
/// stands behind its header.
class LevelZeroForms : public LevelZeroCode {
protected:
  ModuleBuilder withCode(const char *format, std::vector<uint8_t> behind) {
    ModuleBuilder b = sample();
    std::vector<uint8_t> code(64);
    const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    std::copy(std::begin(magic), std::end(magic), code.begin());
    code[0x12] = 205; // EM_INTELGT
    code.insert(code.end(), behind.begin(), behind.end());
    auto spirv = std::make_unique<ashlar::fb::ExecutableT>();
    spirv->format = ASHLAR_SPIRV_ADDRESSES_FORMAT;
    spirv->section = b.program().executables[0]->section;
    spirv->variant_of = 1;
    b.program().executables[0]->format = format;
    b.program().executables[0]->section =
        b.addSection(ashlar::fb::SectionKind::Code, code);
    b.program().executables.push_back(std::move(spirv));
    b.program().required_features = {ASHLAR_MODULE_FORMAT_1_1};
    return b;
  }
  /// How many modules of machine code a served sample has made.
  uint64_t serveWith(const char *format, std::vector<uint8_t> behind) {
    const uint64_t before = driver->fromCode;
    ashlar_status_t status =
        serve(withCode(format, std::move(behind)).build(), "level-zero:0");
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    expectNothingAlive();
    return driver->fromCode - before;
  }
};

TEST_F(LevelZeroForms, MachineCodeForTheVeryGpuIsTaken) {
  EXPECT_EQ(serveWith("zebin-pvc", levelZeroKernels()), 1u);
}

TEST_F(LevelZeroForms, ThatOfOthersIsNot) {
  EXPECT_EQ(serveWith("zebin-dg2", levelZeroKernels()), 0u);
}

TEST_F(LevelZeroForms, WhatTheDriverDoesNotTakeIsSpirv) {
  EXPECT_EQ(serveWith("zebin-pvc", {1, 2, 3, 4}), 0u);
}

TEST_F(LevelZeroForms, CodeThatIsCutOffDoesNotReachTheDriver) {
  ModuleBuilder b = withCode("zebin-pvc", levelZeroKernels());
  std::vector<uint8_t> &code =
      b.sectionBytes[b.program().executables[0]->section];
  code[0x3a] = 64;   // bytes of a section's header
  code[0x3c] = 0xff; // so many of them
  code[0x3d] = 0xff;
  expectRefused(std::move(b), ASHLAR_CORRUPT,
                "the code is no zebin: it is cut off");
}

TEST_F(LevelZeroCode, KernelsOfOpenCLsCallAreNotTaken) {
  ModuleBuilder b = sampleModule();
  ASSERT_TRUE(b.useOpenCL());
  b.program().device_type = "level-zero";
  expectRefused(std::move(b), ASHLAR_UNSUPPORTED,
                "level-zero:0 does not run spirv64");
}

} // namespace
