// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds modules to their contracts: what the budget counts must be what the
// module says, to the byte, and a run after the first must allocate nothing.
// Every call of the allocator and of mmap goes through the functions below,
// whoever makes it.
//
//   hold-to-contract MODULE.ash [INPUT=FILE.npy...] [--at INPUT=FILE.npy...]...
//
// Prints a line of figures; ends with 1 at a breach. Other inputs are random.
// With --at it is a module of open sizes, whose memory is allocated when a call
// says its sizes: each is a call, held to the contract of these sizes.

#include "Holding.h"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
std::atomic<uint64_t> allocations{0};
std::atomic<int64_t> heapBytes{0};

void *counted(void *memory) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  heapBytes.fetch_add(int64_t(malloc_usable_size(memory)),
                      std::memory_order_relaxed);
  return memory;
}
void dropped(void *memory) {
  heapBytes.fetch_sub(int64_t(malloc_usable_size(memory)),
                      std::memory_order_relaxed);
}
} // namespace

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) {
  return counted(__libc_calloc(count, bytes));
}
void *realloc(void *old, size_t bytes) {
  dropped(old);
  return counted(__libc_realloc(old, bytes));
}
void *memalign(size_t alignment, size_t bytes) {
  return counted(__libc_memalign(alignment, bytes));
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  *out = counted(__libc_memalign(alignment, bytes));
  return *out ? 0 : ENOMEM;
}
void free(void *memory) {
  dropped(memory);
  __libc_free(memory);
}
void *mmap(void *where, size_t bytes, int protection, int flags, int file,
           off_t offset) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, where, bytes, protection, flags, file, offset));
}
}

using namespace ashlar::test;
using namespace ashlar::tools;

namespace {
void expect(const char *what, uint64_t found, uint64_t contract) {
  if (found != contract)
    throw Breach{std::string(what) + ": the budget counts " +
                 std::to_string(found) + " bytes, the contract says " +
                 std::to_string(contract)};
}

class Tenant {
public:
  Tenant(const char *path, uint64_t limit) {
    check(ashlar_runtime_create(nullptr, &runtime));
    check(ashlar_budget_create(runtime, "tenant", limit, &budget));
    ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
    options.budget = budget;
    options.allow_native_code = 1;
    check(ashlar_module_load_file(runtime, path, &options, &module));
    check(ashlar_module_entry_at(module, 0, &entry));
    check(ashlar_entry_contract(entry, &contract));
  }
  Tenant(const Tenant &) = delete;
  ~Tenant() {
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_budget_release(budget);
    ashlar_runtime_release(runtime);
  }

  ashlar_status_t start(uint32_t threads, bool reserve) {
    ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
    options.threads = threads;
    options.reserve_all = reserve;
    return ashlar_session_create(module, budget, &options, &session);
  }
  void stop() {
    ashlar_session_release(session);
    session = nullptr;
  }
  void unload() {
    ashlar_module_release(module);
    module = nullptr;
  }

  ashlar_budget_statistics_t counted() const {
    ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
    check(ashlar_budget_query(budget, &now));
    return now;
  }

  /// `provided`: by the session. `stagedBytes`: copies of unaligned inputs.
  void expectCounters(uint64_t threads, uint64_t provided,
                      uint64_t stagedBytes) const {
    const ashlar_budget_statistics_t now = counted();
    expect("weights", now.current_of[ASHLAR_MEMORY_WEIGHTS],
           contract.weights_bytes);
    expect("code", now.current_of[ASHLAR_MEMORY_CODE], contract.code_bytes);
    expect("arena", now.current_of[ASHLAR_MEMORY_ARENA], contract.arena_bytes);
    expect("outputs", now.current_of[ASHLAR_MEMORY_OUTPUTS], provided);
    expect("staging", now.current_of[ASHLAR_MEMORY_STAGING], stagedBytes);
    expect("scratch", now.current_of[ASHLAR_MEMORY_SCRATCH],
           contract.scratch_bytes_per_worker * threads);
    uint64_t saved = contract.outputs_bytes - provided +
                     contract.staging_bytes - stagedBytes;
    uint64_t sum = contract.peak_bytes - saved +
                   contract.scratch_bytes_per_worker * (threads - 1);
    expect("all together", now.current, sum);
    expect("the peak", now.peak, sum);
  }

  ashlar_runtime_t *runtime = nullptr;
  ashlar_budget_t *budget = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_session_t *session = nullptr;
  ashlar_entry_t *entry = nullptr; ///< the module's
  ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
};

/// Arguments of one call. `offset`: bytes by which they miss their alignment.
class Arguments {
public:
  Arguments(const ashlar_entry_t *entry, const Files &files, size_t offset) {
    for (size_t i = 0; i < ashlar_entry_input_count(entry); ++i) {
      Tensor values = inputOf(entry, i, files);
      inputs.push_back(place(values.view(), offset));
      std::memcpy(inputs.back().data, values.data(), values.bytes());
    }
    for (size_t i = 0; i < ashlar_entry_output_count(entry); ++i) {
      Tensor room = outputOf(entry, i);
      outputs.push_back(place(room.view(), offset));
    }
    given = outputs;
  }
  Arguments(const Arguments &) = delete;
  ~Arguments() {
    for (void *memory : owned)
      free(memory);
  }

  /// As the caller asks before it has memory for them.
  std::vector<ashlar_tensor_t> shapes() const {
    std::vector<ashlar_tensor_t> bare = inputs;
    for (ashlar_tensor_t &tensor : bare) {
      tensor.data = nullptr;
      tensor.capacity = 0;
    }
    return bare;
  }

  /// Allocations of the call.
  uint64_t run(const Tenant &tenant, bool outputsOfSession) {
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i] = outputsOfSession ? ashlar_tensor_t{} : given[i];
    uint64_t before = allocations.load();
    ashlar_status_t status =
        ashlar_session_run_entry(tenant.session, tenant.entry, inputs.data(),
                                 inputs.size(), outputs.data(), outputs.size());
    uint64_t made = allocations.load() - before;
    check(status);
    return made;
  }

private:
  ashlar_tensor_t place(ashlar_tensor_t tensor, size_t offset) {
    auto *memory = static_cast<char *>(
        aligned_alloc(64, (tensor.capacity + offset + 127) / 64 * 64));
    owned.push_back(memory);
    tensor.data = memory + offset;
    return tensor;
  }

  std::vector<ashlar_tensor_t> inputs, outputs, given;
  std::vector<void *> owned;
};

void expectNone(uint64_t made, const char *which) {
  if (made != 0)
    throw Breach{std::to_string(made) + " allocations in " + which +
                 ", expected none"};
}

/// The contract is enough, and nothing less is.
void holdToLimit(const char *path, const ashlar_contract_t &contract) {
  {
    Tenant fits(path, contract.peak_bytes);
    check(fits.start(1, /*reserve=*/true));
  }
  Tenant lacks(path, contract.peak_bytes - 1);
  ashlar_status_t refusal = lacks.start(1, /*reserve=*/true);
  if (refusal.code != ASHLAR_OUT_OF_BUDGET)
    throw Breach{"a byte less than the contract was not refused"};
  expect("after the refusal", lacks.counted().current,
         contract.weights_bytes + contract.code_bytes);
}

void hold(const char *path, const Files &files) {
  int64_t before = heapBytes.load();
  Tenant tenant(path, ASHLAR_UNLIMITED);
  const ashlar_contract_t &contract = tenant.contract;
  if (ashlar_entry_t *second = nullptr;
      ashlar_module_entry_at(tenant.module, 1, &second).code == ASHLAR_OK)
    throw Breach{"it has several entries; a contract is of one"};

  // What the budget does not count: handles, commands, threads' tables.
  check(tenant.start(1, /*reserve=*/false));
  int64_t bookkeeping = heapBytes.load() - before;
  Arguments aligned(tenant.entry, files, 0);
  Arguments unaligned(tenant.entry, files, 4);
  tenant.expectCounters(1, 0, 0);
  // Memory of the caller's, where it can be used: nothing besides the arena.
  aligned.run(tenant, false);
  tenant.expectCounters(1, 0, 0);
  expectNone(aligned.run(tenant, false), "a second run");
  aligned.run(tenant, true);
  tenant.expectCounters(1, contract.outputs_bytes, 0);
  expectNone(aligned.run(tenant, true), "a second run with own outputs");
  unaligned.run(tenant, false);
  tenant.expectCounters(1, contract.outputs_bytes, contract.staging_bytes);
  expectNone(unaligned.run(tenant, false), "a second run that copies");
  expectNone(aligned.run(tenant, true), "a run with own outputs, again");
  tenant.expectCounters(1, contract.outputs_bytes, contract.staging_bytes);
  tenant.stop();

  // All at once, two workers: not even the first call asks the budget.
  check(tenant.start(2, /*reserve=*/true));
  ashlar_budget_statistics_t reserved = tenant.counted();
  expect("reserved", reserved.current,
         contract.peak_bytes + contract.scratch_bytes_per_worker);
  unaligned.run(tenant, false);
  aligned.run(tenant, true);
  expect("reserved, after runs", tenant.counted().current, reserved.current);
  expectNone(unaligned.run(tenant, false), "a run on two workers");
  tenant.stop();
  tenant.unload();
  expect("unloaded", tenant.counted().current, 0);

  holdToLimit(path, contract);
  std::printf("%s: weights %" PRIu64 " code %" PRIu64 " arena %" PRIu64
              " lower_bound %" PRIu64 " outputs %" PRIu64 " staging %" PRIu64
              " scratch %" PRIu64 " peak %" PRIu64 " bookkeeping %" PRId64 "\n",
              path, contract.weights_bytes, contract.code_bytes,
              contract.arena_bytes, contract.arena_lower_bound_bytes,
              contract.outputs_bytes, contract.staging_bytes,
              contract.scratch_bytes_per_worker, contract.peak_bytes,
              bookkeeping);
}

/// A new session, whose one call is of the sizes of these files, takes what the
/// contract said of these sizes before.
void holdAt(const char *path, const Files &files) {
  Tenant tenant(path, ASHLAR_UNLIMITED);
  const ashlar_contract_t &whole = tenant.contract;
  Arguments aligned(tenant.entry, files, 0), unaligned(tenant.entry, files, 4);
  ashlar_contract_t at = ASHLAR_CONTRACT_INIT;
  std::vector<ashlar_tensor_t> shapes = aligned.shapes();
  check(ashlar_entry_contract_at(tenant.entry, shapes.data(), shapes.size(),
                                 &at));
  expect("weights at these sizes", whole.weights_bytes, at.weights_bytes);
  expect("code at these sizes", whole.code_bytes, at.code_bytes);
  check(tenant.start(1, /*reserve=*/false));
  aligned.run(tenant, true);
  ashlar_budget_statistics_t now = tenant.counted();
  expect("arena at these sizes", now.current_of[ASHLAR_MEMORY_ARENA],
         at.arena_bytes);
  expect("outputs at these sizes", now.current_of[ASHLAR_MEMORY_OUTPUTS],
         at.outputs_bytes);
  // Scratch is for all sizes from the first.
  expect("all together at these sizes",
         now.current - now.current_of[ASHLAR_MEMORY_SCRATCH],
         at.peak_bytes - at.staging_bytes - at.scratch_bytes_per_worker);
  expectNone(aligned.run(tenant, true), "a second run at these sizes");
  unaligned.run(tenant, false);
  expect("staging at these sizes",
         tenant.counted().current_of[ASHLAR_MEMORY_STAGING], at.staging_bytes);
  std::printf("%s: at these sizes arena %" PRIu64 " of %" PRIu64
              ", outputs %" PRIu64 " of %" PRIu64 "\n",
              path, at.arena_bytes, whole.arena_bytes, at.outputs_bytes,
              whole.outputs_bytes);
}
} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  std::vector<Files> calls(1);
  for (int i = 2; i < argc; ++i) {
    std::string text = argv[i];
    size_t equals = text.rfind('=');
    if (text == "--at")
      calls.emplace_back();
    else
      calls.back()[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return endOf(argv[1], [&] {
    if (calls.size() == 1)
      hold(argv[1], calls.front());
    for (size_t i = 1; i < calls.size(); ++i)
      holdAt(argv[1], calls[i]);
    if (calls.size() > 1)
      holdToLimit(argv[1], Tenant(argv[1], ASHLAR_UNLIMITED).contract);
  });
}
