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
static constexpr unsigned mostPlans = 4;
/// Cycles that may be spent on running the model, and the fewest and most runs.
static constexpr double searchCycles = 1.5e11;
static constexpr size_t fewestRuns = 32, mostRuns = 512;

namespace {
class Search {
public:
  Search(const CompileOptions &options, const CalibrationInputs &given,
         const std::function<void(const std::string &)> &progress)
      : options(options), runs(options, given, progress) {}

  Error run();

  PrecisionPlan plan;
  std::vector<std::string> report;
  CompileResult refusal() const { return runs.refusal(); }

private:
  /// The worst error of any output on one input.
  Expected<double> simulate(const Tensor &flags, size_t set);
  /// The program in which the nodes that are not `wide` are low, on each input.
  Expected<std::vector<double>>
  simulateWithout(const std::vector<bool> &wideNodes);
  /// Whether that keeps the target, on inputs that nobody has seen, too.
  Expected<bool> keepsTarget(const std::vector<bool> &wideNodes);
  Error measureSites();
  Error choose();
  Error search();
  Error measurePlan();
  double gainOf(const std::vector<bool> &wideNodes) const;
  void findLone(const PrecisionDecisions &compiled);
  void writePlan();
  void writeReport();

  const CompileOptions &options;
  Calibration runs;
  ModelRun wide, simulation;
  PrecisionDecisions decisions;
  std::vector<double> siteErrors, outputErrors;
  double unseen = 0;           ///< what other inputs are expected to stay below
  double target = 0;           ///< for the simulation
  std::vector<unsigned> order; ///< nodes, the first to become f32 first
  std::vector<bool> isWide;    ///< by node
  /// Nodes that could be low and have nothing low around them; by node.
  std::vector<bool> isLone;
  size_t tries = fewestRuns; ///< of the model, for each part of the search
};
} // namespace

/// The input that says which sites round.
static Tensor switches(const std::vector<float> &flags) {
  Tensor tensor;
  tensor.type = ASHLAR_TYPE_F32;
  tensor.shape = {int64_t(flags.size())};
  const char *bytes = reinterpret_cast<const char *>(flags.data());
  tensor.bytes.assign(bytes, bytes + flags.size() * sizeof(float));
  return tensor;
}

Expected<double> Search::simulate(const Tensor &flags, size_t set) {
  Calibration::Tensors tensors = runs.input(set);
  tensors.push_back(flags);
  Expected<Calibration::Tensors> found = simulation.run(tensors);
  if (!found)
    return found.takeError();
  double worst = 0;
  for (auto [is, should] : llvm::zip(*found, runs.output(set)))
    worst = std::max(worst, errorOf(is, should));
  return worst;
}

Expected<std::vector<double>>
Search::simulateWithout(const std::vector<bool> &wideNodes) {
  std::vector<float> flags;
  for (const PrecisionSite &site : decisions.sites)
    flags.push_back(llvm::none_of(
        site.nodes, [&](unsigned node) { return wideNodes[node]; }));
  std::vector<double> errors;
  for (size_t set = 0; set != runs.sets(); ++set) {
    Expected<double> error = simulate(switches(flags), set);
    if (!error)
      return error.takeError();
    errors.push_back(*error);
  }
  return errors;
}

Expected<bool> Search::keepsTarget(const std::vector<bool> &wideNodes) {
  auto errors = simulateWithout(wideNodes);
  if (!errors)
    return errors.takeError();
  return unseenError(*errors) <= target;
}

/// On the input that suffers most when all is low: another may be one on which
/// nothing shows. Several sites at a time where there are more than runs.
Error Search::measureSites() {
  size_t count = decisions.sites.size();
  siteErrors.assign(count, 0);
  size_t together = (count + tries - 1) / tries;
  auto all = simulateWithout(std::vector<bool>(decisions.nodes.size(), false));
  if (!all)
    return all.takeError();
  size_t set = llvm::max_element(*all) - all->begin();
  for (size_t first = 0; first < count; first += together) {
    runs.say(formatv("measuring rounding {0} of {1}", first + 1, count));
    size_t end = std::min(count, first + together);
    std::vector<float> flags(count, 0);
    std::fill(flags.begin() + first, flags.begin() + end, 1);
    Expected<double> error = simulate(switches(flags), set);
    if (!error)
      return error.takeError();
    // What is not finite is worse than anything that is.
    double found = std::isfinite(*error) ? *error : 1e6;
    for (size_t site = first; site != end; ++site)
      siteErrors[site] = found / std::sqrt(double(end - first));
  }
  return Error::success();
}

/// The fewest nodes of the order that have to be f32; then whichever of them
/// can be low after all, those that save most first.
Error Search::choose() {
  auto without = [&](size_t count) {
    std::vector<bool> nodes(decisions.nodes.size(), false);
    for (size_t i = 0; i != count; ++i)
      nodes[order[i]] = true;
    return nodes;
  };
  size_t bad = 0, good = order.size();
  isWide = without(0);
  Expected<bool> all = keepsTarget(isWide);
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
  isWide = without(good);
  std::vector<unsigned> again(order.begin(), order.begin() + good);
  llvm::stable_sort(again, [&](unsigned x, unsigned y) {
    return decisions.nodes[x].gain > decisions.nodes[y].gain;
  });
  // Each try runs all sets.
  size_t count = std::min(again.size(), tries / runs.sets());
  for (size_t i = 0; i != count; ++i) {
    runs.say(formatv("trying {0} of {1} nodes in bf16 again", i + 1, count));
    isWide[again[i]] = false;
    Expected<bool> keeps = keepsTarget(isWide);
    if (!keeps)
      return keeps.takeError();
    isWide[again[i]] = !*keeps;
  }
  return Error::success();
}

void Search::writePlan() {
  plan.nodes.clear();
  for (auto [i, node] : llvm::enumerate(decisions.nodes)) {
    PrecisionPlan::Line line;
    line.type = isWide[i] || isLone[i] ? NumberType::F32 : node.byRule;
    if (isLone[i])
      line.reason = "all around it is f32";
    if (isWide[i])
      line.reason =
          formatv("f32 for the tolerance: alone it moves an output by "
                  "{0:e1}",
                  errorOfNode(decisions, siteErrors, i));
    plan.nodes[node.name] = line;
  }
}

/// Nodes of which nothing became low; the program is the same when they are
/// f32.
void Search::findLone(const PrecisionDecisions &compiled) {
  llvm::StringMap<bool> isLow;
  for (const PrecisionNode &node : compiled.nodes)
    isLow[node.name] = node.isLow;
  for (auto [i, node] : llvm::enumerate(decisions.nodes))
    isLone[i] = !isWide[i] && node.byRule != NumberType::F32 &&
                !isLow.lookup(node.name);
}

double Search::gainOf(const std::vector<bool> &wideNodes) const {
  double gain = 0;
  for (auto [node, wide] : llvm::zip(decisions.nodes, wideNodes))
    gain += wide ? 0 : node.gain;
  return gain;
}

/// Compiles the program of the plan and measures it.
Error Search::measurePlan() {
  runs.say("compiling and measuring the program");
  isLone.assign(decisions.nodes.size(), false);
  writePlan();
  CompileHooks hooks;
  PrecisionDecisions compiled;
  hooks.precisionPlan = &plan;
  hooks.decisions = &compiled;
  ModelRun mixed;
  if (Error error = runs.prepare(mixed, options.precision, hooks))
    return error;
  auto errors = runs.errorsOf(mixed);
  if (!errors)
    return errors.takeError();
  outputErrors = worstOfInputs(*errors);
  unseen = 0;
  for (const std::vector<double> &ofOutput : *errors)
    unseen = std::max(unseen, unseenError(ofOutput));
  findLone(compiled);
  writePlan();
  return Error::success();
}

/// What the simulation is held to follows from how far the program is from it:
/// fusion keeps more in registers than is known here. The best plan whose
/// program keeps the tolerance is taken; where none does, an eighth of what is
/// low becomes f32, and in the end all of it.
Error Search::search() {
  std::optional<std::vector<bool>> best;
  target = options.tolerance * margin;
  for (unsigned tried = 0; tried != mostPlans; ++tried) {
    if (Error error = choose())
      return error;
    if (Error error = measurePlan())
      return error;
    bool keeps = unseen <= options.tolerance;
    if (keeps && (!best || gainOf(isWide) > gainOf(*best)))
      best = isWide;
    bool isAll = llvm::none_of(order, [&](unsigned n) { return isWide[n]; });
    if (keeps && (isAll || unseen >= options.tolerance * enough))
      break;
    double by = options.tolerance * margin / std::max(unseen, 1e-30);
    target *= std::isfinite(unseen) ? std::clamp(by, 0.25, 2.0) : 0.25;
  }
  if (best) {
    if (isWide == *best)
      return Error::success();
    isWide = *best;
    return measurePlan();
  }
  for (;;) {
    std::vector<unsigned> low;
    for (unsigned node : order)
      if (!isWide[node])
        low.push_back(node);
    if (unseen <= options.tolerance || low.empty())
      return Error::success();
    for (unsigned node : llvm::ArrayRef(low).take_front((low.size() + 7) / 8))
      isWide[node] = true;
    if (Error error = measurePlan())
      return error;
  }
}

void Search::writeReport() {
  size_t low = 0, all = 0;
  std::vector<unsigned> culprits, sensitive;
  for (auto [i, node] : llvm::enumerate(decisions.nodes)) {
    if (node.byRule == NumberType::F32)
      continue;
    ++all;
    low += !isWide[i] && !isLone[i];
    if (isWide[i])
      culprits.push_back(i);
    sensitive.push_back(i);
  }
  report.push_back(formatv(
      "auto: {0} of {1} nodes that rules allow are {2}, for a tolerance of "
      "{3:e1}",
      low, all, spell(options.precision), options.tolerance));
  report.push_back(runs.describeInputs());
  for (auto [i, error] : llvm::enumerate(outputErrors))
    report.push_back(runs.describeError(i, error) +
                     (error > options.tolerance
                          ? ", over the tolerance although all is f32"
                          : ""));
  if (unseen > 0 && unseen <= options.tolerance)
    report.push_back(formatv(
        "of other inputs like these, 99 in 100 are expected to stay below "
        "{0:e1}",
        unseen));
  llvm::stable_sort(sensitive, [&](unsigned x, unsigned y) {
    return errorOfNode(decisions, siteErrors, x) >
           errorOfNode(decisions, siteErrors, y);
  });
  for (unsigned node : llvm::ArrayRef(sensitive).take_front(10))
    report.push_back(formatv(
        "sensitive: '{0}' moves an output by {1:e1} alone; "
        "it is {2}",
        decisions.nodes[node].name, errorOfNode(decisions, siteErrors, node),
        spell(isWide[node] || isLone[node] ? NumberType::F32
                                           : options.precision)));
  if (culprits.empty())
    return;
  std::string names;
  for (unsigned node : llvm::ArrayRef(culprits).take_front(10))
    names += (names.empty() ? "'" : ", '") + decisions.nodes[node].name + "'";
  if (culprits.size() > 10)
    names += formatv(" and {0} more", culprits.size() - 10);
  report.push_back("f32 for the tolerance: " + names);
}

Error Search::run() {
  runs.say("compiling for f32");
  if (Error error = runs.prepare(wide, NumberType::F32, {}))
    return error;
  runs.say("compiling a program to search with");
  CompileHooks hooks;
  hooks.simulatePrecision = true;
  hooks.decisions = &decisions;
  if (Error error = runs.prepare(simulation, options.precision, hooks))
    return error;
  if (Error error = runs.runWide(wide, decisions))
    return error;
  double affordable = searchCycles / std::max(decisions.cycles, 1.0);
  tries = size_t(std::clamp(affordable, double(fewestRuns), double(mostRuns)));
  isWide.assign(decisions.nodes.size(), false);
  isLone = isWide;
  if (Error error = measureSites())
    return error;
  order = removalOrder(decisions, siteErrors);
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
    plan = search.plan;
    hooks.precisionReport = search.report;
  }
  hooks.precisionPlan = &plan;
  return compileMeasured(options, hooks, progress, out, log);
}
