// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SizeExpression.h"

#include <algorithm>

namespace ashlar::runtime {

using fb::SizeOpcode;

Status verifySize(const fb::SizeExpression *expression, size_t symbolCount) {
  if (!expression)
    return corrupt("a size is missing");
  const auto *code = expression->code();
  if (!code || code->size() == 0) {
    if (expression->constant() < 0)
      return corrupt(concat("negative size ", expression->constant()));
    return {};
  }
  // FlatBuffers' verifier does not look at this.
  if (reinterpret_cast<uintptr_t>(code->Data()) % alignof(fb::SizeInstruction))
    return corrupt("the instructions of a size are misaligned");
  if (code->size() > maximumSizeInstructions)
    return corrupt(concat("a size of ", code->size(),
                          " instructions; expected at most ",
                          maximumSizeInstructions));
  size_t depth = 0;
  for (const fb::SizeInstruction *instruction : *code) {
    switch (instruction->opcode()) {
    case SizeOpcode::Symbol:
      if (instruction->value() < 0 ||
          uint64_t(instruction->value()) >= symbolCount)
        return corrupt(concat("a size reads symbol ", instruction->value(),
                              " of ", symbolCount));
      [[fallthrough]];
    case SizeOpcode::Constant:
      ++depth;
      break;
    case SizeOpcode::Add:
    case SizeOpcode::Multiply:
    case SizeOpcode::FloorDivide:
    case SizeOpcode::CeilDivide:
    case SizeOpcode::Modulo:
    case SizeOpcode::Maximum:
    case SizeOpcode::Minimum:
      if (depth < 2)
        return corrupt("an operator of a size lacks operands");
      --depth;
      break;
    default:
      return corrupt(concat("unknown instruction ",
                            unsigned(instruction->opcode()), " in a size"));
    }
  }
  if (depth != 1)
    return corrupt(concat("a size leaves ", depth, " values; expected 1"));
  return {};
}

bool isConstantSize(const fb::SizeExpression &expression) {
  const auto *code = expression.code();
  return !code || std::none_of(code->begin(), code->end(), [](auto *i) {
    return i->opcode() == SizeOpcode::Symbol;
  });
}

bool isPlainSymbol(const fb::SizeExpression &expression, uint32_t &symbol) {
  const auto *code = expression.code();
  if (!code || code->size() != 1 ||
      code->Get(0)->opcode() != SizeOpcode::Symbol)
    return false;
  symbol = uint32_t(code->Get(0)->value());
  return true;
}

void collectSymbols(const fb::SizeExpression &expression, Vector<bool> &used) {
  if (const auto *code = expression.code())
    for (const fb::SizeInstruction *instruction : *code)
      if (instruction->opcode() == SizeOpcode::Symbol)
        used[size_t(instruction->value())] = true;
}

static const char *spelling(SizeOpcode opcode) {
  switch (opcode) {
  case SizeOpcode::Add:
    return "+";
  case SizeOpcode::Multiply:
    return "*";
  case SizeOpcode::FloorDivide:
    return "/";
  case SizeOpcode::CeilDivide:
    return " ceildiv ";
  case SizeOpcode::Modulo:
    return "%";
  case SizeOpcode::Maximum:
    return " max ";
  default:
    return " min ";
  }
}

String
sizeText(const fb::SizeExpression &expression,
         const flatbuffers::Vector<flatbuffers::Offset<fb::Symbol>> *symbols) {
  const auto *code = expression.code();
  if (!code || code->size() == 0)
    return concat(expression.constant());
  Vector<String> stack;
  for (const fb::SizeInstruction *instruction : *code) {
    if (instruction->opcode() == SizeOpcode::Constant) {
      stack.push_back(concat(instruction->value()));
    } else if (instruction->opcode() == SizeOpcode::Symbol) {
      stack.emplace_back(
          symbols->Get(uint32_t(instruction->value()))->name()->string_view());
    } else {
      String right = std::move(stack.back());
      stack.pop_back();
      String &left = stack.back();
      left = concat("(", left, spelling(instruction->opcode()), right, ")");
    }
  }
  return stack.back();
}

} // namespace ashlar::runtime
