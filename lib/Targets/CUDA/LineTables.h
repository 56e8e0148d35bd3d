// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of PTX (`.loc`) that say of which node an instruction is: to profilers
// and debuggers each node is a file.
#ifndef ASHLAR_LIB_TARGETS_CUDA_LINETABLES_H
#define ASHLAR_LIB_TARGETS_CUDA_LINETABLES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace ashlar::cuda {

/// The model's nodes that a kernel in the LLVM dialect has instructions of.
class NodeLines {
public:
  /// Numbers them, and has the translation to LLVM IR keep the numbers as
  /// lines. Doing so again changes nothing.
  explicit NodeLines(mlir::ModuleOp kernel);

  /// Once the entry has been added, which calls the body: what is inlined into
  /// it keeps its lines.
  void addEntry(llvm::Function &entry) const;
  /// Behind all passes: the entry's lines become those of files by the nodes'
  /// names. Of another function nothing is left.
  void nameFiles(llvm::Function &entry) const;

private:
  std::vector<std::string> names; ///< by line, from 1 on
};

/// Adds `count`, the files of the kernels before, to the numbers of the files
/// in a kernel's PTX, and to `count` those that it has.
std::string renumberFiles(llvm::StringRef text, unsigned &count);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_LINETABLES_H
