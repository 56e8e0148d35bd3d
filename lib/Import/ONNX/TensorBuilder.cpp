// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor code that operators are made of: elementwise ops with broadcasting,
// reshapes, transposes, slices, pads and casts, as linalg and tensor ops.
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static RankedTensorType rankedType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Value ashlar::onnx_import::scalarConstant(OpBuilder &b, Location loc, Type type,
                                          double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

Value ashlar::onnx_import::scalarIntConstant(OpBuilder &b, Location loc,
                                             Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value ashlar::onnx_import::constantOf(ImplicitLocOpBuilder &b,
                                      DenseElementsAttr value) {
  // The bound of TensorData.cpp. Attributes pack booleans, resources do not.
  ArrayRef<char> data = value.getRawData();
  if (value.isSplat() || value.getElementType().isInteger(1) ||
      data.size() <= 1024)
    return arith::ConstantOp::create(b, value);
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(
      data, alignof(std::max_align_t));
  return arith::ConstantOp::create(
      b, DenseResourceElementsAttr::get(value.getType(), "table",
                                        std::move(blob)));
}

Value ashlar::onnx_import::constantTensor(ImplicitLocOpBuilder &b,
                                          ArrayRef<int64_t> values,
                                          ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, b.getI64Type());
  return constantOf(b, DenseElementsAttr::get(type, values));
}

Value ashlar::onnx_import::constantTable(ImplicitLocOpBuilder &b,
                                         ArrayRef<double> values,
                                         ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, b.getF64Type());
  return constantOf(b, DenseElementsAttr::get(type, values));
}

Value ashlar::onnx_import::splat(ImplicitLocOpBuilder &b,
                                 ArrayRef<int64_t> shape, TypedAttr value) {
  auto type = RankedTensorType::get(shape, value.getType());
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, cast<Attribute>(value)));
}

Value ashlar::onnx_import::fill(ImplicitLocOpBuilder &b,
                                ArrayRef<int64_t> shape, Value scalar) {
  Value empty = tensor::EmptyOp::create(b, shape, scalar.getType());
  return linalg::FillOp::create(b, scalar, empty).getResult(0);
}

TypedAttr ashlar::onnx_import::zeroOf(Type type) {
  return Builder(type.getContext()).getZeroAttr(type);
}

TypedAttr ashlar::onnx_import::lowestOf(Type type, bool isUnsigned) {
  Builder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(type,
                          APFloat::getInf(floatType.getFloatSemantics(), true));
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, isUnsigned || width == 1
                                    ? APInt::getMinValue(width)
                                    : APInt::getSignedMinValue(width));
}

TypedAttr ashlar::onnx_import::highestOf(Type type, bool isUnsigned) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat::getInf(floatType.getFloatSemantics()));
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, isUnsigned || width == 1
                                    ? APInt::getMaxValue(width)
                                    : APInt::getSignedMaxValue(width));
}

FailureOr<SmallVector<int64_t>>
ashlar::onnx_import::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<int64_t> shape : shapes)
    for (auto [i, dim] : llvm::enumerate(shape)) {
      int64_t &out = result[rank - shape.size() + i];
      if (dim == 1 || dim == out)
        continue;
      if (out != 1)
        return failure();
      out = dim;
    }
  return result;
}

Value ashlar::onnx_import::reshape(ImplicitLocOpBuilder &b, Value value,
                                   ArrayRef<int64_t> shape) {
  RankedTensorType from = rankedType(value);
  if (from.getShape() == shape)
    return value;
  auto to = RankedTensorType::get(shape, from.getElementType());
  // A tensor without elements has no order to keep, and zero sizes confuse
  // reassociation.
  if (from.getNumElements() == 0)
    return tensor::EmptyOp::create(b, shape, from.getElementType());
  if (auto reassociation = getReassociationIndicesForReshape(from, to)) {
    if (from.getRank() > to.getRank())
      return tensor::CollapseShapeOp::create(b, to, value, *reassociation);
    if (from.getRank() < to.getRank())
      return tensor::ExpandShapeOp::create(b, to, value, *reassociation);
  }
  auto flat =
      RankedTensorType::get({from.getNumElements()}, from.getElementType());
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups(1);
    for (int64_t i = 0; i != rank; ++i)
      groups[0].push_back(i);
    return groups;
  };
  if (from.getRank() == 0)
    value = tensor::ExpandShapeOp::create(b, flat, value,
                                          ArrayRef<ReassociationIndices>{});
  else if (from.getRank() > 1)
    value =
        tensor::CollapseShapeOp::create(b, flat, value, all(from.getRank()));
  if (to.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, to, value,
                                           ArrayRef<ReassociationIndices>{});
  if (to.getRank() == 1)
    return value;
  return tensor::ExpandShapeOp::create(b, to, value, all(to.getRank()));
}

Value ashlar::onnx_import::transpose(ImplicitLocOpBuilder &b, Value value,
                                     ArrayRef<int64_t> permutation) {
  if (isIdentityPermutation(permutation))
    return value;
  RankedTensorType type = rankedType(value);
  Value empty = tensor::EmptyOp::create(
      b, applyPermutation(type.getShape(), permutation), type.getElementType());
  return linalg::TransposeOp::create(b, value, empty, permutation)
      .getResult()[0];
}

Value ashlar::onnx_import::broadcastTo(ImplicitLocOpBuilder &b, Value value,
                                       ArrayRef<int64_t> shape) {
  RankedTensorType type = rankedType(value);
  if (type.getShape() == shape)
    return value;
  Value target = tensor::EmptyOp::create(b, shape, type.getElementType());
  SmallVector<AffineExpr> source;
  int64_t lead = shape.size() - type.getRank();
  for (auto [i, dim] : llvm::enumerate(type.getShape()))
    source.push_back(dim == 1 && shape[lead + i] != 1
                         ? b.getAffineConstantExpr(0)
                         : b.getAffineDimExpr(lead + i));
  AffineMap maps[] = {AffineMap::get(shape.size(), 0, source, b.getContext()),
                      b.getMultiDimIdentityMap(shape.size())};
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, target.getType(), ValueRange{value}, ValueRange{target}, maps,
             iterators,
             [](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, args[0]);
             })
      .getResult(0);
}

Value ashlar::onnx_import::slice(ImplicitLocOpBuilder &b, Value value,
                                 ArrayRef<int64_t> offsets,
                                 ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> strides) {
  RankedTensorType type = rankedType(value);
  if (type.getShape() == sizes &&
      llvm::all_of(strides, [](int64_t s) { return s == 1; }))
    return value;
  // Where an axis has no elements there is no place to take from.
  if (llvm::is_contained(sizes, 0))
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(
               RankedTensorType::get(sizes, type.getElementType()),
               ArrayRef<Attribute>()));
  return tensor::ExtractSliceOp::create(
      b, value, getAsIndexOpFoldResult(b.getContext(), offsets),
      getAsIndexOpFoldResult(b.getContext(), sizes),
      getAsIndexOpFoldResult(b.getContext(), strides));
}

Value ashlar::onnx_import::pad(ImplicitLocOpBuilder &b, Value value,
                               ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                               Value scalar) {
  auto isZero = [](int64_t n) { return n == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return value;
  RankedTensorType type = rankedType(value);
  SmallVector<int64_t> shape;
  for (auto [dim, before, after] : llvm::zip(type.getShape(), low, high))
    shape.push_back(dim + before + after);
  return tensor::PadOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), value,
      getAsIndexOpFoldResult(b.getContext(), low),
      getAsIndexOpFoldResult(b.getContext(), high), scalar);
}

Value ashlar::onnx_import::padOrCrop(ImplicitLocOpBuilder &b, Value value,
                                     ArrayRef<int64_t> low,
                                     ArrayRef<int64_t> high, Value scalar) {
  RankedTensorType type = rankedType(value);
  SmallVector<int64_t> shape, offsets, sizes, before, after;
  bool keepsSome = true;
  for (auto [dim, lo, hi] : llvm::zip(type.getShape(), low, high)) {
    shape.push_back(dim + lo + hi);
    offsets.push_back(std::max<int64_t>(-lo, 0));
    sizes.push_back(dim - offsets.back() - std::max<int64_t>(-hi, 0));
    keepsSome &= sizes.back() > 0;
    before.push_back(std::max<int64_t>(lo, 0));
    after.push_back(std::max<int64_t>(hi, 0));
  }
  if (!keepsSome)
    return fill(b, shape, scalar);
  SmallVector<int64_t> strides(shape.size(), 1);
  return pad(b, slice(b, value, offsets, sizes, strides), before, after,
             scalar);
}

Value ashlar::onnx_import::concat(ImplicitLocOpBuilder &b, ValueRange values,
                                  int64_t axis) {
  // Parts without elements add nothing, and views of them are awkward.
  SmallVector<Value> parts;
  for (Value value : values)
    if (rankedType(value).getDimSize(axis) != 0)
      parts.push_back(value);
  if (parts.empty())
    return values[0];
  if (parts.size() == 1)
    return parts[0];
  return tensor::ConcatOp::create(b, axis, parts);
}

Value ashlar::onnx_import::elementwise(ImplicitLocOpBuilder &b,
                                       Type resultElement, ValueRange inputs,
                                       ScalarBody body) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value input : inputs)
    shapes.push_back(rankedType(input).getShape());
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(shapes);
  assert(succeeded(shape) && "shapes must be checked by the operator");
  int64_t rank = shape->size();
  SmallVector<AffineMap> maps;
  for (Value input : inputs) {
    RankedTensorType type = rankedType(input);
    int64_t lead = rank - type.getRank();
    SmallVector<AffineExpr> source;
    for (auto [i, dim] : llvm::enumerate(type.getShape()))
      source.push_back(dim == 1 && (*shape)[lead + i] != 1
                           ? b.getAffineConstantExpr(0)
                           : b.getAffineDimExpr(lead + i));
    maps.push_back(AffineMap::get(rank, 0, source, b.getContext()));
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  Value target = tensor::EmptyOp::create(b, *shape, resultElement);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, target.getType(), inputs, ValueRange{target}, maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange args) {
               linalg::YieldOp::create(builder, loc,
                                       body(builder, loc, args.drop_back()));
             })
      .getResult(0);
}

Value ashlar::onnx_import::reduce(ImplicitLocOpBuilder &b, Value input,
                                  ArrayRef<int64_t> axes, bool keepDims,
                                  TypedAttr initial, ScalarBody body) {
  RankedTensorType type = rankedType(input);
  SmallVector<int64_t> kept, keptShape;
  SmallVector<AffineExpr> result;
  SmallVector<utils::IteratorType> iterators;
  for (auto [i, dim] : llvm::enumerate(type.getShape())) {
    bool reduced = llvm::is_contained(axes, int64_t(i));
    iterators.push_back(reduced ? utils::IteratorType::reduction
                                : utils::IteratorType::parallel);
    keptShape.push_back(reduced ? 1 : dim);
    if (reduced)
      continue;
    kept.push_back(dim);
    result.push_back(b.getAffineDimExpr(i));
  }
  Value init = fill(b, kept, arith::ConstantOp::create(b, initial));
  AffineMap maps[] = {
      b.getMultiDimIdentityMap(type.getRank()),
      AffineMap::get(type.getRank(), 0, result, b.getContext())};
  Value reduced =
      linalg::GenericOp::create(
          b, init.getType(), ValueRange{input}, ValueRange{init}, maps,
          iterators,
          [&](OpBuilder &builder, Location loc, ValueRange args) {
            linalg::YieldOp::create(builder, loc, body(builder, loc, args));
          })
          .getResult(0);
  return keepDims ? reshape(b, reduced, keptShape) : reduced;
}

Value ashlar::onnx_import::generate(ImplicitLocOpBuilder &b,
                                    ArrayRef<int64_t> shape, Type element,
                                    ScalarBody body) {
  Value target = tensor::EmptyOp::create(b, shape, element);
  AffineMap maps[] = {b.getMultiDimIdentityMap(shape.size())};
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, target.getType(), ValueRange{}, ValueRange{target}, maps,
             iterators,
             [&](OpBuilder &builder, Location loc, ValueRange) {
               SmallVector<Value> indices;
               for (size_t i = 0; i != shape.size(); ++i)
                 indices.push_back(linalg::IndexOp::create(builder, loc, i));
               linalg::YieldOp::create(builder, loc,
                                       body(builder, loc, indices));
             })
      .getResult(0);
}

Value ashlar::onnx_import::parallel(ImplicitLocOpBuilder &b,
                                    ArrayRef<int64_t> shape, Type element,
                                    ValueRange inputs, ArrayRef<AffineMap> maps,
                                    ScalarBody body) {
  Value target = tensor::EmptyOp::create(b, shape, element);
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, target.getType(), inputs, ValueRange{target}, all, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange args) {
               linalg::YieldOp::create(builder, loc,
                                       body(builder, loc, args.drop_back()));
             })
      .getResult(0);
}

/// Widens a scalar to the type in which products are summed.
static Value extend(OpBuilder &b, Location loc, Value value, Type type,
                    bool isUnsigned) {
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(b, loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

Value ashlar::onnx_import::contract(ImplicitLocOpBuilder &b, Value lhs,
                                    Value rhs, Value initial,
                                    ArrayRef<AffineMap> maps, bool lhsUnsigned,
                                    bool rhsUnsigned) {
  AffineMap resultMap = maps[2];
  SmallVector<utils::IteratorType> iterators(resultMap.getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : resultMap.getResults())
    iterators[cast<AffineDimExpr>(expr).getPosition()] =
        utils::IteratorType::parallel;
  Type accumulator = rankedType(initial).getElementType();
  return linalg::GenericOp::create(
             b, initial.getType(), ValueRange{lhs, rhs}, ValueRange{initial},
             maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange args) {
               Value x =
                   extend(builder, loc, args[0], accumulator, lhsUnsigned);
               Value y =
                   extend(builder, loc, args[1], accumulator, rhsUnsigned);
               Value sum;
               if (isa<FloatType>(accumulator)) {
                 Value product = arith::MulFOp::create(builder, loc, x, y);
                 sum = arith::AddFOp::create(builder, loc, args[2], product);
               } else {
                 Value product = arith::MulIOp::create(builder, loc, x, y);
                 sum = arith::AddIOp::create(builder, loc, args[2], product);
               }
               linalg::YieldOp::create(builder, loc, sum);
             })
      .getResult(0);
}

Value ashlar::onnx_import::matmul(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                                  Type accumulator, bool lhsUnsigned,
                                  bool rhsUnsigned) {
  ArrayRef<int64_t> lhsShape = rankedType(lhs).getShape();
  ArrayRef<int64_t> rhsShape = rankedType(rhs).getShape();
  bool lhsVector = lhsShape.size() == 1, rhsVector = rhsShape.size() == 1;
  ArrayRef<int64_t> lhsBatch = lhsShape.drop_back(lhsVector ? 1 : 2);
  ArrayRef<int64_t> rhsBatch = rhsShape.drop_back(rhsVector ? 1 : 2);
  SmallVector<int64_t> shape = *broadcastShapes({lhsBatch, rhsBatch});
  int64_t batch = shape.size();
  int64_t count = batch;
  AffineExpr m, n;
  if (!lhsVector) {
    shape.push_back(lhsShape[lhsShape.size() - 2]);
    m = b.getAffineDimExpr(count++);
  }
  if (!rhsVector) {
    shape.push_back(rhsShape.back());
    n = b.getAffineDimExpr(count++);
  }
  AffineExpr k = b.getAffineDimExpr(count++);
  auto batchExprs = [&](ArrayRef<int64_t> sizes) {
    SmallVector<AffineExpr> exprs;
    int64_t lead = batch - sizes.size();
    for (auto [i, dim] : llvm::enumerate(sizes))
      exprs.push_back(dim == 1 && shape[lead + i] != 1
                          ? b.getAffineConstantExpr(0)
                          : b.getAffineDimExpr(lead + i));
    return exprs;
  };
  SmallVector<AffineExpr> lhsExprs = batchExprs(lhsBatch);
  if (m)
    lhsExprs.push_back(m);
  lhsExprs.push_back(k);
  SmallVector<AffineExpr> rhsExprs = batchExprs(rhsBatch);
  rhsExprs.push_back(k);
  if (n)
    rhsExprs.push_back(n);
  SmallVector<AffineExpr> resultExprs;
  for (int64_t i = 0; i != count - 1; ++i)
    resultExprs.push_back(b.getAffineDimExpr(i));
  AffineMap maps[] = {AffineMap::get(count, 0, lhsExprs, b.getContext()),
                      AffineMap::get(count, 0, rhsExprs, b.getContext()),
                      AffineMap::get(count, 0, resultExprs, b.getContext())};
  Value zero = arith::ConstantOp::create(b, zeroOf(accumulator));
  return contract(b, lhs, rhs, fill(b, shape, zero), maps, lhsUnsigned,
                  rhsUnsigned);
}
