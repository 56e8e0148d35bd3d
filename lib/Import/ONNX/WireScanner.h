// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights must not pass through protobuf: parsing 330 MiB peaks at twice that.
// The scanner walks the wire format of a ModelProto and copies it, except that
// the bytes of every TensorProto.raw_data are replaced by the 16 bytes of a
// RawDataPlace: where they lie in the file. The copy is small and is parsed by
// the generated classes as usual.
#ifndef ASHLAR_LIB_IMPORT_ONNX_WIRESCANNER_H
#define ASHLAR_LIB_IMPORT_ONNX_WIRESCANNER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace ashlar::onnx_import {

/// Where the raw_data of one tensor lies, in bytes from the start of the file.
struct RawDataPlace {
  uint64_t offset;
  uint64_t size;
};

/// Returns the bytes of `model` with every raw_data replaced by its place.
/// Fails on what is not well-formed wire data; the error says at which byte.
llvm::Expected<std::string> stripRawData(llvm::StringRef model);

/// The place that stripRawData left in a raw_data field.
RawDataPlace decodePlace(llvm::StringRef rawData);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_WIRESCANNER_H
