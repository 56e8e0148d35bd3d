// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a child made by fork may do with its parent's handles.

#include "Loaded.h"
#include "Sanitized.h"

#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace ashlar::test {

class Fork : public RuntimeTest {
protected:
  void SetUp() override {
#if ASHLAR_TEST_TSAN
    GTEST_SKIP() << "TSan ends a child that starts threads";
#endif
    RuntimeTest::SetUp();
    load(sampleModule());
  }
  /// A prepared call that has run once on this thread and once on the
  /// session's own, so that all threads are there.
  void startAll(uint32_t threads) {
    start(threads);
    ASSERT_OK(ashlar_bindings_create(session, entry, arguments.inputs, 2,
                                     arguments.outputs, 1, &bindings));
    ASSERT_OK(ashlar_bindings_run(bindings));
    ASSERT_OK(ashlar_bindings_run_async(bindings, &event));
    int32_t done = 0;
    ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
    ASSERT_TRUE(done);
  }
  void TearDown() override {
    ashlar_event_release(event);
    ashlar_bindings_release(bindings);
    RuntimeTest::TearDown();
  }

  /// Whether the child does what it should; hanging ends it.
  static void inChild(const std::function<void()> &what) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);
      what();
      _exit(HasFailure());
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  void runNewSession() {
    ashlar_session_options_t options = withThreads(2);
    ashlar_session_t *own = nullptr;
    ASSERT_OK(ashlar_session_create(module, budget, &options, &own));
    SampleArguments other;
    ASSERT_OK(ashlar_session_run_entry(own, entry, other.inputs, 2,
                                       other.outputs, 1));
    other.expectResult();
    ashlar_session_release(own);
  }

  SampleArguments arguments;
  ashlar_bindings_t *bindings = nullptr;
  ashlar_event_t *event = nullptr;
};

static void expectRefused(ashlar_status_t status, const char *place) {
  expectSays(status, ASHLAR_INVALID_ARGUMENT,
             "create a new session in the child");
  EXPECT_STREQ(status.place, place);
}

TEST_F(Fork, ASessionOfTheParentIsRefused) {
  for (uint32_t threads : {1u, 3u}) {
    startAll(threads);
    inChild([&] {
      expectRefused(ashlar_session_run(session, "main", arguments.inputs, 2,
                                       arguments.outputs, 1),
                    "session");
      expectRefused(ashlar_session_run_entry(session, entry, arguments.inputs,
                                             2, arguments.outputs, 1),
                    "session");
      ashlar_event_t *other = nullptr;
      expectRefused(ashlar_session_run_async(session, entry, arguments.inputs,
                                             2, arguments.outputs, 1, &other),
                    "session");
      expectRefused(ashlar_session_trim(session, nullptr), "session");
      expectRefused(ashlar_session_cancel(session), "session");
      ashlar_bindings_t *bound = nullptr;
      expectRefused(ashlar_bindings_create(session, entry, arguments.inputs, 2,
                                           arguments.outputs, 1, &bound),
                    "session");
      expectRefused(ashlar_bindings_run(bindings), "bindings");
      expectRefused(ashlar_bindings_run_async(bindings, &other), "bindings");
      int32_t done = 0;
      expectRefused(ashlar_event_wait(event, ASHLAR_FOREVER, &done), "event");
    });
    // The parent's goes on.
    ASSERT_OK(ashlar_bindings_run(bindings));
    arguments.expectResult();
    ashlar_event_release(event);
    ashlar_bindings_release(bindings);
    ashlar_session_release(session);
    event = nullptr, bindings = nullptr, session = nullptr;
  }
}

TEST_F(Fork, ReleasesInTheChildDoNotWait) {
  startAll(3);
  inChild([&] {
    ashlar_event_release(event);
    ashlar_bindings_release(bindings);
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
  });
  ASSERT_OK(ashlar_bindings_run(bindings));
  arguments.expectResult();
}

TEST_F(Fork, TheParentsModuleServesNewSessions) {
  startAll(3);
  inChild([&] {
    ashlar_session_release(session);
    runNewSession();
    ashlar_module_release(module);
    // And again in a child of its own.
    inChild([&] { runNewSession(); });
  });
}

TEST_F(Fork, TheChildMayBeginAnew) {
  startAll(2);
  inChild([&] {
    runtime = nullptr, module = nullptr;
    ASSERT_OK(ashlar_runtime_create(nullptr, &runtime));
    load(sampleModule());
    runNewSession();
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
  });
}

TEST_F(Fork, AnArenaOfTheParentIsRefused) {
  ashlar_arena_t *arena = nullptr;
  ASSERT_OK(ashlar_arena_create(runtime, nullptr, "shared", &arena));
  inChild([&] {
    ashlar_session_options_t options = withThreads(1);
    options.arena = arena;
    expectRefused(ashlar_session_create(module, nullptr, &options, &session),
                  "options.arena");
    ashlar_arena_release(arena);
  });
  ashlar_arena_release(arena);
}

TEST_F(Fork, MemoryOfTheParentIsThereAndNotPassedOn) {
  ashlar_device_t *cpu = nullptr;
  ashlar_memory_t *memory = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "cpu", &cpu));
  ASSERT_OK(ashlar_memory_create(runtime, cpu, nullptr, "m", 64, &memory));
  ashlar_memory_info_t info = ASHLAR_MEMORY_INFO_INIT;
  ASSERT_OK(ashlar_memory_query(memory, &info));
  auto *byte = static_cast<char *>(info.data);
  inChild([&] {
    int descriptor = -1;
    expectRefused(ashlar_memory_export(memory, &descriptor), "memory");
    ashlar_memory_release(memory);
    *byte = 7;
  });
  EXPECT_EQ(*byte, 7);
  ashlar_memory_release(memory);
}

} // namespace ashlar::test
