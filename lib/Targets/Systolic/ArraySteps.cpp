// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArraySteps.h"

#include <cassert>

using namespace ashlar::systolic;

std::vector<ArrayStep>
ashlar::systolic::arraySteps(const std::vector<Fold> &folds,
                             const StreamWriter &writer) {
  std::vector<ArrayStep> steps;
  std::vector<std::vector<Fold>> pieces;
  for (const Fold &fold : folds)
    pieces.push_back(writer.split(fold));
  auto count = int64_t(folds.size());
  if (!folds[0].isOutputStationary) {
    for (int64_t fold = 0; fold < count; ++fold)
      for (const Fold &piece : pieces[size_t(fold)])
        steps.push_back(
            {piece, fold, &piece == pieces[size_t(fold)].data(), true});
    return steps;
  }
  for (size_t i = 0; i < pieces[0].size(); ++i)
    for (int64_t fold = 0; fold < count; ++fold) {
      assert(pieces[size_t(fold)].size() == pieces[0].size() &&
             "all folds have the same rows");
      steps.push_back(
          {pieces[size_t(fold)][i], fold, fold == 0, fold + 1 == count});
    }
  return steps;
}
