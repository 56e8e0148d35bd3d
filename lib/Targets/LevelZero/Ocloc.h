// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intel's compiler for GPUs without one, ocloc: machine code of a program's
// SPIR-V where the compiler runs, and what that code takes. None is needed:
// drivers compile SPIR-V themselves.
#ifndef ASHLAR_LIB_TARGETS_LEVELZERO_OCLOC_H
#define ASHLAR_LIB_TARGETS_LEVELZERO_OCLOC_H

#include "ashlar/Targets/Target.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar::levelzero {

/// Of a kernel, whose thread is a subgroup; sizes in bytes.
struct NativeKernel {
  KernelResources resources; ///< without groups and occupancy
  uint64_t codeBytes = 0;
};

struct NativeCode {
  std::string image; ///< an ELF file of Intel's, a zebin
  llvm::StringMap<NativeKernel> kernels;
};

class Ocloc {
public:
  /// `asked`: a path to a program whose name begins with ocloc, "none", or
  /// another's: then that of ASHLAR_OCLOC (likewise), or ocloc in PATH. Null:
  /// there is none, or none is wanted. An error where one that was named is
  /// none.
  static llvm::Expected<std::unique_ptr<Ocloc>> find(llvm::StringRef asked);

  /// All kernels of a module, for one GPU ("pvc"). Those with matrix units have
  /// twice the registers for their operands, where the GPU has so many, and so
  /// have those that would keep some in memory. An error where it does not take
  /// them or does not know the GPU, or is not done in time.
  llvm::Expected<NativeCode>
  compile(llvm::StringRef words, llvm::StringRef gpu,
          llvm::ArrayRef<llvm::StringRef> kernels,
          llvm::ArrayRef<std::string> withMatrices) const;

  const std::string path;

private:
  explicit Ocloc(std::string path) : path(std::move(path)) {}
  llvm::Expected<NativeCode>
  compileWith(llvm::StringRef words, llvm::StringRef gpu,
              llvm::ArrayRef<llvm::StringRef> kernels,
              llvm::StringRef options) const;
};

/// Whether a path is that of an ocloc, by its name.
bool isOcloc(llvm::StringRef path);

/// What a zebin says of its kernels: the sizes of their sections, and of its
/// section .ze_info, text in YAML, registers, local memory and scratch of a
/// thread.
llvm::Error readZebin(llvm::StringRef image,
                      llvm::StringMap<NativeKernel> &kernels);

/// Which kernels spill, by what ocloc said; the bytes are those of the scratch.
void readSpills(llvm::StringRef log, llvm::StringMap<NativeKernel> &kernels);

} // namespace ashlar::levelzero

#endif // ASHLAR_LIB_TARGETS_LEVELZERO_OCLOC_H
