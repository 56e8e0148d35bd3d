// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the device asks of AMD's driver, and what it says without one.

#include "Loaded.h"
#include "NeedsHip.h"

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace ashlar::test;

namespace {

/// Whose arguments and numbers hip/hip_runtime_api.h has had unchanged from
/// 5.2.3 (Debian 12) on, through 6 and 7. What changed is not here, such as
/// hipGetDeviceProperties, hipPointerGetAttributes (their structs),
/// hipMemImportFromShareableHandle (how it takes a descriptor) and
/// hipDrvGetErrorName (from 5.4 on).
const std::set<std::string> unchanged = {
    "hipDeviceGet",
    "hipDeviceGetAttribute",
    "hipDeviceGetName",
    "hipDeviceTotalMem",
    "hipEventCreateWithFlags",
    "hipEventDestroy",
    "hipEventElapsedTime",
    "hipEventQuery",
    "hipEventRecord",
    "hipFree",
    "hipFuncGetAttribute",
    "hipGetDevice",
    "hipGetDeviceCount",
    "hipGetErrorName",
    "hipGraphDestroy",
    "hipGraphExecDestroy",
    "hipGraphInstantiateWithFlags",
    "hipGraphLaunch",
    "hipHostFree",
    "hipHostMalloc",
    "hipInit",
    "hipMalloc",
    "hipMemcpyDtoDAsync",
    "hipMemcpyDtoHAsync",
    "hipMemcpyHtoDAsync",
    "hipMemsetD8Async",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipModuleLoadData",
    "hipModuleUnload",
    "hipSetDevice",
    "hipStreamBeginCapture",
    "hipStreamCreateWithFlags",
    "hipStreamDestroy",
    "hipStreamEndCapture",
    "hipStreamQuery",
    "hipStreamSynchronize",
    "hipStreamWaitEvent",
};

std::string readText(const char *path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(HipDriver, CallsWhatIsTheSameInAllVersions) {
  const std::string text = readText(ASHLAR_HIP_DRIVER);
  size_t begin = text.find("functionNames[]"), end = text.find(';', begin);
  ASSERT_NE(end, text.npos);
  std::set<std::string> called;
  const std::string names = text.substr(begin, end - begin);
  const std::regex name("hip[A-Z][A-Za-z0-9]*");
  for (std::sregex_iterator at(names.begin(), names.end(), name), none;
       at != none; ++at)
    called.insert(at->str());
  EXPECT_EQ(called, unchanged);
  // No name is asked for anywhere else.
  EXPECT_EQ(text.find("dlsym"), text.npos);
}

class HipModules : public RuntimeTest {
protected:
  void SetUp() override {
    if (std::string why = whyNoHip(); !why.empty())
      GTEST_SKIP() << why;
    RuntimeTest::SetUp();
  }
  ashlar_status_t tryLoad(ModuleBuilder b) {
    EXPECT_TRUE(b.useHip());
    return tryBytes(b.build());
  }
  ashlar_status_t tryBytes(const ModuleBytes &file) {
    ashlar_load_options_t options = trusting();
    const char *device = "hip:0";
    options.devices = &device;
    options.device_count = 1;
    return ashlar_module_load_memory(runtime, file.data(), file.size(),
                                     &options, &module);
  }
};

TEST_F(HipModules, AreForTheChipOfTheDevice) {
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "hip:0", &device));
  EXPECT_STREQ(ashlar_device_features(device), "gfx942");
  ModuleBuilder other = sampleModule();
  other.program().required_features.push_back("gfx90a");
  expectSays(tryLoad(std::move(other)), ASHLAR_UNSUPPORTED,
             "hip:0 lacks gfx90a");
  ModuleBuilder own = sampleModule();
  own.program().required_features.push_back("gfx942");
  ASSERT_OK(tryLoad(std::move(own)));
}

// The driver knows which of those that share a version it has.
TEST_F(HipModules, OfAnotherChipAreRefusedByTheDriver) {
  ModuleBuilder b = sampleModule();
  ASSERT_TRUE(b.useHip());
  std::vector<uint8_t> &code =
      b.sectionBytes[b.program().executables[0]->section];
  code[0x30] = 0x3f; // e_flags: gfx90a
  expectSays(tryBytes(b.build()), ASHLAR_UNSUPPORTED,
             "hipModuleLoadData failed with hipErrorNoBinaryForGpu on hip:0");
}

TEST_F(HipModules, ThatAreNotWholeNeverReachTheDriver) {
  for (size_t cut : {size_t(0), size_t(40), size_t(1000)}) {
    ModuleBuilder b = sampleModule();
    ASSERT_TRUE(b.useHip());
    std::vector<uint8_t> &code =
        b.sectionBytes[b.program().executables[0]->section];
    std::fill(code.begin() + ptrdiff_t(cut), code.end(), uint8_t(0));
    expectSays(tryBytes(b.build()), ASHLAR_CORRUPT,
               "the code object is not whole");
  }
}

TEST_F(HipModules, NeedTheirKernelsAndParameters) {
  ModuleBuilder lacks = sampleModule();
  lacks.program().kernels[0]->symbol = "nowhere";
  expectSays(tryLoad(std::move(lacks)), ASHLAR_CORRUPT,
             "the code lacks the kernel nowhere");
  ModuleBuilder others = sampleModule();
  others.program().kernels[0]->symbol = "bare";
  expectSays(tryLoad(std::move(others)), ASHLAR_CORRUPT,
             "kernel bare takes 1 parameters; expected 10");
}

TEST_F(HipModules, HaveNoMemoryByDescriptor) {
  ashlar_device_t *device = nullptr;
  ashlar_memory_t *memory = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "hip:0", &device));
  expectSays(ashlar_memory_create(runtime, device, nullptr, "m", 64, &memory),
             ASHLAR_UNSUPPORTED, "by file descriptor");
}

/// Without a driver, and with one that finds no GPU.
TEST(HipAbsent, IsNoDeviceAndSaysWhatItTakes) {
  ashlar_runtime_t *runtime = nullptr;
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_runtime_create(nullptr, &runtime));
  EXPECT_EQ(std::strstr(ashlar_device_names(runtime), "hip"), nullptr);
  expectSays(ashlar_device_open(runtime, "hip:0", &device), ASHLAR_NOT_FOUND,
             "AMD's driver (libamdhip64.so) and a GPU that it finds");
  ashlar_runtime_release(runtime);
}

} // namespace
