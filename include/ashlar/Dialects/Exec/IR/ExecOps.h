// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_EXEC_IR_EXECOPS_H
#define ASHLAR_DIALECTS_EXEC_IR_EXECOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ashlar/Dialects/Exec/IR/ExecDialect.h.inc"
#include "ashlar/Dialects/Exec/IR/ExecEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ashlar/Dialects/Exec/IR/ExecAttributes.h.inc"
#define GET_OP_CLASSES
#include "ashlar/Dialects/Exec/IR/ExecOps.h.inc"

namespace ashlar::exec {

/// Attributes of an outlined kernel, a func.func on memrefs.
/// How many groups its grid has (SizeAttr).
inline constexpr llvm::StringLiteral groupsAttrName = "exec.groups";
/// Scratch bytes per worker (i64).
inline constexpr llvm::StringLiteral scratchAttrName = "exec.scratch_bytes";
/// The operands whose memory the only result may take over (array of i64).
inline constexpr llvm::StringLiteral aliasesAttrName = "exec.aliases";
/// How many of the arguments are results (i64); they come last.
inline constexpr llvm::StringLiteral resultsAttrName = "exec.results";
/// Arithmetic operations of one call (SizeAttr).
inline constexpr llvm::StringLiteral flopsAttrName = "exec.flops";
/// The model's nodes that it computes (array of strings).
inline constexpr llvm::StringLiteral nodesAttrName = "exec.nodes";
/// On a result of an entry that is a size of another result: which, and of
/// which dimension (array of two i64). Such results come last.
inline constexpr llvm::StringLiteral sizeOfAttrName = "exec.size_of";
/// On contractions and kernels: the cycles that one worker would take (i64),
/// and what limits it (string).
inline constexpr llvm::StringLiteral cyclesAttrName = "exec.cycles";
inline constexpr llvm::StringLiteral boundAttrName = "exec.bound";
/// On the module of a program: nodes whose results are views, and nodes that
/// are commands beside kernels, such as loops (arrays of strings).
inline constexpr llvm::StringLiteral viewsAttrName = "exec.views";
inline constexpr llvm::StringLiteral commandNodesAttrName =
    "exec.command_nodes";
/// On the module of a program: its target (TargetAttr).
inline constexpr llvm::StringLiteral targetAttrName = "exec.target";

/// How many buffers a kernel takes. Once it has groups, its last three
/// arguments are the scratch and the range of groups.
unsigned numKernelBindings(mlir::func::FuncOp kernel);

} // namespace ashlar::exec

#endif // ASHLAR_DIALECTS_EXEC_IR_EXECOPS_H
