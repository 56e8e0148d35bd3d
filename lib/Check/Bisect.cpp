// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunBoth.h"

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;

namespace {
class Bisection {
public:
  Bisection(const AgainstOptions &options, const CompileHooks &planted)
      : options(options), planted(planted) {}

  Error run();
  BisectReport report;

private:
  /// Compiles and runs in one way; whether the outputs are right.
  Expected<bool> attempt(const std::string &name, const CompileOptions &compile,
                         unsigned steps);
  Error bisectFusion();
  Error bisectPasses();

  const AgainstOptions &options;
  const CompileHooks &planted;
  Tensors inputs, expected;
};
} // namespace

Expected<bool> Bisection::attempt(const std::string &name,
                                  const CompileOptions &compile,
                                  unsigned steps) {
  ModelRun model;
  CompileHooks hooks = planted;
  hooks.steps = steps;
  if (Error error = prepare(model, compile, hooks))
    return error;
  auto found = model.run(inputs);
  if (!found)
    return found.takeError();
  BisectReport::Trial trial{name, true, ""};
  if (auto wrong = findWrongOutput(*found, expected, options.tolerance)) {
    trial.right = false;
    trial.why = "output '" + wrong->name + "', " + spellWorst(*wrong);
  }
  report.trials.push_back(trial);
  return trial.right;
}

Error Bisection::bisectFusion() {
  const std::pair<FuseLevel, const char *> levels[] = {
      {FuseLevel::None, "--fuse=none"},
      {FuseLevel::Basic, "--fuse=basic"},
      {FuseLevel::All, "--fuse=all"}};
  for (auto [level, name] : levels) {
    AgainstOptions at = options;
    at.compile.fuse = level;
    Expected<bool> right = attempt(name, at.compile, numSteps);
    if (!right)
      return right.takeError();
    if (*right)
      continue;
    // Which of its kernels, and so which fusion.
    Expected<AgainstReport> kernels = compareWithReference(at, planted);
    if (!kernels)
      return kernels.takeError();
    report.kernels = std::move(*kernels);
    return Error::success();
  }
  return Error::success();
}

/// From no step to all: the first that makes the outputs wrong is not always
/// the only one, so none is skipped.
Error Bisection::bisectPasses() {
  for (unsigned steps = 0; steps <= numSteps; ++steps) {
    std::string name =
        steps == 0 ? "import, simplify" : stepName(PipelineStep(steps - 1));
    Expected<bool> right = attempt(name, options.compile, steps);
    if (!right)
      return right.takeError();
    if (!*right)
      return Error::success();
  }
  return Error::success();
}

Error Bisection::run() {
  ModelRun reference;
  if (Error error = prepare(reference, asReference(options.compile)))
    return error;
  auto made = makeInputs(options, reference);
  if (!made)
    return made.takeError();
  inputs = std::move(*made);
  auto results = reference.run(inputs);
  if (!results)
    return results.takeError();
  expected = std::move(*results);
  return options.bisect == Bisect::Fusion ? bisectFusion() : bisectPasses();
}

Expected<BisectReport> ashlar::check::bisect(const AgainstOptions &options,
                                             const CompileHooks &planted) {
  Bisection bisection(options, planted);
  if (Error error = bisection.run())
    return error;
  return std::move(bisection.report);
}

std::string ashlar::check::spell(const BisectReport &report) {
  std::string text, last;
  for (const BisectReport::Trial &trial : report.trials) {
    text += "with " + trial.name + ": " +
            (trial.right ? "right" : "wrong: " + trial.why) + "\n";
    if (!trial.right)
      last = trial.name;
  }
  if (last.empty())
    return text + "passed: nothing makes it wrong\n";
  text += "failed: " + last + " makes it wrong first\n";
  if (report.kernels)
    text += spell(*report.kernels);
  return text;
}
