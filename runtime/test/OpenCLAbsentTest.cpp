// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said where there is no OpenCL device or one that takes no SPIR-V.
// ctest runs this with loaders and drivers of many kinds: CMakeLists.txt.

#include "Loaded.h"
#include "NeedsOpenCL.h"

using namespace ashlar::test;

namespace {

class OpenCLAbsent : public RuntimeTest {};

TEST_F(OpenCLAbsent, NoDriverIsNoDevice) {
  EXPECT_EQ(ashlar::runtime::openclDeviceOps.count(), 0u);
  EXPECT_STREQ(ashlar_device_names(runtime), "cpu:0, systolic:0");
  ModuleBuilder b = sampleModule();
  b.program().device_type = "opencl";
  ModuleBytes file = b.build();
  ashlar_load_options_t options = trusting();
  const char *there = "opencl:0";
  options.devices = &there;
  options.device_count = 1;
  expectSays(ashlar_module_load_memory(runtime, file.data(), file.size(),
                                       &options, &module),
             ASHLAR_UNSUPPORTED,
             "no device opencl:0; there are cpu:0, systolic:0");
  // The processor is served all the same.
  load(sampleModule());
  start();
  SampleArguments a;
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.expectResult();
}

TEST_F(OpenCLAbsent, ADriverWithoutSpirvIsNoUse) {
  const auto &ops = ashlar::runtime::openclDeviceOps;
  if (ops.count() == 0)
    GTEST_SKIP() << "no OpenCL device";
  ashlar_device_t device(ops, "opencl:0");
  ASSERT_TRUE(device.open(0).ok());
  if (ops.accepts(device.state, ASHLAR_OPENCL_FORMAT))
    GTEST_SKIP() << "the first OpenCL device takes SPIR-V";
  std::vector<uint8_t> code = openclKernels();
  if (code.empty())
    GTEST_SKIP() << "no kernels for OpenCL: the build found no clang-22";
  void *loaded = nullptr;
  ashlar::runtime::Status status =
      ops.loadExecutable(device.state, code.data(), code.size(), &loaded);
  EXPECT_EQ(status.code(), ASHLAR_UNSUPPORTED);
  EXPECT_NE(std::strstr(status.message(), " takes no SPIR-V"), nullptr)
      << status.message();
  ModuleBuilder b = sampleModule();
  ASSERT_TRUE(b.useOpenCL());
  ModuleBytes file = b.build();
  ashlar_load_options_t options = trusting();
  const char *there = "opencl:0";
  options.devices = &there;
  options.device_count = 1;
  expectSays(ashlar_module_load_memory(runtime, file.data(), file.size(),
                                       &options, &module),
             ASHLAR_UNSUPPORTED, "opencl:0 does not run spirv64");
}

} // namespace
