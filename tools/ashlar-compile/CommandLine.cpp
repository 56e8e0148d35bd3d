// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CommandLine.h"
#include "GivenOnce.h"
#include "ashlar/Driver/DescribeTargets.h"
#include <CLI/CLI.hpp>
#include <iostream>

using namespace ashlar;

static constexpr const char *description = R"(Example:
  ashlar-compile model.onnx -o model.ash --shape=images=1x3x224x224

Compiles a model ahead of time into one .ash file for ashlar-run or the C
library. Without further flags the code is optimised for this machine's CPU.
)";

static constexpr const char *footer =
    R"(Stages:  import simplify place precision fuse tile schedule emit
Exit:    0 done, 1 refused, 2 wrong usage, 70 our own fault
)";

/// What else was asked for that makes sense for modules alone.
static std::optional<std::string> whyNoObject(const CompileOptions &options) {
  auto endsIn = [&](const std::string &ending) {
    return options.output.size() > ending.size() &&
           options.output.compare(options.output.size() - ending.size(),
                                  ending.size(), ending) == 0;
  };
  if (!options.stopEarly && options.listStrategies.empty() && !endsIn(".o"))
    return "needs -o FILE.o, beside which FILE.h is written";
  if (options.targets.size() > 1)
    return "is one program; expected one target in --target, found " +
           std::to_string(options.targets.size());
  if (!options.sizes.empty())
    return "needs sizes that are fixed; leave --dim out and give --shape";
  if (options.searchPrecision || !options.calibration.empty())
    return "does not go with --precision=auto or --calibration, which run "
           "what was compiled; a --precision-plan does";
  if (options.memoryBudget != 0)
    return "does not go with --memory-budget; the header says what the object "
           "needs";
  return std::nullopt;
}

/// Lower case alone: names that differ are different macros in capitals.
static bool isPrefix(const std::string &text) {
  auto isIn = [&](const char *allowed) {
    return text.find_first_not_of(allowed) == text.npos;
  };
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
         isIn("abcdefghijklmnopqrstuvwxyz0123456789_");
}

std::optional<int> ashlar::parseCommandLine(int argc, char **argv,
                                            CompileOptions &options) {
  CLI::App app{description, "ashlar-compile"};
  app.footer([] { return "\n" + describeTargets() + footer; });
  app.set_version_flag("--version", "ashlar-compile " ASHLAR_VERSION);
  std::string targets, until, emit, fuse, budget, precision, tolerance, weights;
  std::vector<std::string> shapes, values, sizes, states;
  app.add_option("MODEL", options.input, ".onnx, or .mlir on tensors");
  app.add_option("-o,--output", options.output, "The .ash file to write");
  app.add_option("--emit", emit,
                 "module; static: -o FILE.o and FILE.h, which need no runtime; "
                 "riscv-object: the same for a bare RISC-V core (module)");
  app.add_option("--symbol-prefix", options.symbolPrefix,
                 "Of an object: NAME_main, NAME_INPUT_COUNT in capitals "
                 "(ashlar); several models in one program need several");
  app.add_option("--target", targets,
                 "T[:PRESET],...: one program for each (cpu:host); T+T: "
                 "one over both");
  app.add_option("--machine", options.machine,
                 "A machine model (JSON) in place of a preset");
  app.add_option("--tuning", options.tuning,
                 "Measured strategies (JSON), from ashlar-bench --tune");
  app.add_flag("--strict", options.strict,
               "Refuse, not ignore, a table of another machine or version; "
               "with --assembler: code that spills where it is hot");
  app.add_option("--list-strategies", options.listStrategies,
                 "Instead of a module: each contraction's strategies that are "
                 "worth measuring (JSON), to a file or -");
  app.add_option("--shape", shapes,
                 "NAME=1x3x224x224 fixes a dynamic input, NAME=Nx3x48x8*W "
                 "leaves sizes of --dim open (NAME=N,3,48,8*W where a name "
                 "has an x); repeatable");
  app.add_option("--dim", sizes,
                 "N=1..8,W=32..3200: sizes that each call chooses, by names "
                 "of --shape or the model's own; H=64..960:32: multiples of "
                 "32 only");
  app.add_option("--pieces", options.mostPieces,
                 "Where no one form serves all sizes of --dim: at most so many "
                 "programs for parts of them (16); 1: refuse")
      ->check(CLI::Range(1u, 1024u));
  app.add_option("--state", states,
                 "INPUT=OUTPUT: what an input becomes, such as the cache of "
                 "attention, is put behind it, or into it, in its own memory; "
                 "repeatable");
  app.add_flag("--exact-convolution", options.exactConvolution,
               "Convolutions as sums of products only, without transforms");
  app.add_option("--value", values,
                 "NAME=16000 or NAME=0,2 makes an input a constant of the "
                 "module; repeatable")
      ->take_all();
  app.add_option("--precision", precision,
                 "f32, bf16, f16 or auto: what values are rounded to where "
                 "named rules allow it; tf32: values are f32, matrix units "
                 "may multiply them as TF32 (f32)");
  app.add_option("--weights", weights,
                 "random:SEED: in place of large weights the module holds a "
                 "seed, of which its loader makes some; for measuring");
  app.add_option("--tolerance", tolerance,
                 "For auto: how far an output may be from f32, relative to "
                 "its largest element (1e-2)");
  app.add_option("--calibration", options.calibration,
                 "A folder of inputs, NAME.npy or NAME.pb, or folders of "
                 "such, on which errors are measured and f16's range is "
                 "checked; for auto they are made up without it");
  app.add_option("--precision-plan", options.precisionPlan,
                 "A file that says the type of each node");
  app.add_option("--write-precision-plan", options.writePrecisionPlan,
                 "Where that file is written");
  app.add_option("--fuse", fuse,
                 "none, basic or all: how much becomes one kernel (all)");
  app.add_option("--memory-budget", budget,
                 "512MiB (B, KiB, MiB, GiB): compile to fit, or refuse");
  app.add_option("--assembler", options.assembler,
                 "Makes machine code of a target's text (" +
                     describeAssemblers() +
                     "): a path, or none (what is found, else none)")
      ->type_name("PATH");
  app.add_flag("--line-tables", options.lineTables,
               "Vendors' profilers show nodes as files (cuda)");
  app.add_option(
      "--remarks", options.remarks,
      "What was decided and why: to a file (.yaml: for tools), or -");
  app.add_option("--sign-key", options.signKey,
                 "Sign the module with this key of Ed25519 (PEM), as 'openssl "
                 "genpkey -algorithm ed25519' writes it")
      ->type_name("FILE");
  app.add_option("--trace", options.trace,
                 "When its stages began and ended: to a file that "
                 "ui.perfetto.dev opens, or -")
      ->type_name("FILE");
  app.add_option("--until", until, "Stop after a stage and print the IR");
  app.add_flag("--until-locations", options.printLocations,
               "With --until: each op with the names of its nodes");
  app.add_option("--save-temps", options.saveTemps,
                 "Keep intermediate files there, a folder per program");
  app.add_option("--threads", options.threads,
                 "Threads that compile (all there are)")
      ->check(CLI::Range(1u, 4096u));
  app.add_flag("--list-operators", options.listOperators,
               "Print ONNX's operators that are imported, with opsets and "
               "types");
  app.add_flag("--list-targets", options.listTargets,
               "Print what --target takes, TARGET:PRESET a line");
  app.add_flag("--verbose", options.verbose, "Show stages with their times");
  app.add_flag("--quiet", options.quiet, "Print errors only")
      ->excludes("--verbose");
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
    std::cerr << "ashlar-compile: " << message << "\n";
    return 2;
  };
  if (std::string repeated = tools::findRepeated(app); !repeated.empty())
    return misuse(repeated);
  if (options.listOperators || options.listTargets)
    return std::nullopt;
  if (options.input.empty())
    return misuse("MODEL is required");
  for (const std::string &ranges : sizes)
    if (std::string why; !parseSizeRanges(ranges, options.sizes, why))
      return misuse("--dim=" + ranges + ": " + why);
  for (const std::string &shape : shapes) {
    std::string name;
    std::vector<int64_t> fixed;
    std::vector<std::string> open;
    bool isNew = true;
    if (parseShape(shape, name, fixed))
      isNew = options.shapes.emplace(name, fixed).second &&
              !options.symbolicShapes.count(name);
    else if (std::string why;
             parseSymbolicShape(shape, options.sizes, name, open, why)) {
      // 8*4 and numbers parted by commas are sizes as well.
      if (parseShape(name + "=" + CLI::detail::join(open, "x"), name, fixed))
        isNew = options.shapes.emplace(name, fixed).second &&
                !options.symbolicShapes.count(name);
      else
        isNew = options.symbolicShapes.emplace(name, open).second &&
                !options.shapes.count(name);
    } else
      return misuse("--shape=" + shape + ": " + why);
    if (!isNew)
      return misuse("--shape gives '" + name + "' twice");
  }
  for (const std::string &value : values) {
    std::string name;
    std::vector<std::string> numbers;
    if (!parseValue(value, name, numbers))
      return misuse("--value=" + value + ": expected NAME=16000 or NAME=0,2");
    if (!options.values.emplace(name, numbers).second)
      return misuse("--value gives '" + name + "' twice");
  }
  for (const std::string &state : states) {
    size_t equals = state.rfind('=');
    if (equals == std::string::npos || equals == 0 ||
        equals + 1 == state.size())
      return misuse("--state=" + state + ": expected INPUT=OUTPUT");
    CompileOptions::State pair = {
        state.substr(0, equals), state.substr(equals + 1), {}};
    for (const CompileOptions::State &other : options.states)
      if (other.input == pair.input || other.output == pair.output)
        return misuse("--state gives '" +
                      (other.input == pair.input ? pair.input : pair.output) +
                      "' twice");
    options.states.push_back(pair);
  }
  if (!targets.empty() && !parseTargets(targets, options.targets))
    return misuse("--target=" + targets + ": expected T[:PRESET][+...][,...]");
  if (!fuse.empty() && !parseFuseLevel(fuse, options.fuse))
    return misuse("--fuse=" + fuse + ": expected none, basic or all");
  if (!precision.empty() && !parsePrecision(precision, options))
    return misuse("--precision=" + precision +
                  ": expected f32, tf32, bf16, f16 or auto");
  if (!weights.empty() && !parseWeights(weights, options))
    return misuse("--weights=" + weights +
                  ": expected random: and a number, such as random:7");
  if (!tolerance.empty() && !parseTolerance(tolerance, options.tolerance))
    return misuse("--tolerance=" + tolerance +
                  ": expected a finite number above zero, such as 1e-2");
  if (!tolerance.empty() && !options.searchPrecision)
    return misuse("--tolerance is for --precision=auto");
  if (!options.calibration.empty() && options.precision == NumberType::F32 &&
      options.precisionPlan.empty())
    return misuse("--calibration measures what is not f32: --precision=auto, "
                  "bf16 or f16, or a --precision-plan");
  if ((options.searchPrecision || !options.calibration.empty()) &&
      options.targets.size() > 1)
    return misuse(std::string(options.searchPrecision ? "--precision=auto"
                                                      : "--calibration") +
                  " measures one program; expected one target in --target, "
                  "found " +
                  std::to_string(options.targets.size()));
  if (!precision.empty() && !options.precisionPlan.empty())
    return misuse("--precision-plan says the type of each node; leave "
                  "--precision out");
  if (!budget.empty() && !parseByteCount(budget, options.memoryBudget))
    return misuse("--memory-budget=" + budget +
                  ": expected a size such as 512MiB (B, KiB, MiB, GiB)");
  options.stopEarly = !until.empty();
  if (options.stopEarly && !parseStage(until, options.until))
    return misuse("--until=" + until +
                  ": expected import, simplify, place, precision, fuse, tile, "
                  "schedule or emit");
  if (options.printLocations && !options.stopEarly)
    return misuse("--until-locations is about what --until=STAGE prints, "
                  "which is missing");
  bool lists = !options.listStrategies.empty();
  if (lists && (options.stopEarly || !options.output.empty()))
    return misuse("--list-strategies makes no module; leave out -o and "
                  "--until");
  if (lists && options.targets.size() != 1)
    return misuse("--list-strategies is for one target; --target names " +
                  std::to_string(options.targets.size()));
  if (options.strict && options.tuning.empty() && options.assembler.empty())
    return misuse("--strict is about the table of --tuning=FILE, which is "
                  "missing, or the code of an --assembler=PATH");
  if (!emit.empty() && emit != "module" && emit != "static" &&
      emit != "riscv-object")
    return misuse("--emit=" + emit +
                  ": expected module, static or riscv-object");
  if (emit == "static" || emit == "riscv-object") {
    options.outputKind =
        emit == "static" ? OutputKind::StaticObject : OutputKind::RiscvObject;
    if (std::optional<std::string> why = whyNoObject(options))
      return misuse("--emit=" + emit + " " + *why);
  }
  if (auto *given = app.get_option("--symbol-prefix"); *given) {
    if (options.outputKind == OutputKind::Module)
      return misuse("--symbol-prefix names the function of an object; it needs "
                    "--emit=static or riscv-object");
    if (!isPrefix(options.symbolPrefix))
      return misuse("--symbol-prefix=" + options.symbolPrefix +
                    ": expected a letter, then letters, digits and _, all in "
                    "lower case, such as digits_v2");
  }
  if (!options.signKey.empty() &&
      (options.stopEarly || lists || options.outputKind != OutputKind::Module))
    return misuse("--sign-key signs a module; leave it out where none is made");
  if (options.output.empty() && !options.stopEarly && !lists)
    return misuse("-o FILE.ash is missing");
  if (options.output == "-")
    return misuse("-o -: a module is mapped when it is loaded, so it needs a "
                  "file; ./- is one of that name");
  return std::nullopt;
}
