// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_IMPORT_ONNX_NODENAME_H
#define ASHLAR_IMPORT_ONNX_NODENAME_H

#include <string>

namespace onnx {
class NodeProto;
}

namespace ashlar::onnx_import {

/// The name that errors, locations and the map of kernels give to a node: its
/// own, or its operator and first output where it has none.
std::string displayName(const onnx::NodeProto &node);

} // namespace ashlar::onnx_import

#endif // ASHLAR_IMPORT_ONNX_NODENAME_H
