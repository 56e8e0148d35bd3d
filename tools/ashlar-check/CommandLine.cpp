// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CommandLine.h"
#include "InputTensors.h"
#include "ParseFlags.h"
#include "Tolerance.h"
#include "ashlar/Driver/DescribeTargets.h"
#include "ashlar/Support/Refusal.h"
#include <CLI/CLI.hpp>
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

namespace {
/// What is given as text and read after all flags are known.
struct FlagTexts {
  std::string targets, precision, against, bisect, fuse;
  std::vector<std::string> inputs, shapes, values;
};
} // namespace

static void declareTests(CLI::App &app, check::Request &request,
                         FlagTexts &texts) {
  check::CheckOptions &options = request.options;
  app.add_option("DIR", request.folders, "Folders with tests, or a model")
      ->required();
  app.add_option("--target", texts.targets,
                 "What to compile for (cpu:host): T[:PRESET][+T...] of the "
                 "targets below");
  app.add_option("--precision", texts.precision,
                 "f32|bf16|f16, as ashlar-compile's; for bf16 and f16, --rtol "
                 "is 2e-2 unless given");
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
                 "Write the results to this file, or - for standard output");
  app.add_option("--expected", request.expectedFile,
                 "A file with the tests that must pass, one SET/NAME per line");
  app.add_option("--write-expected", request.writeExpectedFile,
                 "Write such a file with the tests that pass");
  app.add_flag("--verbose", options.showLogs,
               "Show what the compiler says of each test");
}

static void declareAgainst(CLI::App &app, check::Request &request,
                           FlagTexts &texts) {
  CompileOptions &compile = request.against.compile;
  app.add_option("--against", texts.against,
                 "reference: compare each kernel of a model with plain loops; "
                 "levels: interpret the strategy of each contraction")
      ->check(CLI::IsMember({"reference", "levels"}));
  auto only = [&](CLI::Option *option) { option->needs("--against"); };
  only(app.add_option("--bisect", texts.bisect,
                      "fusion|pass: find the level or the pass that makes it "
                      "wrong")
           ->check(CLI::IsMember({"fusion", "pass"})));
  only(app.add_option("--input", texts.inputs,
                      "NAME=FILE.npy, FILE.pb or random[:SEED]; repeatable"));
  only(app.add_option("--shape", texts.shapes,
                      "NAME=1x3x224x224: the shape of an input with dynamic "
                      "sizes; repeatable"));
  only(app.add_option("--value", texts.values,
                      "NAME=0,2: make an input a constant; repeatable")
           ->take_all());
  only(app.add_option("--fuse", texts.fuse,
                      "none|basic|all, as ashlar-compile's"));
  only(app.add_flag("--exact-convolution", compile.exactConvolution,
                    "Compute convolutions without Winograd's transforms"));
  only(app.add_option("--reproducer", request.against.reproducer,
                      "The folder for what goes wrong (MODEL-reproducer)"));
}

static Refusal readModel(const FlagTexts &texts, check::Request &request) {
  CompileOptions &compile = request.against.compile;
  std::map<std::string, std::string> sources;
  for (const std::string &input : texts.inputs) {
    size_t at = input.find('=');
    if (at == std::string::npos || at == 0)
      return "--input=" + input + ": expected NAME=FILE or NAME=random[:SEED]";
    sources[input.substr(0, at)] = input.substr(at + 1);
  }
  request.against.input = check::inputsFrom(std::move(sources));
  for (const std::string &shape : texts.shapes) {
    std::string name;
    std::vector<int64_t> sizes;
    if (!parseShape(shape, name, sizes))
      return "--shape=" + shape + ": expected NAME=1x3x224x224";
    compile.shapes[name] = sizes;
  }
  for (const std::string &value : texts.values) {
    std::string name;
    std::vector<std::string> numbers;
    if (!parseValue(value, name, numbers))
      return "--value=" + value + ": expected NAME=16000 or NAME=0,2";
    compile.values[name] = numbers;
  }
  if (!texts.fuse.empty() && !parseFuseLevel(texts.fuse, compile.fuse))
    return "--fuse=" + texts.fuse + ": expected none, basic or all";
  if (request.folders.size() != 1)
    return "--against takes one model";
  compile.input = request.folders.front();
  return std::nullopt;
}

static Refusal readAgainst(const CLI::App &app, const FlagTexts &texts,
                           const char *program, check::Request &request) {
  if (Refusal wrong = readModel(texts, request))
    return wrong;
  request.isAgainst = true;
  request.isOfLevels = texts.against == "levels";
  if (request.isOfLevels && (!texts.inputs.empty() || !texts.bisect.empty() ||
                             app.count("--reproducer") || app.count("--atol")))
    return "--against=levels makes up its operands and takes none of --input, "
           "--bisect, --reproducer and --atol";
  check::AgainstOptions &against = request.against;
  against.program = program;
  against.bisect = texts.bisect == "pass"     ? check::Bisect::Pass
                   : texts.bisect == "fusion" ? check::Bisect::Fusion
                                              : check::Bisect::None;
  if (app.count("--rtol"))
    against.tolerance = request.options.tolerance.relative;
  if (against.reproducer.empty()) {
    const std::string &input = against.compile.input;
    std::string stem = input.substr(input.rfind('/') + 1);
    against.reproducer = stem.substr(0, stem.rfind('.')) + "-reproducer";
  }
  return std::nullopt;
}

static Refusal readTexts(const CLI::App &app, const FlagTexts &texts,
                         const char *program, check::Request &request) {
  if (!texts.against.empty())
    if (Refusal wrong = readAgainst(app, texts, program, request))
      return wrong;
  check::CheckOptions &options = request.options;
  if (!texts.targets.empty() && !parseTargets(texts.targets, options.targets))
    return "--target=" + texts.targets + ": expected T[:PRESET]";
  if (!texts.precision.empty() &&
      !parseNumberType(texts.precision, options.precision))
    return "--precision=" + texts.precision + ": expected f32, bf16 or f16";
  request.against.compile.targets = options.targets;
  request.against.compile.precision = options.precision;
  if (options.precision != NumberType::F32 && !app.count("--rtol"))
    options.tolerance.relative = 2e-2;
  return std::nullopt;
}

std::optional<int> check::parseCommandLine(int argc, char **argv,
                                           Request &request) {
  CLI::App app{description, "ashlar-check"};
  app.footer([] { return "\n" + describeTargets() + footer; });
  app.set_version_flag("--version", "ashlar-check " ASHLAR_VERSION);
  FlagTexts texts;
  declareTests(app, request, texts);
  declareAgainst(app, request, texts);
  return tools::parseFlags(
      app, argc, argv, [&] { return readTexts(app, texts, argv[0], request); });
}
