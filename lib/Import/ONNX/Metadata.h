// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_METADATA_H
#define ASHLAR_LIB_IMPORT_ONNX_METADATA_H

#include "ashlar/Import/ONNX/Import.h"
#include "mlir/IR/Location.h"
#include "onnx-ml.pb.h"

namespace ashlar::onnx_import {

/// What the model says of itself, as far as a module may hold it; warns, at
/// `location`, of what it leaves out.
ModelMetadata readMetadata(const onnx::ModelProto &model,
                           mlir::Location location);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_METADATA_H
