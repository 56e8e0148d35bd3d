// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ashlar-run and ashlar-bench share: the flags that say how a module is
// loaded, and the module loaded with a session that way.

#ifndef ASHLAR_TOOLS_LIB_MODULERUNNER_H
#define ASHLAR_TOOLS_LIB_MODULERUNNER_H

#include "Bytes.h"
#include "Tensor.h"

#include <CLI/CLI.hpp>

#include <map>

namespace ashlar::tools {

struct RunnerFlags {
  std::string file;
  std::string entry;
  std::string devices;
  std::string placement = "strict";
  std::string memoryLimit;
  std::string driverCache;
  std::string trace;
  std::vector<std::string> signatureKeys; // files
  uint32_t threads = 0;
  uint32_t deviceWait = 0;         // seconds; 0: the runtime's default
  bool countsInputs = false;       // the memory limit is for the inputs, too
  std::vector<std::string> inputs; // NAME=FILE or NAME=random[:SEED]
  std::vector<std::string> shapes; // NAME=1x3x8

  static constexpr uint32_t mostThreads = 4096, mostDeviceWait = 1000000;

  /// Adds them to a tool's command line, all but the number of threads.
  void declare(CLI::App &app);
  /// Of tools that run with one number of threads.
  void declareThreads(CLI::App &app);
};

/// What a runner holds of the runtime. A base, so that it is released too
/// when the runner's own constructor throws.
struct RuntimeHandles {
  RuntimeHandles() = default;
  RuntimeHandles(const RuntimeHandles &) = delete;
  RuntimeHandles &operator=(const RuntimeHandles &) = delete;
  ~RuntimeHandles();

  ashlar_runtime_t *runtime = nullptr;
  ashlar_budget_t *budget = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_session_t *session = nullptr;
  ashlar_bindings_t *bindings = nullptr;
};

class ModuleRunner : RuntimeHandles {
public:
  explicit ModuleRunner(const RunnerFlags &flags);

  /// Reads or makes every input. With `fillIn`, those not named are random;
  /// otherwise they are a Failure that names all of them.
  void prepareInputs(bool fillIn);
  /// Memory for the outputs, at their largest.
  void prepareOutputs();
  /// Checks arguments once; run() is then only the run.
  void bind();
  /// All of that, with random numbers for inputs that are not named.
  void prepareRandom();
  void run();
  /// Writes the trace, if one was asked for.
  void finish();

  size_t outputCount() const { return outputs.size(); }
  std::string outputName(size_t index) const;
  /// Its shape is that of the last run.
  Tensor output(size_t index) const;
  /// Throws a Failure that lists the names there are.
  size_t outputNamed(const std::string &name) const;

  ashlar_module_info_t moduleInfo() const;
  ashlar_session_statistics_t sessionStatistics() const;
  ashlar_budget_statistics_t budgetStatistics() const;

private:
  void load();
  void countInput(const std::string &name, uint64_t bytes);
  void checkLimit(const std::string &what) const;
  Tensor makeInput(const ashlar_tensor_info_t &info, const std::string &source);
  void placeState(size_t output, ashlar_tensor_t &input);
  std::vector<int64_t> inputShape(const ashlar_tensor_info_t &info) const;

  const RunnerFlags flags;
  ashlar_entry_t *entry = nullptr; ///< the module's
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, std::string> sources; // of inputs, by name
  std::vector<Tensor> inputs;
  uint64_t inputBytes = 0;
  std::vector<Tensor> outputStorage;
  std::vector<ashlar_tensor_t> outputs;
  std::vector<int64_t> stateInputs; ///< of each output; -1: it is no state
};

/// Of every "NAME=VALUE" given to the flag. Throws a Failure of wrong usage for
/// other forms and for a name that is given twice.
std::map<std::string, std::string>
readAssignments(const std::vector<std::string> &texts, const std::string &flag);
} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_MODULERUNNER_H
