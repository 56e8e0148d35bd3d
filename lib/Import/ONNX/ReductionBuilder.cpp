// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ReductionBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static RankedTensorType rankedType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

SmallVector<int64_t> ashlar::onnx_import::allAxes(int64_t rank, int64_t from) {
  return llvm::to_vector(llvm::seq(from, rank));
}

SmallVector<int64_t> ashlar::onnx_import::otherAxes(int64_t rank,
                                                    ArrayRef<int64_t> axes) {
  SmallVector<int64_t> others;
  for (int64_t i = 0; i != rank; ++i)
    if (!llvm::is_contained(axes, i))
      others.push_back(i);
  return others;
}

Value ashlar::onnx_import::sumOver(ImplicitLocOpBuilder &b, Value input,
                                   ArrayRef<int64_t> axes, FloatMap map) {
  Type type = computeType(rankedType(input).getElementType());
  return reduce(b, input, axes, /*keepDims=*/false, zeroOf(type),
                [&](OpBuilder &b, Location loc, ValueRange args) {
                  FloatScalars s(b, loc, type);
                  Value element = resizeFloat(b, loc, args[0], type);
                  return s.add(args[1], map ? map(s, element) : element);
                });
}

Type ashlar::onnx_import::stepType(Value input, ArrayRef<int64_t> axes) {
  // NumPy's own summation adds up to eight terms one after the other, too.
  constexpr int64_t fewTerms = 8;
  RankedTensorType type = rankedType(input);
  int64_t terms = 1;
  for (int64_t axis : axes)
    terms *= type.getDimSize(axis);
  Type element = type.getElementType();
  return terms > fewTerms ? computeType(element) : element;
}

Value ashlar::onnx_import::roundedSumOver(ImplicitLocOpBuilder &b, Value input,
                                          ArrayRef<int64_t> axes) {
  Type element = stepType(input, axes);
  if (computeType(element) == element)
    return sumOver(b, input, axes);
  if (element.isF16())
    return floatElementwise(
        b, {sumOver(b, input, axes)}, element,
        [](FloatScalars &, ValueRange args) { return args[0]; });
  return reduce(b, input, axes, /*keepDims=*/false, zeroOf(element),
                [&](OpBuilder &b, Location loc, ValueRange args) {
                  FloatScalars s(b, loc, computeType(element));
                  Value sum = s.add(resizeFloat(b, loc, args[1], s.type),
                                    resizeFloat(b, loc, args[0], s.type));
                  return resizeFloat(b, loc, sum, element);
                });
}

Value ashlar::onnx_import::maxOver(ImplicitLocOpBuilder &b, Value input,
                                   ArrayRef<int64_t> axes) {
  Type type = computeType(rankedType(input).getElementType());
  return reduce(b, input, axes, /*keepDims=*/false, lowestOf(type, false),
                [&](OpBuilder &b, Location loc, ValueRange args) {
                  FloatScalars s(b, loc, type);
                  return s.max(resizeFloat(b, loc, args[0], type), args[1]);
                });
}

static Value divideByCount(ImplicitLocOpBuilder &b, Value sum, Value input,
                           ArrayRef<int64_t> axes) {
  double count = 1;
  for (int64_t axis : axes)
    count *= rankedType(input).getDimSize(axis);
  return floatElementwise(b, {sum}, rankedType(sum).getElementType(),
                          [&](FloatScalars &s, ValueRange args) {
                            return s.div(args[0], s.constant(count));
                          });
}

Value ashlar::onnx_import::meanOver(ImplicitLocOpBuilder &b, Value input,
                                    ArrayRef<int64_t> axes, FloatMap map) {
  return divideByCount(b, sumOver(b, input, axes, map), input, axes);
}

Value ashlar::onnx_import::alignedElementwise(ImplicitLocOpBuilder &b,
                                              Value input,
                                              ArrayRef<Aligned> others,
                                              Type compute, Type result,
                                              FloatBody body) {
  RankedTensorType type = rankedType(input);
  int64_t rank = type.getRank();
  SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(rank)};
  SmallVector<Value> inputs = {input};
  for (const Aligned &other : others) {
    SmallVector<AffineExpr> source;
    for (auto [dim, size] :
         llvm::zip(other.dims, rankedType(other.value).getShape()))
      source.push_back(size == 1 && type.getDimSize(dim) != 1
                           ? b.getAffineConstantExpr(0)
                           : b.getAffineDimExpr(dim));
    maps.push_back(AffineMap::get(rank, 0, source, b.getContext()));
    inputs.push_back(other.value);
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  Value target = tensor::EmptyOp::create(b, type.getShape(), result);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, target.getType(), inputs, ValueRange{target}, maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange args) {
               FloatScalars scalars(builder, loc, compute);
               SmallVector<Value> wide;
               for (Value arg : args.drop_back())
                 wide.push_back(resizeFloat(builder, loc, arg, compute));
               linalg::YieldOp::create(
                   builder, loc,
                   resizeFloat(builder, loc, body(scalars, wide), result));
             })
      .getResult(0);
}

Moments ashlar::onnx_import::momentsOver(ImplicitLocOpBuilder &b, Value input,
                                         ArrayRef<int64_t> axes) {
  RankedTensorType type = rankedType(input);
  Type compute = computeType(type.getElementType());
  SmallVector<int64_t> kept = otherAxes(type.getRank(), axes);
  Aligned mean = {meanOver(b, input, axes), kept};
  Value squares = alignedElementwise(b, input, {mean}, compute, compute,
                                     [](FloatScalars &s, ValueRange args) {
                                       Value distance = s.sub(args[0], args[1]);
                                       return s.mul(distance, distance);
                                     });
  return {mean, {meanOver(b, squares, axes), kept}};
}

Value ashlar::onnx_import::softmax(ImplicitLocOpBuilder &b, Value input,
                                   ArrayRef<int64_t> axes, bool logarithm) {
  RankedTensorType type = rankedType(input);
  Type element = type.getElementType(), compute = computeType(element);
  SmallVector<int64_t> kept = otherAxes(type.getRank(), axes);
  Aligned max = {maxOver(b, input, axes), kept};
  if (!logarithm) {
    Type step = stepType(input, axes);
    Value powers = alignedElementwise(
        b, input, {max}, compute, step, [&](FloatScalars &s, ValueRange args) {
          Value distance = s.sub(args[0], args[1]);
          return s.exp(roundTo(s.b, s.loc, distance, step));
        });
    Aligned sum = {roundedSumOver(b, powers, axes), kept};
    return alignedElementwise(b, powers, {sum}, compute, element,
                              [](FloatScalars &s, ValueRange args) {
                                return s.div(args[0], args[1]);
                              });
  }
  Value shifted = alignedElementwise(b, input, {max}, compute, compute,
                                     [&](FloatScalars &s, ValueRange args) {
                                       return s.sub(args[0], args[1]);
                                     });
  Aligned sum = {sumOver(b, shifted, axes,
                         [](FloatScalars &s, Value x) { return s.exp(x); }),
                 kept};
  return alignedElementwise(b, shifted, {sum}, compute, element,
                            [](FloatScalars &s, ValueRange args) {
                              return s.sub(args[0], s.log(args[1]));
                            });
}
