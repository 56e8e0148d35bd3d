// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_READCONTRACT_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_READCONTRACT_H

#include "Problem.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar::systolic {

/// A contraction on tensors or memrefs as a problem for a machine; bindings are
/// those of the arguments of its function where it has any, else the op's
/// operands in order. `arePacked`: constant weights are read as the stage
/// `fuse` will pack them for a device, which is settled only once one has taken
/// the contraction. Returns why the machine does not compute it; empty: it
/// does.
std::string readContract(tile::ContractOp op, const Machine &machine,
                         Problem &problem, bool arePacked = false);

/// The part of it that reads the body.
std::string readEpilogue(tile::ContractOp op, const Machine &machine,
                         Problem &problem);

/// And takes from it what combines the values of a row.
std::string readRows(Problem &problem);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_READCONTRACT_H
