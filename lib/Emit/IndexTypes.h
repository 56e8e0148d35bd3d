// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How types of elements and formulas of sizes are written in a module's index.
#ifndef ASHLAR_LIB_EMIT_INDEXTYPES_H
#define ASHLAR_LIB_EMIT_INDEXTYPES_H

#include "ashlar/runtime/module_generated.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Types.h"

namespace ashlar {

/// By ONNX's name, "float"; None where it has no place in a module.
fb::ElementType elementType(llvm::StringRef onnxName);
/// Weights have lost their sign; it does not matter to the runtime.
fb::ElementType elementType(mlir::Type type);
/// In postfix order.
void appendFormula(mlir::AffineExpr formula,
                   std::vector<fb::SizeInstruction> &code);

} // namespace ashlar

#endif // ASHLAR_LIB_EMIT_INDEXTYPES_H
