// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions of a model with their candidates and what was measured of each.

#ifndef ASHLAR_TOOLS_ASHLAR_BENCH_TUNINGRESULT_H
#define ASHLAR_TOOLS_ASHLAR_BENCH_TUNINGRESULT_H

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace ashlar::tools {

using Json = nlohmann::ordered_json;

/// Microseconds are those of one run of the model, all places together.
struct TunedContraction {
  struct Candidate {
    Json choice; ///< box, and order where it is not the model's own
    uint64_t predictedCycles = 0;
    std::vector<double> times; ///< of each sweep
    double time() const;       ///< the median; 0: none
  };

  std::string text;
  std::vector<std::vector<std::string>> places; ///< nodes of each
  std::vector<Candidate> candidates;            ///< the model's own first

  /// The fastest; 0 where none beats the model's own by more than noise.
  size_t best() const;
  /// Measured again side by side.
  void confirm(const std::vector<double> &own, const std::vector<double> &best);
  /// Zero where it is not.
  double confirmedOwn = 0, confirmedBest = 0;
};

class TuningResult {
public:
  /// What ashlar-compile --list-strategies prints.
  void read(const Json &list);

  /// For each contraction, the time of the kernels that compute it and nothing
  /// else that was listed; 0: there is none. `kernels` are those of
  /// ashlar-inspect --json.
  std::vector<double> timesOf(const Json &kernels,
                              const std::map<std::string, double> &times) const;

  Json entriesOfRound(size_t round) const;
  Json entriesOfBest() const;
  Json entriesOfConfirmed() const;
  std::string tableText(const Json &entries) const;

  std::string text() const;
  std::string json() const;

  std::vector<TunedContraction> contractions;

private:
  Json version, machine;
};

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_ASHLAR_BENCH_TUNINGRESULT_H
