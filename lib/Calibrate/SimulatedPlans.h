// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program that rounds wherever an input of its own says so: what a plan is
// worth without compiling it.
#ifndef ASHLAR_LIB_CALIBRATE_SIMULATEDPLANS_H
#define ASHLAR_LIB_CALIBRATE_SIMULATEDPLANS_H

#include "Calibration.h"
#include <map>

namespace ashlar {

class SimulatedPlans {
public:
  explicit SimulatedPlans(Calibration &inputs) : inputs(inputs) {}

  /// Compiles the program; its roundings are to `low`.
  llvm::Error prepare(NumberType low);

  /// The nodes, and the places where the program can round.
  const PrecisionDecisions &decisions() const { return found; }
  /// Of the model, so far.
  size_t runCount() const { return runs; }
  double seconds() const { return spent; }

  /// Which sites round if these nodes are f32.
  std::vector<bool> sitesWithout(const std::vector<bool> &wideNodes) const;
  /// The worst error of any output on one input, where these sites round.
  llvm::Expected<double> errorOf(const std::vector<bool> &sites, size_t set);
  /// The first half of the inputs decides about plans: what looks good only by
  /// chance shows on the others, when a plan's own program is measured.
  size_t searchSets() const { return (inputs.sets() + 1) / 2; }
  /// Whether the errors on those, and what others are expected to have, stay
  /// below `target`. Inputs are tried hardest first, and no more of them than
  /// it takes to say no.
  llvm::Expected<bool> keeps(const std::vector<bool> &sites, double target);

private:
  Calibration &inputs;
  check::ModelRun program;
  PrecisionDecisions found;
  /// By site and set; negative: not known.
  std::map<std::vector<bool>, std::vector<double>> known;
  std::vector<size_t> hardest; ///< sets, those first that said no last
  size_t runs = 0;
  double spent = 0;
};

} // namespace ashlar

#endif // ASHLAR_LIB_CALIBRATE_SIMULATEDPLANS_H
