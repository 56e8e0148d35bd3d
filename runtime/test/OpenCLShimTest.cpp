// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call of OpenCL fails once, and a device is lost at each of them: a clear
// status, nothing leaks by the shim's own count, and whoever begins anew is
// served. Runs with the shim as its loader.

#include "OpenCLShimmed.h"

using namespace ashlar::test;

namespace {

class OpenCLFailing : public OpenCLShimmed {
protected:
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
      // What the driver does not say, the device does not have and a trace does
      // not tell; and where a queue ends all is done already.
      bool isSilent = std::strcmp(failed, "clGetDeviceInfo") == 0 ||
                      std::strcmp(failed, "clGetEventProfilingInfo") == 0 ||
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
};

TEST_F(OpenCLFailing, EveryCallFailsOnce) {
  failEach(/*CL_OUT_OF_HOST_MEMORY*/ -6, /*isLost=*/false, 1);
}

TEST_F(OpenCLFailing, ADeviceIsLostInTheMiddle) {
  failEach(/*CL_DEVICE_NOT_AVAILABLE*/ -2, /*isLost=*/true, 3);
}

TEST_F(OpenCLFailing, NothingLeaksWhereAllGoesWell) {
  shim->start(0, 0, false);
  for (int round = 0; round < 3; ++round) {
    ashlar_status_t status = serve(*there, "opencl:0");
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    expectNothingAlive();
  }
  EXPECT_GT(shim->calls, 100u);
}

/// Devices that say they are GPUs have memory with addresses and record what
/// repeats; processors have neither.
TEST_F(OpenCLFailing, GpusHaveSharedMemoryAndRecord) {
  const bool isGpu = std::getenv("ASHLAR_SHIM_GPU");
  const uint64_t shared = shim->shared, recorded = shim->recorded;
  rounds = 4;
  ashlar_status_t status = serve(*there, "opencl:0");
  EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
  expectNothingAlive();
  EXPECT_EQ(shim->shared > shared, isGpu);
  EXPECT_EQ(shim->recorded > recorded, isGpu);
}

class OpenCLSmall : public OpenCLShimmed {
protected:
  void TearDown() override {
    if (shim)
      shim->localBytes = shim->threads = 0;
  }
  /// The sample, whose sum is computed by workgroups of 16 threads through 4096
  /// bytes of their own.
  ModuleBuilder sample() {
    ModuleBuilder b = sampleModule();
    EXPECT_TRUE(b.useOpenCL());
    ashlar::fb::KernelT &kernel = *b.program().kernels[0];
    EXPECT_EQ(kernel.symbol, "add_f32");
    kernel.symbol = "add_shared_f32";
    kernel.block = {16};
    for (ashlar::fb::CommandUnion &command : b.programEntry().commands)
      if (ashlar::fb::DispatchT *dispatch = command.AsDispatch();
          dispatch && dispatch->kernel == 0)
        dispatch->grid.push_back(
            std::make_unique<ashlar::fb::SizeExpressionT>(*dispatch->groups));
    b.program().required_features = {ASHLAR_MODULE_FORMAT_1_1};
    return b;
  }
  ashlar_status_t load() {
    ashlar_status_t status = serve(sample().build(), "opencl:0");
    expectNothingAlive();
    return status;
  }
};

TEST_F(OpenCLSmall, AWorkgroupThatFitsIsRun) {
  shim->localBytes = 4096;
  shim->threads = 16;
  ashlar_status_t status = load();
  EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
}

TEST_F(OpenCLSmall, LessLocalMemoryThanAKernelNeedsIsRefused) {
  shim->localBytes = 4095;
  ashlar_status_t status = load();
  EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
  EXPECT_NE(said.find("kernel add_shared_f32 needs 4096 bytes of local memory "
                      "of a workgroup, and opencl:0 ("),
            said.npos)
      << said;
  EXPECT_NE(said.find("has 4095 at most; compile for opencl:generic"),
            said.npos)
      << said;
}

TEST_F(OpenCLSmall, SmallerWorkgroupsThanAKernelNeedsAreRefused) {
  shim->threads = 15;
  ashlar_status_t status = load();
  EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
  EXPECT_NE(said.find("kernel add_shared_f32 needs workgroups of 16 threads"),
            said.npos)
      << said;
  EXPECT_NE(said.find("has 15 at most; compile for opencl:generic"), said.npos)
      << said;
}

/// Two programs for OpenCL in one file, the first by workgroups.
TEST_F(OpenCLSmall, AnotherProgramIsTakenWhereOneDoesNotFit) {
  ModuleBuilder plain = sampleModule();
  ASSERT_TRUE(plain.useOpenCL());
  ModuleBuilder b = sample();
  auto other = std::make_unique<ashlar::fb::ProgramT>(plain.program());
  b.module.programs.push_back(std::move(other));
  const ModuleBytes both = b.build();
  shim->localBytes = 4095;
  ashlar_status_t status = serve(both, "opencl:0");
  EXPECT_EQ(status.code, ASHLAR_OK) << said;
  expectNothingAlive();

  // Where none fits, each is named with what it lacks.
  b.module.programs[1] = std::make_unique<ashlar::fb::ProgramT>(b.program());
  status = serve(b.build(), "opencl:0");
  EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
  EXPECT_NE(said.find("no program of the module can run here"), said.npos)
      << said;
  EXPECT_NE(said.find("not taken, kernel add_shared_f32 needs 4096 bytes of "
                      "local memory"),
            said.npos)
      << said;
  expectNothingAlive();
}

} // namespace
