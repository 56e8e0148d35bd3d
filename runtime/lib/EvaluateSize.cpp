// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sizes are for the symbols of a call: done in every bind, so apart from
// what is done once.

#include "CheckedMath.h"
#include "SizeExpression.h"

#include <algorithm>

namespace ashlar::runtime {

using fb::SizeOpcode;

static bool divide(int64_t a, int64_t b, SizeOpcode opcode, int64_t &out) {
  // Sizes are not negative; a negative operand shows a broken formula.
  if (a < 0 || b <= 0)
    return false;
  if (opcode == SizeOpcode::Modulo)
    out = a % b;
  else
    out = a / b + (opcode == SizeOpcode::CeilDivide && a % b != 0);
  return true;
}

static bool apply(SizeOpcode opcode, int64_t a, int64_t b, int64_t &out) {
  switch (opcode) {
  case SizeOpcode::Add:
    return checkedAdd(a, b, out);
  case SizeOpcode::Multiply:
    return checkedMultiply(a, b, out);
  case SizeOpcode::Maximum:
    out = std::max(a, b);
    return true;
  case SizeOpcode::Minimum:
    out = std::min(a, b);
    return true;
  default:
    return divide(a, b, opcode, out);
  }
}

bool evaluateSize(const fb::SizeExpression &expression, const int64_t *symbols,
                  int64_t &value) {
  const auto *code = expression.code();
  if (!code || code->size() == 0) {
    value = expression.constant();
    return true;
  }
  int64_t stack[maximumSizeInstructions];
  size_t depth = 0;
  for (const fb::SizeInstruction *instruction : *code) {
    switch (instruction->opcode()) {
    case SizeOpcode::Constant:
      stack[depth++] = instruction->value();
      break;
    case SizeOpcode::Symbol:
      stack[depth++] = symbols[instruction->value()];
      break;
    default:
      --depth;
      if (!apply(instruction->opcode(), stack[depth - 1], stack[depth],
                 stack[depth - 1]))
        return false;
    }
  }
  value = stack[0];
  return value >= 0;
}

} // namespace ashlar::runtime
