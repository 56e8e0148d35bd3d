// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps that bring a foreign module into Ashlar's form. Each emits a
// diagnostic where it fails.
#ifndef ASHLAR_LIB_IMPORT_MLIR_ENTRYIMPORTER_H
#define ASHLAR_LIB_IMPORT_MLIR_ENTRYIMPORTER_H

#include "ashlar/Import/MLIR/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace ashlar::mlir_import {

/// Refuses ops, types and symbols that no stage can take, before anything is
/// changed. Returns the one public function.
mlir::FailureOr<mlir::func::FuncOp> checkModule(mlir::ModuleOp module);

/// Gives every argument and result its `ashlar.name` and `ashlar.type`.
mlir::LogicalResult nameSignature(mlir::func::FuncOp entry);

/// Fixes dynamic arguments as `options` say and makes every shape that follows
/// from them static.
mlir::LogicalResult fixShapes(mlir::func::FuncOp entry,
                              const MLIRImportOptions &options);

/// Turns TOSA into linalg, tensor, arith and scf.
mlir::LogicalResult lowerTosa(mlir::ModuleOp module);

/// Takes ops apart that stand for several of linalg, tensor and arith.
mlir::LogicalResult decomposeOps(mlir::ModuleOp module);

/// Makes loops that only read a flag to know whether they go on.
void rotateLoops(mlir::ModuleOp module);

/// Refuses dynamic shapes that are left, which depend on data.
mlir::LogicalResult checkStatic(mlir::func::FuncOp entry);

/// Moves large constants into resources, under names of their own.
mlir::LogicalResult moveConstantsToResources(mlir::func::FuncOp entry);

/// The model's own ops, before others are made of them.
struct ModelOps {
  /// "tosa.add@12:5" of line 12 and column 5.
  std::map<std::pair<unsigned, unsigned>, std::string> names;
  /// Those that compute or move data, in the file's order.
  llvm::SetVector<mlir::Attribute> nodes;
};
ModelOps listModelOps(mlir::ModuleOp module);

/// Replaces places in files by names.
void nameLocations(mlir::ModuleOp module, const ModelOps &ops);

} // namespace ashlar::mlir_import

#endif // ASHLAR_LIB_IMPORT_MLIR_ENTRYIMPORTER_H
