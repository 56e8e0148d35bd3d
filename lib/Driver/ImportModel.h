// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_IMPORTMODEL_H
#define ASHLAR_LIB_DRIVER_IMPORTMODEL_H

#include "ashlar/Driver/CompileOptions.h"
#include "ashlar/Import/ONNX/Import.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ashlar {

/// Reads the model that `options` name, ONNX or MLIR. Null after diagnostics,
/// or where `unsupported` says what is beyond us. `dataFiles` gets the files
/// beside the model that its weights are in, `metadata` what an ONNX model says
/// of itself.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(const CompileOptions &options, mlir::MLIRContext &context,
            std::vector<UnsupportedNode> &unsupported,
            std::vector<std::string> &dataFiles, ModelMetadata &metadata);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_IMPORTMODEL_H
