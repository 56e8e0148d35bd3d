// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program should take, by the machine models of its devices: good enough
// to choose between devices, and no more.
#ifndef ASHLAR_LIB_EMIT_PREDICTTIME_H
#define ASHLAR_LIB_EMIT_PREDICTTIME_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Targets/Target.h"

namespace ashlar {

/// The target's own prediction, or the strategy's; of other kernels, what
/// arithmetic in full vectors and the memory that holds their operands need at
/// least. `binary` is that of the kernel's device.
KernelPrediction predictKernel(exec::KernelOp kernel,
                               const ProgramBinary &binary);

/// Bytes that one call reads and writes, at the largest sizes; of a table only
/// the rows that it takes.
int64_t kernelBytes(exec::KernelOp kernel);

/// One run of each entry, in nanoseconds: kernels shared by as many workers as
/// have groups to do, launches, and copies between devices. Of two branches the
/// longer one counts; a loop as often as it goes round at most, once where a
/// condition alone decides.
uint64_t predictNanoseconds(mlir::ModuleOp program,
                            const ProgramBinary &binary);

} // namespace ashlar

#endif // ASHLAR_LIB_EMIT_PREDICTTIME_H
