// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures an entry of a module: flags.

#include "ModuleRunner.h"
#include "Statistics.h"
#include "Tolerance.h"
#include "ToolMain.h"

#include <cstdio>

using namespace ashlar::tools;

static const char description[] =
    "Example:\n"
    "  ashlar-bench model.ash --threads=1 --min-time=5\n"
    "\n"
    "Runs a module again and again with arguments checked once. Inputs that\n"
    "are not given are random. Prints median, minimum and 99th percentile.";

int main(int argc, char **argv) {
  CLI::App app(description, "ashlar-bench");
  RunnerFlags flags;
  double minimumTime = 2;
  unsigned warmup = 3;
  bool json = false;
  app.set_version_flag("--version",
                       std::string("ashlar-bench ") + ashlar_runtime_version());
  flags.declare(app);
  app.add_option("--min-time", minimumTime, "Seconds to measure")
      ->capture_default_str()
      ->check(FiniteNotNegative())
      ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--warmup", warmup, "Runs before that")->capture_default_str();
  app.add_flag("--json", json, "Print one JSON object");
  return runTool("ashlar-bench", app, argc, argv, [&]() -> int {
    ModuleRunner runner(flags);
    runner.prepareInputs(/*fillIn=*/true);
    runner.prepareOutputs();
    runner.bind();
    Measurement measurement = measureRuns(runner, minimumTime, warmup);
    runner.finish();
    std::fputs(formatMeasurement(runner, measurement, json).c_str(), stdout);
    return Done;
  });
}
