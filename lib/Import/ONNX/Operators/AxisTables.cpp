// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AxisTables.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static Value floatTable(ImplicitLocOpBuilder &b, ArrayRef<double> values,
                        Type type) {
  SmallVector<Attribute> attributes;
  for (double value : values)
    attributes.push_back(FloatAttr::get(type, value));
  return constantOf(
      b,
      DenseElementsAttr::get(
          RankedTensorType::get({int64_t(values.size())}, type), attributes));
}

AxisTables ashlar::onnx_import::makeTables(ImplicitLocOpBuilder &b,
                                           const AxisSampling &sampling,
                                           Type weight) {
  AxisTables tables{sampling.axis, sampling.size, {}, {}, {}};
  for (unsigned tap = 0; tap != sampling.taps; ++tap) {
    SmallVector<int64_t> places;
    SmallVector<double> weights;
    for (int64_t i = 0; i != sampling.size; ++i) {
      places.push_back(sampling.places[i * sampling.taps + tap]);
      weights.push_back(sampling.weights[i * sampling.taps + tap]);
    }
    tables.places.push_back(constantTensor(b, places, {sampling.size}));
    if (weight)
      tables.weights.push_back(floatTable(b, weights, weight));
  }
  if (weight &&
      llvm::any_of(sampling.constants, [](double c) { return c != 0; }))
    tables.constants = floatTable(b, sampling.constants, weight);
  return tables;
}

Value ashlar::onnx_import::gatherNearest(ImplicitLocOpBuilder &b, Value value,
                                         ArrayRef<AxisTables> tables) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> columns;
  SmallVector<AffineMap> maps;
  for (const AxisTables &table : tables) {
    columns.push_back(table.places[0]);
    shape[table.axis] = table.size;
    maps.push_back(
        AffineMap::get(shape.size(), 0, b.getAffineDimExpr(table.axis)));
  }
  return parallel(b, shape, type.getElementType(), columns, maps,
                  [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                    SmallVector<Value> at;
                    for (unsigned i = 0; i != shape.size(); ++i)
                      at.push_back(linalg::IndexOp::create(b, loc, i));
                    for (auto [table, place] : llvm::zip(tables, args))
                      at[table.axis] = arith::IndexCastOp::create(
                          b, loc, b.getIndexType(), place);
                    return tensor::ExtractOp::create(b, loc, value, at);
                  });
}

Value ashlar::onnx_import::interpolate(ImplicitLocOpBuilder &b, Value value,
                                       const AxisTables &tables) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[tables.axis] = tables.size;
  SmallVector<Value> columns;
  for (auto [places, weights] : llvm::zip(tables.places, tables.weights))
    columns.append({places, weights});
  if (tables.constants)
    columns.push_back(tables.constants);
  SmallVector<AffineMap> maps(
      columns.size(),
      AffineMap::get(shape.size(), 0, b.getAffineDimExpr(tables.axis)));
  return parallel(
      b, shape, type.getElementType(), columns, maps,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        SmallVector<Value> at;
        for (unsigned i = 0; i != shape.size(); ++i)
          at.push_back(linalg::IndexOp::create(b, loc, i));
        Value sum = tables.constants ? args.back() : Value();
        for (unsigned tap = 0; tap != tables.places.size(); ++tap) {
          at[tables.axis] = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                                       args[2 * tap]);
          Value x = tensor::ExtractOp::create(b, loc, value, at);
          Value term = arith::MulFOp::create(b, loc, x, args[2 * tap + 1]);
          sum =
              sum ? arith::AddFOp::create(b, loc, sum, term).getResult() : term;
        }
        return sum;
      });
}
