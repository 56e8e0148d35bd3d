// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CumSum and CumProd. Elementwise steps that each join what stands 1, 2, 4, ...
// places apart: log2(n) passes in which all elements are independent, and an
// error that grows with log2(n) only.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Element i of the result is body(x[i], x[i - distance]) along `axis`, with
/// `outside` for what lies before the first element.
static Value joinShifted(
    ImplicitLocOpBuilder &b, Value x, int64_t axis, int64_t distance,
    bool reverse, TypedAttr outside,
    llvm::function_ref<Value(OpBuilder &, Location, Value, Value)> body) {
  auto type = cast<RankedTensorType>(x.getType());
  return generate(
      b, type.getShape(), type.getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        auto index = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        SmallVector<Value> from(at);
        Value exists, last = index(type.getDimSize(axis) - 1);
        if (reverse) {
          from[axis] = arith::AddIOp::create(b, loc, at[axis], index(distance));
          exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                                         from[axis], last);
          from[axis] = arith::MinSIOp::create(b, loc, from[axis], last);
        } else {
          from[axis] = arith::SubIOp::create(b, loc, at[axis], index(distance));
          exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                         from[axis], index(0));
          from[axis] = arith::MaxSIOp::create(b, loc, from[axis], index(0));
        }
        Value far = tensor::ExtractOp::create(b, loc, x, from);
        Value none = arith::ConstantOp::create(b, loc, outside);
        far = arith::SelectOp::create(b, loc, exists, far, none);
        return body(b, loc, tensor::ExtractOp::create(b, loc, x, at), far);
      });
}

using Fold = Value (*)(OpBuilder &, Location, Value, Value);

template <Fold fold, int neutral>
static LogicalResult importCumulative(NodeImporter &node) {
  FailureOr<SmallVector<int64_t>> given = node.constantInts(1, "axis");
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return node.invalid("expected one axis, found " + Twine(given->size()));
  FailureOr<int64_t> axis = node.normalizeAxis((*given)[0], node.rank(0));
  if (failed(axis))
    return failure();
  bool reverse = node.intAttribute("reverse", 0);
  bool exclusive = node.intAttribute("exclusive", 0);
  ElementType type = node.operandType(0), wide = computeType(type);
  Value x = castTensor(node.b, node.operand(0), type, wide);
  Type element = getElementTypeOrSelf(x);
  TypedAttr outside = isFloat(wide)
                          ? TypedAttr(node.b.getFloatAttr(element, neutral))
                          : TypedAttr(node.b.getIntegerAttr(element, neutral));
  int64_t size = node.shape(0)[*axis];
  if (exclusive && size > 0)
    x = joinShifted(
        node.b, x, *axis, 1, reverse, outside,
        [](OpBuilder &, Location, Value, Value far) { return far; });
  for (int64_t distance = 1; distance < size; distance *= 2)
    x = joinShifted(node.b, x, *axis, distance, reverse, outside, fold);
  node.setResult(0, castTensor(node.b, x, wide, type), type);
  return success();
}

void ashlar::onnx_import::registerCumulativeFoldsOperators(
    OperatorRegistry &registry) {
  registry.add("CumSum", 11, importCumulative<scalarAdd, 0>);
  registry.add("CumProd", 26, importCumulative<scalarMul, 1>);
}
