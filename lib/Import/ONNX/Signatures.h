// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many operands and results each operator takes and of which types, as the
// onnx package defines it. Every node is checked against this table before its
// importer sees it, so importers may rely on it: a required operand is there,
// and operands of one type variable have one type.
#ifndef ASHLAR_LIB_IMPORT_ONNX_SIGNATURES_H
#define ASHLAR_LIB_IMPORT_ONNX_SIGNATURES_H

#include "NodeImporter.h"
#include <string>

namespace ashlar::onnx_import {

/// One operator of ai.onnx from an opset on, until the next entry of its name.
struct Signature {
  const char *op;
  int64_t since;
  unsigned minimumInputs;
  /// A type variable for each input: "T T? I*". ? is optional, * repeats with
  /// one type for all, + repeats with any types.
  const char *inputs;
  unsigned minimumOutputs, maximumOutputs;
  /// The types of each variable: "T=3c2", a hexadecimal mask whose bit n stands
  /// for ElementType n, and bit 63 for what is no tensor.
  const char *types;
};

/// Null when the operator is not defined at this opset.
const Signature *lookupSignature(llvm::StringRef op, int64_t opset);

/// The types that any input takes, as in Signature::types.
uint64_t inputTypes(const Signature &signature);

/// What is wrong with a node of these operands (Undefined where there is none)
/// and this number of results; empty if nothing is.
std::string checkSignature(const Signature &signature,
                           llvm::ArrayRef<ElementType> operands,
                           unsigned results);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_SIGNATURES_H
