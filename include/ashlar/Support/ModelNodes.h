// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_SUPPORT_MODELNODES_H
#define ASHLAR_SUPPORT_MODELNODES_H

#include "llvm/ADT/StringRef.h"

namespace ashlar {

/// On the module that the importer makes, then on that of each program: the
/// names of all of the model's nodes, in the model's order (array of strings),
/// so that what has become of each can be told.
inline constexpr llvm::StringLiteral modelNodesAttrName = "ashlar.nodes";
/// The operator of each of these, "Conv"; absent: the names say what they are.
inline constexpr llvm::StringLiteral nodeOperatorsAttrName = "ashlar.operators";

} // namespace ashlar

#endif // ASHLAR_SUPPORT_MODELNODES_H
