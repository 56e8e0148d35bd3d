// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opcodes that whole numbers and floats share go to the float's decoder where
// the type is one.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXFAMILIES_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXFAMILIES_H

#include "PtxDecoder.h"

namespace ashlar::ptx {

inline bool isFloat(Type type) {
  return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 ||
         type == Type::BF16x2 || type == Type::F32 || type == Type::F32x2 ||
         type == Type::F64;
}

enum class FloatOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max,
  Fma,
  Neg,
  Abs,
  Sqrt,
  Rcp,
};
/// PtxFloat.cpp: of a type that is a float.
void decodeFloat(Decoder &d, FloatOp op, Type type);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXFAMILIES_H
