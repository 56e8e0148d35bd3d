// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the layers of a model cost on a machine, each a kernel of its own, from
// its first byte to its last; and what they would cost with one dataflow for
// all, or with something left out.
#include "LayerLists.h"
#include "Machines.h"
#include "systolic/Utilisation.h"
#include "llvm/Support/CommandLine.h"
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace ashlar;
using namespace ashlar::systolic;
using namespace ashlar::systolic::test;
namespace cl = llvm::cl;

namespace {
enum class Saving { Taps, Columns, Shadow, Overlap };

cl::opt<std::string> preset(cl::Positional, cl::init("tpu-128"),
                            cl::desc("tpu-128, tpu-v5e, tpu-256, gemmini or "
                                     "gemmini-ws"));
cl::opt<int64_t> batch(cl::Positional, cl::init(1),
                       cl::desc("Of the layers that it knows (1)"));
cl::opt<std::string> filter(cl::Positional,
                            cl::desc("Layers with this in their names"));
cl::opt<std::string>
    kernels("kernels", cl::value_desc("file"),
            cl::desc("Instead, those of a model: what ashlar-compile "
                     "--target=systolic:PRESET --until=schedule prints"));
cl::opt<bool> isApart("apart",
                      cl::desc("Each contraction a stream of its own"));
cl::opt<Dataflow> dataflow("dataflow", cl::desc("One for all that can have it"),
                           cl::values(clEnumValN(Dataflow::WeightStationary,
                                                 "ws", "weight-stationary"),
                                      clEnumValN(Dataflow::InputStationary,
                                                 "is", "input-stationary"),
                                      clEnumValN(Dataflow::OutputStationary,
                                                 "os", "output-stationary")));
cl::list<Saving> without(
    "without", cl::desc("Left out; repeatable"),
    cl::values(clEnumValN(Saving::Taps, "taps", "several taps in one fold"),
               clEnumValN(Saving::Columns, "columns", "results side by side"),
               clEnumValN(Saving::Shadow, "shadow", "folds back to back"),
               clEnumValN(Saving::Overlap, "overlap",
                          "transfers beside everything else")));
cl::opt<bool> asJson("json", cl::desc("As JSON"));

bool isLeftOut(Saving part) { return llvm::is_contained(without, part); }

/// A row of the table.
struct Row {
  const Layer &layer;
  KernelUse use;
  std::string dataflow;
  size_t commands;
};

/// The same commands, transfers and everything else in turns.
void takeOverlapAway(Kernel &kernel) {
  Vector<Command> commands;
  auto isTransfer = [](const Command &command) {
    return command.funct == ASHLAR_SYSTOLIC_MVIN ||
           command.funct == ASHLAR_SYSTOLIC_MVIN2 ||
           command.funct == ASHLAR_SYSTOLIC_MVIN3 ||
           command.funct == ASHLAR_SYSTOLIC_MVOUT;
  };
  bool wasTransfer = false;
  size_t at = 0; // of what advances the command at hand, or of itself
  for (const Command &command : kernel.commands) {
    bool isWork = command.funct != ASHLAR_SYSTOLIC_CONFIG &&
                  (command.funct < ASHLAR_SYSTOLIC_CONFIG_STREAM ||
                   command.funct >= ASHLAR_SYSTOLIC_VECTOR_FIRST);
    if (isWork && isTransfer(command) != wasTransfer) {
      wasTransfer = !wasTransfer;
      commands.insert(commands.begin() + long(at),
                      {ASHLAR_SYSTOLIC_SYNC, 0, 0, 0,
                       ASHLAR_SYSTOLIC_ALL_QUEUES, ASHLAR_SYSTOLIC_ALL_QUEUES});
    }
    commands.push_back(command);
    if (command.funct != ASHLAR_SYSTOLIC_ADVANCE)
      at = commands.size();
  }
  kernel.commands = commands;
}
} // namespace

/// With the dataflow that is asked for, or, where that cannot be, without.
static Compiled compileLayer(const Layer &layer, const Machine &machine) {
  SearchOptions search;
  if (dataflow.getNumOccurrences())
    search.dataflow = dataflow;
  search.packsTaps = !isLeftOut(Saving::Taps);
  search.packsColumns = !isLeftOut(Saving::Columns);
  Compiled compiled = layer.compile(machine, search);
  if (compiled.error.empty() || !search.dataflow)
    return compiled;
  search.dataflow = Dataflow::WeightStationary;
  return layer.compile(machine, search);
}

static void print(const std::vector<Row> &rows, const Machine &machine) {
  std::printf("%-10s %-34s %5s %10s %8s %8s %8s    %s\n", "model", "layer",
              "times", "cycles", "commands", "bound", "useful", "dataflow");
  double work = 0, cycles = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto &[layer, use, dataflow, commands] = rows[i];
    std::printf("%-10s %-34s %5d %10llu %8zu %8s %8.1f %%  %s\n",
                layer.model.c_str(), layer.name.c_str(), int(layer.times),
                (unsigned long long)use.cycles, commands,
                use.regions.empty() ? "" : use.regions[0].bound,
                100 * use.utilisation, dataflow.c_str());
    work += double(layer.times) * double(use.multiplyAdds);
    cycles += double(layer.times) * double(use.contractionCycles);
    if (cycles &&
        (i + 1 == rows.size() || rows[i + 1].layer.model != layer.model)) {
      std::printf("%-10s %-34s %5s %10.0f %26.1f %%\n", layer.model.c_str(),
                  "all contractions", "", cycles,
                  100 * work / cycles / machine.dim / machine.dim /
                      machine.arrays);
      work = cycles = 0;
    }
  }
}

static void printJson(const std::vector<Row> &rows) {
  auto list = nlohmann::ordered_json::array();
  for (const auto &[layer, use, dataflow, commands] : rows)
    list.push_back({{"model", layer.model},
                    {"layer", layer.name},
                    {"times", layer.times},
                    {"cycles", use.cycles},
                    {"contraction_cycles", use.contractionCycles},
                    {"multiply_adds", use.multiplyAdds},
                    {"commands", commands},
                    {"dataflow", dataflow}});
  std::printf("%s\n", list.dump(1).c_str());
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(
      argc, argv,
      "What layers cost on a systolic machine, each a kernel of its own, in "
      "simulated cycles\n");
  if (!llvm::is_contained(systolic::presets(), preset)) {
    std::fprintf(stderr, "there is no preset '%s'\n", preset.c_str());
    return 2;
  }
  Machine machine = systolic::streamMachine(machineFor(preset));
  if (isLeftOut(Saving::Shadow))
    machine.flags &= ~uint32_t(ASHLAR_SYSTOLIC_SHADOW);
  bool isBF16 = machine.input == ASHLAR_SYSTOLIC_BF16;
  std::string error;
  std::vector<Layer> layers = kernels.empty()
                                  ? knownLayers(isBF16 ? "bf16" : "i8", batch)
                                  : layersOf(kernels, isApart, error);
  std::vector<Row> rows;
  for (const Layer &layer : layers) {
    if ((layer.model + layer.name).find(filter) == std::string::npos)
      continue;
    Compiled compiled = compileLayer(layer, machine);
    if (isLeftOut(Saving::Overlap))
      takeOverlapAway(compiled.kernel);
    Row row{layer, {}, "", compiled.kernel.commands.size()};
    if (compiled.error.empty())
      compiled.error = systolic::measureUse(machine, compiled.kernel, row.use);
    if (!compiled.error.empty()) {
      error += layer.model + ", " + layer.name + ": " + compiled.error + "\n";
      continue;
    }
    // They point into the kernel.
    for (RegionUse &region : row.use.regions)
      region.region = nullptr;
    for (const std::vector<Alternative> &one : compiled.alternatives)
      row.dataflow += std::string(row.dataflow.empty() ? "" : ", ") +
                      nameOf(one[0].dataflow);
    rows.push_back(std::move(row));
  }
  asJson ? printJson(rows) : print(rows, machine);
  std::fputs(error.c_str(), stderr);
  return error.empty() ? 0 : 1;
}
