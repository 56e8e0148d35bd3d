// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands inside commands: with any number of threads, and from a stranger.

#include "Loaded.h"

#include <cstring>
#include <functional>

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

class ControlFlow : public RuntimeTest {
protected:
  ControlFlow() : x(sampleCount), z(sampleCount) {
    for (size_t i = 0; i < sampleCount; ++i)
      x[i] = float(i) - 7;
  }

  ashlar_status_t run(bool first, bool second) {
    alignas(64) static uint8_t flags[64];
    flags[0] = first;
    flags[1] = second;
    ashlar_tensor_t inputs[] = {tensorOf(x.data(), sampleCount),
                                flagsOf(flags)};
    ashlar_tensor_t output = tensorOf(z.data(), sampleCount);
    return ashlar_session_run(session, "main", inputs, 2, &output, 1);
  }

  void expectRows(bool first) {
    for (size_t i = 0; i < sampleCount; ++i) {
      size_t from = first && i >= 16 && i < 32 ? i - 16 : i;
      ASSERT_EQ(z[i], (first ? 2 : 1) * x[from]) << "element " << i;
    }
  }

  /// The module after the change is refused as corrupt.
  void expectCorrupt(const char *what,
                     const std::function<void(ModuleBuilder &)> &change) {
    ModuleBuilder builder = controlModule();
    change(builder);
    RuntimeTest::expectCorrupt(std::move(builder), what);
  }

  static fb::LoopT &loop(ModuleBuilder &b, size_t number) {
    return *b.programEntry().commands[number].AsLoop();
  }
  static fb::IfT &branches(ModuleBuilder &b) {
    return *loop(b, 1).body->commands[1].AsIf();
  }
  static fb::CopyT &copy(ModuleBuilder &b, size_t number) {
    return *loop(b, 1).body->commands[number].AsCopy();
  }

  Floats x, z;
};

TEST_F(ControlFlow, RunsWithAnyNumberOfThreads) {
  load(controlModule());
  for (uint32_t threads : {1, 2, 5}) {
    start(threads);
    for (int round = 0; round < 20; ++round)
      for (bool first : {false, true}) {
        ASSERT_OK(run(first, true));
        expectRows(first);
      }
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(ControlFlow, RunsWithAnExecutor) {
  ashlar_runtime_release(runtime);
  ashlar_executor_t executor = {};
  executor.shares = 3;
  executor.run = [](void *, uint32_t shares, ashlar_task_function_t function,
                    void *task) {
    for (uint32_t i = 0; i < shares; ++i)
      function(task, i);
  };
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.executor = &executor;
  ASSERT_OK(ashlar_runtime_create(&options, &runtime));
  load(controlModule());
  start(3);
  for (bool first : {false, true}) {
    ASSERT_OK(run(first, true));
    expectRows(first);
  }
}

TEST_F(ControlFlow, ChecksEndACall) {
  load(controlModule());
  for (uint32_t threads : {1, 2}) {
    start(threads);
    ashlar_status_t status = run(true, false);
    EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT);
    EXPECT_STREQ(status.message, "the second flag must be set");
    // The next call finds nothing of it.
    ASSERT_OK(run(true, true));
    expectRows(true);
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(ControlFlow, CancelEndsALoopThatNeverEnds) {
  ModuleBuilder builder = controlModule();
  // As long as a flag is set, and nothing clears it.
  loop(builder, 2).iterations.reset();
  load(std::move(builder));
  for (uint32_t threads : {1, 2}) {
    start(threads);
    ashlar_event_t *event = nullptr;
    int32_t done = 0;
    alignas(64) static uint8_t flags[64] = {1, 1};
    ashlar_tensor_t inputs[] = {tensorOf(x.data(), sampleCount),
                                flagsOf(flags)};
    ashlar_tensor_t output = tensorOf(z.data(), sampleCount);
    ashlar_bindings_t *bindings = nullptr;
    ASSERT_OK(ashlar_bindings_create(session, entry, inputs, 2, &output, 1,
                                     &bindings));
    ASSERT_OK(ashlar_bindings_run_async(bindings, &event));
    ASSERT_OK(ashlar_event_cancel(event));
    EXPECT_CODE(ASHLAR_CANCELLED,
                ashlar_event_wait(event, ASHLAR_FOREVER, &done));
    ashlar_event_release(event);
    ashlar_bindings_release(bindings);
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(ControlFlow, HostileBlocksAreRefused) {
  expectCorrupt("no block", [](auto &b) { branches(b).then.reset(); });
  expectCorrupt("no other block",
                [](auto &b) { branches(b).otherwise.reset(); });
  expectCorrupt("no body", [](auto &b) { loop(b, 1).body.reset(); });
  expectCorrupt("endless", [](auto &b) { loop(b, 1).iterations.reset(); });
  expectCorrupt("negative",
                [](auto &b) { loop(b, 1).iterations = constant(-1); });
  expectCorrupt("no condition", [](auto &b) { branches(b).condition.reset(); });
  expectCorrupt("long condition",
                [](auto &b) { branches(b).condition->length = constant(2); });
  expectCorrupt("condition beyond its storage",
                [](auto &b) { branches(b).condition->offset = constant(2); });
  expectCorrupt("no message", [](auto &b) {
    b.programEntry().commands[0].AsCheck()->message.clear();
  });
  expectCorrupt("one row too many",
                [](auto &b) { loop(b, 1).iterations = constant(17); });
  expectCorrupt("rows backwards",
                [](auto &b) { copy(b, 0).source_stride = -64; });
  expectCorrupt("rows far away",
                [](auto &b) { copy(b, 2).target_stride = INT64_MAX; });
  expectCorrupt("rows outside of a loop", [](auto &b) {
    auto &body = loop(b, 1).body->commands;
    b.programEntry().commands.push_back(std::move(body[0]));
  });
  expectCorrupt("rows in a loop without limit", [](auto &b) {
    copy(b, 0).source_stride = 64;
    loop(b, 2).iterations.reset();
    loop(b, 2).body->commands.push_back(
        std::move(loop(b, 1).body->commands[0]));
  });
  expectCorrupt("kernel in a block", [](auto &b) {
    branches(b).then->commands[0].AsDispatch()->kernel = 7;
  });
  expectCorrupt("too deep", [](auto &b) {
    for (int depth = 0; depth < 16; ++depth) {
      fb::LoopT around;
      around.iterations = constant(1);
      around.body = std::make_unique<fb::BlockT>();
      around.body->commands.push_back(
          std::move(b.programEntry().commands.back()));
      b.programEntry().commands.back().Set(std::move(around));
    }
  });
}

TEST_F(ControlFlow, FlippedIndexWithARightHash) {
  ModuleBytes file = controlModule().build();
  ashlar_module_header_t header;
  memcpy(&header, file.data(), sizeof(header));
  ashlar_load_options_t options = trusting();
  for (size_t i = 0; i < header.index_size; ++i) {
    uint8_t &byte = file.data()[header.index_offset + i];
    uint8_t before = byte;
    for (uint8_t change : {0xff, 0x01, 0x80, 0x04}) {
      byte = before ^ change;
      rehashIndex(file);
      ashlar_module_t *tried = nullptr;
      ashlar_session_t *runner = nullptr;
      ashlar_status_t status = ashlar_module_load_memory(
          runtime, file.data(), file.size(), &options, &tried);
      if (status.code == ASHLAR_OK) {
        (void)ashlar_session_create(tried, nullptr, nullptr, &runner);
        ashlar_entry_t *first = nullptr;
        ashlar_tensor_t inputs[2] = {tensorOf(x.data(), sampleCount), {}};
        ashlar_tensor_t output = {};
        ashlar_bindings_t *bindings = nullptr;
        // Binding resolves all commands again; nothing runs.
        if (runner &&
            ashlar_module_entry_at(tried, 0, &first).code == ASHLAR_OK)
          (void)ashlar_bindings_create(runner, first, inputs, 2, &output, 1,
                                       &bindings);
        ashlar_bindings_release(bindings);
      }
      ashlar_session_release(runner);
      ashlar_module_release(tried);
    }
    byte = before;
  }
}

} // namespace
