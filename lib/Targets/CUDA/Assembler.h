// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's assembler, ptxas: machine code of a program's PTX where the compiler
// runs, and what that code takes. No other program is asked, and none is
// needed: drivers compile PTX themselves.
#ifndef ASHLAR_LIB_TARGETS_CUDA_ASSEMBLER_H
#define ASHLAR_LIB_TARGETS_CUDA_ASSEMBLER_H

#include "ashlar/Targets/Target.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ashlar::cuda {

/// Of a kernel; sizes in bytes.
struct AssembledKernel {
  KernelResources resources; ///< without groups and occupancy
  uint64_t codeBytes = 0;
  /// The remark by which the assembler says that it runs matrix steps one at a
  /// time, which are meant to overlap; empty: it does not.
  std::string serialized;
};

struct Assembled {
  std::string image; ///< a cubin
  llvm::StringMap<AssembledKernel> kernels;
};

class Assembler {
public:
  /// `asked`: a path, "none", or empty: that of ASHLAR_PTXAS (likewise), or
  /// ptxas in PATH or in CUDA_HOME/bin. Null: there is none, or none is wanted.
  /// An error where one that was named is none.
  static llvm::Expected<std::unique_ptr<Assembler>> find(llvm::StringRef asked);

  /// All kernels of a module of PTX, for one processor ("sm_90a"); its lines
  /// are kept if asked for.
  llvm::Expected<Assembled> assemble(llvm::StringRef text,
                                     llvm::StringRef processor,
                                     bool hasLines) const;

  const std::string path;
  const std::string version; ///< "ptxas 12.9.86"

private:
  Assembler(std::string path, std::string version)
      : path(std::move(path)), version(std::move(version)) {}
};

/// Reads what `ptxas -v` says into the kernels' resources; lines that it does
/// not know it passes over.
void readAssemblerLog(llvm::StringRef log,
                      llvm::StringMap<AssembledKernel> &kernels);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_ASSEMBLER_H
