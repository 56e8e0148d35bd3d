// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model looked at before it is imported, its weights left in the file.
#ifndef ASHLAR_LIB_IMPORT_ONNX_STRIPPEDMODEL_H
#define ASHLAR_LIB_IMPORT_ONNX_STRIPPEDMODEL_H

#include "onnx-ml.pb.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>

namespace ashlar::onnx_import {

struct StrippedModel {
  std::unique_ptr<llvm::MemoryBuffer> file; ///< where its places lie
  onnx::ModelProto model;                   ///< with places for raw data
};

/// Nothing where the file is no model: the import says why.
std::optional<StrippedModel> readStrippedModel(llvm::StringRef path);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_STRIPPEDMODEL_H
