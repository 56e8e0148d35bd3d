// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Serves a module on opencl:0 with the shim as the loader.

#ifndef ASHLAR_RUNTIME_TEST_OPENCLSHIMMED_H
#define ASHLAR_RUNTIME_TEST_OPENCLSHIMMED_H

#include "NeedsOpenCL.h"
#include "OpenCLShim.h"
#include "Served.h"

#include <dlfcn.h>

namespace ashlar::test {

class OpenCLShimmed : public Served {
protected:
  void SetUp() override {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (library)
      shim = static_cast<OpenCLShim *>(dlsym(library, "ashlar_opencl_shim"));
    if (!shim)
      GTEST_SKIP() << "the shim is not in LD_LIBRARY_PATH";
    shim->start(0, 0, false);
    shim->localBytes = shim->threads = 0;
    if (std::string why = whyNoOpenCL(); !why.empty())
      GTEST_SKIP() << why;
    ModuleBuilder onDevice = sampleModule();
    ASSERT_TRUE(onDevice.useOpenCL());
    there = std::make_unique<ModuleBytes>(onDevice.build());
    here = std::make_unique<ModuleBytes>(sampleModule().build());
  }

  void expectNothingAlive() {
    const char *const kinds[] = {"contexts",      "buffers",        "programs",
                                 "kernels",       "queues",         "events",
                                 "shared memory", "command buffers"};
    for (int i = 0; i < OpenCLShim::kinds; ++i)
      EXPECT_EQ(shim->alive[i], 0) << kinds[i];
  }

  OpenCLShim *shim = nullptr;
  std::unique_ptr<ModuleBytes> here, there;
};

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_OPENCLSHIMMED_H
