// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IndexTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace ashlar;

fb::ElementType ashlar::elementType(StringRef onnxName) {
  return llvm::StringSwitch<fb::ElementType>(onnxName)
      .Case("bool", fb::ElementType::Bool)
      .Case("int8", fb::ElementType::I8)
      .Case("int16", fb::ElementType::I16)
      .Case("int32", fb::ElementType::I32)
      .Case("int64", fb::ElementType::I64)
      .Case("uint8", fb::ElementType::U8)
      .Case("uint16", fb::ElementType::U16)
      .Case("uint32", fb::ElementType::U32)
      .Case("uint64", fb::ElementType::U64)
      .Case("float16", fb::ElementType::F16)
      .Case("bfloat16", fb::ElementType::BF16)
      .Case("float", fb::ElementType::F32)
      .Case("double", fb::ElementType::F64)
      .Case("float8e4m3fn", fb::ElementType::F8E4M3FN)
      .Case("float8e4m3fnuz", fb::ElementType::F8E4M3FNUZ)
      .Case("float8e5m2", fb::ElementType::F8E5M2)
      .Case("float8e5m2fnuz", fb::ElementType::F8E5M2FNUZ)
      .Case("float8e8m0", fb::ElementType::F8E8M0)
      .Case("float4e2m1", fb::ElementType::F4E2M1)
      .Case("int4", fb::ElementType::I4)
      .Case("uint4", fb::ElementType::U4)
      .Case("int2", fb::ElementType::I2)
      .Case("uint2", fb::ElementType::U2)
      .Default(fb::ElementType::None);
}

fb::ElementType ashlar::elementType(Type type) {
  if (type.isF32())
    return fb::ElementType::F32;
  if (type.isF64())
    return fb::ElementType::F64;
  if (type.isF16())
    return fb::ElementType::F16;
  if (type.isBF16())
    return fb::ElementType::BF16;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return fb::ElementType::Bool;
  case 8:
    return fb::ElementType::I8;
  case 16:
    return fb::ElementType::I16;
  case 32:
    return fb::ElementType::I32;
  default:
    return fb::ElementType::I64;
  }
}

void ashlar::appendFormula(AffineExpr formula,
                           std::vector<fb::SizeInstruction> &code) {
  if (auto constant = dyn_cast<AffineConstantExpr>(formula)) {
    code.emplace_back(fb::SizeOpcode::Constant, constant.getValue());
    return;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(formula)) {
    code.emplace_back(fb::SizeOpcode::Symbol, symbol.getPosition());
    return;
  }
  auto binary = cast<AffineBinaryOpExpr>(formula);
  appendFormula(binary.getLHS(), code);
  appendFormula(binary.getRHS(), code);
  auto opcode = [&] {
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return fb::SizeOpcode::Add;
    case AffineExprKind::Mul:
      return fb::SizeOpcode::Multiply;
    case AffineExprKind::FloorDiv:
      return fb::SizeOpcode::FloorDivide;
    case AffineExprKind::CeilDiv:
      return fb::SizeOpcode::CeilDivide;
    default:
      return fb::SizeOpcode::Modulo;
    }
  };
  code.emplace_back(opcode(), 0);
}
