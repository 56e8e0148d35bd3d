// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CommandLine.h"
#include "Tolerance.h"
#include <CLI/CLI.hpp>
#include <iostream>

using namespace ashlar;

static constexpr const char *description = R"(Example:
  ashlar-check /usr/share/libonnx-testdata/data/node --jobs=2

Compiles, runs and compares tests in ONNX's layout: a folder with model.onnx
and test_data_set_N/{input,output}_K.pb, or a folder of such folders. Prints a
line for each, NAME: passed | failed: WHY | unsupported: OP, WHY, and a closing
line with the counts.
)";

static constexpr const char *footer = R"(
Exit:  0 nothing failed (what is unsupported does not count), 1 something
       failed or stands in --expected and does not pass, 2 wrong usage
)";

std::optional<int> check::parseCommandLine(int argc, char **argv,
                                           Request &request) {
  CLI::App app{description, "ashlar-check"};
  app.footer(footer);
  app.set_version_flag("--version", "ashlar-check " ASHLAR_VERSION);
  std::string targets;
  CheckOptions &options = request.options;
  app.add_option("DIR", request.folders, "Folders with tests")->required();
  app.add_option("--target", targets, "T[:PRESET] to compile for (cpu:host)");
  app.add_option("--rtol", options.tolerance.relative,
                 "Relative tolerance of floats (1e-3)")
      ->check(tools::FiniteNotNegative());
  app.add_option("--atol", options.tolerance.absolute,
                 "Absolute tolerance of floats (1e-7)")
      ->check(tools::FiniteNotNegative());
  app.add_option("--jobs", options.jobs,
                 "Tests at a time (as many as processors)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--timeout", options.timeoutSeconds,
                 "Seconds for one test (120)")
      ->check(tools::FiniteNotNegative())
      ->check(CLI::PositiveNumber);
  app.add_option("--json", request.jsonFile,
                 "Write the results to this file; - is stdout");
  app.add_option("--expected", request.expectedFile,
                 "A list of tests that must pass, SET/NAME a line");
  app.add_option("--write-expected", request.writeExpectedFile,
                 "Write the list of tests that pass");
  app.add_flag("--verbose", options.showLogs,
               "Show what the compiler says of each test");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!targets.empty() && !parseTargets(targets, options.targets)) {
    std::cerr << "ashlar-check: --target=" << targets
              << ": expected T[:PRESET]\n";
    return 2;
  }
  return std::nullopt;
}
