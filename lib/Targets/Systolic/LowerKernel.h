// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERKERNEL_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERKERNEL_H

#include "Lowering.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "systolic/Image.h"

namespace ashlar::systolic {

/// The machine of a pass's option; fails, having said which there are, where it
/// names no preset.
mlir::FailureOr<Machine> presetNamed(llvm::StringRef name,
                                     mlir::func::FuncOp function);

/// Sets the strategies of a function on memrefs whose body is contractions, by
/// the simulator's count of cycles. Emits an error if it is something else or
/// the machine does not compute one.
mlir::FailureOr<Lowered> chooseStrategies(mlir::func::FuncOp function,
                                          const Machine &machine);

/// The stream `name` of such a function, of `bindings` memrefs, as its
/// strategies say. Chooses them where there are none; `lowered` says what came
/// of that.
mlir::FailureOr<Kernel> lowerKernel(mlir::func::FuncOp function,
                                    llvm::StringRef name, unsigned bindings,
                                    const Machine &machine,
                                    Lowered *lowered = nullptr);

/// The binding that holds values between its contractions, and nobody else
/// reads.
std::optional<uint32_t> innerBinding(mlir::func::FuncOp function);

/// Says by remarks which dataflow each contraction got and the cycles of the
/// next best, and what stays on chip between them.
void remarkLowered(mlir::func::FuncOp function, const Lowered &lowered);

/// Why the machine does not compute a contraction, on tensors or memrefs;
/// empty: it does.
std::string whyNot(tile::ContractOp op, const Machine &machine);

/// The simulator's cycles of the best stream of a contraction by itself, on
/// tensors or memrefs; nothing: there is none.
std::optional<uint64_t> predictCycles(tile::ContractOp op,
                                      const Machine &machine);

/// What is wrong with a stream when all memories are zeros of the sizes that
/// the function's arguments have; empty: nothing.
std::string checkStream(mlir::func::FuncOp function, const Kernel &kernel,
                        const Machine &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERKERNEL_H
