// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_IMPORT_MLIR_IMPORT_H
#define ASHLAR_IMPORT_MLIR_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>

namespace ashlar {

struct MLIRImportOptions {
  /// Shapes that fix or replace those of the entry's arguments, by name.
  std::map<std::string, llvm::SmallVector<int64_t>> shapes;
};

/// Reads MLIR, as text or bytecode, into what the other importers make: a
/// module with one func.func on statically shaped tensors in linalg, tensor,
/// arith, math and scf. The file holds those or TOSA, and exactly one public
/// function; private ones are inlined.
///
/// Arguments are called by their attribute `ashlar.name`, or arg0, arg1...;
/// results likewise, or out0, out1... Constants of more than a kilobyte become
/// resources. An op's location is its own name location where it has one, and
/// "linalg.matmul@12:5", its place in the file, otherwise: never a path.
///
/// What is wrong is emitted as diagnostics at the line and column; the result
/// is null then.
mlir::OwningOpRef<mlir::ModuleOp> importMLIR(llvm::StringRef path,
                                             const MLIRImportOptions &options,
                                             mlir::MLIRContext *context);

/// The same for a module that somebody else has read. Needs the dialects that
/// importMLIR loads.
mlir::LogicalResult importModule(mlir::ModuleOp module,
                                 const MLIRImportOptions &options);

} // namespace ashlar

#endif // ASHLAR_IMPORT_MLIR_IMPORT_H
