// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a contraction to commands.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H

#include "Steps.h"

#include <optional>

namespace ashlar::systolic {

/// What stays in the array while the rest goes by.
enum class Dataflow { WeightStationary, InputStationary, OutputStationary };

/// "weight-stationary"
const char *nameOf(Dataflow dataflow);

/// What a search may use; measurements leave things out.
struct SearchOptions {
  std::optional<Dataflow> dataflow = std::nullopt; ///< that one alone
  bool packsTaps = true;                           ///< several taps in one fold
  bool packsColumns = true; ///< neighbouring results side by side
};

/// The best that a dataflow would do: cycles of the stream alone, or, where
/// none was written, what they cannot be less than.
struct Alternative {
  Dataflow dataflow;
  uint64_t cycles;
  bool isBound;
};

/// Appends the contraction's commands to a stream; its region has been opened.
/// Assumes nothing of what is on chip, and leaves all queues to themselves.
/// Returns why it cannot be done so; empty: it was done.
std::string writeContract(const Problem &problem, const Machine &machine,
                          const Choice &choice, StreamBuilder &builder);

/// Why writeContract would fail, without writing where that is not needed.
std::string whyNotChoice(const Problem &problem, const Machine &machine,
                         const Choice &choice);

/// The choices worth trying, most promising first.
std::vector<Choice> choicesFor(const Problem &problem, const Machine &machine,
                               bool isOutputStationary = false,
                               bool packsTaps = true);

/// The commands of the best choice by the simulator's count of cycles.
/// `alternatives`, if given: one for each dataflow that can be, fewest cycles
/// first.
std::string lowerContract(const Problem &problem, const Machine &machine,
                          const std::string &name, uint32_t bindings,
                          Kernel &kernel, const SearchOptions &options = {},
                          std::vector<Alternative> *alternatives = nullptr);

/// Why no choice fits the machine, without writing a command; empty: one does.
std::string whyNoChoice(const Problem &problem, const Machine &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H
