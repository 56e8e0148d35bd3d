// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes scalar expressions inside the body of an operator. One float type at a
// time: f16 and bf16 are computed in f32 and rounded once, which is exact for
// the basic operations and better than their own arithmetic for the others.
//
//   floatElementwise(b, {x}, type, [](FloatScalars &s, ValueRange args) {
//     return s.div(args[0], s.add(s.constant(1), s.abs(args[0])));
//   });
#ifndef ASHLAR_LIB_IMPORT_ONNX_SCALARBUILDER_H
#define ASHLAR_LIB_IMPORT_ONNX_SCALARBUILDER_H

#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

namespace ashlar::onnx_import {

/// f32 for f16 and bf16, otherwise the type itself.
mlir::Type computeType(mlir::Type type);
/// computeType for the model's types.
ElementType computeType(ElementType type);

/// Float to wider or narrower float, where they differ.
mlir::Value resizeFloat(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value scalar, mlir::Type type);

/// A number of the type computed with, as it is once it has been of `type`.
mlir::Value roundTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar,
                    mlir::Type type);

class FloatScalars {
public:
  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpFPredicate;

  FloatScalars(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type)
      : b(b), loc(loc), type(type) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type; ///< of all operands and results

  template <typename Op, typename... Values> Value make(Values... values) {
    return Op::create(b, loc, values...);
  }
  Value constant(double value) { return scalarConstant(b, loc, type, value); }
  Value infinity(bool negative = false);
  Value add(Value x, Value y) { return make<mlir::arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return make<mlir::arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return make<mlir::arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return make<mlir::arith::DivFOp>(x, y); }
  Value neg(Value x) { return make<mlir::arith::NegFOp>(x); }
  Value abs(Value x) { return make<mlir::math::AbsFOp>(x); }
  Value exp(Value x) { return make<mlir::math::ExpOp>(x); }
  Value log(Value x) { return make<mlir::math::LogOp>(x); }
  Value sqrt(Value x) { return make<mlir::math::SqrtOp>(x); }
  Value tanh(Value x) { return make<mlir::math::TanhOp>(x); }
  Value max(Value x, Value y) { return make<mlir::arith::MaximumFOp>(x, y); }
  Value min(Value x, Value y) { return make<mlir::arith::MinimumFOp>(x, y); }
  Value compare(Predicate predicate, Value x, Value y) {
    return make<mlir::arith::CmpFOp>(predicate, x, y);
  }
  Value less(Value x, Value y) { return compare(Predicate::OLT, x, y); }
  Value greater(Value x, Value y) { return compare(Predicate::OGT, x, y); }
  Value isNaN(Value x) { return compare(Predicate::UNO, x, x); }
  Value select(Value condition, Value x, Value y) {
    return make<mlir::arith::SelectOp>(condition, x, y);
  }
  Value sigmoid(Value x) {
    return div(constant(1), add(constant(1), exp(neg(x))));
  }
  Value gelu(Value x) {
    Value erf = make<mlir::math::ErfOp>(mul(x, constant(M_SQRT1_2)));
    return mul(mul(x, constant(0.5)), add(constant(1), erf));
  }
  /// Its approximation by a hyperbolic tangent.
  Value tanhGelu(Value x) {
    Value cube = mul(mul(x, x), mul(x, constant(0.044715)));
    Value scale = constant(M_2_SQRTPI * M_SQRT1_2); // sqrt(2 / pi)
    Value inner = tanh(mul(scale, add(x, cube)));
    return mul(mul(x, constant(0.5)), add(constant(1), inner));
  }
  /// log(1 + exp(x)), which neither overflows nor cancels.
  Value softplus(Value x) {
    Value small = make<mlir::math::Log1pOp>(exp(neg(abs(x))));
    return add(max(x, constant(0)), small);
  }
};

using FloatBody =
    llvm::function_ref<mlir::Value(FloatScalars &, mlir::ValueRange)>;

/// elementwise() over float tensors whose body computes in computeType(result)
/// and whose result has element type `result`.
mlir::Value floatElementwise(mlir::ImplicitLocOpBuilder &b,
                             mlir::ValueRange inputs, mlir::Type result,
                             FloatBody body);

// Integers. Bodies never divide by zero nor overflow a division: the hardware
// traps. Division by zero gives zero.
mlir::Value divideIntegers(mlir::OpBuilder &b, mlir::Location loc,
                           bool isUnsigned, mlir::Value x, mlir::Value y);
/// C's remainder.
mlir::Value integerRemainder(mlir::OpBuilder &b, mlir::Location loc,
                             bool isUnsigned, mlir::Value x, mlir::Value y);
/// x < y of scalars of a numeric type or bool.
mlir::Value scalarLess(mlir::OpBuilder &b, mlir::Location loc, ElementType type,
                       mlir::Value x, mlir::Value y);
mlir::Value scalarMax(mlir::OpBuilder &b, mlir::Location loc, ElementType type,
                      mlir::Value x, mlir::Value y);
mlir::Value scalarMin(mlir::OpBuilder &b, mlir::Location loc, ElementType type,
                      mlir::Value x, mlir::Value y);
mlir::Value scalarAdd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Value y);
mlir::Value scalarMul(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Value y);

/// The value of operand i, which has one element, as it is known inside a
/// body: a constant where it is one, otherwise null.
mlir::TypedAttr constantScalar(const NodeImporter &node, unsigned i);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_SCALARBUILDER_H
