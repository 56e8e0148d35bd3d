// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules that share what is the same in them: that it is there and charged
// once, to the byte that a check has said; that nothing else is ever taken for
// it, and that no result changes, whoever loads, fails and unloads meanwhile.

#include "FailingNew.h"
#include "Loaded.h"
#include "Sanitized.h"
#include "TemporaryFolder.h"

#include <atomic>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>
#include <unistd.h>

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

constexpr uint64_t weightBytes = sampleCount * sizeof(float);

/// sampleModule with a weight of so many bytes, of which it reads the first
/// 1024, and w[element] changed by `change`.
ModuleBuilder changed(size_t element, float change,
                      uint64_t bytes = weightBytes) {
  ModuleBuilder b = sampleModule();
  std::vector<uint8_t> &weight = b.sectionBytes[0];
  weight.resize(bytes);
  float value = sampleStep * float(element) + change;
  std::memcpy(weight.data() + element * sizeof(float), &value, sizeof(float));
  b.module.weights[0]->size = bytes;
  b.contract().weights_bytes = bytes;
  return b;
}

class Content : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_OK(
        ashlar_budget_create(runtime, "tenant", ASHLAR_UNLIMITED, &budget));
  }
  void TearDown() override {
    for (ashlar_module_t *each : modules)
      ashlar_module_release(each);
    EXPECT_EQ(query().current, 0u);
    EXPECT_EQ(query().saved, 0u);
    for (const std::string &path : paths)
      std::remove(path.c_str());
    RuntimeTest::TearDown();
  }
  std::string write(ModuleBuilder builder) {
    paths.push_back(
        temporaryPath("content-" + std::to_string(paths.size()) + ".ash"));
    writeFile(paths.back(), builder.build());
    return paths.back();
  }
  ashlar_load_options_t sharing(const char *name) {
    ashlar_load_options_t options = trusting();
    options.name = name;
    options.budget = budget;
    options.share_content = 1;
    return options;
  }
  ashlar_module_t *loadFile(const std::string &path,
                            const ashlar_load_options_t &options) {
    ashlar_module_t *made = nullptr;
    EXPECT_CODE(ASHLAR_OK, ashlar_module_load_file(runtime, path.c_str(),
                                                   &options, &made));
    modules.push_back(made);
    return made;
  }
  ashlar_module_t *share(const std::string &path, const char *name) {
    return loadFile(path, sharing(name));
  }
  void unload(ashlar_module_t *&of) {
    modules.erase(std::find(modules.begin(), modules.end(), of));
    ashlar_module_release(of);
    of = nullptr;
  }
  ashlar_budget_statistics_t query() const { return query(budget); }
  static ashlar_budget_statistics_t query(const ashlar_budget_t *of) {
    ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_budget_query(of, &now));
    return now;
  }
  static uint64_t ownMemory() {
    ashlar_own_memory_t now = ASHLAR_OWN_MEMORY_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_stats_own_memory(nullptr, &now));
    return now.current;
  }
  static ashlar_module_info_t infoOf(const ashlar_module_t *of) {
    ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_module_query(of, &info));
    return info;
  }
  static uint64_t bytesOf(const ashlar_module_t *of) {
    return infoOf(of).weights_bytes + infoOf(of).code_bytes;
  }
  /// Weights and code that a check says are to be charged.
  uint64_t checked(const std::string &path, uint64_t *shared = nullptr) {
    ashlar_load_options_t options = sharing("checked");
    ashlar_module_cost_t cost = ASHLAR_MODULE_COST_INIT;
    EXPECT_CODE(ASHLAR_OK,
                ashlar_module_check_file(runtime, path.c_str(), &options,
                                         nullptr, nullptr, 0, &cost));
    if (shared)
      *shared = cost.shared_bytes;
    return cost.weights_bytes + cost.code_bytes;
  }
  /// z = 2 (x + w) + y, where w[element] is `change` more.
  static void runSample(ashlar_module_t *of, size_t element = 0,
                        float change = 0) {
    ashlar_session_options_t options = withThreads(1);
    ashlar_session_t *made = nullptr;
    ASSERT_OK(ashlar_session_create(of, nullptr, &options, &made));
    SampleArguments a;
    ASSERT_OK(ashlar_session_run(made, "main", a.inputs, 2, a.outputs, 1));
    a.z[element] -= 2 * change;
    a.expectResult();
    ashlar_session_release(made);
  }
  std::string refused(const std::string &path, const char *name) {
    ashlar_load_options_t options = sharing(name);
    ashlar_module_t *made = nullptr;
    ashlar_status_t status =
        ashlar_module_load_file(runtime, path.c_str(), &options, &made);
    EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
    return status.message;
  }
  static void expectIn(const std::string &text, const char *words) {
    EXPECT_NE(text.find(words), text.npos) << text;
  }

  std::vector<ashlar_module_t *> modules;
  std::vector<std::string> paths;
};

TEST_F(Content, IsThereOnceUntilTheLastOneIsGone) {
  ashlar_module_t *first = share(write(sampleModule()), "first");
  uint64_t all = query().current;
  EXPECT_EQ(all, bytesOf(first));
  EXPECT_EQ(infoOf(first).shared_bytes, 0u);
  // Another model with the same weights and kernels.
  ashlar_module_t *second = share(write(symbolicModule()), "second");
  EXPECT_EQ(bytesOf(second), all);
  EXPECT_EQ(infoOf(second).shared_bytes, all);
  EXPECT_EQ(query().current, all);
  EXPECT_EQ(query().saved, all);
  ashlar_budget_t *root = nullptr;
  ASSERT_OK(ashlar_runtime_budget(runtime, &root));
  EXPECT_EQ(query(root).saved, all);
  ashlar_budget_release(root);
  runSample(first);
  runSample(second);
  // No unload raises a charge, and none takes what another needs.
  unload(first);
  EXPECT_EQ(query().current, all);
  EXPECT_EQ(query().peak, all);
  EXPECT_EQ(query().saved, 0u);
  runSample(second);
  ashlar_module_t *third = share(paths[0], "third");
  EXPECT_EQ(query().current, all);
  unload(second);
  runSample(third);
  unload(third);
  EXPECT_EQ(query().current, 0u);
}

TEST_F(Content, IsTheFirstOnesEvenIfItsFileIsGone) {
  ashlar_module_t *first = share(write(sampleModule()), "first"),
                  *second = share(write(sampleModule()), "second");
  // As a server replaces files: by renaming another over it.
  std::string other = write(changed(7, 3));
  ASSERT_EQ(std::rename(other.c_str(), paths[0].c_str()), 0);
  unload(first);
  ASSERT_EQ(std::remove(paths[0].c_str()), 0);
  runSample(second);
}

TEST_F(Content, IsSharedWithTheOptionAndOneBudgetOnly) {
  std::string path = write(sampleModule());
  ashlar_module_t *first = share(path, "first");
  uint64_t all = query().current;
  ashlar_load_options_t alone = sharing("alone");
  alone.share_content = 0;
  loadFile(path, alone);
  EXPECT_EQ(query().current, 2 * all);
  ashlar_budget_t *below = nullptr;
  ASSERT_OK(
      ashlar_budget_create_below(budget, "below", ASHLAR_UNLIMITED, &below));
  ashlar_load_options_t elsewhere = sharing("elsewhere");
  elsewhere.budget = below;
  ashlar_module_t *third = loadFile(path, elsewhere);
  EXPECT_EQ(query(below).current, all);
  EXPECT_EQ(query().current, 3 * all);
  EXPECT_EQ(query().saved, 0u);
  EXPECT_EQ(infoOf(third).shared_bytes, 0u);
  // An own budget for what two tenants share: neither is charged for it.
  EXPECT_EQ(infoOf(loadFile(path, elsewhere)).shared_bytes, all);
  EXPECT_EQ(query(below).saved, all);
  ashlar_budget_release(below);
  unload(first);
  runSample(third);
}

TEST_F(Content, WhatDiffersIsChargedToTheByteThatWasSaid) {
  std::vector<std::string> files = {
      write(sampleModule()),        write(symbolicModule()),
      write(changed(255, 1)),       write(changed(3, 1)),
      write(checkingModule()),      write(systolicModule()),
      write(sharedModule()),        write(changed(3, 1, 4096)),
      write(changed(200, 2, 4096)), write(changed(3, 1))};
  uint64_t all = 0, sum = 0;
  for (const std::string &path : files) {
    ASSERT_OK(ashlar_budget_set_limit(budget, ASHLAR_UNLIMITED));
    uint64_t shared = 0, said = checked(path, &shared);
    EXPECT_EQ(query().current, all);
    // One byte less, and both say no.
    if (said) {
      ASSERT_OK(ashlar_budget_set_limit(budget, all + said - 1));
      refused(path, "tight");
      ashlar_load_options_t options = sharing("checked");
      EXPECT_CODE(ASHLAR_OUT_OF_BUDGET,
                  ashlar_module_check_file(runtime, path.c_str(), &options,
                                           nullptr, nullptr, 0, nullptr));
    }
    ASSERT_OK(ashlar_budget_set_limit(budget, all + said));
    ashlar_module_t *made = share(path, "one");
    EXPECT_EQ(query().current, all + said);
    EXPECT_EQ(said + shared, bytesOf(made));
    EXPECT_EQ(infoOf(made).shared_bytes, shared);
    all += said;
    sum += bytesOf(made);
  }
  EXPECT_EQ(query().saved, sum - all);
  // The last is the fourth again; the seventh has the sixth's.
  EXPECT_EQ(infoOf(modules[9]).shared_bytes, bytesOf(modules[9]));
  EXPECT_EQ(infoOf(modules[6]).shared_bytes, bytesOf(modules[6]));
  EXPECT_EQ(infoOf(modules[3]).shared_bytes, infoOf(modules[3]).code_bytes);
  runSample(modules[0]);
  runSample(modules[2], 255, 1);
  runSample(modules[3], 3, 1);
  runSample(modules[7], 3, 1);
  runSample(modules[8], 200, 2);
  runSample(modules[9], 3, 1);
}

// Large weights are looked for by a hash of samples, between which these
// differ: whoever writes a file can do that with any hash.
TEST_F(Content, EqualHashesAreNotTakenForEqualBytes) {
  constexpr size_t count = 20, bytes = 1 << 16;
  for (size_t i = 0; i < count; ++i)
    share(write(changed(50, float(i), bytes)), "crafted");
  uint64_t code = infoOf(modules[0]).code_bytes;
  EXPECT_EQ(query().current, count * bytes + code);
  EXPECT_EQ(query().saved, (count - 1) * code);
  for (size_t i = 0; i < count; ++i)
    runSample(modules[i], 50, float(i));
  // So many that not all are compared: a late one is found, an early one is
  // there again, as a check says.
  ashlar_module_t *late = share(paths[count - 1], "late");
  EXPECT_EQ(infoOf(late).shared_bytes, bytes + code);
  EXPECT_EQ(checked(paths[2]), bytes);
  ashlar_module_t *early = share(paths[2], "early");
  EXPECT_EQ(query().current, (count + 1) * bytes + code);
  runSample(late, 50, count - 1);
  runSample(early, 50, 2);
}

TEST_F(Content, WeightsOfOneModuleThatAreTheSameAreThereOnce) {
  ModuleBuilder builder = sampleModule();
  std::vector<float> same(sampleCount);
  for (size_t i = 0; i < same.size(); ++i)
    same[i] = sampleStep * float(i);
  uint32_t again = builder.addWeight("again", same);
  // y is read from it.
  auto &binding = *builder.programEntry().commands[4].AsDispatch()->bindings[1];
  binding.storage = fb::Storage::Weights;
  binding.index = again;
  ashlar_module_t *made = share(write(std::move(builder)), "twins");
  EXPECT_EQ(infoOf(made).weights_bytes, 2 * weightBytes);
  EXPECT_EQ(infoOf(made).shared_bytes, weightBytes);
  EXPECT_EQ(query().current_of[ASHLAR_MEMORY_WEIGHTS], weightBytes);
  EXPECT_EQ(query().saved, weightBytes);
}

TEST_F(Content, OverlappingWeightsAreOneBlock) {
  // Two weights, the second is the first's later half and 1024 bytes more.
  auto overlapping = [] {
    ModuleBuilder b = changed(0, 0, 2048);
    auto second = std::make_unique<fb::WeightT>(*b.module.weights[0]);
    second->name = "tail";
    second->offset = 512;
    second->size = 1024;
    b.module.weights[0]->size = 1024;
    b.module.weights.push_back(std::move(second));
    auto &binding = *b.programEntry().commands[4].AsDispatch()->bindings[1];
    binding.storage = fb::Storage::Weights;
    binding.index = 1;
    return b;
  };
  std::string paths[] = {write(overlapping()), write(overlapping())};
  for (const char *device : {"cpu:0", "guard:0"})
    for (uint32_t shares : {0, 1}) {
      ashlar_load_options_t options = sharing("tails");
      options.share_content = shares;
      options.devices = &device;
      options.device_count = 1;
      ashlar_module_t *first = loadFile(paths[0], options);
      EXPECT_EQ(query().current_of[ASHLAR_MEMORY_WEIGHTS], 1536u);
      ashlar_module_t *second = loadFile(paths[1], options);
      EXPECT_EQ(query().current_of[ASHLAR_MEMORY_WEIGHTS],
                shares ? 1536u : 2 * 1536u);
      unload(first);
      ashlar_session_options_t one = withThreads(1);
      ASSERT_OK(ashlar_session_create(second, nullptr, &one, &session));
      SampleArguments a;
      ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
      for (int64_t i = 0; i < sampleCount; ++i) {
        float w = i < 128 ? sampleStep * float(i + 128) : 0;
        EXPECT_EQ(a.z[size_t(i)],
                  2 * (a.x[size_t(i)] + sampleStep * float(i)) + w);
      }
      ashlar_session_release(session);
      session = nullptr;
      unload(second);
    }
}

TEST_F(Content, TheFirstIsUnloadedWhileOthersRun) {
  std::string path = write(spinningModule(2000, 20000));
  ashlar_module_t *first = share(path, "first"),
                  *second = share(path, "second");
  EXPECT_EQ(infoOf(second).shared_bytes, bytesOf(first));
  ashlar_session_options_t options = withThreads(1);
  ASSERT_OK(ashlar_session_create(second, nullptr, &options, &session));
  ASSERT_OK(ashlar_module_entry_at(second, 0, &entry));
  ashlar_event_t *event = nullptr;
  ASSERT_OK(
      ashlar_session_run_async(session, entry, nullptr, 0, nullptr, 0, &event));
  unload(first);
  // The session keeps its module, and that what it shares.
  uint64_t code = bytesOf(second);
  unload(second);
  EXPECT_EQ(query().current_of[ASHLAR_MEMORY_CODE], code);
  ashlar_module_t *third = share(path, "third");
  EXPECT_EQ(infoOf(third).shared_bytes, code);
  int32_t done = 0;
  ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
  EXPECT_EQ(done, 1);
  ashlar_event_release(event);
  ashlar_session_release(session);
  session = nullptr;
}

TEST_F(Content, RefusalsNameAllWhoHoldIt) {
  ashlar_module_t *first = share(write(sampleModule()), "first"),
                  *second = share(paths[0], "second");
  ASSERT_OK(ashlar_budget_set_limit(budget, query().current));
  std::string other = write(changed(5, 5));
  std::string message = refused(other, "newcomer");
  expectIn(message, "newcomer asks for 1024 bytes of weights, ");
  expectIn(message, "first, second (1024 weights)");
  expectIn(message, "; it would fit without first, second");
  ashlar_holder_t holders[4];
  size_t count = 0;
  ASSERT_OK(ashlar_budget_holders(budget, holders, 4, &count));
  ASSERT_EQ(count, 2u);
  EXPECT_STREQ(holders[1].name, "first, second");
  unload(first);
  expectIn(refused(other, "newcomer"), "; it would fit without second");
  std::vector<ashlar_module_t *> more;
  for (int i = 0; i < 12; ++i)
    more.push_back(share(paths[0], "one of many more"));
  expectIn(refused(other, "newcomer"),
           "; it would fit without second, one of many more");
  unload(second);
  for (int i = 0; i < 11; ++i)
    unload(more[size_t(i)]);
  expectIn(refused(other, "newcomer"), "without one of many more");
  EXPECT_EQ(refused(other, "newcomer").find(" and "), std::string::npos);
}

TEST_F(Content, MemoryThatIsLentIsOthersToUseNever) {
  auto lend = [&](const ModuleBytes &from) {
    ashlar_load_options_t options = sharing("lent");
    ashlar_module_t *made = nullptr;
    EXPECT_CODE(ASHLAR_OK,
                ashlar_module_load_memory(runtime, from.data(), from.size(),
                                          &options, &made));
    modules.push_back(made);
    return made;
  };
  auto bytes = std::make_unique<ModuleBytes>(sampleModule().build());
  ashlar_module_t *lent = lend(*bytes);
  uint64_t all = query().current;
  ashlar_module_t *file = share(write(sampleModule()), "file");
  EXPECT_EQ(infoOf(file).shared_bytes, 0u);
  EXPECT_EQ(query().current, 2 * all);
  unload(lent);
  bytes.reset();
  runSample(file);
  // But it finds what a file has brought.
  ModuleBytes more = sampleModule().build();
  lent = lend(more);
  EXPECT_EQ(infoOf(lent).shared_bytes, all);
  unload(file);
  runSample(lent);
  EXPECT_EQ(query().current, all);
}

TEST_F(Content, EachDeviceHasItsOwn) {
  std::string path = write(sampleModule());
  const char *names[] = {"guard:0", "guard:1", "cpu:0"};
  std::vector<ashlar_module_t *> loaded;
  uint64_t one = 0;
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < 3; ++i) {
      ashlar_load_options_t options = sharing("sample");
      options.devices = &names[i];
      options.device_count = 1;
      loaded.push_back(loadFile(path, options));
      one = bytesOf(loaded[0]);
      EXPECT_EQ(infoOf(loaded.back()).shared_bytes, round ? one : 0);
    }
  EXPECT_EQ(query().current, 3 * one);
  EXPECT_EQ(query().saved, 3 * one);
  for (size_t i = 0; i < 3; ++i) {
    ashlar_device_t *device = nullptr;
    ASSERT_OK(ashlar_device_open(runtime, names[i], &device));
    ashlar_budget_statistics_t there = ASHLAR_BUDGET_STATISTICS_INIT;
    ASSERT_OK(ashlar_budget_query_device(budget, device, &there));
    EXPECT_EQ(there.current_of[ASHLAR_MEMORY_WEIGHTS], weightBytes);
    unload(loaded[i]);
    runSample(loaded[3 + i]);
  }
}

TEST_F(Content, PartsOfADeviceHaveTheirOwn) {
  ashlar_virtual_device_options_t part = ASHLAR_VIRTUAL_DEVICE_OPTIONS_INIT;
  part.memory_bytes = 1 << 20;
  part.workers = 1;
  ashlar_device_t *device = nullptr;
  ASSERT_OK(
      ashlar_virtual_device_create(runtime, "cpu:0/part", &part, &device));
  std::string path = write(sampleModule());
  const char *name = "cpu:0/part";
  ashlar_load_options_t options = sharing("inside");
  options.devices = &name;
  options.device_count = 1;
  ashlar_module_t *outside = share(path, "outside"),
                  *first = loadFile(path, options),
                  *second = loadFile(path, options);
  EXPECT_EQ(infoOf(first).shared_bytes, 0u);
  EXPECT_EQ(infoOf(second).shared_bytes, bytesOf(outside));
  unload(first);
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_virtual_device_destroy(runtime, device));
  runSample(second);
  unload(second);
  ASSERT_OK(ashlar_virtual_device_destroy(runtime, device));
  runSample(outside);
}

TEST_F(Content, ALoadThatFailsAnywhereLeavesNothing) {
  // Each twice: what the first three leave for the next ones does not grow.
  uint64_t kept = 0;
  for (int round = 0; round < 6; ++round) {
    const int which = round % 3;
    ashlar_module_t *first = share(write(sampleModule()), "first");
    std::string path = write(which == 0   ? sampleModule()
                             : which == 1 ? changed(9, 1)
                                          : sharedModule());
    uint64_t said = checked(path);
    ashlar_budget_statistics_t before = query();
    ashlar_load_options_t options = sharing("second");
    ashlar_module_t *made = nullptr;
    long failures = failEachAllocation(
        [&] {
          return ashlar_module_load_file(runtime, path.c_str(), &options,
                                         &made);
        },
        [&](ashlar_status_t status) {
          EXPECT_EQ(status.code, ASHLAR_INTERNAL) << status.message;
          EXPECT_EQ(made, nullptr);
          EXPECT_EQ(query().current, before.current);
          EXPECT_EQ(query().saved, before.saved);
        });
    EXPECT_GE(failures, 0);
    ASSERT_NE(made, nullptr);
    modules.push_back(made);
    EXPECT_EQ(query().current, before.current + said);
    ashlar_holder_t holders[8];
    size_t count = 0;
    ASSERT_OK(ashlar_budget_holders(budget, holders, 8, &count));
    for (size_t i = 0; i < std::min<size_t>(count, 8); ++i)
      EXPECT_EQ(std::strstr(holders[i].name, "more"), nullptr);
    unload(first);
    unload(made);
    EXPECT_EQ(query().current, 0u);
    if (round < 3)
      kept = ownMemory();
    EXPECT_EQ(ownMemory(), kept);
  }
}

TEST_F(Content, ACorruptTwinIsRefusedAsItWouldBeAlone) {
  share(write(sampleModule()), "first");
  ashlar_budget_statistics_t before = query();
  ModuleBuilder builder = sampleModule();
  (void)builder.build();
  builder.module.sections[1]->hash ^= 1; // the code's
  paths.push_back(temporaryPath("content-lies.ash"));
  writeFile(paths.back(), builder.buildUnchecked());
  ashlar_load_options_t options = sharing("liar");
  ashlar_module_t *made = nullptr;
  EXPECT_CODE(
      ASHLAR_CORRUPT,
      ashlar_module_load_file(runtime, paths.back().c_str(), &options, &made));
  options.allow_native_code = 0;
  EXPECT_CODE(
      ASHLAR_UNSUPPORTED,
      ashlar_module_load_file(runtime, paths[0].c_str(), &options, &made));
  EXPECT_EQ(query().current, before.current);
  EXPECT_EQ(query().saved, before.saved);
}

TEST_F(Content, PrometheusSaysWhatIsSaved) {
  share(write(sampleModule()), "first");
  share(paths[0], "second");
  std::vector<char> text(1 << 16);
  size_t length = 0;
  ASSERT_OK(
      ashlar_stats_prometheus(runtime, text.data(), text.size(), &length));
  expectIn(text.data(),
           ("ashlar_memory_saved_bytes{budget=\"runtime/tenant\"} " +
            std::to_string(query().current) + "\n")
               .c_str());
}

TEST_F(Content, PagesAreThereOnceAndGoWithTheLast) {
  if (isSanitized)
    GTEST_SKIP() << "sanitizers keep memory of their own";
  constexpr uint64_t bytes = 32 << 20, slack = 2 << 20;
  std::string paths[2];
  for (std::string &path : paths)
    path = write(changed(0, 0, bytes));
  uint64_t before = residentBytes();
  ashlar_load_options_t options = sharing("large");
  options.verify_weights = 1; // reads all
  ashlar_module_t *first = loadFile(paths[0], options);
  EXPECT_NEAR(double(residentBytes() - before), bytes, slack);
  ashlar_module_t *second = loadFile(paths[1], options);
  EXPECT_NEAR(double(residentBytes() - before), bytes, slack);
  unload(first);
  EXPECT_NEAR(double(residentBytes() - before), bytes, slack);
  unload(second);
  EXPECT_NEAR(double(residentBytes() - before), 0, slack);
}

// Threads load, check, run and unload at the same time, within a limit that
// holds all contents once and not twice.
TEST_F(Content, ThreadsShareAndUnloadAtTheSameTime) {
  constexpr int threads = 4, rounds = 60;
  struct File {
    std::string path;
    size_t element;
    float change;
  };
  std::vector<File> files = {{write(sampleModule()), 0, 0},
                             {write(symbolicModule()), 0, 0},
                             {write(changed(50, 1, 1 << 16)), 50, 1},
                             {write(changed(50, 2, 1 << 16)), 50, 2},
                             {write(growingModule()), 0, 0}};
  uint64_t code = 0;
  {
    ashlar_module_t *one = share(files[0].path, "one");
    code = infoOf(one).code_bytes;
    unload(one);
  }
  ASSERT_OK(
      ashlar_budget_set_limit(budget, code + weightBytes + 2 * (1 << 16)));
  std::atomic<uint64_t> shared{0};
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      std::mt19937 random(uint32_t(t) + 7);
      std::vector<std::pair<ashlar_module_t *, size_t>> mine;
      std::string name = "thread" + std::to_string(t);
      for (int i = 0; i < rounds; ++i) {
        if (mine.size() < 3) {
          size_t which = random() % files.size();
          ashlar_load_options_t options = sharing(name.c_str());
          EXPECT_CODE(ASHLAR_OK, ashlar_module_check_file(
                                     runtime, files[which].path.c_str(),
                                     &options, nullptr, nullptr, 0, nullptr));
          ashlar_module_t *made = nullptr;
          EXPECT_CODE(ASHLAR_OK,
                      ashlar_module_load_file(
                          runtime, files[which].path.c_str(), &options, &made));
          if (!made)
            continue;
          shared += infoOf(made).shared_bytes;
          mine.push_back({made, which});
        }
        size_t at = random() % mine.size();
        const File &file = files[mine[at].second];
        runSample(mine[at].first, file.element, file.change);
        if (random() % 2) {
          ashlar_module_release(mine[at].first);
          mine.erase(mine.begin() + ptrdiff_t(at));
        }
        ashlar_holder_t holders[4];
        size_t count = 0;
        EXPECT_CODE(ASHLAR_OK,
                    ashlar_budget_holders(budget, holders, 4, &count));
      }
      for (auto &each : mine)
        ashlar_module_release(each.first);
    });
  for (std::thread &each : team)
    each.join();
  EXPECT_GT(shared, 0u);
  EXPECT_LE(query().peak, query().limit);
}

} // namespace
