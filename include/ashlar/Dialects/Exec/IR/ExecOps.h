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

/// On a result of an entry that is a size of another result: which, and of
/// which dimension (array of two i64). Such results come last.
inline constexpr llvm::StringLiteral sizeOfAttrName = "exec.size_of";
/// On a contraction: the cycles that one worker would take (i64), and what
/// limits it (string).
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
/// On the module of a program: nobody asked for its target, which computes only
/// what the further devices cannot (unit).
inline constexpr llvm::StringLiteral standsInAttrName = "exec.stands_in";
/// On an op that is no contraction, until it is in a dispatch: the device that
/// computes it (i64); without, the host.
inline constexpr llvm::StringLiteral deviceAttrName = "exec.device";
/// On an argument of a kernel's body: nobody reads it afterwards (unit); it
/// holds values between the contractions of a joined kernel.
inline constexpr llvm::StringLiteral innerAttrName = "exec.inner";

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
/// On an argument of a kernel's body that is a parameter: its value (SizeAttr),
/// for what works on functions and must not look beside them.
inline constexpr llvm::StringLiteral sizeAttrName = "exec.size";
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

/// Adds a kernel to the end of a program, and behind it a private function, its
/// body, that takes the buffers and then arguments of types `others`.
std::pair<KernelOp, mlir::func::FuncOp> addKernel(mlir::SymbolTable &symbols,
                                                  mlir::Location location,
                                                  llvm::StringRef name,
                                                  mlir::FunctionType bindings,
                                                  mlir::TypeRange others);

/// What one of a program's devices runs.
llvm::SmallVector<KernelOp> kernelsOf(mlir::ModuleOp program, unsigned device);

/// One per dim of a tensor, or none where all are constant.
using SizeList = llvm::SmallVector<SizeAttr>;
SizeList sizesOf(mlir::Value value);

} // namespace ashlar::exec

#endif // ASHLAR_DIALECTS_EXEC_IR_EXECOPS_H
