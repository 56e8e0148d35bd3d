// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs an entry of a module once: flags and files.

#include "CompareTensors.h"
#include "ModuleRunner.h"
#include "Statistics.h"
#include "TensorFile.h"
#include "Tolerance.h"
#include "ToolMain.h"

#include <cstdio>
#include <filesystem>

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
  flags.runner.declareThreads(app);
  app.add_option("--output", flags.outputs,
                 "NAME=FILE.npy: store this output; repeatable")
      ->take_all();
  app.add_option("--output-dir", flags.directory,
                 "Store every output there as NAME.npy; made if absent");
  app.add_flag("--print", flags.print, "Print every output");
  app.add_option("--expect", flags.expectations,
                 "NAME=FILE: compare this output, |a-b| <= atol + rtol*|b|; "
                 "repeatable")
      ->take_all();
  app.add_option("--rtol", flags.rtol, "Relative tolerance")
      ->capture_default_str()
      ->check(FiniteNotNegative());
  app.add_option("--atol", flags.atol, "Absolute tolerance")
      ->capture_default_str()
      ->check(FiniteNotNegative());
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

static void makeFolder(const std::string &folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    throw Failure(Refused, "--output-dir: cannot make the folder " + folder +
                               ": " + code.message());
}

/// What --output and --output-dir ask for: the file of each, and its output.
static std::vector<std::pair<std::string, size_t>>
filesToWrite(const RunFlags &flags,
             const std::map<std::string, std::string> &outputs,
             const ModuleRunner &runner) {
  std::vector<std::pair<std::string, size_t>> files;
  for (size_t i = 0; i < runner.outputCount() && !flags.directory.empty(); ++i)
    files.emplace_back(
        flags.directory + "/" + fileName(runner.outputName(i)) + ".npy", i);
  for (auto &[name, file] : outputs)
    files.emplace_back(file, runner.outputNamed(name));
  std::vector<std::string> names;
  for (auto &[file, output] : files)
    names.push_back(file);
  if (!flags.runner.trace.empty())
    names.push_back(flags.runner.trace);
  checkWrittenFiles(flags.runner.file, names);
  return files;
}

static int run(const RunFlags &flags) {
  if (!flags.statistics.empty() && flags.statistics != "table" &&
      flags.statistics != "json")
    throw Failure(WrongUsage, "--stats=" + flags.statistics +
                                  ": expected --stats or --stats=json");
  auto outputs = readAssignments(flags.outputs, "--output");
  auto expectations = readAssignments(flags.expectations, "--expect");
  for (auto &[name, file] : outputs)
    if (file == "-")
      throw Failure(WrongUsage, "--output=" + name +
                                    "=-: expected the name of a file; --print "
                                    "shows an output");
  ModuleRunner runner(flags.runner);
  runner.prepareOutputs();
  // Everything named must exist before anything runs.
  auto files = filesToWrite(flags, outputs, runner);
  for (auto &[name, file] : expectations)
    runner.outputNamed(name);
  runner.prepareInputs(/*fillIn=*/false);
  runner.bind();
  if (!flags.directory.empty())
    makeFolder(flags.directory);
  runner.run();
  runner.finish();
  for (size_t i = 0; i < runner.outputCount() && flags.print; ++i)
    std::fputs(printTensor(runner.outputName(i), runner.output(i)).c_str(),
               stdout);
  for (auto &[file, output] : files)
    writeWholeFile(file, formatNpy(runner.output(output)));
  bool equal = true;
  for (auto &[name, file] : expectations) {
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
