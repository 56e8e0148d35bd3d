// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions whose streams systolic-layers times.
#ifndef ASHLAR_TEST_UNIT_TARGETS_LAYERLISTS_H
#define ASHLAR_TEST_UNIT_TARGETS_LAYERLISTS_H

#include "SystolicContracts.h"

namespace ashlar::systolic::test {

struct Layer {
  std::string model, name;
  int64_t times = 1; ///< that it occurs
  std::function<Compiled(const Machine &, const SearchOptions &)> compile;
};

/// Those of BERT-base with 128 words, and of ResNet50, with a bias and a relu.
std::vector<Layer> knownLayers(const std::string &type, int64_t batch);

/// The streams of a model's second device, as `ashlar-compile --until=schedule`
/// prints it; `isApart`: one for each contraction. Empty, and why, where the
/// file cannot be read.
std::vector<Layer> layersOf(const std::string &path, bool isApart,
                            std::string &error);

} // namespace ashlar::systolic::test

#endif // ASHLAR_TEST_UNIT_TARGETS_LAYERLISTS_H
