// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First the program of f32 runs with outputs that say what f16 could not hold;
// then the program that is asked for, less the nodes which that concerns, runs
// beside it.
#include "ashlar/Calibrate/MeasurePrecision.h"
#include "Calibration.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;

namespace {
/// What a node would round to f16, over all inputs.
struct Range {
  double largest = 0;
  int64_t overflows = 0;
};

class Measurement {
public:
  Measurement(const CompileOptions &options, const CalibrationInputs &given,
              const Calibration::Progress &progress)
      : options(options), runs(options, given, progress) {}

  Error run();
  CompileResult refusal() const { return runs.refusal(); }

  /// Empty where the options' own plan or rules decide.
  std::optional<PrecisionPlan> plan;
  std::vector<std::string> warnings, report;

private:
  Error observe();
  Error measure();
  void reportUnobserved();
  void keepInRange(const std::vector<Range> &ranges);

  const CompileOptions &options;
  Calibration runs;
  ModelRun wide, observed;
  PrecisionDecisions decisions;
};
} // namespace

template <typename T> static std::vector<T> elementsOf(const Tensor &tensor) {
  std::vector<T> elements(tensor.bytes.size() / sizeof(T));
  std::memcpy(elements.data(), tensor.bytes.data(), tensor.bytes.size());
  return elements;
}

/// The outputs of each site, for the nodes that round there.
Error Measurement::observe() {
  reportUnobserved();
  std::vector<Range> ranges(decisions.nodes.size());
  if (decisions.sites.empty())
    return Error::success();
  size_t first = wide.outputCount();
  for (size_t set = 0; set != runs.sets(); ++set) {
    runs.say(formatv("looking for what f16 cannot hold, input {0}", set + 1));
    Expected<Calibration::Tensors> found = observed.run(runs.input(set));
    if (!found)
      return found.takeError();
    auto largest = elementsOf<float>((*found)[first]);
    auto overflows = elementsOf<int32_t>((*found)[first + 1]);
    for (auto [i, site] : llvm::enumerate(decisions.sites)) {
      Range &range = ranges[site.source];
      range.largest = std::max(range.largest, double(largest[i]));
      range.overflows += overflows[i];
    }
  }
  keepInRange(ranges);
  return Error::success();
}

void Measurement::reportUnobserved() {
  if (decisions.unobserved.empty())
    return;
  report.push_back("not looked at for the range of f16, as the bodies of "
                   "loops and branches hold them: " +
                   namesOf(decisions, decisions.unobserved));
}

void Measurement::keepInRange(const std::vector<Range> &ranges) {
  if (llvm::all_of(ranges, [](const Range &of) { return of.overflows == 0; }))
    return;
  plan.emplace();
  std::vector<unsigned> exceeding;
  for (auto [i, node] : llvm::enumerate(decisions.nodes)) {
    const Range &range = ranges[i];
    PrecisionPlan::Line line;
    // Of weights that overflow, the pass itself warns again.
    line.type = node.reason.empty() ? node.type : NumberType::F16;
    if (range.overflows != 0) {
      std::string what =
          formatv("{0} value{1} of up to {2} overflow{3} f16", range.overflows,
                  range.overflows == 1 ? "" : "s", range.largest,
                  range.overflows == 1 ? "s" : "");
      warnings.push_back("'" + node.name + "': " + what +
                         ", whose largest number is 65504, on the calibration "
                         "inputs; the node stays f32");
      line.type = NumberType::F32;
      line.reason = what;
      exceeding.push_back(i);
    }
    plan->nodes[node.name] = line;
  }
  report.push_back("f32 for the range of f16: " +
                   namesOf(decisions, exceeding));
}

Error Measurement::measure() {
  CompileHooks hooks;
  hooks.precisionPlan = plan ? &*plan : nullptr;
  auto errors = runs.measure(options.precision, hooks);
  if (!errors)
    return errors.takeError();
  std::vector<std::string> lines = {runs.describeInputs()};
  for (auto [i, error] : llvm::enumerate(worstOfInputs(*errors)))
    lines.push_back(runs.describeError(i, error));
  report.insert(report.begin(), lines.begin(), lines.end());
  return Error::success();
}

Error Measurement::run() {
  runs.say("compiling for f32");
  if (Error error = runs.prepare(wide, NumberType::F32, {}))
    return error;
  runs.say("compiling a program that looks at values");
  CompileHooks hooks;
  hooks.observeRanges = true;
  hooks.decisions = &decisions;
  if (Error error = runs.prepare(observed, options.precision, hooks))
    return error;
  if (Error error = runs.runWide(wide, decisions))
    return error;
  if (Error error = observe())
    return error;
  return measure();
}

CompileResult ashlar::compileForInputs(
    const CompileOptions &options, const CalibrationInputs &inputs,
    const std::function<void(const std::string &)> &progress,
    llvm::raw_ostream &out, llvm::raw_ostream &log) {
  CompileHooks hooks;
  std::optional<PrecisionPlan> plan;
  {
    Measurement measurement(options, inputs, progress);
    Error error = measurement.run();
    if (error) {
      log << "error: " << llvm::toString(std::move(error)) << "\n";
      return measurement.refusal();
    }
    for (const std::string &warning : measurement.warnings)
      log << "warning: " << warning << "\n";
    plan = measurement.plan;
    hooks.precisionReport = measurement.report;
  }
  hooks.precisionPlan = plan ? &*plan : nullptr;
  return compileMeasured(options, hooks, progress, out, log);
}
