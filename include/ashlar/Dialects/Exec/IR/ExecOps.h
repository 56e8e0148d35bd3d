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
/// The same of further devices that it runs on, 1 and so on (array of
/// TargetAttr).
inline constexpr llvm::StringLiteral companionsAttrName = "exec.companions";
/// On an argument of a kernel: nobody reads it afterwards (unit); it holds
/// values between the contractions of a joined kernel.
inline constexpr llvm::StringLiteral innerAttrName = "exec.inner";
/// On a kernel: which of them runs it (i64); left out: 0.
inline constexpr llvm::StringLiteral deviceAttrName = "exec.device";

/// On the module of a program: the sizes that a caller chooses, a dictionary of
/// `name`, `minimum` and `maximum` for each symbol of a SizeAttr.
inline constexpr llvm::StringLiteral symbolsAttrName = "exec.symbols";
/// Which dims depend on symbols. On an op: per result, an array of a SizeAttr
/// per dim, or an empty one where none does; on an argument or a result of a
/// function: such an array. Types hold the largest sizes.
inline constexpr llvm::StringLiteral sizesAttrName = "exec.sizes";
/// On an op: the attributes that depend on symbols, a dictionary of arrays of
/// SizeAttr.
inline constexpr llvm::StringLiteral attributeSizesAttrName =
    "exec.attribute_sizes";
/// On a dispatch: the same of its operands.
inline constexpr llvm::StringLiteral operandSizesAttrName =
    "exec.operand_sizes";
/// On a kernel: the integers that it takes behind its buffers, as index (array
/// of SizeAttr).
inline constexpr llvm::StringLiteral parametersAttrName = "exec.parameters";
/// On a contraction of a kernel: for each dim the number of the parameter that
/// is its size, negative for those that are constant (array of i64).
inline constexpr llvm::StringLiteral dimParametersAttrName =
    "exec.dim_parameters";
/// On a program whose sizes have symbols: the values of its arena, an array of
/// `#exec.size` and offset, first and last command.
inline constexpr llvm::StringLiteral buffersAttrName = "exec.buffers";

/// How every error begins that says what cannot be compiled with such sizes.
inline constexpr llvm::StringLiteral openSizesRefusal =
    "sizes that a caller chooses: ";

/// How many buffers a kernel takes. Its parameters follow; once it has groups,
/// its last three arguments are the scratch and the range of groups.
unsigned numKernelBindings(mlir::func::FuncOp kernel);
unsigned numKernelParameters(mlir::func::FuncOp kernel);

/// Which of its program's devices runs a kernel, and all that one of them runs.
unsigned deviceOf(mlir::func::FuncOp kernel);
llvm::SmallVector<mlir::func::FuncOp> kernelsOf(mlir::ModuleOp program,
                                                unsigned device);

/// One per dim of a tensor, or none where all are constant.
using SizeList = llvm::SmallVector<SizeAttr>;
SizeList sizesOf(mlir::Value value);

} // namespace ashlar::exec

#endif // ASHLAR_DIALECTS_EXEC_IR_EXECOPS_H
