// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a contraction to commands.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H

#include "Steps.h"

namespace ashlar::systolic {

/// Appends the contraction's commands to a stream; its region has been opened.
/// Assumes nothing of what is on chip, and leaves all queues to themselves.
/// Returns why it cannot be done so; empty: it was done.
std::string writeContract(const Problem &problem, const Machine &machine,
                          const Choice &choice, StreamBuilder &builder);

/// Why writeContract would fail, without writing where that is not needed.
std::string whyNotChoice(const Problem &problem, const Machine &machine,
                         const Choice &choice);

/// The choices worth trying, most promising first.
std::vector<Choice> choicesFor(const Problem &problem, const Machine &machine);

/// The commands of the best choice by the simulator's count of cycles.
std::string lowerContract(const Problem &problem, const Machine &machine,
                          const std::string &name, uint32_t bindings,
                          Kernel &kernel);

/// Why no choice fits the machine, without writing a command; empty: one does.
std::string whyNoChoice(const Problem &problem, const Machine &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H
