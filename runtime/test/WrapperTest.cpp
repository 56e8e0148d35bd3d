// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ header and the embedder's logger.

#include "ashlar/runtime/ashlar.hpp"

#include "Loaded.h"
#include "TemporaryFolder.h"

#include <cstdio>
#include <mutex>
#include <unistd.h>

using namespace ashlar::test;

namespace {

class Wrapper : public testing::Test {
protected:
  void SetUp() override { writeFile(path, sampleModule().build()); }
  void TearDown() override { std::remove(path.c_str()); }
  const std::string path = temporaryPath("wrapper.ash");
};

TEST_F(Wrapper, RunsAndReleasesItself) {
  ashlar::Runtime runtime;
  ashlar::Budget tenant = runtime.budget("tenant", 100000);
  ashlar::Budget below = tenant.below("model", 90000);
  {
    ashlar_load_options_t options = trusting();
    options.budget = below.get();
    ashlar::Module module = runtime.load(path, &options);
    ashlar::Session session = module.session(below);
    SampleArguments a;
    std::vector<ashlar_tensor_t> inputs = {
        ashlar::tensor(a.x.data(), {sampleCount}),
        ashlar::tensor(static_cast<const float *>(a.y.data()), {sampleCount})};
    std::vector<ashlar_tensor_t> outputs(1);
    session.run(module.entry("main"), inputs, outputs,
                std::chrono::seconds(60));
    a.outputs[0] = outputs[0];
    a.expectResult();
    ashlar::Event event = session.start(module.entry("main"), inputs, outputs);
    event.wait();
    EXPECT_TRUE(event.waitFor(std::chrono::nanoseconds(0)));
    EXPECT_GT(session.trim(), 0u);
    EXPECT_GT(tenant.query().current, 0u);
    EXPECT_NE(runtime.prometheus().find(
                  "ashlar_runs_total{budget=\"runtime/tenant/model\"} 2\n"),
              std::string::npos);
    EXPECT_GT(runtime.ownMemory().current, 0u);
    // What was moved from holds nothing.
    ashlar::Session moved = std::move(session);
    EXPECT_FALSE(session);
    EXPECT_TRUE(moved);
  }
  EXPECT_EQ(tenant.query().current, 0u);
}

TEST_F(Wrapper, MemoryGoesByDescriptor) {
  ashlar::Runtime runtime;
  ashlar_device_t *cpu = nullptr;
  ASSERT_OK(ashlar_device_open(runtime.get(), "cpu", &cpu));
  ashlar::Memory made, taken;
  EXPECT_TRUE(made.tryCreate(runtime.get(), cpu, nullptr, "frames", 64));
  int descriptor = made.exported();
  EXPECT_TRUE(
      taken.tryImport(runtime.get(), cpu, nullptr, "frames", descriptor, 64));
  close(descriptor);
  *static_cast<char *>(made.query().data) = 5;
  made = ashlar::Memory();
  EXPECT_EQ(*static_cast<char *>(taken.query().data), 5);
  EXPECT_EQ(taken.tryImport(runtime.get(), cpu, nullptr, "no", -1, 64).code(),
            ASHLAR_INVALID_ARGUMENT);
  EXPECT_FALSE(taken);
  EXPECT_THROW(taken.query(), ashlar::Error);
}

TEST_F(Wrapper, PartsOfDevicesEndAfterTheirModules) {
  ashlar::Runtime runtime;
  ashlar::VirtualDevice part(runtime, "cpu:0/tenant-a", 1 << 20, 1);
  EXPECT_THROW(ashlar::VirtualDevice(runtime, "cpu:0/tenant-a", 1, 1),
               ashlar::Error);
  {
    ashlar_load_options_t options = trusting();
    const char *names[] = {"cpu:0/tenant-a"};
    options.devices = names;
    options.device_count = 1;
    ashlar::Module module = runtime.load(path, &options);
    EXPECT_EQ(part.tryDestroy().code(), ASHLAR_INVALID_ARGUMENT);
    EXPECT_TRUE(part);
  }
  // What was moved from holds nothing; the name is free once the part is gone.
  ashlar::VirtualDevice moved = std::move(part);
  EXPECT_FALSE(part);
  EXPECT_TRUE(moved.tryDestroy());
  part = ashlar::VirtualDevice(runtime, "cpu:0/tenant-a", 1 << 20, 1);
  EXPECT_TRUE(part);
}

TEST_F(Wrapper, SessionsTakeTurnsInAnArena) {
  ashlar::Runtime runtime;
  ashlar::Budget budget = runtime.budget("arenas");
  ashlar::Arena arena = runtime.arena("turns", budget);
  ashlar_load_options_t options = trusting();
  ashlar::Module module = runtime.load(path, &options);
  ashlar_session_options_t joining = withThreads(1);
  joining.arena = arena.get();
  ashlar::Session one = module.session(&joining),
                  two = module.session(&joining);
  EXPECT_EQ(budget.query().current, 2u * sampleCount * sizeof(float));
  one = {}, two = {};
  EXPECT_EQ(budget.query().current, 0u);
  ashlar::Arena none;
  EXPECT_EQ(none.tryCreate(nullptr, nullptr, "x").code(),
            ASHLAR_INVALID_ARGUMENT);
}

TEST_F(Wrapper, ErrorsAreThrownWithTheirWords) {
  ashlar::Runtime runtime;
  try {
    runtime.load("/nonexistent/model.ash");
    FAIL();
  } catch (const ashlar::Error &error) {
    EXPECT_EQ(error.status.code(), ASHLAR_NOT_FOUND);
    EXPECT_EQ(std::string(error.what()).rfind("NOT_FOUND: ", 0), 0u)
        << error.what();
  }
  ashlar_load_options_t options = trusting();
  ashlar::Module module;
  ASSERT_TRUE(module.tryLoad(runtime.get(), path, &options));
  ashlar_entry_t *entry = nullptr;
  ashlar::Status status = module.tryEntry("none", entry);
  EXPECT_EQ(status.code(), ASHLAR_NOT_FOUND);
  // The words stay when the thread goes on.
  std::string words = status.message();
  ASSERT_TRUE(module.tryEntry("main", entry));
  EXPECT_EQ(status.message(), words);
}

TEST_F(Wrapper, TheLoggerHearsOfChoicesRefusalsAndTrims) {
  struct Heard {
    std::mutex mutex;
    std::vector<std::string> lines;
  } heard;
  ashlar_logger_t logger = {};
  logger.context = &heard;
  logger.log = [](void *context, uint32_t level, const char *place,
                  const char *message) {
    auto &to = *static_cast<Heard *>(context);
    std::lock_guard<std::mutex> lock(to.mutex);
    to.lines.push_back(std::to_string(level) + " " + place + ": " + message);
  };
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.logger = &logger;
  ashlar::Runtime runtime(&options);
  ashlar_load_options_t load = trusting();
  ashlar::Module module = runtime.load(path, &load);
  ashlar::Budget small = runtime.budget("small", 10);
  ashlar::Session session;
  ASSERT_EQ(session.tryCreate(module.get(), small.get()).code(),
            ASHLAR_OUT_OF_BUDGET);
  ASSERT_TRUE(session.tryCreate(module.get()));
  EXPECT_GT(session.trim(), 0u);
  ASSERT_EQ(heard.lines.size(), 3u);
  EXPECT_EQ(heard.lines[0].rfind("1 sample: program ", 0), 0u)
      << heard.lines[0];
  EXPECT_EQ(heard.lines[1].rfind("2 small: budget 'small' lacks ", 0), 0u)
      << heard.lines[1];
  EXPECT_EQ(heard.lines[2].rfind("0 sample: ", 0), 0u) << heard.lines[2];
  // Below its level nothing is said.
  logger.level = ASHLAR_LOG_ERROR;
  ashlar::Runtime quiet(&options);
  ashlar::Module again = quiet.load(path, &load);
  EXPECT_EQ(heard.lines.size(), 3u);
  logger.log = nullptr;
  ashlar_runtime_t *none = nullptr;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, ashlar_runtime_create(&options, &none));
}

} // namespace
