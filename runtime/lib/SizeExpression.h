// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes in symbols: checked once when a module is loaded, evaluated when a
// call binds its symbols.

#ifndef ASHLAR_RUNTIME_LIB_SIZEEXPRESSION_H
#define ASHLAR_RUNTIME_LIB_SIZEEXPRESSION_H

#include "Status.h"
#include "ashlar/runtime/module_generated.h"

namespace ashlar::runtime {

/// Longer programs are refused: no size of a model needs them, and a file must
/// not make the loader work for long.
constexpr uint32_t maximumSizeInstructions = 256;

/// Well formed: every operator finds its operands, one value remains, every
/// symbol exists. A missing expression is refused too.
Status verifySize(const fb::SizeExpression *expression, size_t symbolCount);

/// Whether the value is the same for all symbols.
bool isConstantSize(const fb::SizeExpression &expression);

/// Whether it is nothing but one symbol; its number in `symbol`.
bool isPlainSymbol(const fb::SizeExpression &expression, uint32_t &symbol);

/// Marks the symbols that the expression reads.
void collectSymbols(const fb::SizeExpression &expression, Vector<bool> &used);

/// The value for these symbols; false on overflow, on division by zero and on
/// a negative result. The expression has been verified.
[[nodiscard]] bool evaluateSize(const fb::SizeExpression &expression,
                                const int64_t *symbols, int64_t &value);

/// For people: "2*N+1".
String
sizeText(const fb::SizeExpression &expression,
         const flatbuffers::Vector<flatbuffers::Offset<fb::Symbol>> *symbols);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SIZEEXPRESSION_H
