// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs an entry of a module once: flags and files.

#include "CompareTensors.h"
#include "ModuleRunner.h"
#include "Statistics.h"
#include "TensorFile.h"
#include "ToolMain.h"

#include <cstdio>

using namespace ashlar::tools;

static const char description[] =
    "Example:\n"
    "  ashlar-run digits.ash --input=image=7.npy --print\n"
    "  ashlar-run model.ash --input=x=random:1 --expect=y=y.npy --rtol=1e-4\n"
    "\n"
    "Runs a module once and prints, stores or compares its outputs.\n"
    "Ends with 0, 1 (refused, or outputs differ), 2 (wrong usage), 70 (bug).";

namespace {
struct RunFlags {
  RunnerFlags runner;
  std::vector<std::string> outputs, expectations;
  std::string directory, statistics;
  double rtol = 1e-3, atol = 1e-7;
  bool print = false;
};
} // namespace

static void declare(CLI::App &app, RunFlags &flags) {
  app.set_version_flag("--version",
                       std::string("ashlar-run ") + ashlar_runtime_version());
  flags.runner.declare(app);
  app.add_option("--output", flags.outputs,
                 "NAME=FILE.npy: store this output; repeatable")
      ->take_all();
  app.add_option("--output-dir", flags.directory,
                 "Store every output there as NAME.npy");
  app.add_flag("--print", flags.print, "Print every output");
  app.add_option("--expect", flags.expectations,
                 "NAME=FILE: compare this output, |a-b| <= atol + rtol*|b|; "
                 "repeatable")
      ->take_all();
  app.add_option("--rtol", flags.rtol, "Relative tolerance")
      ->capture_default_str();
  app.add_option("--atol", flags.atol, "Absolute tolerance")
      ->capture_default_str();
  app.add_flag("--stats{table}", flags.statistics,
               "Print times and memory; --stats=json for programs");
}

/// An output's name as a file's: slashes and other separators replaced.
static std::string fileName(std::string name) {
  for (char &c : name)
    if (c == '/' || c == '\\' || c == ':')
      c = '_';
  return name.empty() || name[0] == '.' ? "_" + name : name;
}

static int run(const RunFlags &flags) {
  if (!flags.statistics.empty() && flags.statistics != "table" &&
      flags.statistics != "json")
    throw Failure(WrongUsage, "--stats=" + flags.statistics +
                                  ": expected --stats or --stats=json");
  ModuleRunner runner(flags.runner);
  // Everything named must exist before anything runs.
  for (const std::string &text : flags.outputs)
    runner.outputNamed(splitAssignment(text, "--output").first);
  for (const std::string &text : flags.expectations)
    runner.outputNamed(splitAssignment(text, "--expect").first);
  runner.prepareInputs(/*fillIn=*/false);
  runner.prepareOutputs();
  runner.bind();
  runner.run();
  runner.finish();
  for (size_t i = 0; i < runner.outputCount() && flags.print; ++i)
    std::fputs(printTensor(runner.outputName(i), runner.output(i)).c_str(),
               stdout);
  for (size_t i = 0; i < runner.outputCount() && !flags.directory.empty(); ++i)
    writeWholeFile(flags.directory + "/" + fileName(runner.outputName(i)) +
                       ".npy",
                   formatNpy(runner.output(i)));
  for (const std::string &text : flags.outputs) {
    auto [name, file] = splitAssignment(text, "--output");
    writeWholeFile(file, formatNpy(runner.output(runner.outputNamed(name))));
  }
  bool equal = true;
  for (const std::string &text : flags.expectations) {
    auto [name, file] = splitAssignment(text, "--expect");
    Tensor expected = readTensorFile(file);
    Tensor actual = runner.output(runner.outputNamed(name));
    Comparison result =
        compareTensors(actual, expected, flags.rtol, flags.atol);
    std::fputs(describeComparison(name, actual, expected, result).c_str(),
               stdout);
    equal = equal && result.equal;
  }
  if (!flags.statistics.empty())
    std::fputs(formatStatistics(runner, flags.statistics == "json").c_str(),
               stdout);
  return equal ? Done : Refused;
}

int main(int argc, char **argv) {
  CLI::App app(description, "ashlar-run");
  RunFlags flags;
  declare(app, flags);
  return runTool("ashlar-run", app, argc, argv, [&] { return run(flags); });
}
