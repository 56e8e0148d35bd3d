// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Calibration.h"
#include "MadeUpInputs.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include <cmath>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;

/// Inputs that nobody gave.
static constexpr size_t madeUpSets = 8;

double ashlar::errorOf(const Tensor &found, const Tensor &expected) {
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

double ashlar::secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// A program that only this knows of has the largest sizes, which are those
/// that it is run with.
static void fixSizes(CompileOptions &options) {
  std::vector<int64_t> largest;
  for (const SizeRange &range : options.sizes)
    largest.push_back(range.maximum);
  for (auto &[name, shape] : options.symbolicShapes) {
    std::vector<int64_t> &dims = options.shapes[name];
    dims.clear();
    for (const std::string &dim : shape)
      dims.push_back(sizeOfDim(dim, options.sizes, largest));
  }
  options.symbolicShapes.clear();
  options.sizes.clear();
}

Error Calibration::prepare(ModelRun &run, NumberType precision,
                           const CompileHooks &hooks) {
  CompileOptions compile = options;
  compile.precision = precision;
  compile.searchPrecision = compile.stopEarly = false;
  compile.remarks.clear();
  compile.saveTemps.clear();
  compile.listStrategies.clear();
  compile.writePrecisionPlan.clear();
  compile.memoryBudget = 0;
  if (precision == NumberType::F32 && !hooks.precisionPlan &&
      !hooks.observeRanges)
    compile.precisionPlan.clear();
  if (hooks.simulatePrecision || hooks.observeRanges)
    fixSizes(compile);
  auto start = std::chrono::steady_clock::now();
  auto compiled = run.compile(compile, hooks);
  seconds += secondsSince(start);
  ++programs;
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

Error Calibration::runWide(ModelRun &wide,
                           const PrecisionDecisions &decisions) {
  size_t sets = given.sets ? given.sets : madeUpSets;
  for (size_t set = 0; set != sets; ++set) {
    Tensors tensors;
    for (size_t i = 0; i != wide.inputCount(); ++i) {
      Expected<Tensor> empty = wide.emptyInput(i);
      if (!empty)
        return empty.takeError();
      Tensor tensor = std::move(*empty);
      if (given.sets) {
        if (Refusal why = given.source(set, i, tensor.name, tensor.type,
                                       tensor.shape, tensor.bytes))
          return llvm::createStringError(
              "--calibration=" + options.calibration + ": " + *why);
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

Expected<std::vector<std::vector<double>>>
Calibration::errorsOf(ModelRun &run) const {
  std::vector<std::vector<double>> errors(expected.front().size());
  for (auto [tensors, wide] : llvm::zip(inputs, expected)) {
    Expected<Tensors> found = run.run(tensors);
    if (!found)
      return found.takeError();
    for (size_t i = 0; i != errors.size(); ++i)
      errors[i].push_back(errorOf((*found)[i], wide[i]));
  }
  return errors;
}

Expected<std::vector<std::vector<double>>>
Calibration::measure(NumberType precision, const CompileHooks &hooks) {
  say("compiling and measuring the program");
  ModelRun mixed;
  if (Error error = prepare(mixed, precision, hooks))
    return error;
  return errorsOf(mixed);
}

std::vector<double>
ashlar::worstOfInputs(const std::vector<std::vector<double>> &errors) {
  std::vector<double> worst;
  for (const std::vector<double> &ofOutput : errors)
    worst.push_back(*llvm::max_element(ofOutput));
  return worst;
}

std::string ashlar::namesOf(const PrecisionDecisions &decisions,
                            const std::vector<unsigned> &nodes) {
  constexpr size_t most = 10;
  std::string names;
  for (unsigned node : llvm::ArrayRef(nodes).take_front(most))
    names += (names.empty() ? "'" : ", '") + decisions.nodes[node].name + "'";
  if (nodes.size() > most)
    names += formatv(" and {0} more", nodes.size() - most);
  return names;
}

std::string Calibration::describeInputs() const {
  if (given.sets)
    return formatv("measured beside f32 on {0} calibration input{1}",
                   given.sets, given.sets == 1 ? "" : "s");
  return formatv("measured beside f32 on {0} made-up inputs (floats uniform in "
                 "[-1, 1), integers in what the graph accepts), which says "
                 "little about real ones; --calibration=DIR takes yours",
                 madeUpSets);
}

std::string Calibration::describeError(size_t output, double error) const {
  return formatv("output '{0}': error {1:e2}", expected.front()[output].name,
                 error);
}

CompileResult Calibration::refusal() const {
  CompileResult refused = result;
  if (refused.status == CompileStatus::Done)
    refused.status = CompileStatus::Refused;
  return refused;
}

CompileResult ashlar::compileMeasured(const CompileOptions &options,
                                      const CompileHooks &hooks,
                                      const Calibration::Progress &progress,
                                      llvm::raw_ostream &out,
                                      llvm::raw_ostream &log) {
  if (progress)
    progress("");
  if (!options.quiet)
    for (const std::string &line : hooks.precisionReport)
      log << line << "\n";
  return compile(options, out, log, hooks);
}
