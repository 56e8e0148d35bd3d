// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sessions that take turns in one arena: that it is as large as the largest of
// them needs and no byte larger, that no two run in it at the same time, and
// that no result changes, whoever joins, leaves, grows or is refused.

#include "FailingNew.h"
#include "Loaded.h"
#include "TemporaryFolder.h"

#include <atomic>
#include <random>
#include <thread>

using namespace ashlar::test;

namespace {

constexpr uint64_t sampleArena = 2 * sampleCount * sizeof(float);

/// About a second, in groups of some microseconds.
ModuleBuilder longModule() { return spinningModule(2000, 200000); }

class SharedArena : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_OK(
        ashlar_budget_create(runtime, "tenant", ASHLAR_UNLIMITED, &budget));
    ASSERT_OK(
        ashlar_budget_create_below(budget, "turns", ASHLAR_UNLIMITED, &turns));
    ASSERT_OK(ashlar_arena_create(runtime, turns, "arena", &arena));
  }
  void TearDown() override {
    for (ashlar_session_t *each : sessions)
      ashlar_session_release(each);
    ashlar_arena_release(arena);
    for (ashlar_module_t *each : modules)
      ashlar_module_release(each);
    if (budget) {
      EXPECT_EQ(held(budget), 0u);
    }
    ashlar_budget_release(turns);
    RuntimeTest::TearDown();
  }
  ashlar_module_t *loadOne(ModuleBuilder builder,
                           const char *device = nullptr) {
    files.push_back(std::make_unique<ModuleBytes>(builder.build()));
    ashlar_load_options_t options = trusting();
    options.devices = &device;
    options.device_count = device ? 1 : 0;
    ashlar_module_t *made = nullptr;
    EXPECT_CODE(ASHLAR_OK, ashlar_module_load_memory(
                               runtime, files.back()->data(),
                               files.back()->size(), &options, &made));
    modules.push_back(made);
    return made;
  }
  static ashlar_entry_t *entryOf(ashlar_module_t *of) {
    ashlar_entry_t *first = nullptr;
    EXPECT_CODE(ASHLAR_OK, ashlar_module_entry_at(of, 0, &first));
    return first;
  }
  ashlar_session_options_t joining(const char *name, ashlar_arena_busy_t busy) {
    ashlar_session_options_t options = withThreads(1);
    options.name = name;
    options.arena = arena;
    options.arena_busy = busy;
    return options;
  }
  ashlar_session_t *join(ashlar_module_t *of, const char *name = "one",
                         ashlar_arena_busy_t busy = ASHLAR_ARENA_WAIT) {
    ashlar_session_options_t options = joining(name, busy);
    ashlar_session_t *made = nullptr;
    EXPECT_CODE(ASHLAR_OK, ashlar_session_create(of, budget, &options, &made));
    sessions.push_back(made);
    return made;
  }
  void drop(ashlar_session_t *session) {
    sessions.erase(std::find(sessions.begin(), sessions.end(), session));
    ashlar_session_release(session);
  }
  static uint64_t held(const ashlar_budget_t *of) {
    ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_budget_query(of, &now));
    return now.current;
  }
  static void runSample(ashlar_session_t *with, int64_t count = sampleCount) {
    SampleArguments a(count);
    ASSERT_OK(ashlar_session_run(with, "main", a.inputs, 2, a.outputs, 1));
    a.expectResult();
  }
  static void runControl(ashlar_session_t *with) {
    Floats x(sampleCount), z(sampleCount);
    for (int64_t i = 0; i < sampleCount; ++i)
      x[size_t(i)] = float(i % 9);
    alignas(64) uint8_t flags[64] = {0, 1};
    ashlar_tensor_t inputs[] = {tensorOf(x.data(), sampleCount),
                                flagsOf(flags)};
    ashlar_tensor_t output = tensorOf(z.data(), sampleCount);
    ASSERT_OK(ashlar_session_run(with, "main", inputs, 2, &output, 1));
    for (int64_t i = 0; i < sampleCount; ++i)
      ASSERT_EQ(z[size_t(i)], x[size_t(i)]) << i;
  }
  /// A run that has begun and goes on.
  ashlar_event_t *begin(ashlar_session_t *with, const ashlar_entry_t *entry) {
    ashlar_event_t *event = nullptr;
    EXPECT_CODE(ASHLAR_OK, ashlar_session_run_async(with, entry, nullptr, 0,
                                                    nullptr, 0, &event));
    ashlar_session_options_t options = joining("probe", ASHLAR_ARENA_REFUSE);
    ashlar_session_t *probe = nullptr;
    ashlar_module_t *quick = loadOne(spinningModule(1, 1));
    EXPECT_CODE(ASHLAR_OK,
                ashlar_session_create(quick, nullptr, &options, &probe));
    while (ashlar_session_run(probe, "main", nullptr, 0, nullptr, 0).code ==
           ASHLAR_OK)
      std::this_thread::yield();
    ashlar_session_release(probe);
    return event;
  }
  static ashlar_status_t end(ashlar_event_t *event, bool cancel) {
    if (cancel)
      ashlar_event_cancel(event);
    int32_t done = 0;
    ashlar_status_t status = ashlar_event_wait(event, ASHLAR_FOREVER, &done);
    EXPECT_EQ(done, 1);
    ashlar_event_release(event);
    return status;
  }

  ashlar_budget_t *turns = nullptr;
  ashlar_arena_t *arena = nullptr;
  std::vector<std::unique_ptr<ModuleBytes>> files;
  std::vector<ashlar_module_t *> modules;
  std::vector<ashlar_session_t *> sessions;
};

TEST_F(SharedArena, IsAsLargeAsTheLargestAndNoByteLarger) {
  ashlar_module_t *large = loadOne(sampleModule()),
                  *small = loadOne(controlModule());
  EXPECT_EQ(held(turns), 0u);
  ashlar_session_t *a = join(small);
  uint64_t least = held(turns);
  EXPECT_EQ(least, 2u * 16 * sizeof(float));
  ashlar_session_t *b = join(large), *c = join(large), *d = join(small);
  EXPECT_EQ(held(turns), sampleArena);
  // Scratch is each session's own, and its budget's.
  ashlar_session_statistics_t of = ASHLAR_SESSION_STATISTICS_INIT;
  uint64_t scratch = 0;
  for (ashlar_session_t *each : sessions) {
    ASSERT_OK(ashlar_session_query(each, &of));
    EXPECT_EQ(of.arena_bytes, each == a || each == d ? least : sampleArena);
    scratch += of.scratch_bytes;
  }
  EXPECT_EQ(held(budget), sampleArena + scratch);
  ashlar_holder_t holder;
  size_t count = 0;
  ASSERT_OK(ashlar_budget_holders(turns, &holder, 1, &count));
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(holder.name, "arena");
  EXPECT_EQ(holder.kind, uint32_t(ASHLAR_MEMORY_ARENA));
  EXPECT_EQ(holder.bytes, sampleArena);
  for (int round = 0; round < 3; ++round) {
    runControl(a);
    runSample(b);
    runControl(d);
    runSample(c);
  }
  drop(b);
  EXPECT_EQ(held(turns), sampleArena);
  drop(c);
  EXPECT_EQ(held(turns), least);
  runControl(a);
  runControl(d);
  drop(a);
  drop(d);
  EXPECT_EQ(held(turns), 0u);
  // It can be used again.
  runSample(join(large));
  EXPECT_EQ(held(turns), sampleArena);
}

TEST_F(SharedArena, OutlivesItsHandleAsLongAsSessionsDo) {
  ashlar_session_t *a = join(loadOne(sampleModule()));
  ashlar_arena_release(arena);
  arena = nullptr;
  runSample(a);
  drop(a);
  EXPECT_EQ(held(turns), 0u);
}

TEST_F(SharedArena, RefusesWhoAsksForThatWhileAnotherRuns) {
  ashlar_module_t *slow = loadOne(longModule()),
                  *large = loadOne(sampleModule());
  ashlar_session_t *a = join(slow, "first"),
                   *b = join(large, "second", ASHLAR_ARENA_REFUSE);
  runSample(b);
  ashlar_event_t *event = begin(a, entryOf(slow));
  SampleArguments args;
  ashlar_status_t status =
      ashlar_session_run(b, "main", args.inputs, 2, args.outputs, 1);
  EXPECT_STREQ(status.message,
               "session second cannot run: first runs in arena arena, which "
               "they share; run it later, or create the session with "
               "ASHLAR_ARENA_WAIT");
  EXPECT_STREQ(status.place, "arena");
  EXPECT_EQ(status.code, ASHLAR_CANCELLED);
  EXPECT_EQ(args.z[0], -999); // nothing has run
  end(event, /*cancel=*/true);
  runSample(b);
}

TEST_F(SharedArena, LetsOthersWaitWithinTheirTime) {
  ashlar_module_t *slow = loadOne(longModule()),
                  *large = loadOne(sampleModule());
  ashlar_session_t *a = join(slow), *b = join(large);
  ashlar_event_t *event = begin(a, entryOf(slow));
  SampleArguments args;
  expectSays(ashlar_session_run_within(b, entryOf(large), args.inputs, 2,
                                       args.outputs, 1, 5000000),
             ASHLAR_CANCELLED, "time was over");
  EXPECT_EQ(args.z[0], -999);
  // One that waits can be cancelled.
  ashlar_event_t *waiting = nullptr;
  ASSERT_OK(ashlar_session_run_async(b, entryOf(large), args.inputs, 2,
                                     args.outputs, 1, &waiting));
  expectSays(end(waiting, /*cancel=*/true), ASHLAR_CANCELLED, "cancelled");
  EXPECT_EQ(args.z[0], -999);
  // One that waits gets its turn.
  ASSERT_OK(ashlar_session_run_async(b, entryOf(large), args.inputs, 2,
                                     args.outputs, 1, &waiting));
  end(event, /*cancel=*/true);
  ASSERT_OK(end(waiting, /*cancel=*/false));
  args.expectResult();
}

class SharedArenaOn : public SharedArena,
                      public testing::WithParamInterface<const char *> {};

TEST_P(SharedArenaOn, MovesWhenALargerOneJoins) {
  ashlar_module_t *large = loadOne(sampleModule(), GetParam()),
                  *small = loadOne(controlModule(), GetParam());
  ashlar_session_t *a = join(small);
  Floats x(sampleCount), z(sampleCount);
  for (int64_t i = 0; i < sampleCount; ++i)
    x[size_t(i)] = float(i % 9);
  alignas(64) uint8_t flags[64] = {0, 1};
  ashlar_tensor_t inputs[] = {tensorOf(x.data(), sampleCount), flagsOf(flags)};
  ashlar_tensor_t output = tensorOf(z.data(), sampleCount);
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(ashlar_bindings_create(a, entryOf(small), inputs, 2, &output, 1,
                                   &bindings));
  ASSERT_OK(ashlar_bindings_run(bindings));
  // Each is larger than the one before, so that none finds room.
  std::vector<ashlar_session_t *> others;
  for (uint64_t more = 1; more < 5; ++more) {
    ModuleBuilder builder = sampleModule();
    builder.contract().arena_bytes += more << 20;
    others.push_back(join(loadOne(std::move(builder), GetParam())));
    EXPECT_EQ(held(turns), sampleArena + (more << 20));
    for (int64_t i = 0; i < sampleCount; ++i)
      z[size_t(i)] = -1;
    ASSERT_OK(ashlar_bindings_run(bindings));
    for (int64_t i = 0; i < sampleCount; ++i)
      ASSERT_EQ(z[size_t(i)], x[size_t(i)]) << i;
    for (ashlar_session_t *each : others)
      runSample(each);
  }
  runSample(join(large));
  ashlar_bindings_release(bindings);
}

TEST_P(SharedArenaOn, OneThatDoesNotFitChangesNothing) {
  ashlar_module_t *large = loadOne(sampleModule(), GetParam());
  ashlar_session_t *a = join(large);
  ModuleBuilder builder = sampleModule();
  builder.contract().arena_bytes += 1 << 20;
  ashlar_module_t *larger = loadOne(std::move(builder), GetParam());
  bool growsInPlace = std::strcmp(GetParam(), "cpu:0") == 0;
  uint64_t wanted = sampleArena + (1 << 20) + (growsInPlace ? 0 : sampleArena);
  ASSERT_OK(ashlar_budget_set_limit(turns, wanted - 1));
  uint64_t before = held(budget);
  ashlar_session_options_t options = joining("two", ASHLAR_ARENA_WAIT);
  ashlar_session_t *made = nullptr;
  ashlar_status_t status =
      ashlar_session_create(larger, budget, &options, &made);
  expectSays(status, ASHLAR_OUT_OF_BUDGET, "budget 'turns' lacks 1 bytes");
  EXPECT_NE(std::strstr(status.message, "arena (2048 arena)"), nullptr)
      << status.message;
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(held(budget), before);
  runSample(a);
  ASSERT_OK(ashlar_budget_set_limit(turns, wanted));
  runSample(join(larger));
  EXPECT_EQ(held(turns), sampleArena + (1 << 20));
  runSample(a);
}

INSTANTIATE_TEST_SUITE_P(Devices, SharedArenaOn,
                         testing::Values("cpu:0", "guard:0"),
                         [](const auto &of) {
                           return std::string(of.param, 3);
                         });

TEST_F(SharedArena, SharesWhatEachDeviceHolds) {
  ashlar_module_t *both = loadOne(sharedModule()),
                  *alone = loadOne(sampleModule());
  ashlar_contract_t cost = ASHLAR_CONTRACT_INIT;
  ASSERT_OK(ashlar_entry_contract(entryOf(both), &cost));
  ashlar_session_t *a = join(both);
  uint64_t one = held(turns);
  ashlar_session_t *b = join(both);
  EXPECT_EQ(held(turns), one);
  ashlar_session_t *c = join(alone);
  EXPECT_GE(held(turns), std::max(one, sampleArena));
  EXPECT_LE(held(turns), one + sampleArena);
  Floats x(64), z(64);
  for (int i = 0; i < 64; ++i)
    x[size_t(i)] = float(i % 11) - 5;
  std::vector<float> first;
  for (ashlar_session_t *each : {a, b, a}) {
    ashlar_tensor_t input = tensorOf(x.data(), 64),
                    output = tensorOf(z.data(), 64);
    input.rank = 2;
    input.shape[0] = input.shape[1] = 8;
    ASSERT_OK(ashlar_session_run(each, "main", &input, 1, &output, 1));
    runSample(c);
    std::vector<float> now(z.data(), z.data() + 64);
    if (first.empty())
      first = now;
    EXPECT_EQ(first, now);
  }
  drop(a);
  drop(b);
  EXPECT_EQ(held(turns), sampleArena);
}

TEST_F(SharedArena, FollowsTheSizesOfCalls) {
  ashlar_module_t *growing = loadOne(growingModule());
  ashlar_session_t *a = join(growing), *b = join(growing);
  EXPECT_EQ(held(turns), 0u);
  auto need = [](int64_t n) { return uint64_t(n * 4 + 63) / 64 * 64 * 2; };
  runSample(a, 40);
  EXPECT_EQ(held(turns), need(40));
  runSample(b, 200);
  EXPECT_EQ(held(turns), need(200));
  runSample(a, 100);
  EXPECT_EQ(held(turns), need(200));
  // Only what nobody else needs goes, and comes again.
  uint64_t bytes = 0;
  ASSERT_OK(ashlar_session_trim(b, &bytes));
  EXPECT_GE(bytes, need(200) - need(100));
  EXPECT_EQ(held(turns), need(100));
  ASSERT_OK(ashlar_session_trim(b, &bytes));
  EXPECT_EQ(held(turns), need(100));
  runSample(b, 200);
  EXPECT_EQ(held(turns), need(200));
  drop(b);
  EXPECT_EQ(held(turns), need(100));
  // A limit is kept at any level.
  ASSERT_OK(ashlar_budget_set_limit(turns, need(100)));
  SampleArguments args(101 + 16);
  expectSays(ashlar_session_run(a, "main", args.inputs, 2, args.outputs, 1),
             ASHLAR_OUT_OF_BUDGET, "arena asks for");
  runSample(a, 100);
}

TEST_F(SharedArena, GivesPagesBack) {
  // More than a page, so that the system can take what is behind it.
  ModuleBuilder builder = sampleModule();
  builder.contract().arena_bytes = 64 << 20;
  ashlar_module_t *large = loadOne(std::move(builder)),
                  *small = loadOne(sampleModule());
  if (ASHLAR_TEST_TSAN)
    GTEST_SKIP() << "ThreadSanitizer keeps shadows of pages";
  ashlar_session_t *a = join(small);
  runSample(a);
  const uint64_t before = residentBytes();
  ashlar_session_t *b = join(large);
  runSample(b); // poison touches it all
  EXPECT_GT(int64_t(residentBytes() - before), 60L << 20);
  drop(b);
  EXPECT_LT(int64_t(residentBytes() - before), 2L << 20);
  runSample(a);
}

TEST_F(SharedArena, WrongRequestsAreRefused) {
  ashlar_module_t *large = loadOne(sampleModule());
  ashlar_session_t *made = nullptr;
  ashlar_session_options_t options = joining("x", ASHLAR_ARENA_WAIT);
  options.arena_busy = 2;
  ashlar_status_t status =
      ashlar_session_create(large, budget, &options, &made);
  expectSays(status, ASHLAR_INVALID_ARGUMENT, "unknown value 2");
  EXPECT_STREQ(status.place, "options.arena_busy");
  ashlar_runtime_t *other = nullptr;
  ASSERT_OK(ashlar_runtime_create(nullptr, &other));
  ashlar_arena_t *foreign = nullptr;
  ASSERT_OK(ashlar_arena_create(other, nullptr, "foreign", &foreign));
  options = joining("x", ASHLAR_ARENA_WAIT);
  options.arena = foreign;
  expectSays(ashlar_session_create(large, budget, &options, &made),
             ASHLAR_INVALID_ARGUMENT, "another runtime's");
  EXPECT_EQ(made, nullptr);
  ashlar_arena_release(foreign);
  ashlar_runtime_release(other);
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_arena_create(nullptr, nullptr, "a", &foreign));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_arena_create(runtime, nullptr, nullptr, &foreign));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_arena_create(runtime, nullptr, "a", nullptr));
  EXPECT_EQ(foreign, nullptr);
  ashlar_arena_release(nullptr);
}

// ashlar_module_check_file gives the answer that creation gives.
TEST_F(SharedArena, WhatFitsIsKnownBefore) {
  join(loadOne(sampleModule()));
  ModuleBuilder builder = sampleModule();
  builder.contract().arena_bytes += 4096;
  ModuleBytes file = builder.build();
  std::string path = temporaryPath("larger.ash");
  FILE *to = std::fopen(path.c_str(), "wb");
  ASSERT_NE(to, nullptr);
  ASSERT_EQ(std::fwrite(file.data(), 1, file.size(), to), file.size());
  std::fclose(to);
  ashlar_load_options_t load = trusting();
  ashlar_session_options_t options = joining("next", ASHLAR_ARENA_WAIT);
  ashlar_module_cost_t cost = ASHLAR_MODULE_COST_INIT;
  auto fits = [&](uint32_t count) {
    return ashlar_module_check_file(runtime, path.c_str(), &load, nullptr,
                                    &options, count, &cost);
  };
  // The arena grows once, however many sessions join.
  ASSERT_OK(ashlar_budget_set_limit(turns, sampleArena + 4096));
  ASSERT_OK(fits(3));
  ASSERT_OK(ashlar_budget_set_limit(turns, sampleArena + 4095));
  expectSays(fits(3), ASHLAR_OUT_OF_BUDGET, "budget 'turns' lacks 1 bytes");
  uint64_t without = cost.session_bytes;
  options.arena = nullptr;
  ASSERT_OK(fits(1));
  EXPECT_EQ(cost.session_bytes, without + sampleArena + 4096);
  options.arena = arena;
  ashlar_module_t *larger = nullptr;
  ASSERT_OK(ashlar_module_load_file(runtime, path.c_str(), &load, &larger));
  modules.push_back(larger);
  ashlar_session_t *made = nullptr;
  expectSays(ashlar_session_create(larger, budget, &options, &made),
             ASHLAR_OUT_OF_BUDGET, "budget 'turns' lacks 1 bytes");
  ASSERT_OK(ashlar_budget_set_limit(turns, sampleArena + 4096));
  runSample(join(larger));
  std::remove(path.c_str());
}

// The embedder's memory does not grow in place.
TEST_F(SharedArena, MemoryThatIsNotThereChangesNothing) {
  static bool isEmpty;
  static int64_t given;
  isEmpty = false;
  given = 0;
  ashlar_allocator_t allocator = {
      nullptr,
      [](void *, const char *, uint32_t, uint64_t bytes) -> void * {
        if (isEmpty)
          return nullptr;
        given += int64_t(bytes);
        return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      },
      [](void *, const char *, uint32_t, void *memory, uint64_t bytes) {
        given -= int64_t(bytes);
        std::free(memory);
      }};
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.allocator = &allocator;
  ashlar_arena_release(arena);
  ashlar_budget_release(turns);
  ashlar_budget_release(budget);
  ashlar_runtime_release(runtime);
  ASSERT_OK(ashlar_runtime_create(&options, &runtime));
  ASSERT_OK(ashlar_runtime_budget(runtime, &budget));
  ASSERT_OK(ashlar_runtime_budget(runtime, &turns));
  ASSERT_OK(ashlar_arena_create(runtime, nullptr, "arena", &arena));
  ashlar_module_t *small = loadOne(controlModule()),
                  *large = loadOne(sampleModule());
  ashlar_session_t *a = join(small), *made = nullptr;
  runControl(a);
  int64_t before = given;
  isEmpty = true;
  ashlar_session_options_t next = joining("next", ASHLAR_ARENA_WAIT);
  expectSays(ashlar_session_create(large, nullptr, &next, &made),
             ASHLAR_INTERNAL, "allocator has no");
  EXPECT_EQ(given, before);
  runControl(a);
  isEmpty = false;
  ashlar_session_t *b = join(large);
  runSample(b);
  runControl(a);
  drop(b);
  // It stays as large until the last one leaves.
  EXPECT_GE(given, int64_t(sampleArena));
  runControl(a);
  drop(a);
  EXPECT_EQ(given, 0);
}

// What an older program passes, which knows nothing of arenas.
TEST_F(SharedArena, ShorterOptionsMeanNone) {
  ashlar_session_options_t options = joining("x", ASHLAR_ARENA_WAIT);
  options.size = offsetof(ashlar_session_options_t, arena);
  ashlar_session_t *made = nullptr;
  ASSERT_OK(
      ashlar_session_create(loadOne(sampleModule()), budget, &options, &made));
  EXPECT_EQ(held(turns), 0u);
  ashlar_session_release(made);
}

TEST_F(SharedArena, EachAllocationThatFailsLeavesItAsItWas) {
  ashlar_module_t *small = loadOne(controlModule()),
                  *large = loadOne(sampleModule());
  for (ashlar_module_t *next : {small, large, small, large}) {
    uint64_t before = held(budget), shared = held(turns);
    ashlar_session_options_t options = joining("next", ASHLAR_ARENA_WAIT);
    ashlar_session_t *made = nullptr;
    long tries = failEachAllocation(
        [&] { return ashlar_session_create(next, budget, &options, &made); },
        [&](ashlar_status_t status) {
          EXPECT_CODE(ASHLAR_INTERNAL, status);
          EXPECT_EQ(made, nullptr);
          EXPECT_EQ(held(budget), before);
          EXPECT_EQ(held(turns), shared);
          for (ashlar_session_t *each : sessions)
            each == sessions.front() ? runControl(each) : runSample(each);
        });
#if ASHLAR_TEST_TSAN
    (void)tries;
#else
    EXPECT_GT(tries, 10);
#endif
    ASSERT_NE(made, nullptr);
    // The first session stays the only one of the small module.
    if (next == small && !sessions.empty())
      ashlar_session_release(made);
    else
      sessions.push_back(made);
  }
  // So do those of a run; the turn is given back.
  ashlar_session_t *waits = sessions.back();
  SampleArguments args;
  failEachAllocation(
      [&] {
        return ashlar_session_run(waits, "main", args.inputs, 2, args.outputs,
                                  1);
      },
      [&](ashlar_status_t status) {
        EXPECT_CODE(ASHLAR_INTERNAL, status);
        runControl(sessions.front());
      });
  runSample(waits);
}

TEST_F(SharedArena, TurnsAreGivenBackWhenARunFails) {
  ashlar_module_t *checking = loadOne(checkingModule());
  ashlar_session_t *a = join(checking),
                   *b = join(loadOne(sampleModule()), "b", ASHLAR_ARENA_REFUSE);
  SampleArguments args;
  args.x[0] = -1;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_run(a, "main", args.inputs, 1, args.outputs, 1));
  runSample(b);
}

// Joins that move it, leaves, trims and runs at the same time; each run fills
// the arena with a pattern first, so that any other one within would show.
TEST_F(SharedArena, ThreadsTakeTurns) {
  std::vector<ashlar_module_t *> made = {loadOne(sampleModule()),
                                         loadOne(growingModule()),
                                         loadOne(controlModule())};
  for (uint64_t more = 1; more < 4; ++more) {
    ModuleBuilder builder = sampleModule();
    builder.contract().arena_bytes += more << 14;
    made.push_back(loadOne(std::move(builder)));
  }
  std::atomic<uint64_t> done{0}, refused{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int round = 0; round < 40; ++round) {
        size_t which = random() % made.size();
        ashlar_session_options_t options =
            joining("any", t % 2 ? ASHLAR_ARENA_WAIT : ASHLAR_ARENA_REFUSE);
        ashlar_session_t *own = nullptr;
        ASSERT_OK(ashlar_session_create(made[which], budget, &options, &own));
        for (int i = 0; i < 10; ++i) {
          if (which == 2) {
            if (t % 2)
              runControl(own);
            continue;
          }
          SampleArguments a(which == 1 ? int64_t(1 + random() % sampleCount)
                                       : sampleCount);
          ashlar_status_t status =
              ashlar_session_run(own, "main", a.inputs, 2, a.outputs, 1);
          if (status.code == ASHLAR_CANCELLED && t % 2 == 0) {
            ++refused;
            continue;
          }
          ASSERT_OK(status);
          a.expectResult();
          ++done;
          if (random() % 4 == 0)
            ASSERT_OK(ashlar_session_trim(own, nullptr));
        }
        ashlar_session_release(own);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GT(done.load(), 400u);
  EXPECT_EQ(held(turns), 0u);
}

// Workers are limited too: who has the arena and waits for a worker, and who
// has a worker, do not wait for each other.
TEST_F(SharedArena, WaitsForWorkersToo) {
  sessions.clear();
  ashlar_arena_release(arena);
  ashlar_budget_release(turns);
  ashlar_budget_release(budget);
  ashlar_runtime_release(runtime);
  arena = nullptr, turns = nullptr, budget = nullptr, runtime = nullptr;
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.worker_limit = 1;
  ASSERT_OK(ashlar_runtime_create(&options, &runtime));
  ASSERT_OK(ashlar_arena_create(runtime, nullptr, "arena", &arena));
  ashlar_module_t *large = loadOne(sampleModule());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      ashlar_session_options_t with = joining("s", ASHLAR_ARENA_WAIT);
      if (t == 0)
        with.arena = nullptr;
      ashlar_session_t *own = nullptr;
      ASSERT_OK(ashlar_session_create(large, nullptr, &with, &own));
      for (int i = 0; i < 100; ++i)
        runSample(own);
      ashlar_session_release(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
