// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A long life of a server: two threads load, run, trim and unload modules. No
// number is ever wrong, and nothing that was given back stays.
// ASHLAR_SOAK_SECONDS says how long, ASHLAR_SOAK_RUNS how many runs at least.

#include "Loaded.h"
#include "Sanitized.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <malloc.h>
#include <random>
#include <thread>
#include <unistd.h>

using namespace ashlar::test;

namespace {

constexpr size_t threadCount = 2, caseCount = 12, roundCount = 8;
constexpr int64_t mostBytes = sampleCount * 8;

std::vector<ModuleBytes> buildModules() {
  std::vector<ModuleBytes> files;
  for (auto build : {sampleModule, symbolicModule, growingModule, controlModule,
                     sizedModule, sharedModule, orderedModule, awayModule})
    files.push_back(build().build());
  return files;
}

/// What the runtimes have for themselves.
uint64_t ownBytes() {
  ashlar_own_memory_t memory = ASHLAR_OWN_MEMORY_INIT;
  EXPECT_EQ(ashlar_stats_own_memory(nullptr, &memory).code, ASHLAR_OK);
  return memory.current;
}

/// Once malloc has given back what it can.
uint64_t trimmedBytes() {
  malloc_trim(0);
  return residentBytes();
}

uint64_t hashOf(const void *data, uint64_t bytes, uint64_t hash) {
  for (uint64_t i = 0; i < bytes; ++i) // FNV-1a
    hash = (hash ^ static_cast<const uint8_t *>(data)[i]) * 1099511628211u;
  return hash;
}

/// A module of one thread with a session, and the tensors of its cases.
class Loaded {
public:
  Loaded(ashlar_runtime_t *runtime, const ModuleBytes &file) {
    ashlar_load_options_t options = trusting();
    expectOk(ashlar_module_load_memory(runtime, file.data(), file.size(),
                                       &options, &module));
    expectOk(ashlar_module_entry_at(module, 0, &entry));
    expectOk(ashlar_session_create(module, nullptr, nullptr, &session));
    inputs.resize(ashlar_entry_input_count(entry));
    outputs.resize(ashlar_entry_output_count(entry));
    memory.resize((inputs.size() + outputs.size()) * size_t(mostBytes) + 64);
  }
  ~Loaded() {
    ashlar_session_release(session);
    ashlar_module_release(module);
  }
  Loaded(const Loaded &) = delete;

  /// What case `number` comes to, in one of three ways.
  uint64_t run(size_t number, unsigned way) {
    prepare(number, /*isAligned=*/way != 1);
    if (way == 2) {
      ashlar_event_t *event = nullptr;
      int32_t done = 0;
      expectOk(ashlar_session_run_async(session, entry, inputs.data(),
                                        inputs.size(), outputs.data(),
                                        outputs.size(), &event));
      expectOk(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
      ashlar_event_release(event);
      for (size_t i = 0; i < outputs.size(); ++i)
        expectOk(
            ashlar_session_output_shape(session, entry, i, outputs[i].shape));
    } else {
      expectOk(ashlar_session_run_entry(session, entry, inputs.data(),
                                        inputs.size(), outputs.data(),
                                        outputs.size()));
    }
    uint64_t hash = 14695981039346656037u;
    for (const ashlar_tensor_t &output : outputs) {
      uint64_t bytes = ashlar_element_type_size(output.type);
      for (uint32_t i = 0; i < output.rank; ++i)
        bytes *= uint64_t(output.shape[i]);
      hash = hashOf(output.shape, output.rank * sizeof(int64_t), hash);
      hash = hashOf(output.data, bytes, hash);
    }
    return hash;
  }
  void trim() { expectOk(ashlar_session_trim(session, nullptr)); }

private:
  static void expectOk(ashlar_status_t status) {
    ASSERT_EQ(status.code, ASHLAR_OK)
        << status.message << " [" << status.place << "]";
  }
  void prepare(size_t number, bool isAligned) {
    char *at = reinterpret_cast<char *>(
        (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    // Outputs hold what the last run left, which none may depend on.
    for (size_t i = 0; i < inputs.size() + outputs.size(); ++i) {
      bool isInput = i < inputs.size();
      ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
      expectOk(isInput ? ashlar_entry_input(entry, i, &info)
                       : ashlar_entry_output(entry, i - inputs.size(), &info));
      ashlar_tensor_t &tensor =
          isInput ? inputs[i] : outputs[i - inputs.size()];
      tensor = {};
      tensor.data = at + i * size_t(mostBytes) + (isAligned ? 0 : 8);
      tensor.capacity = info.maximum_bytes;
      ASSERT_LE(info.maximum_bytes + 8, uint64_t(mostBytes));
      tensor.type = info.type;
      tensor.rank = info.rank;
      int64_t count = 1;
      for (uint32_t d = 0; d < info.rank; ++d)
        count *= tensor.shape[d] = info.shape[d] < 0
                                       ? int64_t(1 + number * 97 % sampleCount)
                                       : info.shape[d];
      for (int64_t k = 0; isInput && k < count; ++k)
        if (info.type == ASHLAR_TYPE_F32)
          static_cast<float *>(tensor.data)[k] =
              float((k * 7 + int64_t(number) * 13) % 17) - 3;
        else if (info.type == ASHLAR_TYPE_I64) // how far data go
          static_cast<int64_t *>(tensor.data)[k] = int64_t(number * 20);
        else // the second flag must be set
          static_cast<uint8_t *>(tensor.data)[k] = k == 1 || number % 2;
    }
  }

  ashlar_module_t *module = nullptr;
  ashlar_entry_t *entry = nullptr;
  ashlar_session_t *session = nullptr;
  std::vector<ashlar_tensor_t> inputs, outputs;
  std::vector<char> memory;
};

class Soak : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_OK(ashlar_runtime_create(nullptr, &runtime));
    for (const ModuleBytes &file : files) {
      Loaded alone(runtime, file);
      for (size_t i = 0; i < caseCount; ++i)
        expected.push_back(alone.run(i, 0));
    }
  }
  void TearDown() override { ashlar_runtime_release(runtime); }

  /// Lives until both are over: the time and the runs.
  void live(unsigned seed, std::chrono::steady_clock::time_point end,
            uint64_t least) {
    std::mt19937 random{seed};
    std::vector<std::unique_ptr<Loaded>> loaded(files.size());
    for (uint64_t i = 0; !HasFatalFailure() && wrong == 0; ++i) {
      if (i % 64 == 0 && runs >= least &&
          std::chrono::steady_clock::now() >= end)
        return;
      size_t file = random() % files.size();
      auto &one = loaded[file];
      if (!one || random() % 256 == 0) {
        one.reset();
        one = std::make_unique<Loaded>(runtime, files[file]);
        ++loads;
      }
      if (random() % 128 == 0)
        one->trim();
      size_t number = random() % caseCount;
      wrong +=
          one->run(number, random() % 3) != expected[file * caseCount + number];
      ++runs;
    }
  }

  const std::vector<ModuleBytes> files = buildModules();
  ashlar_runtime_t *runtime = nullptr;
  std::vector<uint64_t> expected;
  std::atomic<uint64_t> runs{0}, loads{0}, wrong{0};
};

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST_F(Soak, NothingGrowsAndNoNumberIsWrong) {
  uint64_t seconds = fromEnvironment("ASHLAR_SOAK_SECONDS", 2);
  uint64_t least = fromEnvironment("ASHLAR_SOAK_RUNS", 0);
  std::vector<uint64_t> resident, lent;
  // How many of malloc's arenas there are is luck otherwise.
  mallopt(M_ARENA_MAX, int(threadCount));
  // Beside it are tables of as many sessions as there were at once.
  const uint64_t own = ownBytes();
  for (size_t round = 0; round < roundCount && wrong == 0; ++round) {
    auto end = std::chrono::steady_clock::now() +
               std::chrono::milliseconds(1000 * seconds / roundCount);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < threadCount; ++t)
      threads.emplace_back([&, t] {
        live(unsigned(round * threadCount + t), end,
             least * (round + 1) / roundCount);
      });
    for (std::thread &thread : threads)
      thread.join();
    // All is unloaded.
    EXPECT_LE(ownBytes(), own + 1024);
    resident.push_back(trimmedBytes());
    lent.push_back(mallinfo2().uordblks);
  }
  EXPECT_EQ(wrong, 0u);
  std::printf(
      "%llu runs, %llu loads, resident KiB:", (unsigned long long)runs.load(),
      (unsigned long long)loads.load());
  for (uint64_t bytes : resident)
    std::printf(" %llu", (unsigned long long)bytes / 1024);
  std::printf(", lent by malloc:");
  for (uint64_t bytes : lent)
    std::printf(" %llu", (unsigned long long)bytes);
  std::printf("\n");
  if (isSanitized)
    return;
  // The first two rounds fill what is kept: threads' stacks, malloc's arenas.
  EXPECT_LE(resident.back(), resident[1] + (uint64_t(1) << 20));
  // Stacks that wait for new threads have 3 KiB each of thread-local memory,
  // and how many there are is luck: what the library itself keeps is held to
  // less, above.
  EXPECT_LE(lent.back(), lent[1] + (uint64_t(32) << 10));
}

} // namespace
