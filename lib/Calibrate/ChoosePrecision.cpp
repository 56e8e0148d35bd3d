// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program that rounds wherever an input of its own says so is run many
// times: with one site on, for what each is worth; with the sites that a plan
// leaves, for what the plan is worth. Only the plan that is chosen is compiled,
// and only what its program was measured to do is reported. How much is tried
// depends on the model's size and not on a clock, so that equal input gives
// equal bytes.
#include "ashlar/Calibrate/ChoosePrecision.h"
#include "MadeUpInputs.h"
#include "RemovalOrder.h"
#include "ashlar/Check/ModelRun.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include <cmath>
#include <cstring>
#include <numeric>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;

/// Inputs that nobody gave.
static constexpr size_t madeUpSets = 4;
/// What the search leaves of the tolerance to inputs that it has not seen, and
/// to what differs between the simulation and the program.
static constexpr double margin = 0.5;
/// Cycles that may be spent on running the model, and the fewest and most runs.
static constexpr double searchCycles = 1.5e11;
static constexpr size_t fewestRuns = 32, mostRuns = 512;

using Tensors = std::vector<Tensor>;

/// max |found - expected| / max |expected|; infinite where one is not finite
/// and the other is. Of integers, the share that differs.
static double errorOf(const Tensor &found, const Tensor &expected) {
  Difference difference = measure(found, expected);
  if (difference.otherType || difference.apart)
    return INFINITY;
  switch (expected.type) {
  case ASHLAR_TYPE_F32:
  case ASHLAR_TYPE_F64:
  case ASHLAR_TYPE_F16:
  case ASHLAR_TYPE_BF16:
    return difference.largest == 0
               ? 0
               : difference.largest /
                     (difference.scale > 0 ? difference.scale : 1);
  default:
    return expected.elementCount() == 0
               ? 0
               : double(difference.unequal) / double(expected.elementCount());
  }
}

namespace {
class Search {
public:
  Search(const CompileOptions &options, const CalibrationInputs &given,
         const std::function<void(const std::string &)> &progress)
      : options(options), given(given), progress(progress) {}

  Error run();

  PrecisionPlan plan;
  std::vector<std::string> report;
  /// Where a model cannot be compiled, what that came to.
  CompileResult result;

private:
  void say(const std::string &what) {
    if (progress)
      progress(what);
  }
  Error prepare(ModelRun &run, NumberType precision, const CompileHooks &hooks);
  Error makeInputs();
  Expected<std::vector<double>> errorsOf(ModelRun &run, const Tensor *flags);
  Expected<double> simulate(const std::vector<float> &flags, size_t sets);
  /// Of the program in which the nodes that are not `wide` are low.
  Expected<double> simulateWithout(const std::vector<bool> &wide);
  Error measureSites();
  Error choose();
  Error verify();
  void findLone(const PrecisionDecisions &compiled);
  void writePlan();
  void writeReport();

  const CompileOptions &options;
  const CalibrationInputs &given;
  const std::function<void(const std::string &)> &progress;
  ModelRun wide, simulation;
  PrecisionDecisions decisions;
  std::vector<Tensors> inputs, expected;
  std::vector<double> siteErrors, outputErrors;
  std::vector<unsigned> order; ///< nodes, the first to become f32 first
  std::vector<bool> isWide;    ///< by node
  /// Nodes that could be low and have nothing low around them; by node.
  std::vector<bool> isLone;
  size_t runs = fewestRuns; ///< of the model, for each part of the search
};
} // namespace

Error Search::prepare(ModelRun &run, NumberType precision,
                      const CompileHooks &hooks) {
  CompileOptions compile = options;
  compile.precision = precision;
  compile.searchPrecision = compile.stopEarly = false;
  compile.remarks.clear();
  compile.saveTemps.clear();
  compile.listStrategies.clear();
  compile.writePrecisionPlan.clear();
  compile.memoryBudget = 0;
  auto compiled = run.compile(compile, hooks);
  if (!compiled)
    return compiled.takeError();
  if (compiled->result.status != CompileStatus::Done) {
    result = compiled->result;
    return llvm::createStringError(compiled->error);
  }
  if (Error error =
          run.load(llvm::hardware_concurrency().compute_thread_count()))
    return llvm::createStringError("the program has to run here, to be "
                                   "measured: " +
                                   llvm::toString(std::move(error)));
  return Error::success();
}

Error Search::makeInputs() {
  size_t sets = given.sets ? given.sets : madeUpSets;
  for (size_t set = 0; set != sets; ++set) {
    Tensors tensors;
    for (size_t i = 0; i != wide.inputCount(); ++i) {
      Expected<Tensor> empty = wide.emptyInput(i);
      if (!empty)
        return empty.takeError();
      Tensor tensor = std::move(*empty);
      if (given.sets) {
        std::string why = given.source(set, i, tensor.name, tensor.type,
                                       tensor.shape, tensor.bytes);
        if (!why.empty()) {
          result.status = CompileStatus::Refused;
          return llvm::createStringError(
              "--calibration=" + options.calibration + ": " + why);
        }
      } else {
        auto most = decisions.largestInputs.find(tensor.name);
        makeUp(tensor, set,
               most == decisions.largestInputs.end() ? 1 : most->second);
      }
      tensors.push_back(std::move(tensor));
    }
    Expected<Tensors> values = wide.run(tensors);
    if (!values)
      return values.takeError();
    inputs.push_back(std::move(tensors));
    expected.push_back(std::move(*values));
  }
  return Error::success();
}

/// The worst of all sets, by output.
Expected<std::vector<double>> Search::errorsOf(ModelRun &run,
                                               const Tensor *flags) {
  std::vector<double> errors(wide.outputCount(), 0);
  for (size_t set = 0; set != inputs.size(); ++set) {
    Tensors tensors = inputs[set];
    if (flags)
      tensors.push_back(*flags);
    Expected<Tensors> found = run.run(tensors);
    if (!found)
      return found.takeError();
    for (size_t i = 0; i != errors.size(); ++i)
      errors[i] = std::max(errors[i], errorOf((*found)[i], expected[set][i]));
  }
  return errors;
}

Expected<double> Search::simulate(const std::vector<float> &flags,
                                  size_t sets) {
  Tensor tensor;
  tensor.type = ASHLAR_TYPE_F32;
  tensor.shape = {int64_t(flags.size())};
  const char *bytes = reinterpret_cast<const char *>(flags.data());
  tensor.bytes.assign(bytes, bytes + flags.size() * sizeof(float));
  double worst = 0;
  for (size_t set = 0; set != std::min(sets, inputs.size()); ++set) {
    Tensors tensors = inputs[set];
    tensors.push_back(tensor);
    Expected<Tensors> found = simulation.run(tensors);
    if (!found)
      return found.takeError();
    for (auto [is, should] : llvm::zip(*found, expected[set]))
      worst = std::max(worst, errorOf(is, should));
  }
  return worst;
}

Expected<double> Search::simulateWithout(const std::vector<bool> &wideNodes) {
  std::vector<float> flags;
  for (const PrecisionSite &site : decisions.sites)
    flags.push_back(llvm::none_of(
        site.nodes, [&](unsigned node) { return wideNodes[node]; }));
  return simulate(flags, inputs.size());
}

/// Several sites at a time where there are more than runs.
Error Search::measureSites() {
  size_t count = decisions.sites.size();
  siteErrors.assign(count, 0);
  size_t together = (count + runs - 1) / runs;
  for (size_t first = 0; first < count; first += together) {
    say(formatv("measuring rounding {0} of {1}", first + 1, count));
    size_t end = std::min(count, first + together);
    std::vector<float> flags(count, 0);
    std::fill(flags.begin() + first, flags.begin() + end, 1);
    Expected<double> error = simulate(flags, /*sets=*/1);
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
  order = removalOrder(decisions, siteErrors);
  double target = options.tolerance * margin;
  auto without = [&](size_t count) {
    std::vector<bool> nodes(decisions.nodes.size(), false);
    for (size_t i = 0; i != count; ++i)
      nodes[order[i]] = true;
    return nodes;
  };
  size_t bad = 0, good = order.size();
  isWide = without(0);
  Expected<double> all = simulateWithout(isWide);
  if (!all)
    return all.takeError();
  if (*all <= target)
    return Error::success();
  while (good - bad > 1) {
    size_t middle = bad + (good - bad) / 2;
    say(formatv("trying {0} of {1} nodes in f32", middle, order.size()));
    Expected<double> error = simulateWithout(without(middle));
    if (!error)
      return error.takeError();
    (*error <= target ? good : bad) = middle;
  }
  isWide = without(good);
  std::vector<unsigned> again(order.begin(), order.begin() + good);
  llvm::stable_sort(again, [&](unsigned x, unsigned y) {
    return decisions.nodes[x].gain > decisions.nodes[y].gain;
  });
  // Each try runs all sets.
  size_t tries = std::min(again.size(), runs / inputs.size());
  for (size_t i = 0; i != tries; ++i) {
    say(formatv("trying {0} of {1} nodes in bf16 again", i + 1, tries));
    isWide[again[i]] = false;
    Expected<double> error = simulateWithout(isWide);
    if (!error)
      return error.takeError();
    isWide[again[i]] = !(*error <= target);
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

/// Measures the program itself; where that is not within the tolerance, an
/// eighth of what is low becomes f32, and in the end all of it.
Error Search::verify() {
  for (;;) {
    say("compiling and measuring the program");
    writePlan();
    CompileHooks hooks;
    PrecisionDecisions compiled;
    hooks.precisionPlan = &plan;
    hooks.decisions = &compiled;
    ModelRun mixed;
    if (Error error = prepare(mixed, options.precision, hooks))
      return error;
    auto errors = errorsOf(mixed, nullptr);
    if (!errors)
      return errors.takeError();
    outputErrors = *errors;
    std::vector<unsigned> low;
    for (unsigned node : order)
      if (!isWide[node])
        low.push_back(node);
    bool isWithin = llvm::all_of(
        outputErrors, [&](double error) { return error <= options.tolerance; });
    if (isWithin || low.empty()) {
      findLone(compiled);
      writePlan();
      return Error::success();
    }
    for (unsigned node : llvm::ArrayRef(low).take_front((low.size() + 7) / 8))
      isWide[node] = true;
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
  report.push_back(
      given.sets
          ? formatv("measured beside f32 on {0} calibration input{1}",
                    given.sets, given.sets == 1 ? "" : "s")
                .str()
          : formatv(
                "measured beside f32 on {0} made-up inputs (floats uniform "
                "in [-1, 1), integers in what the graph accepts), which "
                "says little about real ones; --calibration=DIR takes yours",
                madeUpSets)
                .str());
  for (size_t i = 0; i != outputErrors.size(); ++i)
    report.push_back(formatv("output '{0}': error {1:e2}{2}",
                             expected.front()[i].name, outputErrors[i],
                             outputErrors[i] > options.tolerance
                                 ? ", over the tolerance although all is f32"
                                 : ""));
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
  say("compiling for f32");
  if (Error error = prepare(wide, NumberType::F32, {}))
    return error;
  say("compiling a program to search with");
  CompileHooks hooks;
  hooks.simulatePrecision = true;
  hooks.decisions = &decisions;
  if (Error error = prepare(simulation, options.precision, hooks))
    return error;
  if (Error error = makeInputs())
    return error;
  double affordable = searchCycles / std::max(decisions.cycles, 1.0);
  runs = size_t(std::clamp(affordable, double(fewestRuns), double(mostRuns)));
  isWide.assign(decisions.nodes.size(), false);
  isLone = isWide;
  if (Error error = measureSites())
    return error;
  if (Error error = choose())
    return error;
  if (Error error = verify())
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
      if (search.result.status == CompileStatus::Done)
        search.result.status = CompileStatus::Refused;
      return search.result;
    }
    plan = search.plan;
    hooks.precisionReport = search.report;
  }
  hooks.precisionPlan = &plan;
  if (progress)
    progress("");
  if (!options.quiet)
    for (const std::string &line : hooks.precisionReport)
      log << line << "\n";
  return compile(options, out, log, hooks);
}
