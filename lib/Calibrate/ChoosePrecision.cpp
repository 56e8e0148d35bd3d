// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program that rounds wherever an input of its own says so is run many
// times: with one site on, for what each is worth; with the sites that a plan
// leaves, for what the plan is worth. Only the plan that is chosen is compiled,
// and only what its program was measured to do is reported. How much is tried
// depends on the model's size and not on a clock, so that equal input gives
// equal bytes.
#include "ashlar/Calibrate/ChoosePrecision.h"
#include "Calibration.h"
#include "RemovalOrder.h"
#include "SimulatedPlans.h"
#include "UnseenError.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;

/// Of the tolerance, what a plan is to use up; that much of it is enough.
static constexpr double margin = 0.95, enough = 0.85;
/// Plans that are compiled before the best of them is taken.
static constexpr unsigned mostPlans = 6;
/// Cycles that may be spent on running the model, and the fewest and most runs.
static constexpr double searchCycles = 1.5e11;
static constexpr size_t fewestRuns = 32, mostRuns = 512;

namespace {
/// What a plan is worth, as its own program was measured.
struct Measured {
  std::vector<bool> isWide; ///< by node
  /// Nodes that could be low and have nothing low around them; by node.
  std::vector<bool> isLone;
  std::vector<double> outputErrors;
  double unseen = 0; ///< what other inputs are expected to stay below
};

class Search {
public:
  Search(const CompileOptions &options, const CalibrationInputs &given,
         const std::function<void(const std::string &)> &progress)
      : options(options), runs(options, given, progress), simulation(runs) {}

  Error run();

  PrecisionPlan plan;
  std::vector<std::string> report;
  /// "search: 4 programs compiled in 12.0 s, 310 runs of the model..."
  std::string describeTime() const {
    return formatv("search: {0} programs compiled in {1:f1} s, {2} runs of "
                   "the model with roundings in {3:f1} s",
                   runs.programCount(), runs.compileSeconds(),
                   simulation.runCount(), simulation.seconds());
  }
  CompileResult refusal() const { return runs.refusal(); }

private:
  /// Whether the program in which the nodes that are not `wide` are low keeps
  /// the target, on inputs that nobody has seen, too.
  Expected<bool> keepsTarget(const std::vector<bool> &wideNodes) {
    return simulation.keeps(simulation.sitesWithout(wideNodes), target);
  }
  Error measureSites();
  Error choose();
  Error tryAgain();
  Error search();
  Error measurePlan();
  double gainOf(const std::vector<bool> &wideNodes) const;
  void findLone(const PrecisionDecisions &compiled);
  void writePlan();
  void writeReport();
  const PrecisionDecisions &decisions() const { return simulation.decisions(); }

  const CompileOptions &options;
  Calibration runs;
  ModelRun wide;
  SimulatedPlans simulation;
  std::vector<double> siteErrors;
  double target = 0;           ///< for the simulation
  std::vector<unsigned> order; ///< nodes, the first to become f32 first
  Measured current;
  size_t tries = fewestRuns; ///< of the model, for each part of the search
};
} // namespace

/// On the input that suffers most when all is low: another may be one on which
/// nothing shows. Several sites at a time where there are more than runs.
Error Search::measureSites() {
  size_t count = decisions().sites.size();
  siteErrors.assign(count, 0);
  size_t together = (count + tries - 1) / tries;
  double worst = -1;
  size_t hardest = 0;
  for (size_t set = 0; set != simulation.searchSets(); ++set) {
    Expected<double> all =
        simulation.errorOf(std::vector<bool>(count, true), set);
    if (!all)
      return all.takeError();
    if (*all > worst) {
      worst = *all;
      hardest = set;
    }
  }
  for (size_t first = 0; first < count; first += together) {
    runs.say(formatv("measuring rounding {0} of {1}", first + 1, count));
    size_t end = std::min(count, first + together);
    std::vector<bool> sites(count, false);
    std::fill(sites.begin() + first, sites.begin() + end, true);
    Expected<double> error = simulation.errorOf(sites, hardest);
    if (!error)
      return error.takeError();
    // What is not finite is worse than anything that is.
    double found = std::isfinite(*error) ? *error : 1e6;
    for (size_t site = first; site != end; ++site)
      siteErrors[site] = found / std::sqrt(double(end - first));
  }
  return Error::success();
}

/// The fewest nodes of the order that have to be f32.
Error Search::choose() {
  auto without = [&](size_t count) {
    std::vector<bool> nodes(decisions().nodes.size(), false);
    for (size_t i = 0; i != count; ++i)
      nodes[order[i]] = true;
    return nodes;
  };
  size_t bad = 0, good = order.size();
  current.isWide = without(0);
  Expected<bool> all = keepsTarget(current.isWide);
  if (!all)
    return all.takeError();
  if (*all)
    return Error::success();
  while (good - bad > 1) {
    size_t middle = bad + (good - bad) / 2;
    runs.say(formatv("trying {0} of {1} nodes in f32", middle, order.size()));
    Expected<bool> keeps = keepsTarget(without(middle));
    if (!keeps)
      return keeps.takeError();
    (*keeps ? good : bad) = middle;
  }
  current.isWide = without(good);
  return Error::success();
}

/// Whichever nodes of f32 can be low after all, those first that save most for
/// the error that they bring back.
Error Search::tryAgain() {
  std::vector<unsigned> again;
  for (unsigned node : llvm::reverse(order))
    if (current.isWide[node])
      again.push_back(node);
  size_t end = simulation.runCount() + tries;
  for (auto [i, node] : llvm::enumerate(again)) {
    if (simulation.runCount() >= end)
      break;
    runs.say(formatv("trying {0} of {1} nodes in {2} again", i + 1,
                     again.size(), spell(options.precision)));
    current.isWide[node] = false;
    Expected<bool> keeps = keepsTarget(current.isWide);
    if (!keeps)
      return keeps.takeError();
    current.isWide[node] = !*keeps;
  }
  return Error::success();
}

void Search::writePlan() {
  plan.nodes.clear();
  for (auto [i, node] : llvm::enumerate(decisions().nodes)) {
    PrecisionPlan::Line line;
    line.type =
        current.isWide[i] || current.isLone[i] ? NumberType::F32 : node.byRule;
    if (current.isLone[i])
      line.reason = "all around it is f32";
    if (current.isWide[i])
      line.reason =
          formatv("f32 for the tolerance: alone it moves an output by "
                  "{0:e1}",
                  errorOfNode(decisions(), siteErrors, i));
    plan.nodes[node.name] = line;
  }
}

/// Nodes of which nothing became low; the program is the same when they are
/// f32.
void Search::findLone(const PrecisionDecisions &compiled) {
  llvm::StringMap<bool> isLow;
  for (const PrecisionNode &node : compiled.nodes)
    isLow[node.name] = node.isLow;
  for (auto [i, node] : llvm::enumerate(decisions().nodes))
    current.isLone[i] = !current.isWide[i] && node.byRule != NumberType::F32 &&
                        !isLow.lookup(node.name);
}

double Search::gainOf(const std::vector<bool> &wideNodes) const {
  double gain = 0;
  for (auto [node, wide] : llvm::zip(decisions().nodes, wideNodes))
    gain += wide ? 0 : node.gain;
  return gain;
}

/// Compiles the program of the plan and measures it.
Error Search::measurePlan() {
  current.isLone.assign(decisions().nodes.size(), false);
  writePlan();
  CompileHooks hooks;
  PrecisionDecisions compiled;
  hooks.precisionPlan = &plan;
  hooks.decisions = &compiled;
  auto errors = runs.measure(options.precision, hooks);
  if (!errors)
    return errors.takeError();
  current.outputErrors = worstOfInputs(*errors);
  current.unseen = 0;
  for (const std::vector<double> &ofOutput : *errors)
    current.unseen = std::max(current.unseen, unseenError(ofOutput));
  findLone(compiled);
  writePlan();
  return Error::success();
}

/// What the simulation is held to follows from how far the program is from it:
/// fusion keeps more in registers than is known here. The best plan whose
/// program keeps the tolerance is taken; where none does, an eighth of what is
/// low becomes f32, and in the end all of it.
Error Search::search() {
  std::optional<Measured> best;
  target = options.tolerance * margin;
  bool isLarger = false;
  for (unsigned tried = 0; tried != mostPlans; ++tried) {
    // What kept a smaller target keeps a larger one.
    if (Error error = isLarger ? Error::success() : choose())
      return error;
    std::vector<bool> before = current.isWide;
    if (Error error = tryAgain())
      return error;
    if (isLarger && current.isWide == before)
      break;
    if (Error error = measurePlan())
      return error;
    bool keeps = current.unseen <= options.tolerance;
    if (keeps && (!best || gainOf(current.isWide) > gainOf(best->isWide)))
      best = current;
    bool isAll =
        llvm::none_of(order, [&](unsigned n) { return current.isWide[n]; });
    if (keeps && (isAll || current.unseen >= options.tolerance * enough))
      break;
    double by = options.tolerance * margin / std::max(current.unseen, 1e-30);
    by = std::isfinite(current.unseen) ? std::clamp(by, 0.25, 2.0) : 0.25;
    isLarger = by >= 1;
    target *= by;
  }
  if (best) {
    current = *best;
    writePlan();
    return Error::success();
  }
  for (;;) {
    std::vector<unsigned> low;
    for (unsigned node : order)
      if (!current.isWide[node])
        low.push_back(node);
    if (current.unseen <= options.tolerance || low.empty())
      return Error::success();
    for (unsigned node : llvm::ArrayRef(low).take_front((low.size() + 7) / 8))
      current.isWide[node] = true;
    if (Error error = measurePlan())
      return error;
  }
}

void Search::writeReport() {
  size_t low = 0, all = 0;
  std::vector<unsigned> culprits, sensitive;
  for (auto [i, node] : llvm::enumerate(decisions().nodes)) {
    if (node.byRule == NumberType::F32)
      continue;
    ++all;
    low += !current.isWide[i] && !current.isLone[i];
    if (current.isWide[i])
      culprits.push_back(i);
    sensitive.push_back(i);
  }
  report.push_back(formatv(
      "auto: {0} of {1} nodes that rules allow are {2}, for a tolerance of "
      "{3:e1}",
      low, all, spell(options.precision), options.tolerance));
  report.push_back(runs.describeInputs());
  for (auto [i, error] : llvm::enumerate(current.outputErrors))
    report.push_back(runs.describeError(i, error) +
                     (error > options.tolerance
                          ? ", over the tolerance although all is f32"
                          : ""));
  if (current.unseen > 0 && current.unseen <= options.tolerance)
    report.push_back(formatv(
        "of other inputs like these, 99 in 100 are expected to stay below "
        "{0:e1}",
        current.unseen));
  llvm::stable_sort(sensitive, [&](unsigned x, unsigned y) {
    return errorOfNode(decisions(), siteErrors, x) >
           errorOfNode(decisions(), siteErrors, y);
  });
  for (unsigned node : llvm::ArrayRef(sensitive).take_front(10))
    report.push_back(
        formatv("sensitive: '{0}' moves an output by {1:e1} alone; "
                "it is {2}",
                decisions().nodes[node].name,
                errorOfNode(decisions(), siteErrors, node),
                spell(current.isWide[node] || current.isLone[node]
                          ? NumberType::F32
                          : options.precision)));
  if (!culprits.empty())
    report.push_back("f32 for the tolerance: " +
                     namesOf(decisions(), culprits));
}

Error Search::run() {
  runs.say("compiling for f32");
  if (Error error = runs.prepare(wide, NumberType::F32, {}))
    return error;
  runs.say("compiling a program to search with");
  if (Error error = simulation.prepare(options.precision))
    return error;
  if (Error error = runs.runWide(wide, decisions()))
    return error;
  double affordable = searchCycles / std::max(decisions().cycles, 1.0);
  tries = size_t(std::clamp(affordable, double(fewestRuns), double(mostRuns)));
  current.isWide.assign(decisions().nodes.size(), false);
  current.isLone = current.isWide;
  if (Error error = measureSites())
    return error;
  order = removalOrder(decisions(), siteErrors);
  if (Error error = search())
    return error;
  writeReport();
  return Error::success();
}

CompileResult ashlar::compileWithinTolerance(
    const CompileOptions &options, const CalibrationInputs &inputs,
    const std::function<void(const std::string &)> &progress,
    llvm::raw_ostream &out, llvm::raw_ostream &log) {
  CompileHooks hooks;
  PrecisionPlan plan;
  {
    // Its programs are gone before the last compile begins.
    Search search(options, inputs, progress);
    if (Error error = search.run()) {
      log << "error: --precision=auto: " << llvm::toString(std::move(error))
          << "\n";
      return search.refusal();
    }
    if (options.verbose)
      log << search.describeTime() << "\n";
    plan = search.plan;
    hooks.precisionReport = search.report;
  }
  hooks.precisionPlan = &plan;
  return compileMeasured(options, hooks, progress, out, log);
}
