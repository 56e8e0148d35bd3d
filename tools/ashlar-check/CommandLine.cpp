// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CommandLine.h"
#include "GivenOnce.h"
#include "InputTensors.h"
#include "Tolerance.h"
#include "ashlar/Driver/DescribeTargets.h"
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

using namespace ashlar;

static constexpr const char *description = R"(Example:
  ashlar-check /usr/share/libonnx-testdata/data/node --jobs=2
  ashlar-check model.onnx --against=reference --shape=x=1x3x640x640

Compiles, runs and compares tests in ONNX's layout: a folder with model.onnx
and test_data_set_N/{input,output}_K.pb, or a folder of such folders. Prints a
line for each, NAME: passed | failed: WHY | unsupported: OP, WHY, and a closing
line with the counts. With --against=reference, every kernel of one model is
compared with plain loops on the same operands, and the first node that goes
wrong is named. With --against=levels, no kernel is compiled: what its strategy
makes of each contraction is interpreted on random numbers, under random
schedules, beside the contraction itself; large kernels are left out.
)";

static constexpr const char *footer =
    R"(Exit:  0 nothing failed (what is unsupported does not count), 1 something
       failed or stands in --expected and does not pass, 2 wrong usage
)";

std::optional<int> check::parseCommandLine(int argc, char **argv,
                                           Request &request) {
  CLI::App app{description, "ashlar-check"};
  app.footer([] { return "\n" + describeTargets() + footer; });
  app.set_version_flag("--version", "ashlar-check " ASHLAR_VERSION);
  std::string targets, precision;
  CheckOptions &options = request.options;
  app.add_option("DIR", request.folders, "Folders with tests, or a model")
      ->required();
  app.add_option("--target", targets,
                 "T[:PRESET][+T...] to compile for (cpu:host)");
  app.add_option("--precision", precision,
                 "f32|bf16|f16, as ashlar-compile's; other than f32, --rtol is "
                 "2e-2 unless given");
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
      ->check(tools::FinitePositive());
  app.add_option("--json", request.jsonFile,
                 "Write the results to this file; - is stdout");
  app.add_option("--expected", request.expectedFile,
                 "A list of tests that must pass, SET/NAME a line");
  app.add_option("--write-expected", request.writeExpectedFile,
                 "Write the list of tests that pass");
  std::string against, bisect, fuse;
  std::vector<std::string> inputs, shapes, values;
  CompileOptions &compile = request.against.compile;
  app.add_option("--against", against,
                 "reference: compare a model's kernels with that target's; "
                 "levels: interpret them beside their contractions")
      ->check(CLI::IsMember({"reference", "levels"}));
  auto only = [&](CLI::Option *option) { option->needs("--against"); };
  only(app.add_option("--bisect", bisect,
                      "fusion|pass: which level or step makes it wrong")
           ->check(CLI::IsMember({"fusion", "pass"})));
  only(app.add_option("--input", inputs,
                      "NAME=FILE.npy, FILE.pb or random[:SEED]; repeatable"));
  only(app.add_option("--shape", shapes,
                      "NAME=1x3x224x224 fixes a dynamic input; repeatable"));
  only(app.add_option("--value", values,
                      "NAME=0,2 makes an input a constant; repeatable")
           ->take_all());
  only(app.add_option("--fuse", fuse, "none|basic|all, as ashlar-compile's"));
  only(app.add_flag("--exact-convolution", compile.exactConvolution,
                    "Convolutions without transforms"));
  only(app.add_option("--reproducer", request.against.reproducer,
                      "The folder for what goes wrong (MODEL-reproducer)"));
  app.add_flag("--verbose", options.showLogs,
               "Show what the compiler says of each test");
  tools::acceptRepeated(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Of --help, a full disk or a closed pipe shows only when all is written.
    if (app.exit(error) == 0)
      return std::cout.flush() ? 0 : 1;
    return 2;
  }
  auto misuse = [](const std::string &message) {
    std::cerr << "ashlar-check: " << message << "\n";
    return 2;
  };
  if (std::string repeated = tools::findRepeated(app); !repeated.empty())
    return misuse(repeated);
  if (!against.empty()) {
    std::map<std::string, std::string> sources;
    for (const std::string &input : inputs) {
      size_t at = input.find('=');
      if (at == std::string::npos || at == 0)
        return misuse("--input=" + input +
                      ": expected NAME=FILE or "
                      "NAME=random[:SEED]");
      sources[input.substr(0, at)] = input.substr(at + 1);
    }
    for (const std::string &shape : shapes) {
      std::string name;
      std::vector<int64_t> sizes;
      if (!parseShape(shape, name, sizes))
        return misuse("--shape=" + shape + ": expected NAME=1x3x224x224");
      compile.shapes[name] = sizes;
    }
    for (const std::string &value : values) {
      std::string name;
      std::vector<std::string> numbers;
      if (!parseValue(value, name, numbers))
        return misuse("--value=" + value + ": expected NAME=16000 or NAME=0,2");
      compile.values[name] = numbers;
    }
    if (!fuse.empty() && !parseFuseLevel(fuse, compile.fuse))
      return misuse("--fuse=" + fuse + ": expected none, basic or all");
    if (request.folders.size() != 1)
      return misuse("--against takes one model");
    request.isAgainst = true;
    request.isOfLevels = against == "levels";
    if (request.isOfLevels &&
        (!inputs.empty() || !bisect.empty() || app.count("--reproducer") ||
         app.count("--atol")))
      return misuse("--against=levels makes up its operands and takes none of "
                    "--input, --bisect, --reproducer and --atol");
    compile.input = request.folders.front();
    request.against.input = inputsFrom(std::move(sources));
    request.against.program = argv[0];
    request.against.bisect = bisect == "pass"     ? Bisect::Pass
                             : bisect == "fusion" ? Bisect::Fusion
                                                  : Bisect::None;
    if (app.count("--rtol"))
      request.against.tolerance = options.tolerance.relative;
    if (request.against.reproducer.empty()) {
      std::string stem = compile.input.substr(compile.input.rfind('/') + 1);
      request.against.reproducer =
          stem.substr(0, stem.rfind('.')) + "-reproducer";
    }
  }
  if (!targets.empty() && !parseTargets(targets, options.targets)) {
    std::cerr << "ashlar-check: --target=" << targets
              << ": expected T[:PRESET]\n";
    return 2;
  }
  request.against.compile.targets = options.targets;
  if (!precision.empty() && !parseNumberType(precision, options.precision)) {
    std::cerr << "ashlar-check: --precision=" << precision
              << ": expected f32, bf16 or f16\n";
    return 2;
  }
  request.against.compile.precision = options.precision;
  if (options.precision != NumberType::F32 && !app.count("--rtol"))
    options.tolerance.relative = 2e-2;
  return std::nullopt;
}
