// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator as a device of the C API.

#include "ProductTest.h"
#include "TemporaryFolder.h"
#include "ashlar/runtime/systolic_isa.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace ashlar::test {
namespace {

class SystolicDevice : public ProductTest {
protected:
  /// Without the caller's permission for native code: there is none.
  ashlar_status_t tryLoad(ModuleBuilder builder) {
    bytes = std::make_unique<ModuleBytes>(builder.build());
    ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
    options.budget = budget;
    options.name = "product";
    return ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                     &options, &module);
  }
  /// The module's code, to break it.
  static uint8_t *codeOf(ModuleBuilder &builder) {
    return builder.sectionBytes.back().data();
  }
};

TEST_F(SystolicDevice, RunsWithoutPermissionForNativeCode) {
  ASSERT_OK(tryLoad(systolicModule()));
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_STREQ(info.device, "systolic:0");
  start();
  for (int round = 0; round < 3; ++round) {
    ASSERT_OK(run());
    expectProduct();
  }
}

// Weights beyond the machine's memory are refused before any is copied.
TEST_F(SystolicDevice, RefusesWeightsBeyondItsMemory) {
  ashlar_status_t status = tryLoad(systolicModule(255));
  EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_STREQ(status.message,
               "no memory for 256 bytes: machine small has 255, of which 0 are "
               "in use");
  EXPECT_EQ(module, nullptr);
  // So are a session's buffers.
  ASSERT_OK(tryLoad(systolicModule(700)));
  start();
  status = run();
  EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_STREQ(status.message,
               "no memory for 256 bytes: machine small has 700, of which 512 "
               "are in use");
}

TEST_F(SystolicDevice, ChargesTheBudget) {
  ASSERT_OK(ashlar_budget_create(runtime, "tenant", 300, &budget));
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET, tryLoad(systolicModule()));
}

TEST_F(SystolicDevice, AWrongInstructionNamesItselfAndTheCause) {
  ModuleBuilder builder = systolicModule();
  ashlar_systolic_header_t header;
  std::memcpy(&header, codeOf(builder), sizeof(header));
  // The first mvin, from a binding that is not there.
  uint8_t *command = codeOf(builder) + header.commands_at +
                     4 * sizeof(ashlar_systolic_command_t);
  ASSERT_EQ(command[0], ASHLAR_SYSTOLIC_MVIN);
  command[offsetof(ashlar_systolic_command_t, rs1) + 6] = 9;
  ASSERT_OK(tryLoad(std::move(builder)));
  start();
  ashlar_status_t status = run();
  EXPECT_EQ(status.code, ASHLAR_INTERNAL);
  EXPECT_STREQ(status.message,
               "kernel product.0 failed: instruction 4 (mvin): memory: "
               "expected one of 3 bindings, found 8; it computes "
               "node_of_product");
}

TEST_F(SystolicDevice, WritesNothingThatIsNotToBeWritten) {
  ModuleBuilder builder = systolicModule();
  auto &dispatch = *builder.programEntry().commands[0].AsDispatch();
  std::swap(dispatch.bindings[0], dispatch.bindings[2]);
  ASSERT_OK(tryLoad(std::move(builder)));
  start();
  ashlar_status_t status = run();
  EXPECT_EQ(status.code, ASHLAR_INTERNAL);
  EXPECT_STREQ(status.message,
               "kernel product.0 failed: instruction 15 (mvout): memory: "
               "binding 2 is not to be written; it computes "
               "node_of_product");
}

TEST_F(SystolicDevice, RefusesImagesAndDispatchesThatDoNotFit) {
  ModuleBuilder broken = systolicModule();
  codeOf(broken)[1] ^= 1;
  ashlar_status_t status = tryLoad(std::move(broken));
  EXPECT_EQ(status.code, ASHLAR_CORRUPT);
  EXPECT_STREQ(status.message,
               "these are no systolic streams: the magic number is wrong");
  ModuleBuilder fewer = systolicModule();
  fewer.program().kernels[0]->bindings = 2;
  fewer.programEntry().commands[0].AsDispatch()->bindings.pop_back();
  ASSERT_OK(tryLoad(std::move(fewer)));
  start();
  status = run();
  EXPECT_EQ(status.code, ASHLAR_INTERNAL);
  EXPECT_STREQ(status.message,
               "kernel product.0 failed: it takes 3 bindings, the dispatch "
               "gives 2; it computes node_of_product");
}

// A trace shows each engine on a line of its own, in the machine's time.
TEST_F(SystolicDevice, TracesItsEngines) {
  std::string path = temporaryPath("systolic-trace.json");
  ASSERT_OK(tryLoad(systolicModule()));
  start();
  ASSERT_OK(ashlar_trace_start(runtime, path.c_str()));
  ASSERT_OK(run());
  ASSERT_OK(ashlar_trace_stop(runtime));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  for (const char *expected :
       {"\"process_name\"", "systolic:0, small", "\"load\"", "\"store\"",
        "\"vector\"", "\"execute 0\"", "the product: mvin\"",
        "the product: compute_preloaded\"", "product.0\""})
    EXPECT_NE(text.str().find(expected), std::string::npos) << expected;
  std::remove(path.c_str());
}

} // namespace
} // namespace ashlar::test
