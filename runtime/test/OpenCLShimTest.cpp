// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call of OpenCL fails once, and a device is lost at each of them: a clear
// status, nothing leaks by the shim's own count, and whoever begins anew is
// served. Runs with the shim as its loader.

#include "OpenCLShim.h"
#include "Loaded.h"
#include "NeedsOpenCL.h"

#include <dlfcn.h>

using namespace ashlar::test;

namespace {

class OpenCLShimmed : public testing::Test {
protected:
  void SetUp() override {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (library)
      shim = static_cast<OpenCLShim *>(dlsym(library, "ashlar_opencl_shim"));
    if (!shim)
      GTEST_SKIP() << "the shim is not in LD_LIBRARY_PATH";
    shim->start(0, 0, false);
    if (std::string why = whyNoOpenCL(); !why.empty())
      GTEST_SKIP() << why;
    ModuleBuilder onDevice = sampleModule();
    ASSERT_TRUE(onDevice.useOpenCL());
    there = std::make_unique<ModuleBytes>(onDevice.build());
    here = std::make_unique<ModuleBytes>(sampleModule().build());
  }

  /// Loads, runs twice and unloads, all of it anew.
  ashlar_status_t serve(const ModuleBytes &file, const char *device) {
    ashlar_runtime_t *runtime = nullptr;
    ashlar_module_t *module = nullptr;
    ashlar_session_t *session = nullptr;
    ashlar_load_options_t options = trusting();
    options.devices = &device;
    options.device_count = 1;
    ashlar_status_t status = ashlar_runtime_create(nullptr, &runtime);
    if (status.code == ASHLAR_OK)
      status = ashlar_module_load_memory(runtime, file.data(), file.size(),
                                         &options, &module);
    ashlar_session_options_t two = withThreads(2);
    if (status.code == ASHLAR_OK)
      status = ashlar_session_create(module, nullptr, &two, &session);
    for (int round = 0; round < 2 && status.code == ASHLAR_OK; ++round) {
      SampleArguments a;
      status = ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
      if (status.code == ASHLAR_OK)
        a.expectResult();
    }
    // The strings are this thread's until its next call.
    said = status.message;
    status.message = said.c_str();
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
    return status;
  }

  void expectNothingAlive() {
    const char *const kinds[] = {"contexts", "buffers", "programs",
                                 "kernels",  "queues",  "events"};
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(shim->alive[i], 0) << kinds[i];
  }

  /// Every `step`-th call fails.
  void failEach(int32_t code, bool isLost, uint64_t step) {
    for (uint64_t failing = 1; !HasFailure(); failing += step) {
      shim->start(failing, code, isLost);
      ashlar_status_t status = serve(*there, "opencl:0");
      const char *failed = shim->failed;
      uint64_t made = shim->calls;
      SCOPED_TRACE(std::string(failed ? failed : "nothing") + ", call " +
                   std::to_string(failing));
      expectNothingAlive();
      if (!failed) {
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
        EXPECT_LT(made, failing);
        RecordProperty("calls", int(made));
        break;
      }
      // What the driver does not say, the device does not have; and where a
      // queue ends all is done already.
      bool isSilent = std::strcmp(failed, "clGetDeviceInfo") == 0 ||
                      std::strcmp(failed, "clFinish") == 0;
      if (status.code == ASHLAR_OK) {
        EXPECT_TRUE(isSilent);
        continue;
      }
      if (!isSilent) {
        EXPECT_NE(said.find(failed), said.npos) << said;
        EXPECT_NE(said.find("CL_"), said.npos) << said;
        EXPECT_NE(said.find("opencl:0 ("), said.npos) << said;
      }
      // Others go on meanwhile.
      if (failing % (4 * step) == 1) {
        status = serve(*here, "cpu:0");
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
        shim->start(0, 0, false);
        status = serve(*there, "opencl:0");
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
      }
    }
  }

  OpenCLShim *shim = nullptr;
  std::unique_ptr<ModuleBytes> here, there;
  std::string said;
};

TEST_F(OpenCLShimmed, EveryCallFailsOnce) {
  failEach(/*CL_OUT_OF_HOST_MEMORY*/ -6, /*isLost=*/false, 1);
}

TEST_F(OpenCLShimmed, ADeviceIsLostInTheMiddle) {
  failEach(/*CL_DEVICE_NOT_AVAILABLE*/ -2, /*isLost=*/true, 3);
}

TEST_F(OpenCLShimmed, NothingLeaksWhereAllGoesWell) {
  shim->start(0, 0, false);
  for (int round = 0; round < 3; ++round) {
    ashlar_status_t status = serve(*there, "opencl:0");
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    expectNothingAlive();
  }
  EXPECT_GT(shim->calls, 100u);
}

} // namespace
