// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The activation functions that RNN, GRU and LSTM name in attributes.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_RECURRENTACTIVATION_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_RECURRENTACTIVATION_H

#include "../ScalarBuilder.h"

namespace ashlar::onnx_import {

struct RecurrentActivation {
  std::string name; ///< in lower case: exporters differ
  double alpha = 0, beta = 0;
};

/// Attributes activations, activation_alpha and activation_beta: as many as
/// `defaults` for each direction.
mlir::FailureOr<llvm::SmallVector<RecurrentActivation>>
readRecurrentActivations(NodeImporter &node,
                         llvm::ArrayRef<llvm::StringRef> defaults,
                         int64_t directions);
mlir::Value applyRecurrentActivation(FloatScalars &s,
                                     const RecurrentActivation &activation,
                                     mlir::Value x);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_RECURRENTACTIVATION_H
