// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random loads, binds, runs, trims and unloads of eight modules by four tenants
// on two devices, from two threads, with allocations that fail. In every other
// pair of worlds most modules share what is the same in them. Beside them
// stands a model that adds up what each tenant must hold. At every allocation
// no limit is passed, at every meeting of the threads all budgets say what the
// model says, and in the end nothing is left.
//
// ASHLAR_TENANT_OPERATIONS in the environment says how many operations (2,000
// where it is not set), ASHLAR_TENANT_SEED which.

#include "Handles.h"
#include "SampleModules.h"
#include "TemporaryFolder.h"
#include "WrappedDevice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <unistd.h>

using namespace ashlar::test;
using ashlar::runtime::Runtime;
using ashlar::runtime::Status;

namespace {

constexpr size_t tenantCount = 4, moduleCount = 8, threadCount = 2;

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

uint64_t lines(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

ashlar_budget_statistics_t query(const ashlar_budget_t *budget) {
  ashlar_budget_statistics_t statistics = ASHLAR_BUDGET_STATISTICS_INIT;
  EXPECT_EQ(ashlar_budget_query(budget, &statistics).code, ASHLAR_OK);
  return statistics;
}

/// The runtime, budgets and files that the threads share.
class World {
public:
  World(uint64_t seed, bool ownAllocator, bool shares)
      : ownAllocator(ownAllocator), shares(shares) {
    for (const ModuleBuilder &builder : builders())
      files.push_back(const_cast<ModuleBuilder &>(builder).build());
    for (const ModuleBytes &file : files) {
      paths.push_back(
          temporaryPath("tenants-" + std::to_string(paths.size()) + ".ash"));
      writeFile(paths.back(), file);
    }
    hooks.before = [this](DeviceCall call, uint32_t) { return look(call); };
    auto impl = std::make_shared<Runtime>(wrapDevices(hooks));
    ashlar_allocator_t allocator = {
        this,
        [](void *self, const char *, uint32_t, uint64_t bytes) {
          return static_cast<World *>(self)->allocate(bytes);
        },
        [](void *self, const char *, uint32_t, void *memory, uint64_t bytes) {
          static_cast<World *>(self)->allocated -= bytes;
          std::free(memory);
        }};
    ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
    if (ownAllocator)
      options.allocator = &allocator;
    options.threads = 1;
    impl->configure(options);
    runtime = new ashlar_runtime_t{impl};
    // The runtime holds two groups of two tenants each.
    std::mt19937_64 random(seed);
    auto limit = [&](uint64_t about) { return about / 2 + random() % about; };
    add(ashlar_runtime_budget, runtime, limit(130000));
    for (int group = 0; group < 2; ++group) {
      ashlar_budget_t *made = nullptr;
      must(ashlar_budget_create(runtime, group ? "right" : "left", limit(80000),
                                &made));
      budgets.push_back(made);
      for (int tenant = 0; tenant < 2; ++tenant) {
        ashlar_budget_t *below = nullptr;
        must(ashlar_budget_create_below(made, "tenant", limit(45000), &below));
        budgets.push_back(below);
      }
    }
    ashlar_device_t *systolic = nullptr;
    must(ashlar_device_open(runtime, "systolic:0", &systolic));
    must(ashlar_budget_set_device_limit(budgets[0], systolic, limit(6000)));
    device = systolic;
  }
  ~World() {
    for (ashlar_budget_t *budget : budgets) {
      EXPECT_EQ(query(budget).current, 0u);
      EXPECT_LE(query(budget).peak, query(budget).limit);
    }
    hooks.before = nullptr;
    for (auto budget = budgets.rbegin(); budget != budgets.rend(); ++budget)
      ashlar_budget_release(*budget);
    ashlar_runtime_release(runtime);
    EXPECT_EQ(hooks.alive, 0);
    EXPECT_EQ(allocated, 0);
    for (const std::string &path : paths)
      std::remove(path.c_str());
  }
  /// root, left, its two, right, its two.
  ashlar_budget_t *tenant(size_t number) const {
    return budgets[number < 2 ? 2 + number : 3 + number];
  }
  void compare(const std::vector<uint64_t> &held) const {
    for (size_t i = 0; i < tenantCount; ++i)
      EXPECT_EQ(query(tenant(i)).current, held[i]) << "tenant " << i;
    EXPECT_EQ(query(budgets[1]).current, held[0] + held[1]);
    EXPECT_EQ(query(budgets[4]).current, held[2] + held[3]);
    EXPECT_EQ(query(budgets[0]).current, held[0] + held[1] + held[2] + held[3]);
  }

  const bool ownAllocator, shares;
  std::vector<ModuleBytes> files;
  std::vector<std::string> paths;
  ashlar_runtime_t *runtime = nullptr;
  std::atomic<uint64_t> looks{0}, failed{0};

private:
  static std::vector<ModuleBuilder> builders() {
    std::vector<ModuleBuilder> list;
    list.push_back(sampleModule());
    list.push_back(symbolicModule());
    list.push_back(growingModule());
    list.push_back(checkingModule());
    list.push_back(controlModule());
    list.push_back(systolicModule());
    list.push_back(sharedModule());
    list.push_back(growingModule());
    // Not all alike.
    list.back().addWeight("padding", std::vector<float>(1000, 1));
    list.back().contract().scratch_bytes_per_worker += 64;
    return list;
  }
  static void must(ashlar_status_t status) {
    ASSERT_EQ(status.code, ASHLAR_OK) << status.message;
  }
  void add(ashlar_status_t (*get)(ashlar_runtime_t *, ashlar_budget_t **),
           ashlar_runtime_t *of, uint64_t limit) {
    ashlar_budget_t *budget = nullptr;
    must(get(of, &budget));
    must(ashlar_budget_set_limit(budget, limit));
    budgets.push_back(budget);
  }
  /// At every call to a device and every allocation: no limit is passed. One
  /// allocation in thirty fails.
  Status look(DeviceCall call) {
    if (call == DeviceCall::Allocate && !checkLimits())
      return Status(ASHLAR_INTERNAL, "injected failure");
    return {};
  }
  bool checkLimits() {
    for (const ashlar_budget_t *budget : budgets) {
      // Not through the C API: messages of the call that is under way live in
      // this thread.
      ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
      budget->impl->query(now);
      if (now.current > now.limit)
        ADD_FAILURE() << now.current << " of " << now.limit;
    }
    if (device) {
      ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
      budgets[0]->impl->query(device, now);
      if (now.current > now.limit)
        ADD_FAILURE() << now.current << " of " << now.limit << " there";
    }
    if (++looks % 30 != 0)
      return true;
    ++failed;
    return false;
  }
  void *allocate(uint64_t bytes) {
    if (!checkLimits())
      return nullptr;
    // What is there has been charged before.
    allocated += int64_t(bytes);
    ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
    budgets[0]->impl->query(now);
    if (uint64_t(allocated) > now.limit)
      ADD_FAILURE() << allocated << " bytes of " << now.limit;
    return std::aligned_alloc(64, lines(bytes));
  }

  DeviceHooks hooks;
  std::vector<ashlar_budget_t *> budgets;
  const ashlar_device_t *device = nullptr;
  std::atomic<int64_t> allocated{0};
};

constexpr size_t mostTensors = 4;

/// Bytes of the buffers that a call needs of its session.
struct Buffers {
  uint64_t inputs[mostTensors] = {}, outputs[mostTensors] = {},
           staged[mostTensors] = {};
  void grow(const Buffers &by) {
    for (size_t i = 0; i < mostTensors; ++i) {
      inputs[i] = std::max(inputs[i], by.inputs[i]);
      outputs[i] = std::max(outputs[i], by.outputs[i]);
      staged[i] = std::max(staged[i], by.staged[i]);
    }
  }
  uint64_t sum() const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < mostTensors; ++i)
      bytes += inputs[i] + outputs[i] + staged[i];
    return bytes;
  }
};

/// What a module has in common with others: their names, and bytes.
using Contents = std::vector<std::pair<const char *, uint64_t>>;

/// What modules of a tenant that share hold.
struct SharedOf {
  std::set<std::pair<const char *, uint64_t>> contents;
  uint64_t asked = 0; // without sharing
  uint64_t held() const {
    uint64_t bytes = 0;
    for (const auto &each : contents)
      bytes += each.second;
    return bytes;
  }
};

struct Loaded {
  ashlar_module_t *module = nullptr;
  ashlar_entry_t *entry = nullptr;
  size_t file = 0, tenant = 0, runners = 0;
  uint64_t held = 0;
  Contents shared; // in place of `held`
  bool isRemote = false;
};
/// A session and what the model says it holds.
struct Runner {
  ashlar_session_t *session = nullptr;
  ashlar_bindings_t *bindings = nullptr;
  Buffers bound; // what the bindings need
  Buffers buffers;
  size_t tenant = 0;
  size_t loaded = 0; // of the thread's modules
  uint64_t held = 0;
  bool all = false; // everything at its largest
};

/// One thread's modules and sessions.
class Worker {
public:
  Worker(World &world, uint64_t seed) : world(world), random(seed) {
    for (auto &each : storage)
      each.resize(sampleCount + 64);
  }
  void step() {
    switch (any(9)) {
    case 0:
      return load();
    case 1:
    case 2:
      return create();
    case 3:
      return unload();
    case 4:
      return runners.empty() ? void() : release(any(runners.size()));
    case 5:
      return trim();
    default:
      return runners.empty() ? void() : run(any(runners.size()));
    }
  }
  void finish() {
    while (!runners.empty())
      release(0);
    while (!modules.empty())
      unload();
  }
  void addHeld(std::vector<uint64_t> &sum,
               std::vector<SharedOf> &shared) const {
    for (const Loaded &each : modules) {
      sum[each.tenant] += each.held;
      for (const auto &content : each.shared) {
        shared[each.tenant].contents.insert(content);
        shared[each.tenant].asked += content.second;
      }
    }
    for (const Runner &each : runners)
      sum[each.tenant] += each.held;
  }
  uint64_t done = 0, refused = 0, injected = 0;

private:
  /// Whether the call did what it was asked; otherwise it says why not.
  bool well(ashlar_status_t status) {
    if (status.code == ASHLAR_OK)
      return ++done;
    bool isInjected = std::strstr(status.message, "injected failure") ||
                      std::strstr(status.message, "allocator has no");
    EXPECT_TRUE(status.code == ASHLAR_OUT_OF_BUDGET || isInjected)
        << ashlar_status_code_name(status.code) << ": " << status.message;
    ++(isInjected ? injected : refused);
    return false;
  }
  size_t any(size_t count) { return size_t(random() % count); }

  void load() {
    if (modules.size() > 5)
      return;
    Loaded made;
    made.tenant = any(tenantCount);
    made.file = any(moduleCount);
    const ModuleBytes &file = world.files[made.file];
    ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
    options.allow_native_code = 1;
    options.budget = world.tenant(made.tenant);
    // Some do not take part.
    options.share_content = world.shares && any(4) != 0;
    if (!well(options.share_content
                  ? ashlar_module_load_file(world.runtime,
                                            world.paths[made.file].c_str(),
                                            &options, &made.module)
                  : ashlar_module_load_memory(world.runtime, file.data(),
                                              file.size(), &options,
                                              &made.module)))
      return;
    ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
    EXPECT_EQ(ashlar_module_query(made.module, &info).code, ASHLAR_OK);
    EXPECT_EQ(ashlar_module_entry_at(made.module, 0, &made.entry).code,
              ASHLAR_OK);
    if (options.share_content)
      made.shared = contentsOf(made.file, info);
    else
      made.held = info.weights_bytes + info.code_bytes;
    made.isRemote = std::strncmp(info.device, "cpu", 3) != 0;
    modules.push_back(made);
  }
  /// By the numbers of World::builders.
  Contents contentsOf(size_t file, const ashlar_module_info_t &info) const {
    constexpr uint64_t w = sampleCount * sizeof(float), factor = 256;
    switch (file) {
    case 3:
    case 4:
      return {{"kernels", info.code_bytes}};
    case 5:
      return {{"factor", factor}, {"image", info.code_bytes}};
    case 6: {
      const ashlar::fb::Module *index = ashlar::fb::GetModule(
          world.files[file].data() + sizeof(ashlar_module_header_t));
      const auto &executables = *index->programs()->Get(0)->executables();
      auto size = [&](uint32_t number) {
        return index->sections()
            ->Get(executables.Get(number)->section())
            ->size();
      };
      return {{"factor", factor}, {"kernels", size(0)}, {"image", size(1)}};
    }
    default:
      return {{"w", w}, {"kernels", info.code_bytes}};
    }
  }
  void unload() {
    for (size_t i = 0; i < modules.size(); ++i)
      if (modules[i].runners == 0) {
        ashlar_module_release(modules[i].module);
        for (Runner &runner : runners)
          runner.loaded -= runner.loaded > i;
        modules.erase(modules.begin() + ptrdiff_t(i));
        return;
      }
  }
  void create() {
    if (modules.empty() || runners.size() > 7)
      return;
    Runner made;
    made.loaded = any(modules.size());
    made.tenant = any(tenantCount);
    ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
    options.threads = uint32_t(1 + any(2));
    options.reserve_all = any(4) == 0;
    options.poison = 1;
    const Loaded &owner = modules[made.loaded];
    if (!well(ashlar_session_create(owner.module, world.tenant(made.tenant),
                                    &options, &made.session)))
      return;
    ++modules[made.loaded].runners;
    made.all = options.reserve_all || owner.isRemote || world.ownAllocator;
    if (options.reserve_all)
      for (size_t i = 0; i < tensorCount(owner); ++i)
        need(owner, i, describe(owner, i).maximum_bytes, true, true,
             made.buffers);
    update(made);
    runners.push_back(made);
  }
  /// Arena and scratch by the session's own word, the rest by the model's.
  void update(Runner &of) {
    ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
    EXPECT_EQ(ashlar_session_query(of.session, &statistics).code, ASHLAR_OK);
    of.held =
        statistics.arena_bytes + statistics.scratch_bytes + of.buffers.sum();
  }
  static size_t tensorCount(const Loaded &of) {
    return ashlar_entry_input_count(of.entry) +
           ashlar_entry_output_count(of.entry);
  }
  /// Inputs first.
  static ashlar_tensor_info_t describe(const Loaded &of, size_t i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    size_t inputs = ashlar_entry_input_count(of.entry);
    (void)(i < inputs ? ashlar_entry_input(of.entry, i, &info)
                      : ashlar_entry_output(of.entry, i - inputs, &info));
    return info;
  }
  /// What a tensor takes of its session: copies where the device cannot use
  /// what it is given, and outputs that are not the caller's.
  static void need(const Loaded &of, size_t i, uint64_t bytes, bool isUnaligned,
                   bool isOwned, Buffers &out) {
    size_t inputs = ashlar_entry_input_count(of.entry);
    if (i < inputs) {
      if (isUnaligned || of.isRemote)
        out.inputs[i] = lines(bytes);
      return;
    }
    // What the processor cannot write in place, it computes where the
    // session's own is.
    if (isOwned || (isUnaligned && !of.isRemote))
      out.outputs[i - inputs] = lines(bytes);
    if (of.isRemote)
      out.staged[i - inputs] = lines(bytes);
  }
  void release(size_t at) {
    ashlar_bindings_release(runners[at].bindings);
    ashlar_session_release(runners[at].session);
    --modules[runners[at].loaded].runners;
    runners.erase(runners.begin() + ptrdiff_t(at));
  }
  void trim() {
    if (runners.empty())
      return;
    Runner &of = runners[any(runners.size())];
    uint64_t bytes = 0;
    EXPECT_EQ(ashlar_session_trim(of.session, &bytes).code, ASHLAR_OK);
    // What is a device's own, or the embedder's, is not given back.
    if (world.ownAllocator) {
      EXPECT_EQ(bytes, 0u);
      return;
    }
    Buffers left;
    if (modules[of.loaded].isRemote)
      left = of.buffers;
    std::fill_n(left.outputs, mostTensors, 0); // always the host's
    uint64_t before = of.held;
    of.buffers = left;
    update(of);
    EXPECT_EQ(bytes, before - of.held);
  }
  /// By random sizes, alignments and owners of outputs; or what was bound.
  void run(size_t at) {
    Runner &of = runners[at];
    const Loaded &owner = modules[of.loaded];
    if (of.bindings && any(2)) {
      if (!runBound(of))
        return release(at);
      of.buffers.grow(of.bound);
      return update(of);
    }
    ashlar_tensor_t tensors[2 * mostTensors] = {};
    Buffers needed;
    int64_t size = int64_t(1 + any(size_t(sampleCount)));
    float number = float(size % 5) + 1;
    size_t inputs = ashlar_entry_input_count(owner.entry);
    for (size_t i = 0; i < tensorCount(owner); ++i) {
      ashlar_tensor_info_t info = describe(owner, i);
      ashlar_tensor_t &tensor = tensors[i];
      bool isUnaligned = any(3) == 0, isOwned = i >= inputs && any(2);
      // Bindings find their conditions set, whatever ran since.
      size_t place = info.type == ASHLAR_TYPE_F32 ? i : 2 * mostTensors - 1;
      auto address = reinterpret_cast<uintptr_t>(storage[place].data());
      tensor.data = reinterpret_cast<char *>((address + 63) / 64 * 64) +
                    (isUnaligned ? 4 : 0);
      tensor.type = info.type;
      tensor.rank = info.rank;
      uint64_t bytes = ashlar_element_type_size(info.type);
      for (uint32_t d = 0; d < info.rank; ++d) {
        tensor.shape[d] = info.shape[d] < 0 ? size : info.shape[d];
        bytes *= uint64_t(tensor.shape[d]);
      }
      tensor.capacity = info.maximum_bytes;
      if (info.type == ASHLAR_TYPE_F32)
        std::fill_n(static_cast<float *>(tensor.data), bytes / 4, number);
      else
        std::memset(tensor.data, 1, size_t(bytes));
      if (isOwned)
        tensor.data = nullptr;
      need(owner, i, of.all ? info.maximum_bytes : bytes,
           isUnaligned && !isOwned, isOwned, needed);
    }
    size_t outputs = tensorCount(owner) - inputs;
    bool isBound = !of.bindings && any(3) == 0;
    if (!well(isBound ? ashlar_bindings_create(of.session, owner.entry, tensors,
                                               inputs, tensors + inputs,
                                               outputs, &of.bindings)
                      : ashlar_session_run_entry(of.session, owner.entry,
                                                 tensors, inputs,
                                                 tensors + inputs, outputs)))
      return release(at); // which parts it got, nobody says
    of.buffers.grow(needed);
    if (isBound)
      of.bound = needed;
    else if (owner.file < 3)
      check(static_cast<const float *>(tensors[inputs].data), number,
            tensors[inputs].shape[0]);
    update(of);
  }
  bool runBound(Runner &of) {
    if (any(2))
      return well(ashlar_bindings_run(of.bindings));
    ashlar_event_t *event = nullptr;
    int32_t done = 0;
    bool isWell = well(ashlar_bindings_run_async(of.bindings, &event)) &&
                  well(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
    ashlar_event_release(event);
    return isWell;
  }
  /// z = 2 (x + w) + y, where x and y are all `number`.
  static void check(const float *z, float number, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(z[i], 2 * (number + sampleStep * float(i)) + number);
  }

  World &world;
  std::mt19937_64 random;
  std::vector<Loaded> modules;
  std::vector<Runner> runners;
  std::vector<float> storage[2 * mostTensors];
};

/// Where threads wait for each other; the last one does something.
class Meeting {
public:
  template <typename AtLast> void wait(AtLast &&atLast) {
    std::unique_lock<std::mutex> lock(mutex);
    uint64_t round = rounds;
    if (++arrived == threadCount) {
      atLast();
      arrived = 0;
      ++rounds;
      changed.notify_all();
    } else {
      changed.wait(lock, [&] { return rounds != round; });
    }
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  size_t arrived = 0;
  uint64_t rounds = 0;
};

void live(uint64_t seed, bool ownAllocator, bool shares, uint64_t operations) {
  World world(seed, ownAllocator, shares);
  std::vector<std::unique_ptr<Worker>> workers;
  for (size_t i = 0; i < threadCount; ++i)
    workers.push_back(std::make_unique<Worker>(world, seed * 31 + i));
  Meeting meeting;
  uint64_t mostSaved = 0;
  auto compare = [&] {
    std::vector<uint64_t> held(tenantCount);
    std::vector<SharedOf> shared(tenantCount);
    for (auto &worker : workers)
      worker->addHeld(held, shared);
    for (size_t i = 0; i < tenantCount; ++i) {
      held[i] += shared[i].held();
      uint64_t saved = shared[i].asked - shared[i].held();
      EXPECT_EQ(query(world.tenant(i)).saved, saved) << "tenant " << i;
      mostSaved = std::max(mostSaved, saved);
    }
    world.compare(held);
  };
  std::vector<std::thread> threads;
  for (auto &worker : workers)
    threads.emplace_back([&, self = worker.get()] {
      for (uint64_t i = 0; i < operations / threadCount; ++i) {
        self->step();
        if (i % 8 == 0)
          meeting.wait(compare);
        if (i % 8 == 0) // nobody goes on while the other compares
          meeting.wait([] {});
      }
      self->finish();
    });
  for (std::thread &thread : threads)
    thread.join();
  compare();
  uint64_t done = 0, refused = 0, injected = 0;
  for (auto &worker : workers) {
    done += worker->done;
    refused += worker->refused;
    injected += worker->injected;
  }
  std::printf("seed %llu: %llu calls, %llu refused, %llu failed; limits looked "
              "at %llu times\n",
              (unsigned long long)seed, (unsigned long long)done,
              (unsigned long long)refused, (unsigned long long)injected,
              (unsigned long long)world.looks.load());
  // A test that refuses nothing shows nothing.
  EXPECT_GT(refused, 0u);
  EXPECT_GT(injected, 0u);
  EXPECT_GT(done, refused);
  EXPECT_EQ(mostSaved != 0, shares);
}

TEST(Tenants, StayWithinTheirLimits) {
  uint64_t operations = fromEnvironment("ASHLAR_TENANT_OPERATIONS", 2000);
  uint64_t seed = fromEnvironment("ASHLAR_TENANT_SEED", 1);
  // Worlds with other limits, of at most 2,500 operations each.
  for (uint64_t left = operations; left != 0 && !testing::Test::HasFailure();
       ++seed) {
    uint64_t now = std::min<uint64_t>(left, operations <= 2000 ? 500 : 2500);
    live(seed, seed % 2, seed / 2 % 2, now);
    // Nothing is left of what the runtime had for itself either.
    ashlar_own_memory_t own = ASHLAR_OWN_MEMORY_INIT;
    EXPECT_EQ(ashlar_stats_own_memory(nullptr, &own).code, ASHLAR_OK);
    EXPECT_EQ(own.current, 0u);
    left -= now;
  }
}

} // namespace
