// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call that memory by file descriptor takes of CUDA's driver fails once,
// and drivers that have none. Runs with the double as its driver.

#include "Loaded.h"
#include "NeedsCuda.h"
#include "cuda/FindDouble.h"

#include <unistd.h>

using namespace ashlar::test;

namespace {

class CudaExternal : public testing::Test {
protected:
  void SetUp() override {
    if (std::string why = whyNoCuda(); !why.empty())
      GTEST_SKIP() << why;
    driver = findDouble();
    if (!driver)
      GTEST_SKIP() << noDouble;
    misusesBefore = driver->misuses;
    driver->isMisuseFailure = true;
  }
  void TearDown() override {
    if (!driver)
      return;
    driver->start(0, 0, false);
    EXPECT_EQ(driver->misuses, misusesBefore);
    expectNothingAlive(*driver);
    EXPECT_EQ(driver->bytes, 0);
  }
  /// Creates, exports and imports; a status other than OK is the first one.
  ashlar_status_t passOn() {
    ashlar_runtime_t *runtime = nullptr;
    ashlar_device_t *device = nullptr;
    ashlar_budget_t *budget = nullptr;
    ashlar_memory_t *made = nullptr, *taken = nullptr;
    int descriptor = -1;
    ashlar_status_t status = ashlar_runtime_create(nullptr, &runtime);
    auto then = [&](ashlar_status_t next) {
      if (status.code == ASHLAR_OK)
        status = next;
    };
    then(ashlar_runtime_budget(runtime, &budget));
    then(ashlar_device_open(runtime, "cuda:0", &device));
    if (status.code == ASHLAR_OK)
      then(ashlar_memory_create(runtime, device, nullptr, "m", 64, &made));
    if (status.code == ASHLAR_OK)
      then(ashlar_memory_export(made, &descriptor));
    if (status.code == ASHLAR_OK)
      then(ashlar_memory_import(runtime, device, nullptr, "m", descriptor, 64,
                                &taken));
    said = status.message;
    if (descriptor >= 0)
      close(descriptor);
    ashlar_memory_release(taken);
    ashlar_memory_release(made);
    // What failed holds nothing.
    ashlar_budget_statistics_t held = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_EQ(ashlar_budget_query(budget, &held).code, ASHLAR_OK);
    EXPECT_EQ(held.current, 0u);
    ashlar_budget_release(budget);
    ashlar_runtime_release(runtime);
    status.message = said.c_str();
    return status;
  }
  /// Each call fails once, from the first to the last; what was seen to fail.
  std::string failEach(int32_t code, bool isLost) {
    std::string seen;
    for (uint64_t failing = 1; !HasFailure(); ++failing) {
      driver->start(failing, code, isLost);
      ashlar_status_t status = passOn();
      const char *failed = driver->failed;
      if (!failed) {
        EXPECT_EQ(status.code, ASHLAR_OK) << said;
        return seen;
      }
      SCOPED_TRACE(failed);
      seen += std::string(failed) + " ";
      if (!isLost)
        expectNothingAlive(*driver);
      // A device without pools allocates as it does; where it is closed, what
      // it had for itself is given back whatever the wait for that says.
      const bool isClosing =
          status.code == ASHLAR_OK && std::strncmp(failed, "cuStream", 8) == 0;
      const bool isSilent = isClosing ||
                            std::strncmp(failed, "cuDeviceGet", 11) == 0 ||
                            std::strcmp(failed, "cuMemPoolCreate") == 0 ||
                            std::strncmp(failed, "cuCtx", 5) == 0;
      if (isSilent)
        continue;
      EXPECT_NE(status.code, ASHLAR_OK);
      EXPECT_NE(said.find(failed), said.npos) << said;
    }
    return seen;
  }

  CudaDouble *driver = nullptr;
  uint64_t misusesBefore = 0;
  std::string said;
};

TEST_F(CudaExternal, EveryCallFailsOnceAndNothingIsHeld) {
  for (int32_t code : {/*INVALID_VALUE*/ 1, /*OUT_OF_MEMORY*/ 2,
                       /*NOT_SUPPORTED*/ 801}) {
    std::string seen = failEach(code, false);
    for (const char *call :
         {"cuMemGetAllocationGranularity", "cuMemCreate", "cuMemAddressReserve",
          "cuMemMap", "cuMemSetAccess", "cuMemExportToShareableHandle",
          "cuMemImportFromShareableHandle"})
      EXPECT_NE(seen.find(call), seen.npos) << call << " in " << seen;
  }
}

TEST_F(CudaExternal, ADeviceIsLostInTheMiddle) {
  failEach(/*CUDA_ERROR_ECC_UNCORRECTABLE*/ 214, true);
  // What was alive is gone with the device; by the double's count it stays.
  for (auto &each : driver->alive)
    each = 0;
  driver->bytes = 0;
}

TEST_F(CudaExternal, ItIsGivenBackAndBeginsAnew) {
  for (int round = 0; round < 3; ++round) {
    driver->start(0, 0, false);
    ASSERT_OK(passOn());
    expectNothingAlive(*driver);
    EXPECT_EQ(driver->bytes, 0);
  }
}

/// With drivers and systems that have none of it.
TEST(CudaWithoutDescriptors, SaysWhatToDoAndTheDeviceGoesOn) {
  if (std::string why = whyNoCuda(); !why.empty())
    GTEST_SKIP() << why;
  ashlar_runtime_t *runtime = nullptr;
  ashlar_device_t *device = nullptr;
  ashlar_memory_t *made = nullptr;
  ASSERT_OK(ashlar_runtime_create(nullptr, &runtime));
  ASSERT_OK(ashlar_device_open(runtime, "cuda:0", &device));
  expectSays(ashlar_memory_create(runtime, device, nullptr, "m", 64, &made),
             ASHLAR_UNSUPPORTED,
             "gives and takes no memory by file descriptor");
  expectSays(ashlar_memory_import(runtime, device, nullptr, "m", 0, 64, &made),
             ASHLAR_UNSUPPORTED, "update it");
  ASSERT_OK(ashlar_device_status(device));
  ashlar_runtime_release(runtime);
}

} // namespace
