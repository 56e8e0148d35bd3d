// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileForSizes.h"
#include "CompilePieces.h"
#include "SizeSearch.h"
#include "SizedCompilation.h"
#include "States.h"
#include "ashlar/Import/ONNX/Import.h"

using namespace mlir;
using namespace ashlar;

/// Whether one form serves all sizes, short of its code.
static bool canCompile(const CompileOptions &options, const CompileHooks &hooks,
                       ProgressLine &progress) {
  CompileOptions trial = options;
  trial.stopEarly = true;
  trial.until = Stage::Schedule;
  trial.remarks.clear();
  trial.listStrategies.clear();
  trial.writePrecisionPlan.clear();
  trial.saveTemps.clear();
  trial.memoryBudget = 0;
  trial.verbose = false;
  trial.quiet = true;
  CompileHooks silent = hooks;
  silent.printsIR = false;
  SizedCompilation compilation(trial, silent, llvm::nulls(), llvm::nulls(),
                               llvm::nulls(), &progress);
  return compilation.study().status == CompileStatus::Done &&
         compilation.write(llvm::nulls(), silent).status == CompileStatus::Done;
}

/// Names what could be asked for instead.
static void suggestRanges(const CompileOptions &options,
                          const CompileHooks &hooks, llvm::raw_ostream &log) {
  std::vector<SizeRange> ranges;
  // Each is many compiles; a user who waits that long has given up.
  constexpr unsigned mostTrials = 60;
  unsigned trials = 0;
  {
    if (options.verbose)
      log << "looking for ranges that work ...\n";
    log.flush();
    ProgressLine progress(log, !options.verbose, hooks.begin);
    auto works = [&](const std::vector<SizeRange> &sizes) {
      if (trials == mostTrials)
        return false;
      ++trials;
      CompileOptions smaller = options;
      smaller.sizes = sizes;
      return canCompile(smaller, hooks, progress);
    };
    CompileOptions quiet = options;
    quiet.quiet = true;
    auto compilation = [&] {
      return SizedCompilation(quiet, hooks, llvm::nulls(), llvm::nulls(),
                              llvm::nulls(), &progress);
    };
    auto compiles = [&](const SizePoint &point) {
      return compilation().canBeRead(point);
    };
    auto growsEvenly = [&](const SizePoint &point, size_t symbol,
                           int64_t step) {
      return compilation().growsEvenly(point, symbol, step);
    };
    ranges = findWorkingRanges(
        options.sizes,
        {works, compiles, readONNXIntegers(options.input), growsEvenly});
  }
  // A model that is none at any size has been refused as such.
  if (ranges.empty() && trials == 0)
    return;
  if (ranges.empty()) {
    log << "note: no range was found that works; fix the sizes with --shape\n";
    return;
  }
  std::string text, steps;
  for (auto [range, wanted] : llvm::zip(ranges, options.sizes)) {
    text += (text.empty() ? "" : ",") + range.text();
    if (range.step != wanted.step)
      steps += (steps.empty() ? "" : ", of ") + range.name + " multiples of " +
               std::to_string(range.step) + " alone";
  }
  log << "note: the largest that was found to work is --dim=" << text
      << (steps.empty() ? "" : ": of " + steps) << "\n";
}

/// One form for all sizes, or several. Prints what is wrong, unless that is to
/// be tried again in another way.
static FormTrial tryForSizes(const CompileOptions &options,
                             const CompileHooks &hooks, llvm::raw_ostream &out,
                             llvm::raw_ostream &log) {
  FormTrial found;
  if (auto zero = cutAtZero(options.sizes)) {
    found.result.status = CompileStatus::Refused;
    found.trial = {SizeTrial::Differs, zero};
    found.said = "error: --dim=" + options.sizes[zero->symbol].text() +
                 ": expected a program for a size of zero beside those for "
                 "others, found that not all can be made; begin at " +
                 std::to_string(zero->first) + "\n";
  } else {
    found = compileOneForm(options, hooks, out, log);
  }
  bool makesFile = options.outputKind == OutputKind::Module &&
                   options.listStrategies.empty();
  if (found.trial.outcome == SizeTrial::Differs && options.mostPieces > 1 &&
      makesFile)
    found = compilePieces(options, hooks, found, out, log);
  return found;
}

CompileResult ashlar::compileForSizes(const CompileOptions &given,
                                      const CompileHooks &givenHooks,
                                      llvm::raw_ostream &out,
                                      llvm::raw_ostream &log) {
  CompileOptions options = given;
  CompileHooks hooks = givenHooks;
  // Who waits for many parts waits once.
  if (!hooks.begin)
    hooks.begin = std::chrono::steady_clock::now();
  if (CompileResult read = findLargestStates(options, hooks, log);
      read.status != CompileStatus::Done)
    return read;
  FormTrial found = tryForSizes(options, hooks, out, log);
  if (found.result.status == CompileStatus::Refused &&
      options.memoryBudget != 0 && !options.exactConvolution) {
    // Transformed weights may be what is too much.
    CompileOptions exact = options;
    exact.exactConvolution = true;
    found = tryForSizes(exact, hooks, out, log);
  }
  log << found.said;
  // Who wants errors only may not want to wait for more.
  if (found.wantsRanges && !options.quiet)
    suggestRanges(options, hooks, log);
  return found.result;
}
