// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program over two devices: numbers, memory, and files from a stranger.

#include "ProductTest.h"

#include <cstring>
#include <functional>

namespace ashlar::test {
namespace {

class SharedProgram : public ProductTest {
protected:
  /// The module after the change is refused as corrupt, saying `why`.
  void expectCorrupt(const char *why,
                     const std::function<void(ModuleBuilder &)> &change) {
    ModuleBuilder builder = sharedModule();
    change(builder);
    RuntimeTest::expectCorrupt(std::move(builder), why, why);
  }
};

TEST_F(SharedProgram, RunsOnBothDevicesWithAnyNumberOfThreads) {
  load(sharedModule());
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_STREQ(info.device, "cpu:0");
  EXPECT_NE(std::strstr(info.placement_log, "taken, on cpu:0 and systolic:0"),
            nullptr)
      << info.placement_log;
  for (uint32_t threads : {1, 2, 5}) {
    start(threads);
    for (int round = 0; round < 3; ++round) {
      ASSERT_OK(run());
      expectProduct(2);
    }
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(SharedProgram, ChargesWhatBothDevicesHold) {
  ASSERT_OK(ashlar_budget_create(runtime, "both", 1 << 20, &budget));
  load(sharedModule());
  start();
  ASSERT_OK(run());
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(session, &statistics));
  EXPECT_EQ(statistics.arena_bytes, 256u + 512u);
  ashlar_budget_statistics_t used = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query(budget, &used));
  EXPECT_EQ(used.current_of[ASHLAR_MEMORY_ARENA], 256u + 512u);
  EXPECT_EQ(used.current_of[ASHLAR_MEMORY_WEIGHTS], 256u);
  ashlar_session_release(session);
  ashlar_module_release(module);
  session = nullptr, module = nullptr;
  ASSERT_OK(ashlar_budget_query(budget, &used));
  EXPECT_EQ(used.current, 0u);
}

TEST_F(SharedProgram, IsRefusedWhereItsPartsDoNotFit) {
  auto bindings = [](ModuleBuilder &b, size_t command) -> auto & {
    return b.programEntry().commands[command].AsDispatch()->bindings;
  };
  expectCorrupt("given bytes of another", [&](ModuleBuilder &b) {
    bindings(b, 2)[0]->index = 0; // a stream reads the processor's arena
  });
  expectCorrupt("given bytes of another", [&](ModuleBuilder &b) {
    bindings(b, 6)[0]->index = 1; // and the other way round
  });
  expectCorrupt("given bytes of another", [&](ModuleBuilder &b) {
    bindings(b, 2)[2]->storage = fb::Storage::Output;
    bindings(b, 2)[2]->index = 0;
    bindings(b, 2)[2]->offset = constant(0);
  });
  expectCorrupt("names arena 2 of 2", [&](ModuleBuilder &b) {
    b.programEntry().commands[0].AsCopy()->target->index = 2;
  });
  expectCorrupt("exceeds arena 1 of 511 bytes", [](ModuleBuilder &b) {
    b.contract().companions[0]->arena_bytes = 511;
  });
  expectCorrupt("is for device 2 of 2", [](ModuleBuilder &b) {
    b.program().executables[1]->device = 2;
  });
  expectCorrupt("the contract has 0 companions, the program 1",
                [](ModuleBuilder &b) { b.contract().companions.clear(); });
  expectCorrupt("the arenas are larger", [](ModuleBuilder &b) {
    b.contract().companions[0]->arena_bytes = UINT64_MAX;
  });
  expectCorrupt("companions[0] is missing", [](ModuleBuilder &b) {
    b.program().companions[0]->device_type.clear();
  });
}

TEST_F(SharedProgram, NeedsAllOfItsDevices) {
  ModuleBuilder builder = sharedModule();
  builder.program().companions[0]->device_type = "imaginary";
  ModuleBytes file = builder.build();
  ashlar_load_options_t options = trusting();
  ashlar_status_t status = ashlar_module_load_memory(
      runtime, file.data(), file.size(), &options, &module);
  EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
  EXPECT_NE(std::strstr(status.message, "imaginary"), nullptr)
      << status.message;
}

} // namespace
} // namespace ashlar::test
