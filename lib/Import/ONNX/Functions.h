// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that a model defines itself. A call becomes the nodes of the
// function, written for this call: its attributes in the places that refer to
// them, and nothing where the call leaves an input out.
#ifndef ASHLAR_LIB_IMPORT_ONNX_FUNCTIONS_H
#define ASHLAR_LIB_IMPORT_ONNX_FUNCTIONS_H

#include "mlir/IR/Diagnostics.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace ashlar::onnx_import {

/// A model's functions by domain, name and overload.
class FunctionTable {
public:
  using ErrorAt =
      llvm::function_ref<mlir::InFlightDiagnostic(const llvm::Twine &where)>;

  /// Fails, having said so, when two functions have the same name.
  mlir::LogicalResult read(const onnx::ModelProto &model, ErrorAt error);
  /// The function that a node calls, or null.
  const onnx::FunctionProto *lookup(const onnx::NodeProto &node) const;

private:
  llvm::StringMap<const onnx::FunctionProto *> functions;
};

/// "domain.name", as the call spells it.
std::string displayName(const onnx::FunctionProto &function);

/// The nodes of `function` for one call, as a graph: an input for each that
/// the call gives, an output for each of the function's. Fails, having said
/// so, when the call does not go with the function.
mlir::FailureOr<onnx::GraphProto>
instantiate(const onnx::FunctionProto &function, const onnx::NodeProto &call,
            FunctionTable::ErrorAt error);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_FUNCTIONS_H
