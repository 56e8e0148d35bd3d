// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimulatedPlans.h"
#include "UnseenError.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;

Error SimulatedPlans::prepare(NumberType low) {
  CompileHooks hooks;
  hooks.simulatePrecision = true;
  hooks.decisions = &found;
  return inputs.prepare(program, low, hooks);
}

std::vector<bool>
SimulatedPlans::sitesWithout(const std::vector<bool> &wideNodes) const {
  std::vector<bool> sites;
  for (const PrecisionSite &site : found.sites)
    sites.push_back(llvm::none_of(
        site.nodes, [&](unsigned node) { return wideNodes[node]; }));
  return sites;
}

/// The input that says which sites round.
static Tensor switches(const std::vector<bool> &sites) {
  std::vector<float> flags(sites.begin(), sites.end());
  Tensor tensor;
  tensor.type = ASHLAR_TYPE_F32;
  tensor.shape = {int64_t(flags.size())};
  const char *bytes = reinterpret_cast<const char *>(flags.data());
  tensor.bytes.assign(bytes, bytes + flags.size() * sizeof(float));
  return tensor;
}

Expected<double> SimulatedPlans::errorOf(const std::vector<bool> &sites,
                                         size_t set) {
  std::vector<double> &errors = known[sites];
  errors.resize(inputs.sets(), -1);
  if (errors[set] >= 0)
    return errors[set];
  Calibration::Tensors tensors = inputs.input(set);
  tensors.push_back(switches(sites));
  auto start = std::chrono::steady_clock::now();
  Expected<Calibration::Tensors> outputs = program.run(tensors);
  spent += secondsSince(start);
  if (!outputs)
    return outputs.takeError();
  ++runs;
  double worst = 0;
  for (auto [is, should] : llvm::zip(*outputs, inputs.output(set)))
    worst = std::max(worst, ashlar::errorOf(is, should));
  return errors[set] = worst;
}

Expected<bool> SimulatedPlans::keeps(const std::vector<bool> &sites,
                                     double target) {
  if (hardest.empty()) {
    hardest.resize(searchSets());
    std::iota(hardest.begin(), hardest.end(), 0);
  }
  double worst = 0;
  std::vector<double> errors(searchSets());
  for (auto it = hardest.begin(); it != hardest.end(); ++it) {
    Expected<double> error = errorOf(sites, *it);
    if (!error)
      return error.takeError();
    errors[*it] = *error;
    worst = std::max(worst, *error);
    // Were all as bad as the worst, the least would be expected of others.
    if (unseenError(std::vector<double>(errors.size(), worst)) <= target)
      continue;
    std::rotate(hardest.begin(), it, std::next(it));
    return false;
  }
  return unseenError(errors) <= target;
}
