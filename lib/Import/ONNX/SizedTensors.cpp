// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizedTensors.h"
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

Value ashlar::onnx_import::makeDense(ImplicitLocOpBuilder &b,
                                     const ImportedValue &tensor) {
  auto type = cast<RankedTensorType>(tensor.value.getType());
  int64_t rank = type.getRank();
  // The outermost size cuts off the end.
  if (tensor.sizes.empty() ||
      llvm::none_of(ArrayRef(tensor.sizes).drop_front(),
                    [](Value size) { return bool(size); }))
    return tensor.value;
  ArrayRef<int64_t> shape = type.getShape();
  return generate(
      b, shape, type.getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange place) -> Value {
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        // The number of this element, and the place that has it.
        Value number = place[0];
        for (int64_t d = 1; d != rank; ++d)
          number = arith::AddIOp::create(
              b, loc, arith::MulIOp::create(b, loc, number, constant(shape[d])),
              place[d]);
        SmallVector<Value> at(rank);
        for (int64_t d = rank - 1; d >= 0; --d) {
          Value size = constant(shape[d]);
          if (Value found = tensor.sizes[d]) {
            Value scalar =
                tensor::ExtractOp::create(b, loc, found, ValueRange());
            size = arith::IndexCastOp::create(b, loc, b.getIndexType(), scalar);
            size = arith::MaxSIOp::create(b, loc, size, constant(1));
          }
          // Elements beyond the last one have no place; any will do.
          Value left = arith::RemUIOp::create(b, loc, number, size);
          at[d] = d == 0 ? arith::MinUIOp::create(b, loc, number,
                                                  constant(shape[0] - 1))
                               .getResult()
                         : left;
          number = arith::DivUIOp::create(b, loc, number, size);
        }
        return tensor::ExtractOp::create(b, loc, tensor.value, at);
      });
}

Value ashlar::onnx_import::shapeAsTensor(ImplicitLocOpBuilder &b,
                                         ArrayRef<int64_t> shape,
                                         ArrayRef<Value> sizes) {
  SmallVector<Value> parts;
  for (auto [dim, size] : llvm::zip(shape, sizes))
    parts.push_back(size ? reshape(b, size, {1})
                         : constantTensor(b, {dim}, {1}));
  return concat(b, parts, 0);
}

CommonShape ashlar::onnx_import::ownShape(const ImportedValue &value) {
  CommonShape result;
  llvm::append_range(result.bounds,
                     cast<RankedTensorType>(value.value.getType()).getShape());
  for (auto [axis, size] : llvm::enumerate(value.sizes))
    if (size)
      result.sized.push_back(axis);
  return result;
}

CommonShape ashlar::onnx_import::join(const CommonShape &x,
                                      const CommonShape &y) {
  CommonShape result;
  for (auto [axis, one, two] : llvm::enumerate(x.bounds, y.bounds)) {
    result.bounds.push_back(std::max(one, two));
    if (one != two || llvm::is_contained(x.sized, axis) ||
        llvm::is_contained(y.sized, axis))
      result.sized.push_back(axis);
  }
  return result;
}

void ashlar::onnx_import::appendAs(ImplicitLocOpBuilder &b,
                                   const ImportedValue &value,
                                   const CommonShape &shape,
                                   SmallVectorImpl<Value> &values) {
  auto type = cast<RankedTensorType>(value.value.getType());
  SmallVector<int64_t> low(type.getRank(), 0), high;
  for (auto [bound, dim] : llvm::zip(shape.bounds, type.getShape()))
    high.push_back(bound - dim);
  Value zero = arith::ConstantOp::create(b, zeroOf(type.getElementType()));
  values.push_back(padOrCrop(b, value.value, low, high, zero));
  for (int64_t axis : shape.sized)
    values.push_back(!value.sizes.empty() && value.sizes[axis]
                         ? value.sizes[axis]
                         : constantTensor(b, {type.getDimSize(axis)}, {}));
}

void ashlar::onnx_import::appendTypes(ImplicitLocOpBuilder &b,
                                      const CommonShape &shape, Type element,
                                      SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(shape.bounds, element));
  types.append(shape.sized.size(), RankedTensorType::get({}, b.getI64Type()));
}

ImportedValue ashlar::onnx_import::takeAs(const CommonShape &shape,
                                          ElementType type,
                                          ArrayRef<Value> &values) {
  auto take = [&] {
    Value first = values.front();
    values = values.drop_front();
    return first;
  };
  ImportedValue result = {take(), type};
  if (!shape.sized.empty())
    result.sizes.resize(shape.bounds.size());
  for (int64_t axis : shape.sized)
    result.sizes[axis] = take();
  return result;
}

Value ashlar::onnx_import::copyOfSize(ImplicitLocOpBuilder &b, Value size) {
  return parallel(b, {}, b.getI64Type(), size,
                  AffineMap::get(0, 0, {}, b.getContext()),
                  [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                    Value zero = scalarIntConstant(b, loc, b.getI64Type(), 0);
                    return arith::AddIOp::create(b, loc, x[0], zero);
                  });
}
