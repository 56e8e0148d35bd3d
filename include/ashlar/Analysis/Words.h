// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes expressions of i32 and f32, which reach into the bits of floats.
#ifndef ASHLAR_ANALYSIS_WORDS_H
#define ASHLAR_ANALYSIS_WORDS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ashlar {

/// Scalars, or vectors of the shape of `like`.
struct Words {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type i32, f32;

  Words(mlir::OpBuilder &b, mlir::Location loc, mlir::Type like = {})
      : b(b), loc(loc), i32(b.getI32Type()), f32(b.getF32Type()) {
    if (auto vector = llvm::dyn_cast_if_present<mlir::VectorType>(like)) {
      i32 = vector.clone(i32);
      f32 = vector.clone(f32);
    }
  }

  mlir::Value word(int64_t value) {
    return constant(i32, b.getI32IntegerAttr(int32_t(value)));
  }
  mlir::Value real(double value) {
    return constant(f32, b.getF32FloatAttr(float(value)));
  }
  mlir::Value shl(mlir::Value x, int n) {
    return mlir::arith::ShLIOp::create(b, loc, x, word(n));
  }
  mlir::Value shr(mlir::Value x, int n) {
    return mlir::arith::ShRUIOp::create(b, loc, x, word(n));
  }
  mlir::Value mask(mlir::Value x, int64_t bits) {
    return mlir::arith::AndIOp::create(b, loc, x, word(bits));
  }
  mlir::Value orWith(mlir::Value x, mlir::Value y) {
    return mlir::arith::OrIOp::create(b, loc, x, y);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  mlir::Value add(mlir::Value x, int64_t y) { return add(x, word(y)); }
  mlir::Value is(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                 int64_t y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, word(y));
  }
  mlir::Value equals(mlir::Value x, int64_t y) {
    return is(mlir::arith::CmpIPredicate::eq, x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value asFloat(mlir::Value x) {
    return mlir::arith::BitcastOp::create(b, loc, f32, x);
  }
  mlir::Value asWord(mlir::Value x) {
    return mlir::arith::BitcastOp::create(b, loc, i32, x);
  }
  mlir::Value narrow(mlir::Value x) {
    return mlir::arith::TruncIOp::create(b, loc, b.getI8Type(), x);
  }

private:
  mlir::Value constant(mlir::Type type, mlir::TypedAttr value) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
    return mlir::arith::ConstantOp::create(b, loc, value);
  }
};

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_WORDS_H
