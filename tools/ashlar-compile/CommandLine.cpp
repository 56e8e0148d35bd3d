// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the texts of the flags and refuses what does not go together.
#include "CommandLine.h"
#include "Flags.h"
#include "ParseFlags.h"
#include "ashlar/Support/Refusal.h"

using namespace ashlar;

/// What else was asked for that makes sense for modules alone.
static Refusal whyNoObject(const CompileOptions &options) {
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

static Refusal readShape(const std::string &text, CompileOptions &options) {
  std::string name;
  std::vector<int64_t> fixed;
  std::vector<std::string> open;
  bool isNew = true;
  auto addFixed = [&] {
    isNew = options.shapes.emplace(name, fixed).second &&
            !options.symbolicShapes.count(name);
  };
  if (parseShape(text, name, fixed))
    addFixed();
  else if (std::string why;
           parseSymbolicShape(text, options.sizes, name, open, why)) {
    // 8*4 and numbers parted by commas are sizes as well.
    if (parseShape(name + "=" + CLI::detail::join(open, "x"), name, fixed))
      addFixed();
    else
      isNew = options.symbolicShapes.emplace(name, open).second &&
              !options.shapes.count(name);
  } else
    return "--shape=" + text + ": " + why;
  if (!isNew)
    return "--shape gives '" + name + "' twice";
  return std::nullopt;
}

static Refusal readValue(const std::string &text, CompileOptions &options) {
  std::string name;
  std::vector<std::string> numbers;
  if (!parseValue(text, name, numbers))
    return "--value=" + text + ": expected NAME=16000 or NAME=0,2";
  if (!options.values.emplace(name, numbers).second)
    return "--value gives '" + name + "' twice";
  return std::nullopt;
}

static Refusal readState(const std::string &text, CompileOptions &options) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return "--state=" + text + ": expected INPUT=OUTPUT";
  CompileOptions::State pair = {
      text.substr(0, equals), text.substr(equals + 1), {}};
  for (const CompileOptions::State &other : options.states)
    if (other.input == pair.input || other.output == pair.output)
      return "--state gives '" +
             (other.input == pair.input ? pair.input : pair.output) + "' twice";
  options.states.push_back(pair);
  return std::nullopt;
}

static Refusal readSizes(const FlagTexts &texts, CompileOptions &options) {
  for (const std::string &ranges : texts.sizes)
    if (std::string why; !parseSizeRanges(ranges, options.sizes, why))
      return "--dim=" + ranges + ": " + why;
  for (const std::string &shape : texts.shapes)
    if (Refusal wrong = readShape(shape, options))
      return wrong;
  for (const std::string &value : texts.values)
    if (Refusal wrong = readValue(value, options))
      return wrong;
  for (const std::string &state : texts.states)
    if (Refusal wrong = readState(state, options))
      return wrong;
  return std::nullopt;
}

static Refusal readNumerics(const FlagTexts &texts, CompileOptions &options) {
  const std::string &precision = texts.precision;
  if (!precision.empty() && !parsePrecision(precision, options))
    return "--precision=" + precision +
           ": expected f32, tf32, bf16, f16 or auto";
  if (!texts.weights.empty() && !parseWeights(texts.weights, options))
    return "--weights=" + texts.weights +
           ": expected random: and a number, such as random:7";
  if (!texts.tolerance.empty() &&
      !parseTolerance(texts.tolerance, options.tolerance))
    return "--tolerance=" + texts.tolerance +
           ": expected a finite number above zero, such as 1e-2";
  if (!texts.tolerance.empty() && !options.searchPrecision)
    return "--tolerance is for --precision=auto";
  if (!options.calibration.empty() && options.precision == NumberType::F32 &&
      options.precisionPlan.empty())
    return "--calibration measures what is not f32: --precision=auto, bf16 or "
           "f16, or a --precision-plan";
  bool measures = options.searchPrecision || !options.calibration.empty();
  if (measures && options.targets.size() > 1)
    return std::string(options.searchPrecision ? "--precision=auto"
                                               : "--calibration") +
           " measures one program; expected one target in --target, found " +
           std::to_string(options.targets.size());
  if (!precision.empty() && !options.precisionPlan.empty())
    return "--precision-plan says the type of each node; leave --precision "
           "out";
  return std::nullopt;
}

static Refusal readStage(const FlagTexts &texts, CompileOptions &options) {
  options.stopEarly = !texts.until.empty();
  if (options.stopEarly && !parseStage(texts.until, options.until))
    return "--until=" + texts.until +
           ": expected import, simplify, place, precision, fuse, tile, "
           "schedule or emit";
  if (options.printLocations && !options.stopEarly)
    return "--until-locations is about what --until=STAGE prints, which is "
           "missing";
  return std::nullopt;
}

static Refusal checkTables(const CompileOptions &options) {
  bool lists = !options.listStrategies.empty();
  if (lists && (options.stopEarly || !options.output.empty()))
    return "--list-strategies makes no module; leave out -o and --until";
  if (lists && options.targets.size() != 1)
    return "--list-strategies is for one target; --target names " +
           std::to_string(options.targets.size());
  return std::nullopt;
}

static Refusal readObject(const std::string &emit, bool hasPrefix,
                          CompileOptions &options) {
  if (!emit.empty() && emit != "module" && emit != "static" &&
      emit != "riscv-object")
    return "--emit=" + emit + ": expected module, static or riscv-object";
  if (emit == "static" || emit == "riscv-object") {
    options.outputKind =
        emit == "static" ? OutputKind::StaticObject : OutputKind::RiscvObject;
    if (Refusal why = whyNoObject(options))
      return "--emit=" + emit + " " + *why;
  }
  if (!hasPrefix)
    return std::nullopt;
  if (options.outputKind == OutputKind::Module)
    return "--symbol-prefix names the function of an object; it needs "
           "--emit=static or riscv-object";
  if (!isPrefix(options.symbolPrefix))
    return "--symbol-prefix=" + options.symbolPrefix +
           ": expected a letter, then letters, digits and _, all in lower "
           "case, such as digits_v2";
  return std::nullopt;
}

static Refusal checkOutput(const CompileOptions &options) {
  bool lists = !options.listStrategies.empty();
  if (!options.signKey.empty() &&
      (options.stopEarly || lists || options.outputKind != OutputKind::Module))
    return "--sign-key signs a module; leave it out where none is made";
  if (options.output.empty() && !options.stopEarly && !lists)
    return "-o FILE.ash is missing";
  if (options.output == "-")
    return "-o -: a module is mapped when it is loaded, so it needs a file; "
           "./- is one of that name";
  return std::nullopt;
}

/// In the order in which people would look for what is wrong.
static Refusal readTexts(const FlagTexts &texts, bool hasPrefix,
                         CompileOptions &options) {
  if (options.input.empty())
    return "MODEL is required";
  if (Refusal wrong = readSizes(texts, options))
    return wrong;
  if (!texts.targets.empty() && !parseTargets(texts.targets, options.targets))
    return "--target=" + texts.targets + ": expected T[:PRESET][+...][,...]";
  if (!texts.fuse.empty() && !parseFuseLevel(texts.fuse, options.fuse))
    return "--fuse=" + texts.fuse + ": expected none, basic or all";
  if (Refusal wrong = readNumerics(texts, options))
    return wrong;
  if (!texts.budget.empty() &&
      !parseByteCount(texts.budget, options.memoryBudget))
    return "--memory-budget=" + texts.budget +
           ": expected a size such as 512MiB (B, KiB, MiB, GiB)";
  if (Refusal wrong = readStage(texts, options))
    return wrong;
  if (Refusal wrong = checkTables(options))
    return wrong;
  if (Refusal wrong = readObject(texts.emit, hasPrefix, options))
    return wrong;
  return checkOutput(options);
}

std::optional<int> ashlar::parseCommandLine(int argc, char **argv,
                                            CompileOptions &options) {
  CLI::App app{"", "ashlar-compile"};
  FlagTexts texts;
  declareFlags(app, options, texts);
  return tools::parseFlags(app, argc, argv, [&]() -> Refusal {
    if (options.listOperators || options.listTargets)
      return std::nullopt;
    return readTexts(texts, bool(*app.get_option("--symbol-prefix")), options);
  });
}
