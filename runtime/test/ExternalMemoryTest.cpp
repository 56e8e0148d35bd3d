// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a device that a file descriptor stands for: in another runtime and
// another process, as a tensor's, in budgets, and what is refused.

#include "Loaded.h"
#include "NeedsCuda.h"
#include "SendDescriptor.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ashlar::test;
using ashlar::runtime::CopyKind;
using ashlar::runtime::DeviceOps;

namespace {

constexpr uint64_t sampleBytes = sampleCount * sizeof(float);

/// A descriptor that is closed when it is done.
struct Descriptor {
  Descriptor() = default;
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
  int number = -1;
};

/// Another embedder in this process.
struct OtherRuntime {
  explicit OtherRuntime(const char *name) {
    EXPECT_EQ(ashlar_runtime_create(nullptr, &runtime).code, ASHLAR_OK);
    EXPECT_EQ(ashlar_device_open(runtime, name, &device).code, ASHLAR_OK);
  }
  ~OtherRuntime() { ashlar_runtime_release(runtime); }
  ashlar_runtime_t *runtime = nullptr;
  ashlar_device_t *device = nullptr;
};

class External : public RuntimeTest,
                 public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    if (isCuda())
      if (std::string why = whyNoCuda(); !why.empty())
        GTEST_SKIP() << why;
    RuntimeTest::SetUp();
    ASSERT_OK(ashlar_device_open(runtime, GetParam(), &device));
  }
  void TearDown() override {
    ashlar_session_release(session);
    session = nullptr;
    ashlar_memory_release(memory);
    RuntimeTest::TearDown();
  }
  bool isCuda() const { return std::strcmp(GetParam(), "cpu:0") != 0; }
  ModuleBuilder sample() {
    ModuleBuilder b = sampleModule();
    if (isCuda())
      EXPECT_TRUE(b.useCuda());
    return b;
  }
  void create(uint64_t bytes = sampleBytes) {
    ASSERT_OK(ashlar_memory_create(runtime, device, budget, "frames", bytes,
                                   &memory));
  }
  static ashlar_memory_info_t query(ashlar_memory_t *of) {
    ashlar_memory_info_t info = ASHLAR_MEMORY_INFO_INIT;
    EXPECT_EQ(ashlar_memory_query(of, &info).code, ASHLAR_OK);
    return info;
  }
  static ashlar_tensor_t tensorIn(ashlar_memory_t *of) {
    ashlar_memory_info_t info = query(of);
    ashlar_tensor_t tensor =
        tensorOf(static_cast<float *>(info.data), sampleCount);
    tensor.device = info.device;
    return tensor;
  }
  /// By a queue of the test's own.
  static std::vector<float> read(ashlar_memory_t *of) {
    ashlar_memory_info_t info = query(of);
    const DeviceOps &ops = info.device->ops;
    ashlar::runtime::QueueOptions alone = {};
    alone.workers = 1;
    void *queue = nullptr;
    std::vector<float> to(sampleCount);
    EXPECT_TRUE(ops.createQueue(info.device->state, alone, &queue).ok());
    EXPECT_TRUE(
        ops.readBack(queue, {info.data, 0}, to.data(), sampleBytes).ok());
    ops.destroyQueue(queue);
    return to;
  }
  /// The sample's results for its usual numbers lie there.
  static void expectResults(ashlar_memory_t *at) {
    SampleArguments a;
    std::vector<float> found = read(at);
    std::copy(found.begin(), found.end(), a.z.data());
    a.expectResult();
  }
  void runInto(ashlar_memory_t *into) {
    SampleArguments a;
    ashlar_tensor_t output = tensorIn(into);
    ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, &output, 1));
    EXPECT_EQ(output.device, query(into).device);
  }
  uint64_t heldOutputs() {
    ashlar_budget_statistics_t held = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_EQ(ashlar_budget_query(budget, &held).code, ASHLAR_OK);
    return held.current_of[ASHLAR_MEMORY_OUTPUTS];
  }

  ashlar_device_t *device = nullptr;
  ashlar_memory_t *memory = nullptr;
};

INSTANTIATE_TEST_SUITE_P(All, External, testing::Values("cpu:0", "cuda:0"),
                         [](const auto &info) {
                           return std::string(info.param, 3) == "cpu" ? "cpu"
                                                                      : "cuda";
                         });

// Without a copy: nothing is staged.
TEST_P(External, AModelWritesWhatAnotherRuntimeReads) {
  loadOn(GetParam(), sample());
  start();
  create();
  EXPECT_GE(query(memory).bytes, sampleBytes);
  EXPECT_EQ(query(memory).device, device);
  Descriptor given;
  ASSERT_OK(ashlar_memory_export(memory, &given.number));
  OtherRuntime other(GetParam());
  ashlar_memory_t *theirs = nullptr;
  ASSERT_OK(ashlar_memory_import(other.runtime, other.device, nullptr, "frames",
                                 given.number, sampleBytes, &theirs));
  for (int round = 0; round < 3; ++round)
    runInto(memory);
  expectResults(theirs);
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(session, &statistics));
  // The two inputs are the host's; on cpu they are in place.
  EXPECT_EQ(statistics.staged_tensors, isCuda() ? 6u : 0u);
  ashlar_memory_release(theirs);
}

// The maker and its runtime may go: whoever has a descriptor has the memory.
TEST_P(External, ItStaysWhileSomebodyHasIt) {
  Descriptor given, again;
  ashlar_memory_t *theirs = nullptr;
  {
    OtherRuntime maker(GetParam());
    ASSERT_OK(ashlar_memory_create(maker.runtime, maker.device, nullptr, "made",
                                   sampleBytes, &theirs));
    loadOn(GetParam(), sample());
    start();
    ASSERT_OK(ashlar_memory_export(theirs, &given.number));
    ASSERT_OK(ashlar_memory_import(runtime, device, nullptr, "taken",
                                   given.number, sampleBytes, &memory));
    ashlar_memory_release(theirs);
  }
  runInto(memory);
  // What was imported goes on to others.
  ASSERT_OK(ashlar_memory_export(memory, &again.number));
  ashlar_memory_release(memory);
  memory = nullptr;
  ASSERT_OK(ashlar_memory_import(runtime, device, nullptr, "taken",
                                 again.number, sampleBytes, &memory));
  expectResults(memory);
}

class ExternalProcess : public External {
protected:
  /// Starts the peer with one end of a socket.
  void spawn(const char *what) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    socket.number = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    // Not 3 already, which would keep its flag.
    Descriptor theirs;
    theirs.number = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[1]);
    posix_spawn_file_actions_adddup2(&actions, theirs.number, 3);
    char device[16];
    std::strcpy(device, GetParam());
    char import[] = "import", exports[] = "export", path[] = ASHLAR_PEER;
    char *words[] = {path, device, *what == 'i' ? import : exports, nullptr};
    ASSERT_EQ(
        posix_spawn(&peer, ASHLAR_PEER, &actions, nullptr, words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  void expectEnd() {
    int status = -1;
    ASSERT_EQ(waitpid(peer, &status, 0), peer);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  Descriptor socket;
  pid_t peer = 0;
};

INSTANTIATE_TEST_SUITE_P(All, ExternalProcess,
                         testing::Values("cpu:0", "cuda:0"),
                         [](const auto &info) {
                           return std::string(info.param, 3) == "cpu" ? "cpu"
                                                                      : "cuda";
                         });

TEST_P(ExternalProcess, AnotherProcessWritesWhatWeMade) {
  create();
  ASSERT_NO_FATAL_FAILURE(spawn("import"));
  Descriptor given;
  ASSERT_OK(ashlar_memory_export(memory, &given.number));
  ASSERT_TRUE(sendDescriptor(socket.number, given.number));
  expectEnd();
  expectResults(memory);
}

TEST_P(ExternalProcess, WeReadWhatAnotherProcessMade) {
  ASSERT_NO_FATAL_FAILURE(spawn("export"));
  Descriptor got;
  got.number = receiveDescriptor(socket.number);
  ASSERT_GE(got.number, 0);
  expectEnd();
  ASSERT_OK(ashlar_memory_import(runtime, device, nullptr, "theirs", got.number,
                                 sampleBytes, &memory));
  expectResults(memory);
}

TEST_P(External, IsChargedAndNamedUntilItIsReleased) {
  ASSERT_OK(ashlar_budget_create(runtime, "tenant", ASHLAR_UNLIMITED, &budget));
  create();
  const uint64_t bytes = query(memory).bytes;
  EXPECT_EQ(heldOutputs(), bytes);
  ashlar_holder_t holder;
  size_t count = 0;
  ASSERT_OK(ashlar_budget_holders(budget, &holder, 1, &count));
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(holder.name, "frames");
  EXPECT_EQ(holder.kind, uint32_t(ASHLAR_MEMORY_OUTPUTS));
  EXPECT_EQ(holder.bytes, bytes);
  ashlar_budget_statistics_t there = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query_device(budget, device, &there));
  EXPECT_EQ(there.current, bytes);
  // An import too, which does not fit beside it.
  Descriptor given;
  ASSERT_OK(ashlar_memory_export(memory, &given.number));
  ASSERT_OK(ashlar_budget_set_limit(budget, 2 * bytes - 1));
  ashlar_memory_t *more = nullptr;
  expectSays(ashlar_memory_import(runtime, device, budget, "again",
                                  given.number, sampleBytes, &more),
             ASHLAR_OUT_OF_BUDGET, "frames");
  expectSays(
      ashlar_memory_create(runtime, device, budget, "more", bytes, &more),
      ASHLAR_OUT_OF_BUDGET, "frames");
  EXPECT_EQ(more, nullptr);
  ASSERT_OK(ashlar_budget_set_limit(budget, 2 * bytes));
  ASSERT_OK(ashlar_memory_import(runtime, device, budget, "again", given.number,
                                 sampleBytes, &more));
  EXPECT_EQ(heldOutputs(), 2 * bytes);
  ashlar_memory_release(more);
  ashlar_memory_release(memory);
  memory = nullptr;
  EXPECT_EQ(heldOutputs(), 0u);
}

TEST_P(External, WhatIsNoSuchMemoryIsRefusedAndNothingIsHeld) {
  ASSERT_OK(ashlar_budget_create(runtime, "tenant", ASHLAR_UNLIMITED, &budget));
  create(5);
  Descriptor given, file;
  ASSERT_OK(ashlar_memory_export(memory, &given.number));
  file.number = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ashlar_memory_t *made = nullptr;
  auto import = [&](int descriptor, uint64_t bytes) {
    return ashlar_memory_import(runtime, device, budget, "no", descriptor,
                                bytes, &made);
  };
  expectSays(import(file.number, 64), ASHLAR_INVALID_ARGUMENT,
             "ashlar_memory_export made");
  expectSays(import(999, 64), ASHLAR_INVALID_ARGUMENT,
             "ashlar_memory_export made");
  expectSays(import(-1, 64), ASHLAR_INVALID_ARGUMENT, "no file descriptor");
  expectSays(import(given.number, 0), ASHLAR_INVALID_ARGUMENT, "0 bytes");
  expectSays(import(given.number, UINT64_MAX), ASHLAR_INVALID_ARGUMENT,
             "bytes");
  expectSays(import(given.number, query(memory).bytes + 1),
             ASHLAR_INVALID_ARGUMENT, "import as many as were created");
  ashlar_status_t status = ashlar_memory_create(runtime, device, budget, "no",
                                                uint64_t(1) << 50, &made);
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET, status);
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_memory_create(runtime, device, budget, "no", 0, &made));
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(heldOutputs(), query(memory).bytes);
  // It is none of that.
  ASSERT_OK(import(given.number, 5));
  ashlar_memory_release(made);
}

TEST_P(External, ArgumentsAreChecked) {
  OtherRuntime other(GetParam());
  create();
  ashlar_memory_t *made = nullptr;
  ashlar_memory_info_t info = ASHLAR_MEMORY_INFO_INIT;
  int descriptor = 7;
  const auto wrong = ASHLAR_INVALID_ARGUMENT;
  EXPECT_CODE(wrong,
              ashlar_memory_create(nullptr, device, nullptr, "m", 1, &made));
  EXPECT_CODE(wrong,
              ashlar_memory_create(runtime, nullptr, nullptr, "m", 1, &made));
  EXPECT_CODE(
      wrong, ashlar_memory_create(runtime, device, nullptr, nullptr, 1, &made));
  EXPECT_CODE(wrong,
              ashlar_memory_create(runtime, device, nullptr, "m", 1, nullptr));
  expectSays(
      ashlar_memory_create(runtime, other.device, nullptr, "m", 1, &made),
      wrong, "none of this runtime's");
  EXPECT_CODE(wrong, ashlar_memory_export(nullptr, &descriptor));
  EXPECT_EQ(descriptor, -1);
  EXPECT_CODE(wrong, ashlar_memory_export(memory, nullptr));
  EXPECT_CODE(wrong, ashlar_memory_query(nullptr, &info));
  EXPECT_CODE(wrong, ashlar_memory_query(memory, nullptr));
  info.size = 3;
  EXPECT_CODE(wrong, ashlar_memory_query(memory, &info));
  ashlar_memory_release(nullptr);
}

TEST_P(External, APartOfADeviceHasItAndStaysMeanwhile) {
  ashlar_virtual_device_options_t options = ASHLAR_VIRTUAL_DEVICE_OPTIONS_INIT;
  options.memory_bytes = 4 << 20;
  options.workers = 1;
  ashlar_device_t *part = nullptr;
  const std::string name = std::string(GetParam()) + "/tenant-a";
  ASSERT_OK(
      ashlar_virtual_device_create(runtime, name.c_str(), &options, &part));
  ASSERT_OK(ashlar_memory_create(runtime, part, nullptr, "frames", sampleBytes,
                                 &memory));
  EXPECT_EQ(query(memory).device, part);
  ashlar_memory_t *more = nullptr;
  expectSays(
      ashlar_memory_create(runtime, part, nullptr, "more", 4 << 20, &more),
      ASHLAR_OUT_OF_BUDGET, "tenant-a");
  expectSays(ashlar_virtual_device_destroy(runtime, part),
             ASHLAR_INVALID_ARGUMENT, "in use by 1 modules or memories");
  ashlar_memory_release(memory);
  memory = nullptr;
  ASSERT_OK(ashlar_virtual_device_destroy(runtime, part));
}

class ExternalOfTheHost : public RuntimeTest {};

TEST_F(ExternalOfTheHost, MemoryThatOthersCouldTakeAwayIsRefused) {
  ashlar_device_t *cpu = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "cpu", &cpu));
  ashlar_memory_t *made = nullptr;
  Descriptor file;
  file.number = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(file.number, 4096), 0);
  auto import = [&] {
    return ashlar_memory_import(runtime, cpu, nullptr, "m", file.number, 4096,
                                &made);
  };
  expectSays(import(), ASHLAR_INVALID_ARGUMENT, "F_SEAL_SHRINK");
  ASSERT_EQ(fcntl(file.number, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  ASSERT_OK(import());
  ashlar_memory_release(made);
  ASSERT_EQ(fcntl(file.number, F_ADD_SEALS, F_SEAL_WRITE), 0);
  expectSays(import(), ASHLAR_INVALID_ARGUMENT, "is not to be written");
  // Ours is sealed.
  ASSERT_OK(ashlar_memory_create(runtime, cpu, nullptr, "m", 4096, &made));
  Descriptor own;
  ASSERT_OK(ashlar_memory_export(made, &own.number));
  EXPECT_NE(ftruncate(own.number, 0), 0);
  ashlar_memory_release(made);
}

TEST_F(ExternalOfTheHost, ADeviceWithoutSaysWhatToDo) {
  ashlar_device_t *systolic = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "systolic", &systolic));
  ashlar_memory_t *made = nullptr;
  expectSays(ashlar_memory_create(runtime, systolic, nullptr, "m", 64, &made),
             ASHLAR_UNSUPPORTED, "copy by way of the host's");
}

} // namespace
