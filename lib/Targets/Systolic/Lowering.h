// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a contraction to commands.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H

#include "Steps.h"

#include <optional>

namespace ashlar::systolic {

/// A contraction of a stream.
struct Part {
  const Problem *problem = nullptr;
  Choice choice;
  std::string name;
  /// 0 or 1: it has that half of both memories, so that the next one's operands
  /// come while it still computes; -1: all of them.
  int half = -1;
  uint64_t multiplyAdds = 0; ///< that the model asks for

  uint32_t regionKind() const {
    return problem->isDepthwise ? ASHLAR_SYSTOLIC_DEPTHWISE
                                : ASHLAR_SYSTOLIC_CONTRACTION;
  }
};

/// Appends the commands of contractions that run one after the other, each in a
/// region of its own; later ones may read what earlier ones write. Assumes
/// nothing of what is on chip, and leaves all queues to themselves. Returns why
/// it cannot be done so; empty: it was done.
std::string writeStream(const std::vector<Part> &parts, const Machine &machine,
                        StreamBuilder &builder);

/// Why writeStream would fail for one, without writing where that is not
/// needed.
std::string whyNotPart(const Part &part, const Machine &machine);

/// The choices worth trying, most promising first. `mostTileCycles`: operands
/// come in tiles of no more than that, if there is a smaller one; 0: of any.
std::vector<Choice> choicesFor(const Problem &problem, const Machine &machine,
                               int64_t mostTileCycles);

/// Cycles of a kernel until the last result has left; none: it is no stream.
std::optional<uint64_t> cyclesOf(const Machine &machine, const Kernel &kernel);

/// A choice, and the form of the contraction that it is for.
struct Found {
  std::optional<uint64_t> cycles; ///< of a stream by itself; none: none fits
  Problem problem;
  Choice choice;
  std::string error = "it has no rows";
};

/// The best choice for a contraction by itself; `mostTileCycles`: of those.
Found chooseAlone(const Problem &problem, const Machine &machine,
                  int64_t mostTileCycles);

/// Commands that compute `problems` one after the other, by the best choices
/// that the simulator's count of cycles finds. `names` are those of regions.
std::string lowerContracts(const std::vector<Problem> &problems,
                           const std::vector<std::string> &names,
                           const Machine &machine, const std::string &name,
                           uint32_t bindings, Kernel &kernel);

/// Why no choice fits the machine, without writing a command; empty: one does.
std::string whyNoChoice(const Problem &problem, const Machine &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H
