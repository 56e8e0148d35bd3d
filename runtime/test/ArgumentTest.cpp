// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every wrong argument is refused with its own code, and leaves everything as
// it was.

#include "Loaded.h"

#include <cstring>

using namespace ashlar::test;

namespace {

class Arguments : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    load(symbolicModule());
    start();
  }
  ashlar_status_t run() {
    return ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
  }
  /// Refused, with a message that holds the text.
  void expectRefused(const char *text) {
    ashlar_status_t status = run();
    EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT) << status.message;
    EXPECT_NE(std::strstr(status.message, text), nullptr) << status.message;
    EXPECT_NE(*status.place, 0);
    EXPECT_EQ(a.z[0], -999) << "something ran";
  }
  SampleArguments a;
};

/// It has met a null where none may be, and says so.
static void expect(ashlar_status_t status) {
  EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT) << status.message;
  EXPECT_NE(std::strstr(status.message, "NULL"), nullptr) << status.message;
}

TEST_F(Arguments, NullsOfRuntimesAndModules) {
  size_t holders = 0;
  ashlar_module_t *otherModule = nullptr;
  ashlar_device_t *device = nullptr;
  ashlar_entry_t *otherEntry = nullptr;
  ashlar_budget_t *otherBudget = nullptr;
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  expect(ashlar_runtime_create(nullptr, nullptr));
  expect(ashlar_trace_start(nullptr, "x"));
  expect(ashlar_trace_start(runtime, nullptr));
  expect(ashlar_trace_stop(nullptr));
  expect(ashlar_device_open(nullptr, "cpu", &device));
  expect(ashlar_device_open(runtime, nullptr, &device));
  expect(ashlar_device_open(runtime, "cpu", nullptr));
  expect(ashlar_device_status(nullptr));
  ashlar_virtual_device_options_t part = ASHLAR_VIRTUAL_DEVICE_OPTIONS_INIT;
  expect(ashlar_virtual_device_create(nullptr, "cpu:0/a", &part, &device));
  expect(ashlar_virtual_device_create(runtime, nullptr, &part, &device));
  expect(ashlar_virtual_device_create(runtime, "cpu:0/a", nullptr, &device));
  expect(ashlar_virtual_device_create(runtime, "cpu:0/a", &part, nullptr));
  expect(ashlar_virtual_device_destroy(nullptr, device));
  expect(ashlar_virtual_device_destroy(runtime, nullptr));
  expect(ashlar_budget_create(nullptr, "b", 1, &otherBudget));
  expect(ashlar_budget_create(runtime, nullptr, 1, &otherBudget));
  expect(ashlar_budget_create(runtime, "b", 1, nullptr));
  expect(ashlar_budget_query(nullptr, nullptr));
  expect(ashlar_budget_holders(nullptr, nullptr, 0, &holders));
  expect(ashlar_module_load_file(nullptr, "x", nullptr, &otherModule));
  expect(ashlar_module_load_file(runtime, nullptr, nullptr, &otherModule));
  expect(ashlar_module_load_file(runtime, "x", nullptr, nullptr));
  expect(ashlar_module_load_memory(runtime, nullptr, 9, nullptr, &otherModule));
  expect(ashlar_module_load_memory(nullptr, "x", 9, nullptr, &otherModule));
  expect(ashlar_module_load_memory(runtime, "x", 9, nullptr, nullptr));
  expect(ashlar_module_query(nullptr, &info));
  expect(ashlar_module_query(module, nullptr));
  expect(ashlar_module_entry(nullptr, "main", &otherEntry));
  expect(ashlar_module_entry(module, nullptr, &otherEntry));
  expect(ashlar_module_entry(module, "main", nullptr));
  expect(ashlar_module_entry_at(nullptr, 0, &otherEntry));
  expect(ashlar_module_entry_at(module, 0, nullptr));
  expect(ashlar_entry_input(nullptr, 0, nullptr));
  expect(ashlar_entry_input(entry, 0, nullptr));
  expect(ashlar_entry_output(nullptr, 0, nullptr));
  expect(ashlar_entry_contract(nullptr, nullptr));
  expect(ashlar_entry_contract(entry, nullptr));
}

TEST_F(Arguments, NullsOfSessions) {
  ashlar_event_t *event = nullptr;
  ashlar_bindings_t *bindings = nullptr;
  int32_t done = 0;
  ashlar_session_t *other = nullptr;
  expect(ashlar_session_create(nullptr, nullptr, nullptr, &other));
  expect(ashlar_session_create(module, nullptr, nullptr, nullptr));
  expect(ashlar_session_query(nullptr, nullptr));
  expect(ashlar_session_query(session, nullptr));
  expect(ashlar_session_run(nullptr, "main", a.inputs, 2, a.outputs, 1));
  expect(ashlar_session_run(session, nullptr, a.inputs, 2, a.outputs, 1));
  expect(ashlar_session_run_entry(session, nullptr, a.inputs, 2, a.outputs, 1));
  expect(ashlar_session_run(session, "main", nullptr, 2, a.outputs, 1));
  expect(ashlar_session_run(session, "main", a.inputs, 2, nullptr, 1));
  expect(ashlar_session_run_async(nullptr, entry, a.inputs, 2, a.outputs, 1,
                                  &event));
  expect(ashlar_session_run_async(session, entry, a.inputs, 2, a.outputs, 1,
                                  nullptr));
  expect(ashlar_bindings_create(nullptr, entry, a.inputs, 2, a.outputs, 1,
                                &bindings));
  expect(ashlar_bindings_create(session, nullptr, a.inputs, 2, a.outputs, 1,
                                &bindings));
  expect(ashlar_bindings_create(session, entry, a.inputs, 2, a.outputs, 1,
                                nullptr));
  expect(ashlar_bindings_run(nullptr));
  expect(ashlar_bindings_run_async(nullptr, &event));
  expect(ashlar_event_wait(nullptr, 0, &done));
  expect(ashlar_event_cancel(nullptr));
}

TEST_F(Arguments, NullsThatAreReleasedOrNamed) {
  ashlar_runtime_release(nullptr);
  ashlar_budget_release(nullptr);
  ashlar_module_release(nullptr);
  ashlar_session_release(nullptr);
  ashlar_bindings_release(nullptr);
  ashlar_event_release(nullptr);
  EXPECT_STREQ(ashlar_entry_name(nullptr), "");
  EXPECT_STREQ(ashlar_device_name(nullptr), "");
  EXPECT_STREQ(ashlar_device_names(nullptr), "");
}

TEST_F(Arguments, StructsThatWereNotInitialised) {
  ashlar_session_options_t options = {};
  ashlar_session_t *other = nullptr;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_create(module, nullptr, &options, &other));
  ashlar_module_info_t info = {};
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, ashlar_module_query(module, &info));
  ashlar_load_options_t load = {};
  ashlar_module_t *otherModule = nullptr;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_module_load_file(runtime, "x", &load, &otherModule));
}

TEST_F(Arguments, StructsOfOtherVersions) {
  // A caller built against a shorter struct: nothing beyond it is written.
  ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
  contract.size = offsetof(ashlar_contract_t, arena_bytes);
  contract.arena_bytes = 42;
  ASSERT_OK(ashlar_entry_contract(entry, &contract));
  EXPECT_EQ(contract.arena_bytes, 42u);
  EXPECT_EQ(contract.weights_bytes, sampleCount * sizeof(float));
  // And one built against a longer one.
  struct Longer {
    ashlar_contract_t known;
    uint64_t added;
  } longer = {ASHLAR_CONTRACT_INIT, 7};
  longer.known.size = sizeof(longer);
  ASSERT_OK(ashlar_entry_contract(entry, &longer.known));
  EXPECT_EQ(longer.added, 7u);
}

TEST_F(Arguments, NamesThatAreNotThere) {
  EXPECT_CODE(ASHLAR_NOT_FOUND,
              ashlar_session_run(session, "other", a.inputs, 2, a.outputs, 1));
  ashlar_entry_t *none = entry;
  EXPECT_CODE(ASHLAR_NOT_FOUND, ashlar_module_entry(module, "other", &none));
  EXPECT_EQ(none, nullptr);
  EXPECT_CODE(ASHLAR_NOT_FOUND, ashlar_module_entry_at(module, 1, &none));
  ashlar_module_t *otherModule = module;
  EXPECT_CODE(ASHLAR_NOT_FOUND,
              ashlar_module_load_file(runtime, "/nonexistent/file.ash", nullptr,
                                      &otherModule));
  EXPECT_EQ(otherModule, nullptr);
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_module_load_file(runtime, "/", nullptr, &otherModule));
  ashlar_device_t *device = nullptr;
  for (const char *name : {"gpu:0", "cpu:1", "cpu:", "cpu:x", "cpu:0x", "", ":",
                           "cpu:99999999999999999999", "cpu:-1"})
    EXPECT_CODE(ASHLAR_NOT_FOUND, ashlar_device_open(runtime, name, &device));
  ASSERT_OK(ashlar_device_open(runtime, "cpu", &device));
  EXPECT_STREQ(ashlar_device_name(device), "cpu:0");
  // Those of a driver that the machine has come behind.
  EXPECT_EQ(
      std::string(ashlar_device_names(runtime)).rfind("cpu:0, systolic:0", 0),
      0u);
  ASSERT_OK(ashlar_device_status(device));
}

TEST_F(Arguments, WrongCounts) {
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_run(session, "main", a.inputs, 1, a.outputs, 1));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 0));
}

TEST_F(Arguments, WrongTypes) {
  a.inputs[0].type = ASHLAR_TYPE_I32;
  expectRefused("expected elements of type f32, found i32");
  a.inputs[0].type = 4711;
  expectRefused("unknown");
  a.inputs[0].type = ASHLAR_TYPE_F32;
  a.outputs[0].type = ASHLAR_TYPE_F64;
  expectRefused("f64");
}

TEST_F(Arguments, WrongShapes) {
  a.inputs[0].rank = 2;
  expectRefused("rank");
  a.inputs[0].rank = 1u << 30;
  expectRefused("rank");
  a.inputs[0].rank = 1;
  a.inputs[0].shape[0] = -4;
  expectRefused("negative");
  a.inputs[0].shape[0] = INT64_MAX;
  expectRefused("too many");
  a.inputs[0].shape[0] = 0;
  expectRefused("compiled for 1 to 256");
  a.inputs[0].shape[0] = 200;
  expectRefused("N is 256 here and 200");
}

TEST_F(Arguments, WrongMemory) {
  a.inputs[1].data = nullptr;
  expectRefused("NULL");
  a.inputs[1].data = a.y.data();
  a.inputs[1].capacity = 1023;
  expectRefused("needs 1024 bytes, capacity is 1023");
  a.inputs[1].capacity = 1024;
  a.outputs[0].capacity = 1020;
  expectRefused("the result needs 1024");
  a.outputs[0].capacity = 1024;
  a.outputs[0].data = a.x.data() + 16;
  expectRefused("shares memory with input 0");
}

TEST_F(Arguments, EntryOfAnotherModule) {
  auto otherBytes = symbolicModule().build();
  ashlar_load_options_t options = trusting();
  ashlar_module_t *other = nullptr;
  ashlar_entry_t *otherEntry = nullptr;
  ASSERT_OK(ashlar_module_load_memory(runtime, otherBytes.data(),
                                      otherBytes.size(), &options, &other));
  ASSERT_OK(ashlar_module_entry_at(other, 0, &otherEntry));
  EXPECT_CODE(
      ASHLAR_INVALID_ARGUMENT,
      ashlar_session_run_entry(session, otherEntry, a.inputs, 2, a.outputs, 1));
  ashlar_module_release(other);
}

TEST_F(Arguments, TooManyThreads) {
  ashlar_session_options_t options = withThreads(1000000);
  ashlar_session_t *other = nullptr;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_create(module, nullptr, &options, &other));
}

TEST_F(Arguments, MisalignedModuleInMemory) {
  ashlar_module_t *other = nullptr;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_module_load_memory(runtime, bytes->data() + 4,
                                        bytes->size() - 4, nullptr, &other));
}

TEST_F(Arguments, NativeCodeNeedsPermission) {
  ashlar_module_t *other = nullptr;
  ashlar_status_t status = ashlar_module_load_memory(
      runtime, bytes->data(), bytes->size(), nullptr, &other);
  EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
  EXPECT_NE(std::strstr(status.message, "allow_native_code"), nullptr);
  EXPECT_EQ(other, nullptr);
}

TEST(Names, OfTypesAndCodes) {
  EXPECT_STREQ(ashlar_element_type_name(ASHLAR_TYPE_BF16), "bf16");
  EXPECT_STREQ(ashlar_element_type_name(99), "unknown");
  EXPECT_EQ(ashlar_element_type_size(ASHLAR_TYPE_U16), 2u);
  EXPECT_EQ(ashlar_element_type_size(99), 0u);
  EXPECT_STREQ(ashlar_status_code_name(ASHLAR_DEVICE_LOST), "DEVICE_LOST");
  EXPECT_STREQ(ashlar_status_code_name(-1), "UNKNOWN");
  EXPECT_STREQ(ashlar_runtime_version(), "0.1.0");
}

} // namespace
