// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_READCONTRACT_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_READCONTRACT_H

#include "Contraction.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Refusal.h"

namespace ashlar::systolic {

/// A contraction on tensors or memrefs as the machine has it; bindings are
/// those of the arguments of its function where it has any, else the op's
/// operands in order. `arePacked`: constant weights are read as the stage
/// `fuse` will pack them for a device, which is settled only once one has taken
/// the contraction. Refused where the machine does not compute it.
Refusal readContract(tile::ContractOp op, const Machine &machine,
                     Contraction &contraction, bool arePacked = false);

/// The part of it that reads the body.
Refusal readEpilogue(tile::ContractOp op, const Machine &machine,
                     Contraction &contraction);

/// And takes from it what combines the values of a row.
Refusal readRows(Contraction &contraction);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_READCONTRACT_H
