// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the C API in any order, with any arguments that C can pass: nulls,
// handles of other runtimes' objects excluded, sizes that are wrong, tensors
// that do not fit. Every call answers; none says that it is our fault; limits
// hold, and at the end nothing is charged any more.

#include "Require.h"
#include "SampleModules.h"
#include "ashlar/runtime/api.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

using namespace ashlar::test;
using ashlar::fuzz::Choices;
using ashlar::fuzz::require;

namespace {

constexpr uint32_t slots = 4;
constexpr uint32_t mostCalls = 200;

/// Sound modules, made once; their kernels end.
const std::vector<ModuleBytes> &modules() {
  static const std::vector<ModuleBytes> all = [] {
    std::vector<ModuleBytes> made;
    made.push_back(sampleModule().build());
    made.push_back(growingModule().build());
    made.push_back(checkingModule().build());
    made.push_back(controlModule().build());
    made.push_back(systolicModule().build());
    made.push_back(sizedModule().build());
    return made;
  }();
  return all;
}

/// Tensors of a call, with memory of their own for as long as the calls' user.
class Tensors {
public:
  Tensors() : memory(new char[2 * bytes * count + 64]()) {
    base = memory.get();
    while (reinterpret_cast<uintptr_t>(base) % 64)
      ++base;
  }
  /// Mostly as the entry has it.
  ashlar_tensor_t make(Choices &choices, const ashlar_tensor_info_t &info,
                       uint32_t place) {
    ashlar_tensor_t tensor = {};
    tensor.data = base + 2 * bytes * (place % count);
    tensor.capacity = bytes;
    tensor.type = info.type;
    tensor.rank = info.rank;
    std::copy_n(info.maximum, info.rank, tensor.shape);
    switch (choices.below(16)) {
    case 0:
      tensor.data = nullptr;
      break;
    case 1:
      tensor.data = static_cast<char *>(tensor.data) + 4;
      break;
    case 2:
      tensor.capacity = choices.byte();
      break;
    case 3:
      tensor.type = choices.byte();
      break;
    case 4:
      tensor.rank = choices.byte();
      break;
    case 5:
      tensor.shape[choices.below(ASHLAR_MAX_RANK)] = int64_t(choices.word());
      break;
    case 6:
    case 7:
      tensor.shape[0] = choices.byte();
      break;
    }
    return tensor;
  }

private:
  static constexpr size_t bytes = 4096, count = 8;
  std::unique_ptr<char[]> memory;
  char *base;
};

struct Held {
  ashlar_session_t *session = nullptr;
  ashlar_entry_t *entry = nullptr; // of its module, which it keeps
};
struct HeldBindings {
  ashlar_bindings_t *bindings = nullptr;
  ashlar_entry_t *entry = nullptr;
};

class Caller {
public:
  Caller(const uint8_t *data, size_t size) : choices(data, size) {}
  void run();

private:
  void check(ashlar_status_t status) {
    require(status.message && status.place);
    require(status.code >= ASHLAR_OK && status.code < ASHLAR_INTERNAL);
    require(status.code == ASHLAR_OK || *status.message);
    require(std::strlen(status.message) < 65536);
  }
  template <typename T> T *pick(T *(&from)[slots]) {
    return from[choices.below(slots)];
  }
  /// A place for a new one; what was there is released.
  template <typename T, typename Release>
  T *&place(T *(&into)[slots], Release &&release) {
    T *&slot = into[choices.below(slots)];
    release(slot);
    slot = nullptr;
    return slot;
  }
  uint64_t limit() {
    static constexpr uint64_t some[] = {0, 1, 4096, 65536, 1 << 20};
    uint32_t which = choices.below(8);
    return which < 5 ? some[which] : which == 5 ? choices.word() : UINT64_MAX;
  }
  std::string text() {
    std::string made;
    for (uint32_t i = choices.below(80); i; --i)
      made += char(choices.byte());
    return made.c_str(); // up to a NUL
  }
  void step();
  void budgets(uint32_t which);
  void loading(uint32_t which);
  void sessions(uint32_t which);
  void bindings(uint32_t which);
  void looking(uint32_t which);
  void memories(uint32_t which);
  void arguments(ashlar_entry_t *entry, std::vector<ashlar_tensor_t> &inputs,
                 std::vector<ashlar_tensor_t> &outputs);
  void release();

  Choices choices;
  ashlar_runtime_t *runtime = nullptr;
  ashlar_budget_t *root = nullptr;
  ashlar_budget_t *budget[slots] = {};
  ashlar_module_t *module[slots] = {};
  ashlar_arena_t *arena[slots] = {};
  ashlar_memory_t *memory[slots] = {};
  ashlar_event_t *event[slots] = {};
  Held session[slots];
  HeldBindings bound[slots];
  Tensors tensors;
};

void Caller::arguments(ashlar_entry_t *entry,
                       std::vector<ashlar_tensor_t> &inputs,
                       std::vector<ashlar_tensor_t> &outputs) {
  uint32_t place = 0;
  for (size_t i = 0; i < ashlar_entry_input_count(entry); ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    check(ashlar_entry_input(entry, i, &info));
    inputs.push_back(tensors.make(choices, info, place++));
  }
  for (size_t i = 0; i < ashlar_entry_output_count(entry); ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    check(ashlar_entry_output(entry, i, &info));
    outputs.push_back(tensors.make(choices, info, place++));
  }
  if (choices.below(32) == 0)
    inputs.resize(choices.below(4));
  if (choices.below(32) == 0)
    outputs.resize(choices.below(4));
}

void Caller::budgets(uint32_t which) {
  ashlar_budget_t *one = choices.below(8) ? pick(budget) : root;
  switch (which) {
  case 0: {
    std::string name = text();
    // The one it is below keeps living, so it may be the one that goes.
    ashlar_budget_t *made = nullptr;
    check(one ? ashlar_budget_create_below(one, name.c_str(), limit(), &made)
              : ashlar_budget_create(runtime, name.c_str(), limit(), &made));
    place(budget, ashlar_budget_release) = made;
    return;
  }
  case 1:
    check(ashlar_budget_set_limit(one, limit()));
    return;
  case 2:
    check(ashlar_budget_reserve(one, nullptr, limit()));
    return;
  case 3:
    check(ashlar_budget_set_device_limit(one, nullptr, limit()));
    return;
  case 4:
    check(ashlar_budget_set_share(one, choices.byte()));
    return;
  default:
    (void)place(budget, ashlar_budget_release);
  }
}

void Caller::loading(uint32_t which) {
  switch (which) {
  case 0:
  case 1:
  case 2: {
    const ModuleBytes &bytes = modules()[choices.below(modules().size())];
    ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
    uint32_t flags = choices.byte();
    options.budget = choices.below(2) ? pick(budget) : nullptr;
    options.allow_native_code = (flags & 7) != 0;
    options.verify_weights = flags >> 3 & 1;
    options.share_content = flags >> 4 & 1;
    options.placement = (flags & 32) ? choices.byte() : 0;
    // Between fields, as versions of the library end.
    if (flags & 64)
      options.size = 8 * choices.below(uint32_t(sizeof(options)) / 8 + 1);
    const char *devices[] = {flags & 1 ? "cpu:0" : "null", "systolic"};
    options.devices = devices;
    options.device_count = flags >> 7 ? choices.below(3) : 0;
    ashlar_module_t *made = nullptr;
    check(ashlar_module_load_memory(runtime, bytes.data(),
                                    choices.below(64) ? bytes.size() : 0,
                                    &options, &made));
    place(module, ashlar_module_release) = made;
    return;
  }
  case 3:
    (void)place(module, ashlar_module_release);
    return;
  default: {
    ashlar_arena_t *made = nullptr;
    std::string name = text();
    check(ashlar_arena_create(runtime, pick(budget), name.c_str(), &made));
    place(arena, ashlar_arena_release) = made;
  }
  }
}

void Caller::sessions(uint32_t which) {
  Held &one = session[choices.below(slots)];
  std::vector<ashlar_tensor_t> inputs, outputs;
  if (one.entry)
    arguments(one.entry, inputs, outputs);
  switch (which) {
  case 0:
  case 1: {
    ashlar_module_t *of = pick(module);
    ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
    uint32_t flags = choices.byte();
    // More start threads, which is what fuzzing is too slow for.
    options.threads = 1 + (flags & 1);
    options.poison = flags >> 1 & 1;
    options.reserve_all = flags >> 2 & 1;
    options.arena = flags >> 3 & 1 ? pick(arena) : nullptr;
    options.arena_busy = flags >> 4 & 1;
    options.growth_bytes = flags >> 5 & 1 ? limit() : 0;
    options.high_water_bytes = flags >> 6 & 1 ? limit() : 0;
    options.priority = int8_t(choices.byte());
    Held made;
    check(ashlar_session_create(of, pick(budget), &options, &made.session));
    if (made.session)
      check(ashlar_module_entry_at(of, 0, &made.entry));
    ashlar_session_release(one.session);
    one = made;
    return;
  }
  case 2:
    check(ashlar_session_run_within(
        one.session, one.entry, inputs.data(), inputs.size(), outputs.data(),
        outputs.size(), choices.below(4) ? 0 : choices.word() % 100000));
    return;
  case 3: {
    std::string name = choices.below(4) ? "main" : text();
    check(ashlar_session_run(one.session, name.c_str(), inputs.data(),
                             inputs.size(), outputs.data(), outputs.size()));
    return;
  }
  case 4: {
    ashlar_event_t *made = nullptr;
    check(ashlar_session_run_async_within(
        one.session, one.entry, inputs.data(), inputs.size(), outputs.data(),
        outputs.size(), choices.below(2) ? 0 : 1, &made));
    place(event, ashlar_event_release) = made;
    return;
  }
  case 5:
    check(ashlar_session_trim(one.session, nullptr));
    return;
  case 6:
    check(ashlar_session_cancel(one.session));
    return;
  case 7: {
    std::string context = text();
    check(ashlar_session_set_trace_context(
        one.session, choices.below(3) ? context.c_str() : nullptr));
    return;
  }
  case 8: {
    int64_t shape[ASHLAR_MAX_RANK];
    check(ashlar_session_output_shape(one.session, one.entry, choices.below(3),
                                      shape));
    return;
  }
  default:
    ashlar_session_release(one.session);
    one = {};
  }
}

void Caller::bindings(uint32_t which) {
  HeldBindings &one = bound[choices.below(slots)];
  switch (which) {
  case 0: {
    Held &of = session[choices.below(slots)];
    std::vector<ashlar_tensor_t> inputs, outputs;
    if (of.entry)
      arguments(of.entry, inputs, outputs);
    HeldBindings made = {nullptr, of.entry};
    check(ashlar_bindings_create(of.session, of.entry, inputs.data(),
                                 inputs.size(), outputs.data(), outputs.size(),
                                 &made.bindings));
    ashlar_bindings_release(one.bindings);
    one = made;
    return;
  }
  case 1:
    check(ashlar_bindings_run_within(one.bindings,
                                     choices.below(4) ? 0 : choices.byte()));
    return;
  case 2: {
    ashlar_event_t *made = nullptr;
    check(ashlar_bindings_run_async(one.bindings, &made));
    place(event, ashlar_event_release) = made;
    return;
  }
  case 3: {
    int32_t done = 0;
    check(ashlar_event_wait(pick(event), choices.word() % 1000000, &done));
    return;
  }
  case 4:
    check(ashlar_event_cancel(pick(event)));
    return;
  case 5: {
    int64_t shape[ASHLAR_MAX_RANK];
    check(ashlar_bindings_output_shape(one.bindings, choices.below(3), shape));
    return;
  }
  default:
    ashlar_bindings_release(one.bindings);
    one = {};
  }
}

void Caller::looking(uint32_t which) {
  switch (which) {
  case 0: {
    ashlar_holder_t holders[3];
    size_t count = 0;
    check(
        ashlar_budget_holders(pick(budget), holders, choices.below(4), &count));
    return;
  }
  case 1: {
    char said[512];
    size_t length = 0;
    check(ashlar_stats_prometheus(runtime, said, 1 + choices.byte(), &length));
    ashlar_own_memory_t own = ASHLAR_OWN_MEMORY_INIT;
    check(ashlar_stats_own_memory(runtime, &own));
    return;
  }
  case 2: {
    ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
    if (choices.below(4) == 0)
      info.size = 8 * choices.below(uint32_t(sizeof(info)) / 8 + 1);
    check(ashlar_module_query(pick(module), &info));
    return;
  }
  case 3: {
    ashlar_stats_t stats = ASHLAR_STATS_INIT;
    check(ashlar_stats_query(pick(budget), &stats));
    return;
  }
  case 4: {
    ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
    check(ashlar_session_query(session[choices.below(slots)].session,
                               &statistics));
    return;
  }
  default: {
    ashlar_device_t *device = nullptr;
    std::string name = choices.below(2) ? text() : "cpu:0";
    check(ashlar_device_open(runtime, name.c_str(), &device));
  }
  }
}

/// By descriptor, of the processor or of a device that has none.
void Caller::memories(uint32_t which) {
  ashlar_device_t *device = nullptr;
  check(ashlar_device_open(runtime, choices.below(8) ? "cpu" : "systolic",
                           &device));
  std::string name = text();
  ashlar_memory_t *made = nullptr;
  switch (which) {
  case 0:
    check(ashlar_memory_create(runtime, device, pick(budget), name.c_str(),
                               limit(), &made));
    place(memory, ashlar_memory_release) = made;
    return;
  case 1: {
    int descriptor = -1;
    check(ashlar_memory_export(pick(memory), &descriptor));
    check(ashlar_memory_import(runtime, device, pick(budget), name.c_str(),
                               choices.below(8) ? descriptor
                                                : int(choices.below(64)) - 1,
                               limit(), &made));
    if (descriptor >= 0)
      close(descriptor);
    place(memory, ashlar_memory_release) = made;
    return;
  }
  case 2: {
    ashlar_memory_info_t info = ASHLAR_MEMORY_INFO_INIT;
    ashlar_memory_t *of = pick(memory);
    check(ashlar_memory_query(of, &info));
    // The whole of it is there.
    if (of)
      static_cast<char *>(info.data)[info.bytes - 1] = 1;
    return;
  }
  default:
    (void)place(memory, ashlar_memory_release);
  }
}

void Caller::step() {
  uint32_t kind = choices.below(11);
  uint32_t which = choices.byte();
  if (kind < 2)
    budgets(which % 6);
  else if (kind < 4)
    loading(which % 5);
  else if (kind < 7)
    sessions(which % 10);
  else if (kind < 9)
    bindings(which % 7);
  else if (kind < 10)
    looking(which % 6);
  else
    memories(which % 4);
}

void Caller::release() {
  for (ashlar_event_t *each : event)
    ashlar_event_release(each);
  for (HeldBindings &each : bound)
    ashlar_bindings_release(each.bindings);
  for (Held &each : session)
    ashlar_session_release(each.session);
  for (ashlar_module_t *each : module)
    ashlar_module_release(each);
  for (ashlar_arena_t *each : arena)
    ashlar_arena_release(each);
  for (ashlar_memory_t *each : memory)
    ashlar_memory_release(each);
  for (ashlar_budget_t *each : budget)
    ashlar_budget_release(each);
}

void Caller::run() {
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.threads = 1;
  options.worker_limit = choices.below(3);
  check(ashlar_runtime_create(&options, &runtime));
  check(ashlar_runtime_budget(runtime, &root));
  for (uint32_t i = 0; i < mostCalls && !choices.isOver(); ++i) {
    step();
    ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
    check(ashlar_budget_query(root, &now));
    require(now.current <= now.limit);
  }
  release();
  // Limits of the root itself may have been set, sets aside not.
  check(ashlar_budget_reserve(root, nullptr, 0));
  ashlar_budget_statistics_t left = ASHLAR_BUDGET_STATISTICS_INIT;
  check(ashlar_budget_query(root, &left));
  require(left.current == 0);
  ashlar_budget_release(root);
  ashlar_runtime_release(runtime);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Caller(data, size).run();
  return 0;
}
