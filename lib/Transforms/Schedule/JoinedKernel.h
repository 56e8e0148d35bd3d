// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel that computes what several did, one after the other.
#ifndef ASHLAR_LIB_TRANSFORMS_SCHEDULE_JOINEDKERNEL_H
#define ASHLAR_LIB_TRANSFORMS_SCHEDULE_JOINEDKERNEL_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "llvm/ADT/StringMap.h"

namespace ashlar {

/// Makes joined kernels, once for all sequences that are wired alike.
class KernelJoiner {
public:
  /// `chipBytes`: what the device's programs place data in.
  KernelJoiner(mlir::ModuleOp program, int64_t chipBytes)
      : program(program), chipBytes(chipBytes), symbols(program) {}

  /// Replaces invocations, in the order in which they run, by one of a kernel
  /// that does all of their work. Nothing between them reads their results.
  /// Results that only members read become bytes of one more result, where
  /// those that are not needed at the same time share their place. Members may
  /// be computed part by part of a batch (orderByPart).
  void join(llvm::ArrayRef<exec::InvokeOp> members);

  exec::KernelOp kernelOf(exec::InvokeOp invoke) const {
    return symbols.lookup<exec::KernelOp>(invoke.getKernel());
  }
  /// Whether the kernel's body is nothing but contractions of its arguments.
  bool isJoinable(exec::InvokeOp invoke) const;
  /// Kernels that were joined and that nobody invokes by themselves.
  void eraseUnused();

  /// Which buffers of members are which arguments of the joined kernel.
  struct Wiring;

private:
  Wiring wire(llvm::ArrayRef<exec::InvokeOp> members) const;
  exec::KernelOp write(const Wiring &wiring, size_t members,
                       mlir::Location location);
  mlir::func::FuncOp bodyOf(exec::InvokeOp invoke) const {
    return symbols.lookup<mlir::func::FuncOp>(*kernelOf(invoke).getBody());
  }

  mlir::ModuleOp program;
  int64_t chipBytes;
  mlir::SymbolTable symbols;
  llvm::StringMap<exec::KernelOp> kernels; ///< by how they are wired
  llvm::SetVector<mlir::Operation *> joined;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_SCHEDULE_JOINEDKERNEL_H
