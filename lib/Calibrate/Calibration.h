// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model's programs of several precisions, run on the same inputs: what they
// are compiled from, what they are fed, how far they are from f32.
#ifndef ASHLAR_LIB_CALIBRATE_CALIBRATION_H
#define ASHLAR_LIB_CALIBRATE_CALIBRATION_H

#include "ashlar/Calibrate/CalibrationInputs.h"
#include "ashlar/Check/ModelRun.h"
#include "ashlar/Driver/Compile.h"
#include <chrono>

namespace ashlar {

class Calibration {
public:
  using Tensors = std::vector<check::Tensor>;
  using Progress = std::function<void(const std::string &)>;

  /// All three outlive it; `progress` may be empty.
  Calibration(const CompileOptions &options, const CalibrationInputs &given,
              const Progress &progress)
      : options(options), given(given), progress(progress) {}

  void say(const std::string &what) const {
    if (progress)
      progress(what);
  }

  /// Compiles and loads. With f32, the options' plan does not count.
  llvm::Error prepare(check::ModelRun &run, NumberType precision,
                      const CompileHooks &hooks);
  /// The inputs, and what the program of f32 makes of them. Those that nobody
  /// gave are made up: indices go up to what `decisions` know of them.
  llvm::Error runWide(check::ModelRun &wide,
                      const PrecisionDecisions &decisions);

  /// What prepare() has done so far.
  size_t programCount() const { return programs; }
  double compileSeconds() const { return seconds; }

  size_t sets() const { return inputs.size(); }
  const Tensors &input(size_t set) const { return inputs[set]; }
  /// Of f32.
  const Tensors &output(size_t set) const { return expected[set]; }
  /// How far each output is from f32 on each input.
  llvm::Expected<std::vector<std::vector<double>>>
  errorsOf(check::ModelRun &run) const;

  /// Compiles, loads and runs; the errors of what comes of it.
  llvm::Expected<std::vector<std::vector<double>>>
  measure(NumberType precision, const CompileHooks &hooks);

  /// "measured beside f32 on 4 made-up inputs..."
  std::string describeInputs() const;
  /// "output 'y': error 1.2e-03"
  std::string describeError(size_t output, double error) const;

  /// What an error that one of the above returned comes to.
  CompileResult refusal() const;

private:
  const CompileOptions &options;
  const CalibrationInputs &given;
  const Progress &progress;
  CompileResult result; ///< of a program that could not be compiled
  std::vector<Tensors> inputs, expected;
  size_t programs = 0;
  double seconds = 0;
};

/// Compiles as `options` and `hooks` say, now that nothing is left to measure;
/// prints the report that the hooks hold.
CompileResult compileMeasured(const CompileOptions &options,
                              const CompileHooks &hooks,
                              const Calibration::Progress &progress,
                              llvm::raw_ostream &out, llvm::raw_ostream &log);

/// Of what errorsOf returns: the largest for each output.
std::vector<double>
worstOfInputs(const std::vector<std::vector<double>> &errors);

double secondsSince(std::chrono::steady_clock::time_point start);

/// "'a', 'b'": the first ten of these nodes, and how many more there are.
std::string namesOf(const PrecisionDecisions &decisions,
                    const std::vector<unsigned> &nodes);

/// max |found - expected| / max |expected|; infinite where one is not finite
/// and the other is. Of integers, the share that differs.
double errorOf(const check::Tensor &found, const check::Tensor &expected);

} // namespace ashlar

#endif // ASHLAR_LIB_CALIBRATE_CALIBRATION_H
