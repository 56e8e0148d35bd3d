// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures an entry of a module, or the strategies of a model: flags.

#include "KernelReport.h"
#include "ModuleRunner.h"
#include "Scaling.h"
#include "Statistics.h"
#include "TextTable.h"
#include "Tolerance.h"
#include "ToolMain.h"
#include "Tune.h"

#include <cstdio>

using namespace ashlar::tools;

static const char description[] =
    "Example:\n"
    "  ashlar-bench model.ash --threads=1 --min-time=5\n"
    "\n"
    "Runs a module again and again with arguments checked once. Inputs that\n"
    "are not given are random. Prints median, minimum and 99th percentile.\n"
    "With --kernels also what each kernel took beside what was predicted; "
    "with\n"
    "--threads=1,2 how much faster more threads are.\n"
    "\n"
    "  ashlar-bench model.onnx --tune=table.json\n"
    "\n"
    "Compiles a model with other strategies than the compiler would choose,\n"
    "measures each kernel on one thread, and writes what is faster into a "
    "table\n"
    "for ashlar-compile --tuning.";

/// Flags of one of the two uses are misuse in the other.
static void checkTuneFlags(const CLI::App &app, bool tunes) {
  static const char *const others[] = {
      "--min-time",     "--warmup",       "--threads",    "--trace",
      "--device",       "--entry",        "--kernels",    "--placement",
      "--memory-limit", "--driver-cache", "--device-wait"};
  static const char *const own[] = {"--target", "--machine", "--value",
                                    "--seconds"};
  auto refuse = [&](const char *flag, const char *why) {
    if (app.count(flag) != 0)
      throw Failure(WrongUsage, std::string(flag) + why);
  };
  if (tunes)
    for (const char *flag : others)
      refuse(flag, " has no meaning with --tune");
  else
    for (const char *flag : own)
      refuse(flag, " is for --tune=TABLE, which is missing");
}

static std::string measure(const RunnerFlags &flags, double seconds,
                           unsigned warmup, bool json) {
  ModuleRunner runner(flags);
  runner.prepareRandom();
  Measurement measurement = measureRuns(runner, seconds, warmup);
  runner.finish();
  return formatMeasurement(runner, measurement, json);
}

int main(int argc, char **argv) {
  CLI::App app(description, "ashlar-bench");
  RunnerFlags flags;
  double minimumTime = 2;
  unsigned warmup = 3;
  bool json = false, kernels = false;
  std::string threadsText;
  app.set_version_flag("--version",
                       std::string("ashlar-bench ") + ashlar_runtime_version());
  flags.declare(app);
  app.get_option("file")->description(
      "The module (.ash); with --tune the model");
  app.get_option("--shape")->description(
      app.get_option("--shape")->get_description() +
      "; with --tune as ashlar-compile's");
  app.add_option("--threads", threadsText,
                 "N[,N...]: threads of the session; several are measured in "
                 "turns and compared; default: one per CPU")
      ->type_name("N");
  app.add_flag("--kernels", kernels,
               "Measure each kernel, too, in as many seconds again");
  app.add_option("--min-time", minimumTime, "Seconds to measure")
      ->capture_default_str()
      ->check(FiniteNotNegative())
      ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--warmup", warmup, "Runs before that")->capture_default_str();
  app.add_flag("--json", json, "Print one JSON object");
  TuneOptions tuning;
  app.add_option("--tune", tuning.table,
                 "Measure strategies of a model and write a table");
  app.add_option("--target", tuning.target,
                 "With --tune: T[:PRESET], as ashlar-compile --help lists");
  app.add_option("--machine", tuning.machine, "With --tune: a machine model");
  app.add_option("--value", tuning.values,
                 "With --tune: NAME=0,2 makes an input a constant; repeatable")
      ->take_all();
  app.add_option("--seconds", tuning.seconds,
                 "With --tune: to measure; compiling comes on top")
      ->capture_default_str()
      ->check(FiniteNotNegative())
      ->check(CLI::Range(0.0, 86400.0));
  return runTool("ashlar-bench", app, argc, argv, [&]() -> int {
    checkTuneFlags(app, !tuning.table.empty());
    if (!tuning.table.empty()) {
      // Sizes are fixed when compiling.
      std::swap(tuning.shapes, flags.shapes);
      std::fputs(tune(flags, tuning, json).c_str(), stdout);
      return Done;
    }
    flags.countsInputs = true;
    std::vector<uint32_t> threads = readThreads(threadsText);
    if (threads.size() > 1) {
      for (const char *flag : {"--kernels", "--trace"})
        if (app.count(flag) != 0)
          throw Failure(WrongUsage,
                        std::string(flag) +
                            ": expected one number of threads beside it, "
                            "found --threads=" +
                            threadsText);
      std::fputs(
          measureScaling(flags, threads, minimumTime, warmup, json).c_str(),
          stdout);
      return Done;
    }
    if (!threads.empty())
      flags.threads = threads.front();
    std::string text = measure(flags, minimumTime, warmup, json);
    if (kernels) {
      KernelReport report(flags, minimumTime);
      text = json ? report.addedTo(text) : text + report.text(outputColumns());
    }
    std::fputs(text.c_str(), stdout);
    return Done;
  });
}
