// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the nodes of a graph read and in which order they can run.
#ifndef ASHLAR_LIB_IMPORT_ONNX_GRAPHORDER_H
#define ASHLAR_LIB_IMPORT_ONNX_GRAPHORDER_H

#include "ashlar/Import/ONNX/NodeName.h"
#include "mlir/IR/Diagnostics.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace ashlar::onnx_import {

/// ai.onnx is the name of the empty domain.
llvm::StringRef canonicalDomain(llvm::StringRef domain);

/// Calls `function` with the name of every tensor that the node needs: its
/// inputs, and what the graphs in its attributes read from outside.
void forEachRead(const onnx::NodeProto &node,
                 llvm::function_ref<void(const std::string &name)> function);

/// Stable topological order, for files whose nodes are not in order. Says with
/// `error`, which takes a place, why there is none. `isOutside` tells names
/// that the graphs around this one define.
llvm::FailureOr<llvm::SmallVector<const onnx::NodeProto *>> orderNodes(
    const onnx::GraphProto &graph,
    llvm::function_ref<bool(llvm::StringRef name)> isOutside,
    llvm::function_ref<mlir::InFlightDiagnostic(const llvm::Twine &)> error);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_GRAPHORDER_H
