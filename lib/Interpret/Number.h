// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One element of any type, and what the ops on single elements do with it.
#ifndef ASHLAR_LIB_INTERPRET_NUMBER_H
#define ASHLAR_LIB_INTERPRET_NUMBER_H

#include "ashlar/Interpret/Interpret.h"
#include "mlir/IR/Operation.h"

#include <functional>

namespace ashlar::interpret {

/// To the nearest number of a float type, ties to even.
double roundTo(mlir::Type type, double value);
/// Of an integer type or index: the lower bits, read as signed; i1 is 0 or 1.
int64_t wrapTo(mlir::Type type, int64_t value);
/// `value` as it is in a constant of its type.
Number numberOf(mlir::TypedAttr value);

/// The lower bits of an integer, read as unsigned.
int64_t unsignedOf(mlir::Type type, int64_t value);

/// A factor as the sum's type has it.
int64_t extended(mlir::Type type, bool isUnsigned, Number factor);

/// What a result is, from the operands; empty: no such op.
using ScalarRule = std::function<Number(llvm::ArrayRef<Number>)>;
ScalarRule scalarRuleOf(mlir::Operation &op);

} // namespace ashlar::interpret

#endif // ASHLAR_LIB_INTERPRET_NUMBER_H
