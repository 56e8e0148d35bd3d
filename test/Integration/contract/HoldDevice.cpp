// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds modules to their contracts on a driver double, which counts: what is
// allocated of the device's memory must be what the module says, to the byte,
// at each step and at most. Runs with the double as its driver.
//
//   hold-device cuda:0 MODULE.ash [--at [INPUT=FILE.npy...]]...
//
// Prints a line of figures; ends with 1 at a breach. Each --at is a call, with
// random inputs where none are given; without any, a session takes at once all
// that its calls would need.

#include "Holding.h"
#include "cuda/CudaDouble.h"

#include <cinttypes>
#include <dlfcn.h>

using namespace ashlar::test;
using namespace ashlar::tools;

namespace {
/// What an open GPU has for itself: docs/memory-contract.md.
constexpr uint64_t openBytes = 4096;
constexpr uint32_t threads = 2;

/// Of one entry, at its largest where nobody gives another.
class Arguments {
public:
  Arguments(const ashlar_entry_t *entry, const Files &files) {
    for (size_t i = 0; i < ashlar_entry_input_count(entry); ++i) {
      memory.push_back(inputOf(entry, i, files));
      inputs.push_back(memory.back().view());
    }
    for (size_t i = 0; i < ashlar_entry_output_count(entry); ++i) {
      memory.push_back(outputOf(entry, i));
      outputs.push_back(memory.back().view());
    }
  }
  void run(ashlar_session_t *session, const ashlar_entry_t *entry) {
    check(ashlar_session_run_entry(session, entry, inputs.data(), inputs.size(),
                                   outputs.data(), outputs.size()));
  }

private:
  std::vector<Tensor> memory;
  std::vector<ashlar_tensor_t> inputs, outputs;
};

class Held {
public:
  Held(CudaDouble &driver, const char *device, const char *path)
      : driver(driver) {
    check(ashlar_runtime_create(nullptr, &runtime));
    ashlar_device_t *opened = nullptr;
    check(ashlar_device_open(runtime, device, &opened));
    expect("an open device", openBytes);
    ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
    options.devices = &device;
    options.device_count = 1;
    options.allow_native_code = 1;
    check(ashlar_module_load_file(runtime, path, &options, &module));
    check(ashlar_module_entry_at(module, 0, &entry));
    check(ashlar_entry_contract(entry, &contract));
    expect("a loaded module", openBytes + contract.weights_bytes);
  }
  Held(const Held &) = delete;
  ~Held() {
    for (ashlar_session_t *session : sessions)
      ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
  }

  /// A further session and, in it, the calls; of all of them everything stays.
  void addSession(const std::vector<Files> &calls) {
    ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
    options.threads = threads;
    options.reserve_all = calls.empty();
    sessions.push_back(nullptr);
    check(ashlar_session_create(module, nullptr, &options, &sessions.back()));
    if (!calls.empty())
      expect("a session that has run nothing",
             openBytes + contract.weights_bytes +
                 (sessions.size() - 1) * ofCalls() + ofSession());
    for (const Files &files : calls) {
      Arguments arguments(entry, files);
      for (int round = 0; round < 3; ++round) {
        arguments.run(sessions.back(), entry);
        expectSessions("after a call");
      }
    }
    expectSessions("a session and its calls");
  }
  void removeSession() {
    ashlar_session_release(sessions.back());
    sessions.pop_back();
    driver.mostBytes = driver.bytes.load();
    expectSessions("after a session went");
  }
  void unload() {
    ashlar_module_release(module);
    module = nullptr;
    driver.mostBytes = driver.bytes.load();
    expect("after the module went", openBytes);
  }
  void close() {
    ashlar_runtime_release(runtime);
    runtime = nullptr;
    driver.mostBytes = driver.bytes.load();
    expect("after the runtime went", 0);
  }
  const ashlar_contract_t &said() const { return contract; }

private:
  uint64_t ofSession() const {
    return contract.arena_bytes + threads * contract.scratch_bytes_per_worker;
  }
  /// On the device, what calls are given and what they give are staged.
  uint64_t ofCalls() const {
    return ofSession() + contract.staging_bytes + contract.outputs_bytes;
  }
  void expectSessions(const char *when) const {
    expect(when,
           openBytes + contract.weights_bytes + sessions.size() * ofCalls());
  }
  /// Now, and never more before.
  void expect(const char *when, uint64_t bytes) const {
    for (int64_t found : {driver.bytes.load(), driver.mostBytes.load()})
      if (found != int64_t(bytes))
        throw Breach{std::string(when) + ": of the device's memory " +
                     std::to_string(found) +
                     " bytes are allocated, the contract says " +
                     std::to_string(bytes)};
  }

  CudaDouble &driver;
  ashlar_runtime_t *runtime = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_entry_t *entry = nullptr; // the module's
  std::vector<ashlar_session_t *> sessions;
  ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
};

void hold(CudaDouble &driver, const char *device, const char *path,
          const std::vector<Files> &calls) {
  Held held(driver, device, path);
  held.addSession(calls);
  held.addSession(calls);
  held.removeSession();
  held.removeSession();
  held.unload();
  held.close();
  const ashlar_contract_t &said = held.said();
  std::printf("%s: two sessions as the contract says: weights %" PRIu64
              " arena %" PRIu64 " scratch %" PRIu64 " staging %" PRIu64
              " outputs %" PRIu64 "\n",
              path, said.weights_bytes, said.arena_bytes,
              said.scratch_bytes_per_worker, said.staging_bytes,
              said.outputs_bytes);
}
} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  std::vector<Files> calls;
  for (int i = 3; i < argc; ++i) {
    std::string text = argv[i];
    size_t equals = text.rfind('=');
    if (text == "--at")
      calls.emplace_back();
    else if (calls.empty() || equals == text.npos)
      return 2;
    else
      calls.back()[text.substr(0, equals)] = text.substr(equals + 1);
  }
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  auto *driver = static_cast<CudaDouble *>(
      library ? dlsym(library, "ashlar_cuda_double") : nullptr);
  if (!driver) {
    std::printf("the driver double is not in LD_LIBRARY_PATH\n");
    return 1;
  }
  return endOf(argv[2], [&] { hold(*driver, argv[1], argv[2], calls); });
}
