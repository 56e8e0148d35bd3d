// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of one device: what they are called, that their limits are hard, and
// that none takes what is another's.

#include "Loaded.h"
#include "devices/Device.h"

#include <thread>
#include <unistd.h>
#include <utility>

using namespace ashlar::test;

namespace {

constexpr uint64_t plenty = 1 << 20;

class VirtualDevice : public RuntimeTest {
protected:
  void SetUp() override {
    ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
    options.threads = 4;
    ASSERT_OK(ashlar_runtime_create(&options, &runtime));
    ASSERT_OK(ashlar_runtime_budget(runtime, &root));
  }
  void TearDown() override {
    unload();
    ashlar_budget_release(root);
    RuntimeTest::TearDown();
  }
  ashlar_status_t tryMake(const char *name, uint64_t bytes, uint32_t workers,
                          ashlar_device_t **out) {
    ashlar_virtual_device_options_t options =
        ASHLAR_VIRTUAL_DEVICE_OPTIONS_INIT;
    options.memory_bytes = bytes;
    options.workers = workers;
    return ashlar_virtual_device_create(runtime, name, &options, out);
  }
  ashlar_device_t *make(const char *name, uint64_t bytes = plenty,
                        uint32_t workers = 1) {
    ashlar_device_t *device = nullptr;
    ashlar_status_t status = tryMake(name, bytes, workers, &device);
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    return device;
  }
  void destroy(ashlar_device_t *device) {
    ASSERT_OK(ashlar_virtual_device_destroy(runtime, device));
  }
  ashlar_budget_statistics_t heldOf(const ashlar_device_t *device) {
    ashlar_budget_statistics_t of = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_EQ(ashlar_budget_query_device(root, device, &of).code, ASHLAR_OK);
    return of;
  }
  uint64_t heldOfAll() {
    ashlar_budget_statistics_t of = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_EQ(ashlar_budget_query(root, &of).code, ASHLAR_OK);
    return of.current;
  }
  void unload() {
    ashlar_session_release(session);
    ashlar_module_release(module);
    session = nullptr, module = nullptr;
  }
  /// Loads, starts and runs the sample on the device, outputs its own, until
  /// something does not fit.
  ashlar_status_t runOn(const char *device) {
    unload();
    bytes = std::make_unique<ModuleBytes>(sampleModule().build());
    ashlar_load_options_t options = trusting();
    options.budget = budget;
    options.devices = &device;
    options.device_count = 1;
    ashlar_status_t status = ashlar_module_load_memory(
        runtime, bytes->data(), bytes->size(), &options, &module);
    ashlar_session_options_t with = withThreads(1);
    if (status.code == ASHLAR_OK)
      status = ashlar_session_create(module, budget, &with, &session);
    SampleArguments a(sampleCount, 4); // staged
    a.outputs[0].data = nullptr;
    if (status.code == ASHLAR_OK)
      status = ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
    if (status.code == ASHLAR_OK)
      a.expectResult();
    return status;
  }

  ashlar_budget_t *root = nullptr;
};

TEST_F(VirtualDevice, HasTheNameThatItWasGiven) {
  ashlar_device_t *a = make("cpu:0/tenant-a"), *b = make("cpu/B_2.x"),
                  *opened = nullptr;
  EXPECT_STREQ(ashlar_device_name(a), "cpu:0/tenant-a");
  EXPECT_STREQ(ashlar_device_name(b), "cpu:0/B_2.x");
  EXPECT_STRNE(ashlar_device_features(a), "");
  ASSERT_OK(ashlar_device_status(a));
  for (const char *name : {"cpu:0/tenant-a", "cpu/tenant-a"}) {
    ASSERT_OK(ashlar_device_open(runtime, name, &opened));
    EXPECT_EQ(opened, a);
  }
  expectSays(ashlar_device_open(runtime, "cpu:0/other", &opened),
             ASHLAR_NOT_FOUND, "no device cpu:0/other; ");
  EXPECT_EQ(opened, nullptr);
  // A tenant's name on another device is another's.
  EXPECT_NE(make("guard:1/tenant-a"), a);
}

TEST_F(VirtualDevice, BadRequestsAreRefusedAndChangeNothing) {
  ashlar_device_t *device = nullptr;
  std::string longest = "cpu:0/" + std::string(63, 'x'),
              tooLong = longest + "x";
  for (const char *name :
       {"", "cpu:0", "/", "cpu:0/", "cpu:0/a/b", "cpu:0//a", "cpu:0/a b",
        "cpu:0/\xc3\xa9", "cpu:0/a\n", tooLong.c_str()})
    expectSays(tryMake(name, 1, 1, &device), ASHLAR_INVALID_ARGUMENT,
               "is no name of a virtual device");
  for (const char *name : {"/a", "toaster:0/a", "cpu:7/a", "cpu:x/a"})
    expectSays(tryMake(name, 1, 1, &device), ASHLAR_NOT_FOUND, "no device");
  expectSays(tryMake("cpu:0/a", 0, 1, &device), ASHLAR_INVALID_ARGUMENT,
             "at least 1");
  expectSays(tryMake("cpu:0/a", 1, 0, &device), ASHLAR_INVALID_ARGUMENT,
             "at least 1");
  EXPECT_EQ(heldOfAll(), 0u);
  make(longest.c_str());
  for (const char *name : {"cpu:0/a", "cpu/a"}) {
    if (name[3] == ':')
      make(name);
    else
      expectSays(tryMake(name, 1, 1, &device), ASHLAR_INVALID_ARGUMENT,
                 "there is a device cpu:0/a already");
    EXPECT_EQ(device, nullptr);
  }
  EXPECT_EQ(heldOfAll(), 2 * plenty);
}

TEST_F(VirtualDevice, MemoryIsSetAsideOnce) {
  ASSERT_OK(ashlar_budget_set_limit(root, 1000));
  ashlar_device_t *a = make("cpu:0/a", 600), *b = nullptr;
  ashlar_status_t status = tryMake("cpu:0/b", 401, 1, &b);
  EXPECT_EQ(b, nullptr);
  expectSays(status, ASHLAR_OUT_OF_BUDGET, "lacks 1 bytes");
  EXPECT_NE(std::strstr(status.message, "cpu:0/a (600 set aside)"), nullptr)
      << status.message;
  EXPECT_EQ(heldOfAll(), 600u);
  b = make("cpu:0/b", 400);
  destroy(a);
  EXPECT_EQ(heldOfAll(), 400u);
  a = make("cpu:0/c", 600);
  destroy(b);
  destroy(a);
  EXPECT_EQ(heldOfAll(), 0u);
  EXPECT_EQ(heldOf(nullptr).current, 0u);
}

TEST_F(VirtualDevice, MoreThanTheDeviceHasIsRefused) {
  ashlar_device_t *device = nullptr;
  for (uint64_t bytes : {uint64_t(1) << 55, UINT64_MAX})
    for (const char *name : {"cpu:0/a", "systolic:0/a"})
      EXPECT_NE(tryMake(name, bytes, 1, &device).code, ASHLAR_OK)
          << name << bytes;
  expectSays(tryMake("cpu:0/a", uint64_t(1) << 55, 1, &device),
             ASHLAR_OUT_OF_BUDGET, "the machine has");
  // All parts together, too.
  uint64_t half =
      uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / 2;
  make("cpu:0/a", half + 1);
  expectSays(tryMake("cpu:0/b", half + 1, 1, &device), ASHLAR_OUT_OF_BUDGET,
             "the machine has");
  EXPECT_EQ(heldOfAll(), half + 1);
}

TEST_F(VirtualDevice, WorkersAreThoseOfTheRuntime) {
  ashlar_device_t *a = make("cpu:0/a", 1, 3), *b = nullptr;
  expectSays(tryMake("cpu:0/b", 1, 2, &b), ASHLAR_INVALID_ARGUMENT,
             "would have 5 workers together; there are 4");
  expectSays(tryMake("cpu:0/b", 1, UINT32_MAX, &b), ASHLAR_INVALID_ARGUMENT,
             "workers");
  make("cpu:0/b", 1, 1);
  make("guard:0/a", 1, 4);
  destroy(a);
  make("cpu:0/a", 1, 3);
}

class VirtualDeviceOf : public VirtualDevice,
                        public testing::WithParamInterface<const char *> {
protected:
  std::string part(const char *name) {
    return std::string(GetParam()) + "/" + name;
  }
};

TEST_P(VirtualDeviceOf, HoldsWhatItWasGivenAndNoByteMore) {
  std::string name = part("a");
  ashlar_device_t *device = make(name.c_str());
  ASSERT_OK(runOn(name.c_str()));
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_EQ(info.device, name);
  ashlar_budget_statistics_t held = heldOf(device);
  EXPECT_EQ(held.limit, plenty);
  EXPECT_EQ(held.current_of[ASHLAR_MEMORY_WEIGHTS], sampleCount * 4u);
  EXPECT_EQ(held.current_of[ASHLAR_MEMORY_ARENA], sampleCount * 8u);
  EXPECT_EQ(held.current_of[ASHLAR_MEMORY_STAGING] != 0, true);
  bool isHost = std::strcmp(GetParam(), "cpu:0") == 0;
  EXPECT_EQ(held.current_of[ASHLAR_MEMORY_OUTPUTS] != 0, isHost);
  EXPECT_EQ(held.current_of[ASHLAR_MEMORY_CODE] != 0, isHost);
  unload();
  EXPECT_EQ(heldOf(device).current, 0u);
  destroy(device);
  device = make(name.c_str(), held.current);
  ASSERT_OK(runOn(name.c_str()));
  EXPECT_EQ(heldOf(device).current, held.current);
  unload();
  destroy(device);
  device = make(name.c_str(), held.current - 1);
  ashlar_status_t status = runOn(name.c_str());
  expectSays(status, ASHLAR_OUT_OF_BUDGET,
             ("lacks 1 bytes of " + name).c_str());
  EXPECT_LT(heldOf(device).peak, held.current);
  // The limit stays what it is.
  expectSays(ashlar_budget_set_device_limit(root, device, plenty),
             ASHLAR_INVALID_ARGUMENT, "keeps the");
  EXPECT_EQ(runOn(name.c_str()).code, ASHLAR_OUT_OF_BUDGET);
}

TEST_P(VirtualDeviceOf, TakesNothingOfAnotherPartOrOfTheRest) {
  std::string a = part("a"), b = part("b");
  ashlar_device_t *whole = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, GetParam(), &whole));
  ashlar_device_t *first = make(a.c_str());
  ASSERT_OK(runOn(a.c_str()));
  uint64_t each = heldOf(first).current;
  unload();
  destroy(first);
  // There is room for both, and no more.
  ASSERT_OK(ashlar_budget_set_device_limit(root, whole, 2 * each));
  first = make(a.c_str(), each);
  ashlar_device_t *second = make(b.c_str(), each);
  EXPECT_EQ(runOn(GetParam()).code, ASHLAR_OUT_OF_BUDGET);
  ASSERT_OK(runOn(b.c_str()));
  // With what is b's in use, all of a's is there, and a second model is not.
  ashlar_module_t *kept = std::exchange(module, nullptr);
  ashlar_session_t *running = std::exchange(session, nullptr);
  auto keptBytes = std::move(bytes);
  expectSays(runOn(b.c_str()), ASHLAR_OUT_OF_BUDGET, b.c_str());
  ASSERT_OK(runOn(a.c_str()));
  EXPECT_EQ(heldOf(whole).current, 2 * each);
  EXPECT_EQ(heldOf(first).current, each);
  EXPECT_EQ(heldOf(second).current, each);
  unload();
  EXPECT_EQ(heldOf(whole).current, 2 * each);
  ashlar_session_release(running);
  ashlar_module_release(kept);
  destroy(first);
  destroy(second);
  EXPECT_EQ(heldOf(whole).current, 0u);
  ASSERT_OK(runOn(GetParam()));
}

TEST_P(VirtualDeviceOf, CountsAtTheTenantsBudgetToo) {
  std::string name = part("a");
  ashlar_device_t *device = make(name.c_str());
  ASSERT_OK(ashlar_budget_create(runtime, "tenant", plenty, &budget));
  ASSERT_OK(runOn(name.c_str()));
  ashlar_budget_statistics_t of = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query_device(budget, device, &of));
  EXPECT_EQ(of.current, heldOf(device).current);
  ASSERT_OK(ashlar_budget_query(budget, &of));
  uint64_t all = of.current, elsewhere = all - heldOf(device).current;
  // What is in a part is set aside already.
  EXPECT_EQ(heldOfAll(), plenty + elsewhere);
  unload();
  EXPECT_EQ(heldOfAll(), plenty);
  ASSERT_OK(ashlar_budget_set_limit(budget, all - 1));
  expectSays(runOn(name.c_str()), ASHLAR_OUT_OF_BUDGET, "budget 'tenant'");
  unload();
  // A tenant may set bytes of it aside, and no more than there are.
  ASSERT_OK(ashlar_budget_set_limit(budget, ASHLAR_UNLIMITED));
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET,
              ashlar_budget_reserve(budget, device, plenty + 1));
  ASSERT_OK(ashlar_budget_reserve(budget, device, plenty));
  EXPECT_EQ(heldOfAll(), plenty);
  ASSERT_OK(runOn(name.c_str()));
  unload();
  ASSERT_OK(ashlar_budget_reserve(budget, device, 0));
  EXPECT_EQ(heldOfAll(), plenty);
}

TEST_P(VirtualDeviceOf, IsNotDestroyedWhileInUse) {
  std::string name = part("a");
  ashlar_device_t *device = make(name.c_str()), *whole = nullptr;
  ASSERT_OK(runOn(name.c_str()));
  expectSays(ashlar_virtual_device_destroy(runtime, device),
             ASHLAR_INVALID_ARGUMENT, "is in use by 1 modules");
  // A session keeps its module.
  ashlar_module_release(std::exchange(module, nullptr));
  expectSays(ashlar_virtual_device_destroy(runtime, device),
             ASHLAR_INVALID_ARGUMENT, "is in use by 1 modules");
  SampleArguments a;
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.expectResult();
  unload();
  ASSERT_OK(ashlar_device_open(runtime, GetParam(), &whole));
  expectSays(ashlar_virtual_device_destroy(runtime, whole),
             ASHLAR_INVALID_ARGUMENT, "is no virtual device");
  ashlar_runtime_t *other = nullptr;
  ASSERT_OK(ashlar_runtime_create(nullptr, &other));
  expectSays(ashlar_virtual_device_destroy(other, device),
             ASHLAR_INVALID_ARGUMENT, "none of this runtime's");
  ashlar_runtime_release(other);
  destroy(device);
  EXPECT_EQ(heldOfAll(), 0u);
  EXPECT_CODE(ASHLAR_UNSUPPORTED, runOn(name.c_str()));
}

TEST_P(VirtualDeviceOf, RunsAtMostItsWorkersAtATime) {
  std::string a = part("a"), b = part("b");
  make(a.c_str(), plenty, 2);
  make(b.c_str(), plenty, 1);
  struct Running {
    std::unique_ptr<ModuleBytes> bytes;
    ashlar_module_t *module = nullptr;
    ashlar_entry_t *entry = nullptr;
    ashlar_session_t *session = nullptr;
    ~Running() {
      ashlar_session_release(session);
      ashlar_module_release(module);
    }
  };
  auto startOn = [&](Running &of, const std::string &name, int64_t groups,
                     uint32_t threads) {
    const char *device = name.c_str();
    ashlar_load_options_t options = trusting();
    options.devices = &device;
    options.device_count = 1;
    of.bytes =
        std::make_unique<ModuleBytes>(spinningModule(1000000, groups).build());
    ASSERT_OK(ashlar_module_load_memory(
        runtime, of.bytes->data(), of.bytes->size(), &options, &of.module));
    ASSERT_OK(ashlar_module_entry_at(of.module, 0, &of.entry));
    ashlar_session_options_t with = withThreads(threads);
    ASSERT_OK(ashlar_session_create(of.module, nullptr, &with, &of.session));
  };
  Running greedy, waiting, apart;
  startOn(greedy, a, 1500, 8); // a second or so
  startOn(waiting, a, 1, 1);
  startOn(apart, b, 1, 1);
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(greedy.session, &statistics));
  EXPECT_EQ(statistics.threads, 2u);
  auto run = [](Running &of, uint64_t milliseconds) {
    return ashlar_session_run_within(of.session, of.entry, nullptr, 0, nullptr,
                                     0, milliseconds * 1000000);
  };
  ashlar_event_t *event = nullptr;
  int32_t done = 0;
  ASSERT_OK(ashlar_session_run_async(greedy.session, greedy.entry, nullptr, 0,
                                     nullptr, 0, &event));
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // has begun
  EXPECT_CODE(ASHLAR_CANCELLED, run(waiting, 60));
  ASSERT_OK(run(apart, 60000));
  ASSERT_OK(ashlar_event_wait(event, 0, &done));
  EXPECT_FALSE(done); // nothing of this has been seen, if it has
  ASSERT_OK(run(waiting, 60000));
  ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
  ashlar_event_release(event);
}

TEST_P(VirtualDeviceOf, ComesAndGoesWhileOthersLoad) {
  std::string name = part("a");
  std::atomic<bool> ended{false};
  std::thread other([&] {
    while (!ended) {
      ashlar_device_t *device = nullptr;
      ASSERT_OK(tryMake(name.c_str(), plenty, 1, &device));
      while (ashlar_virtual_device_destroy(runtime, device).code != ASHLAR_OK)
        std::this_thread::yield();
    }
  });
  int ran = 0;
  for (int round = 0; round < 100000 && ran < 100; ++round) {
    ashlar_status_t status = runOn(name.c_str());
    EXPECT_TRUE(status.code == ASHLAR_OK || status.code == ASHLAR_UNSUPPORTED)
        << status.message;
    ran += status.code == ASHLAR_OK;
    unload();
  }
  ended = true;
  other.join();
  EXPECT_EQ(ran, 100);
  EXPECT_EQ(heldOfAll(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, VirtualDeviceOf, testing::Values("cpu:0", "guard:1"),
    [](const auto &info) {
      return std::string(info.param).substr(0, std::strlen(info.param) - 2);
    });

TEST_F(VirtualDevice, SeesTheMemoryOfTheWhole) {
  ashlar_device_t *whole = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "guard:0", &whole));
  ashlar_device_t *a = make("guard:0/a"), *b = make("guard:0/b");
  loadOn("guard:0/a", sampleModule());
  start();
  ashlar::runtime::DeviceAddress memory[3];
  SampleArguments given;
  ashlar_tensor_t *tensors[] = {&given.inputs[0], &given.inputs[1],
                                &given.outputs[0]};
  ashlar_device_t *devices[] = {whole, a, b};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(whole->ops
                    .allocate(whole->state, sampleCount * 4,
                              ASHLAR_MEMORY_OUTPUTS, &memory[i])
                    .ok());
    tensors[i]->data = memory[i].base;
    tensors[i]->device = devices[i];
  }
  ASSERT_OK(
      ashlar_session_run(session, "main", given.inputs, 2, given.outputs, 1));
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(session, &statistics));
  EXPECT_EQ(statistics.staged_tensors, 0u);
  for (auto &each : memory)
    whole->ops.free(whole->state, each, sampleCount * 4);
}

TEST_F(VirtualDevice, IsLostWithTheWhole) {
  ashlar_device_t *a = make("guard:0/a"), *b = make("guard:0/b"), *whole,
                  *other;
  ASSERT_OK(ashlar_device_open(runtime, "guard:0", &whole));
  ASSERT_OK(ashlar_device_open(runtime, "guard:1", &other));
  a->lose(ashlar::runtime::Status(ASHLAR_INTERNAL, "it burns"));
  for (ashlar_device_t *each : {a, b, whole})
    EXPECT_CODE(ASHLAR_DEVICE_LOST, ashlar_device_status(each));
  ASSERT_OK(ashlar_device_status(other));
  EXPECT_CODE(ASHLAR_DEVICE_LOST, tryMake("guard:0/c", 1, 1, &a));
  EXPECT_CODE(ASHLAR_DEVICE_LOST, runOn("guard:0/b"));
}

} // namespace
