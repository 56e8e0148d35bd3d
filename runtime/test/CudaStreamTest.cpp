// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session whose work goes into a stream that the caller has. Runs with the
// double as its driver.

#include "Loaded.h"
#include "NeedsCuda.h"
#include "cuda/FindDouble.h"

#include <dlfcn.h>

using namespace ashlar::test;

namespace {

class CudaStream : public RuntimeTest {
protected:
  void SetUp() override {
    if (std::string why = whyNoCuda(); !why.empty())
      GTEST_SKIP() << why;
    driver = findDouble();
    if (!driver)
      GTEST_SKIP() << noDouble;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    driver->isMisuseFailure = true;
    misusesBefore = driver->misuses;
    ASSERT_EQ(call<int>("cuDevicePrimaryCtxRetain", &context, 0), 0);
    ASSERT_EQ(call<int>("cuCtxPushCurrent_v2", context), 0);
    ASSERT_EQ(call<int>("cuStreamCreate", &stream, 1u), 0);
    RuntimeTest::SetUp();
  }
  void TearDown() override {
    RuntimeTest::TearDown();
    if (!stream)
      return;
    // It is still there, for its owner to destroy.
    EXPECT_EQ(driver->alive[CudaDouble::Streams], 1);
    EXPECT_EQ(call<int>("cuStreamDestroy_v2", stream), 0);
    void *popped = nullptr;
    EXPECT_EQ(call<int>("cuCtxPopCurrent_v2", &popped), 0);
    EXPECT_EQ(call<int>("cuDevicePrimaryCtxRelease_v2", 0), 0);
    EXPECT_EQ(driver->misuses, misusesBefore);
    expectNothingAlive(*driver);
  }
  template <typename Result, typename... Arguments>
  Result call(const char *name, Arguments... arguments) {
    auto function = reinterpret_cast<Result (*)(Arguments...)>(
        reinterpret_cast<uintptr_t>(dlsym(library, name)));
    return function(arguments...);
  }
  ashlar_status_t startWith(void *given) {
    ashlar_session_options_t options = withThreads(1);
    options.stream = given;
    return ashlar_session_create(module, nullptr, &options, &session);
  }
  void loadThere() {
    ModuleBuilder b = sampleModule();
    ASSERT_TRUE(b.useCuda());
    loadOn("cuda:0", std::move(b));
  }

  void *library = nullptr, *context = nullptr, *stream = nullptr;
  CudaDouble *driver = nullptr;
  uint64_t misusesBefore = 0;
};

TEST_F(CudaStream, OfTheCallerHasTheSessionsWork) {
  loadThere();
  ASSERT_OK(startWith(stream));
  // The session has made none; the device has one for its memory.
  EXPECT_EQ(driver->alive[CudaDouble::Streams], 2);
  // More than once: graphs are launched there, too.
  for (int round = 0; round < 4; ++round) {
    SampleArguments a;
    a.x[3] += float(round);
    ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
    a.expectResult();
  }
}

// What the caller gave the stream before is finished when the run reads it, and
// nobody has waited for it.
TEST_F(CudaStream, ARunComesBehindWhatTheCallerGaveIt) {
  loadThere();
  ASSERT_OK(startWith(stream));
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "cuda:0", &device));
  constexpr size_t bytes = sampleCount * sizeof(float);
  uint64_t place = 0;
  ASSERT_EQ(call<int>("cuMemAlloc_v2", &place, bytes), 0);
  for (int round = 0; round < 4; ++round) {
    SampleArguments a;
    a.x[5] += float(round);
    ASSERT_EQ(call<int>("cuMemcpyHtoDAsync_v2", place,
                        static_cast<const void *>(a.x.data()), bytes, stream),
              0);
    a.inputs[0].data = reinterpret_cast<void *>(place);
    a.inputs[0].device = device;
    ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
    a.expectResult();
  }
  ashlar_session_release(session);
  session = nullptr;
  EXPECT_EQ(call<int>("cuMemFree_v2", place), 0);
}

TEST_F(CudaStream, ThatIsNoneIsRefused) {
  loadThere();
  expectSays(startWith(reinterpret_cast<void *>(uintptr_t(0x1234560))),
             ASHLAR_INTERNAL, "cuStreamQuery failed with CUDA_ERROR_INVALID");
  EXPECT_EQ(driver->misuses, misusesBefore + 1);
  misusesBefore = driver->misuses;
}

TEST_F(CudaStream, IsNothingToTheProcessor) {
  load(sampleModule());
  expectSays(startWith(stream), ASHLAR_INVALID_ARGUMENT,
             "no device of the program has queues that a caller can have");
}

} // namespace
