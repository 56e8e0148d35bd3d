// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loaded.h"
#include "TemporaryFolder.h"

#include <atomic>
#include <thread>

using namespace ashlar::test;

namespace {

class Run : public RuntimeTest {};

TEST_F(Run, ComputesWithAnyNumberOfThreads) {
  load(sampleModule());
  for (uint32_t threads : {1u, 2u, 3u, 8u}) {
    start(threads);
    SampleArguments arguments;
    for (int round = 0; round < 50; ++round) {
      arguments.x[3] = float(round);
      arguments.z[7] = -1;
      ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                                   arguments.outputs, 1));
      arguments.expectResult();
    }
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(Run, FromAFile) {
  TemporaryFolder folder;
  std::string path = folder.path + "/run_from_file.ash";
  writeFile(path, sampleModule().build());
  ashlar_load_options_t options = trusting();
  options.name = nullptr;
  options.verify_weights = 1;
  ASSERT_OK(ashlar_module_load_file(runtime, path.c_str(), &options, &module));
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_STREQ(info.name, "run_from_file.ash");
  EXPECT_STREQ(info.device, "cpu:0");
  EXPECT_EQ(info.weights_bytes, sampleCount * sizeof(float));
  start();
  SampleArguments arguments;
  ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                               arguments.outputs, 1));
  arguments.expectResult();
  std::remove(path.c_str());
}

TEST_F(Run, StagesUnalignedTensors) {
  load(sampleModule());
  start(2);
  SampleArguments arguments(sampleCount, 4);
  ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                               arguments.outputs, 1));
  EXPECT_EQ(arguments.outputs[0].data, arguments.z.data());
  arguments.expectResult();
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(session, &statistics));
  EXPECT_EQ(statistics.staged_tensors, 3u);
  EXPECT_EQ(statistics.runs, 1u);
  EXPECT_EQ(statistics.threads, 2u);
}

TEST_F(Run, ProvidesOutputs) {
  load(sampleModule());
  start();
  SampleArguments arguments;
  arguments.outputs[0] = {};
  ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                               arguments.outputs, 1));
  ASSERT_NE(arguments.outputs[0].data, nullptr);
  EXPECT_EQ(arguments.outputs[0].rank, 1u);
  EXPECT_EQ(arguments.outputs[0].shape[0], sampleCount);
  EXPECT_EQ(arguments.outputs[0].type, uint32_t(ASHLAR_TYPE_F32));
  arguments.expectResult();
}

TEST_F(Run, BindsSymbols) {
  load(symbolicModule());
  start(2);
  for (int64_t count : {1, 256, 17, 16, 255}) {
    SampleArguments arguments(count);
    ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                                 arguments.outputs, 1));
    EXPECT_EQ(arguments.outputs[0].shape[0], count);
    arguments.expectResult();
  }
}

TEST_F(Run, DescribesItsTensors) {
  load(symbolicModule());
  EXPECT_EQ(ashlar_entry_input_count(entry), 2u);
  EXPECT_EQ(ashlar_entry_output_count(entry), 1u);
  EXPECT_STREQ(ashlar_entry_name(entry), "main");
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  ASSERT_OK(ashlar_entry_input(entry, 1, &info));
  EXPECT_STREQ(info.name, "y");
  EXPECT_STREQ(info.shape_text, "N");
  EXPECT_EQ(info.shape[0], -1);
  EXPECT_EQ(info.maximum[0], sampleCount);
  EXPECT_EQ(info.maximum_bytes, sampleCount * sizeof(float));
  EXPECT_CODE(ASHLAR_NOT_FOUND, ashlar_entry_input(entry, 2, &info));
  EXPECT_CODE(ASHLAR_NOT_FOUND, ashlar_entry_output(entry, 1, &info));
  ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
  ASSERT_OK(ashlar_entry_contract(entry, &contract));
  EXPECT_EQ(contract.arena_bytes, 2 * sampleCount * sizeof(float));
}

TEST_F(Run, PreparedBindingsSeeNewContents) {
  load(sampleModule());
  start(2);
  SampleArguments arguments;
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(ashlar_bindings_create(session, entry, arguments.inputs, 2,
                                   arguments.outputs, 1, &bindings));
  for (int round = 0; round < 20; ++round) {
    arguments.x[0] = float(round);
    ASSERT_OK(ashlar_bindings_run(bindings));
    arguments.expectResult();
  }
  ashlar_event_t *event = nullptr;
  arguments.x[0] = 1000;
  ASSERT_OK(ashlar_bindings_run_async(bindings, &event));
  int32_t done = 0;
  ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
  EXPECT_EQ(done, 1);
  arguments.expectResult();
  ashlar_event_release(event);
  ashlar_bindings_release(bindings);
}

// Bindings come and go while other bindings of the session run.
TEST_F(Run, BindingsChangeDuringARun) {
  load(sampleModule());
  start(2);
  for (int round = 0; round < 50; ++round) {
    SampleArguments first, second;
    // Staged copies and outputs of the session's own are made by binding.
    second.outputs[0] = {};
    ashlar_bindings_t *running = nullptr, *made = nullptr;
    ashlar_event_t *event = nullptr;
    ASSERT_OK(ashlar_bindings_create(session, entry, first.inputs, 2,
                                     first.outputs, 1, &running));
    ASSERT_OK(ashlar_bindings_run_async(running, &event));
    ASSERT_OK(ashlar_bindings_create(session, entry, second.inputs, 2,
                                     second.outputs, 1, &made));
    first.expectResult();
    ashlar_event_release(event);
    ASSERT_OK(ashlar_bindings_run_async(made, &event));
    ashlar_bindings_release(running);
    ashlar_bindings_release(made);
    int32_t done = 0;
    ASSERT_OK(ashlar_event_wait(event, 0, &done));
    EXPECT_EQ(done, 1);
    second.expectResult();
    ashlar_event_release(event);
  }
}

TEST_F(Run, BindingsKeepTheirSession) {
  load(spinningModule(100000, 20));
  start(2);
  ashlar_bindings_t *bindings = nullptr;
  ashlar_event_t *event = nullptr;
  ASSERT_OK(ashlar_bindings_create(session, entry, nullptr, 0, nullptr, 0,
                                   &bindings));
  ASSERT_OK(ashlar_bindings_run_async(bindings, &event));
  ashlar_session_release(session);
  session = nullptr;
  ASSERT_OK(ashlar_bindings_run(bindings));
  ashlar_bindings_release(bindings);
  int32_t done = 0;
  ASSERT_OK(ashlar_event_wait(event, 0, &done));
  EXPECT_EQ(done, 1);
  ashlar_event_release(event);
}

TEST_F(Run, AsynchronousRunsComeInOrder) {
  load(sampleModule());
  start(2);
  SampleArguments first, second;
  ashlar_event_t *events[2] = {};
  ASSERT_OK(ashlar_session_run_async(session, entry, first.inputs, 2,
                                     first.outputs, 1, &events[0]));
  ASSERT_OK(ashlar_session_run_async(session, entry, second.inputs, 2,
                                     second.outputs, 1, &events[1]));
  int32_t done = 0;
  ASSERT_OK(ashlar_event_wait(events[1], ASHLAR_FOREVER, &done));
  ASSERT_OK(ashlar_event_wait(events[0], 0, &done));
  EXPECT_EQ(done, 1);
  first.expectResult();
  second.expectResult();
  ashlar_event_release(events[0]);
  // Released before it has ended: the run goes on.
  ashlar_event_release(events[1]);
  ASSERT_OK(ashlar_session_run_async(session, entry, first.inputs, 2,
                                     first.outputs, 1, &events[0]));
  ashlar_event_release(events[0]);
  ashlar_session_release(session);
  session = nullptr;
  first.expectResult();
}

TEST_F(Run, CancelEndsARun) {
  load(spinningModule(3000000, 200));
  start(2);
  ashlar_event_t *event = nullptr;
  ASSERT_OK(
      ashlar_session_run_async(session, entry, nullptr, 0, nullptr, 0, &event));
  int32_t done = 1;
  EXPECT_CODE(ASHLAR_OK, ashlar_event_wait(event, 1000000, &done));
  EXPECT_EQ(done, 0);
  ASSERT_OK(ashlar_event_cancel(event));
  EXPECT_CODE(ASHLAR_CANCELLED,
              ashlar_event_wait(event, ASHLAR_FOREVER, &done));
  EXPECT_EQ(done, 1);
  ashlar_event_release(event);
}

TEST_F(Run, KernelFailureNamesKernelAndNodes) {
  load(checkingModule());
  start(2);
  SampleArguments arguments;
  auto run = [&] {
    return ashlar_session_run(session, "main", arguments.inputs, 1,
                              arguments.outputs, 1);
  };
  arguments.x[0] = -1;
  ashlar_status_t status = run();
  EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT);
  EXPECT_NE(strstr(status.message, "node_of_check_f32"), nullptr)
      << status.message;
  EXPECT_STREQ(status.place, "check_f32.0");
  arguments.x[0] = -5;
  EXPECT_CODE(ASHLAR_INTERNAL, run());
  // A failed run leaves the session sound.
  arguments.x[0] = 5;
  ASSERT_OK(run());
  EXPECT_EQ(arguments.z[0], 5);
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(session, &statistics));
  EXPECT_EQ(statistics.failures, 2u);
  EXPECT_EQ(statistics.runs, 1u);
}

// An executor that runs shares one after another on the calling thread: no
// share may wait for another.
void runInTurn(void *context, uint32_t shares, ashlar_task_function_t function,
               void *task) {
  ++*static_cast<int *>(context);
  for (uint32_t i = shares; i-- != 0;)
    function(task, i);
}

TEST_F(Run, UsesTheEmbeddersExecutor) {
  int calls = 0;
  ashlar_executor_t executor = {&calls, 4, runInTurn};
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.executor = &executor;
  ashlar_runtime_release(runtime);
  ASSERT_OK(ashlar_runtime_create(&options, &runtime));
  load(sampleModule());
  ASSERT_OK(ashlar_session_create(module, nullptr, nullptr, &session));
  SampleArguments arguments;
  for (int round = 0; round < 3; ++round)
    ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                                 arguments.outputs, 1));
  arguments.expectResult();
  EXPECT_EQ(calls, 9);
}

// Kernels that save less than others cost stay with the thread that runs.
TEST_F(Run, SharesWhatIsWorthIt) {
  struct Case {
    uint64_t cycles; // 0: not known
    int shared;      // of three kernels
  };
  for (const Case &each : {Case{0, 3}, Case{100, 0}, Case{10000000, 3}}) {
    int calls = 0;
    ashlar_executor_t executor = {&calls, 4, runInTurn};
    ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
    options.executor = &executor;
    TearDown();
    session = nullptr, module = nullptr;
    ASSERT_OK(ashlar_runtime_create(&options, &runtime));
    ModuleBuilder b = sampleModule();
    for (auto &kernel : b.program().kernels)
      kernel->bound_cycles = each.cycles;
    load(std::move(b));
    ASSERT_OK(ashlar_session_create(module, nullptr, nullptr, &session));
    SampleArguments arguments;
    ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                                 arguments.outputs, 1));
    arguments.expectResult();
    EXPECT_EQ(calls, each.shared) << each.cycles << " cycles";
  }
}

// Some of them come late, or not at all, and may be on their way when their
// session ends.
TEST_F(Run, MoreWorkersThanProcessorsHelp) {
  load(sampleModule());
  for (int round = 0; round < 100; ++round) {
    start(16);
    for (int run = 0; run < 1 + round % 5; ++run) {
      SampleArguments arguments;
      ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                                   arguments.outputs, 1));
      arguments.expectResult();
    }
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(Run, CopiesBetweenStorages) {
  constexpr int64_t count = 300000; // several pieces
  ModuleBuilder b;
  std::vector<Size> shape;
  shape.push_back(constant(count));
  b.addInput("x", std::move(shape));
  shape.clear();
  shape.push_back(constant(count));
  b.addOutput("z", std::move(shape));
  auto bytes = [] { return constant(count * 4); };
  b.copy(b.bind(ashlar::fb::Storage::Input, 0, constant(0), bytes(), false),
         b.bind(ashlar::fb::Storage::Arena, 0, constant(64), bytes(), true));
  b.barrier();
  b.copy(b.bind(ashlar::fb::Storage::Arena, 0, constant(64), bytes(), false),
         b.bind(ashlar::fb::Storage::Output, 0, constant(0), bytes(), true));
  b.contract().arena_bytes = count * 4 + 64;
  load(std::move(b));
  for (uint32_t threads : {1u, 2u}) {
    start(threads);
    Floats x(count), z(count);
    for (int64_t i = 0; i < count; ++i)
      x[size_t(i)] = float(i);
    ashlar_tensor_t input = tensorOf(x.data(), count);
    ashlar_tensor_t output = tensorOf(z.data(), count);
    ASSERT_OK(ashlar_session_run(session, "main", &input, 1, &output, 1));
    EXPECT_EQ(0, memcmp(x.data(), z.data(), count * 4));
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(Run, HandlesMayBeReleasedInAnyOrder) {
  load(sampleModule());
  start();
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
  module = nullptr;
  runtime = nullptr;
  SampleArguments arguments;
  ASSERT_OK(ashlar_session_run_entry(session, entry, arguments.inputs, 2,
                                     arguments.outputs, 1));
  arguments.expectResult();
}

} // namespace
