// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM would say of a machine model to the terminal, and go on.
#ifndef ASHLAR_LIB_TARGETS_LLVM_CHECKPROCESSOR_H
#define ASHLAR_LIB_TARGETS_LLVM_CHECKPROCESSOR_H

#include "ashlar/Machine/MachineModel.h"
#include <string>

namespace ashlar {

/// Why code.processor or code.features are none that LLVM's code generator for
/// code.triple knows, with those that it does; empty: it knows them, or there
/// is no such generator.
std::string checkProcessor(const MachineModel &machine);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_CHECKPROCESSOR_H
