// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CUDA_MACHINECODE_H
#define ASHLAR_LIB_TARGETS_CUDA_MACHINECODE_H

#include "Assembler.h"
#include "WritePtx.h"

namespace ashlar::cuda {

/// Makes a program's executable of its kernels: one module of PTX and, where
/// there is an assembler, machine code for the machine's processor in front of
/// it and what each kernel takes; else a remark says that there is none.
///
/// A kernel is hot if it multiplies matrices by a unit of its own (`mma.sync`,
/// `wgmma`), whose steps are what all of it waits for. Steps that wait for each
/// other are an error there, and registers that are kept in memory a warning,
/// or an error if the options are strict.
class MachineCodeWriter {
public:
  using Kernels = llvm::ArrayRef<cpu::LoweredKernels::Kernel>;

  MachineCodeWriter(mlir::ModuleOp program, const MachineModel &machine,
                    const EmitOptions &options, const WriteOptions &write)
      : program(program), machine(machine), options(options), write(write) {}

  /// Fills in images, formats and sizes; hot kernels that spill may be compiled
  /// in other ways. Emits a diagnostic where it fails.
  mlir::LogicalResult run(Kernels kernels,
                          llvm::MutableArrayRef<CompiledKernel> compiled,
                          ProgramBinary &binary);

private:
  llvm::Expected<Assembled> assemble(const Assembler &assembler,
                                     llvm::ArrayRef<CompiledKernel> compiled,
                                     std::string &text);
  /// Kernels by their numbers, and how many bytes each spills.
  using Spilling = llvm::SmallVector<std::pair<size_t, uint64_t>>;
  /// Each of them in another way.
  llvm::Expected<std::vector<CompiledKernel>>
  writeAnew(const std::vector<CompiledKernel> &kernels, const WriteWay &way);
  llvm::Expected<bool> tryOther(const Assembler &assembler, Kernels kernels,
                                llvm::MutableArrayRef<CompiledKernel> compiled,
                                llvm::ArrayRef<CompiledKernel> codes,
                                Spilling &spilling);
  llvm::Error takeFewerRegisters(const Assembler &assembler, Kernels kernels,
                                 llvm::MutableArrayRef<CompiledKernel> compiled,
                                 std::string &text, Assembled &assembled);
  mlir::LogicalResult check(const cpu::LoweredKernels::Kernel &kernel,
                            const CompiledKernel &compiled,
                            const Assembler &assembler,
                            const AssembledKernel &assembled);
  mlir::LogicalResult refuse(llvm::Error error);

  mlir::ModuleOp program;
  const MachineModel &machine;
  const EmitOptions &options;
  const WriteOptions &write;
};

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_MACHINECODE_H
