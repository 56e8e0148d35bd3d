// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NonZero and Compress: the size of their result depends on their input's
// values. Where those are known at compile time they are computed; otherwise
// the result is as large as it can get, and its size is found while it is
// computed.
#include "../OperandRules.h"
#include "../SizedTensors.h"
#include "../TensorBuilder.h"
#include "Gathers.h"
#include "LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// The numbers of the elements that are true, in order, and how many there are.
/// What lies beyond them is zero.
static std::pair<Value, Value> findTrue(ImplicitLocOpBuilder &b, Value flags) {
  int64_t count = cast<RankedTensorType>(flags.getType()).getNumElements();
  Value zero = scalarIntConstant(b, b.getLoc(), b.getI64Type(), 0);
  Value places = fill(b, {count}, zero);
  Value found = fill(b, {}, zero);
  auto step = [&](OpBuilder &b, Location loc, ValueRange at,
                  ValueRange carried) -> SmallVector<Value> {
    Value flag = tensor::ExtractOp::create(b, loc, flags, at);
    Value number = tensor::ExtractOp::create(b, loc, carried[1], ValueRange());
    Value next = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
    Value here = arith::IndexCastOp::create(b, loc, b.getI64Type(), at[0]);
    Value before = tensor::ExtractOp::create(b, loc, carried[0], next);
    Value place = arith::SelectOp::create(b, loc, flag, here, before);
    Value more = arith::ExtUIOp::create(b, loc, b.getI64Type(), flag);
    return {tensor::InsertOp::create(b, loc, place, carried[0], next),
            tensor::InsertOp::create(
                b, loc, arith::AddIOp::create(b, loc, number, more), carried[1],
                ValueRange())};
  };
  SmallVector<Value> results =
      loopOver(b, b.getLoc(), {count}, {places, found}, step);
  return {results[0], results[1]};
}

/// Whether each element is anything but zero.
static Value isNotZero(ImplicitLocOpBuilder &b, Value value) {
  return elementwise(
      b, b.getI1Type(), value,
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Type type = x[0].getType();
        if (type.isInteger(1))
          return x[0];
        if (isa<FloatType>(type))
          return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x[0],
                                       scalarConstant(b, loc, type, 0));
        return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x[0],
                                     scalarIntConstant(b, loc, type, 0));
      });
}

static LogicalResult importNonZeroAtRunTime(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  int64_t count = node.tensorType(0).getNumElements(), rank = node.rank(0);
  if (count == 0 || failed(expectSize(node, {rank, count})))
    return count == 0 ? node.unsupported("input 0 has no elements") : failure();
  Value flat = reshape(b, isNotZero(b, node.operand(0)), {count});
  auto [places, found] = findTrue(b, flat);
  // Row r holds what each place means along axis r.
  SmallVector<int64_t> strides(rank, 1);
  for (int64_t axis = rank - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * node.shape(0)[axis + 1];
  SmallVector<Value> rows;
  for (int64_t axis = 0; axis != rank; ++axis) {
    Value row = elementwise(
        b, b.getI64Type(), places,
        [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
          Type i64 = b.getI64Type();
          Value whole = arith::DivUIOp::create(
              b, loc, x[0], scalarIntConstant(b, loc, i64, strides[axis]));
          return arith::RemUIOp::create(
              b, loc, whole,
              scalarIntConstant(b, loc, i64, node.shape(0)[axis]));
        });
    rows.push_back(reshape(b, row, {1, count}));
  }
  if (rank == 0)
    return node.unsupported("input 0 is a scalar");
  node.setResult(0, {concat(b, rows, 0), ElementType::I64, {Value(), found}});
  return success();
}

/// Elements of an axis, or of the flattened tensor, that a condition keeps.
static LogicalResult importCompress(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectRank(node, 1, 1)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  Value data = node.operand(0);
  int64_t axis = 0;
  if (node.hasAttribute("axis")) {
    FailureOr<int64_t> named =
        node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
    if (failed(named))
      return failure();
    axis = *named;
  } else {
    data = reshape(b, makeDense(b, node.importedOperand(0)),
                   {node.tensorType(0).getNumElements()});
  }
  SmallVector<Value, 0> sizes(cast<RankedTensorType>(data.getType()).getRank());
  if (node.hasAttribute("axis"))
    llvm::copy(node.sizes(0), sizes.begin());
  int64_t dim = cast<RankedTensorType>(data.getType()).getDimSize(axis);
  int64_t given = node.shape(1)[0];
  if (DenseElementsAttr known = node.constantOperand(1)) {
    SmallVector<int64_t> kept;
    for (auto [i, keep] : llvm::enumerate(known.getValues<APInt>())) {
      if (!keep.isZero() && int64_t(i) >= dim)
        return node.invalid("the condition keeps element " + Twine(i) +
                            " of an axis that has " + Twine(dim));
      if (!keep.isZero())
        kept.push_back(i);
    }
    Value places = constantTensor(b, kept, {int64_t(kept.size())});
    sizes[axis] = Value();
    node.setResult(
        0, {gatherAxis(b, data, places, axis), node.operandType(0), sizes});
    return success();
  }
  if (given == 0 || dim == 0)
    return node.unsupported("there is nothing to choose from");
  if (given > dim && node.sizes(1).empty())
    return node.unsupported("the condition (input 1) has " + Twine(given) +
                            " values for an axis of " + Twine(dim));
  // As many as count fit; that there may be more is only a bound.
  given = std::min(given, dim);
  auto [places, found] =
      findTrue(b, slice(b, node.operand(1), {0}, {given}, {1}));
  sizes[axis] = found;
  node.setResult(
      0, {gatherAxis(b, data, places, axis), node.operandType(0), sizes});
  return success();
}

static LogicalResult importNonZero(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)))
    return failure();
  DenseElementsAttr constant = node.constantOperand(0);
  if (!constant || constant.getNumElements() > 1 << 20)
    return importNonZeroAtRunTime(node);
  SmallVector<int64_t> found;
  int64_t position = 0;
  if (isFloat(node.operandType(0))) {
    for (const APFloat &value : constant.getValues<APFloat>()) {
      if (!value.isZero())
        found.push_back(position);
      ++position;
    }
  } else {
    for (const APInt &value : constant.getValues<APInt>()) {
      if (!value.isZero())
        found.push_back(position);
      ++position;
    }
  }
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t rank = shape.size(), count = found.size();
  SmallVector<int64_t> indices(rank * count);
  for (int64_t i = 0; i != count; ++i)
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      indices[axis * count + i] = found[i] % shape[axis];
      found[i] /= shape[axis];
    }
  node.setResult(0, constantTensor(node.b, indices, {rank, count}),
                 ElementType::I64);
  return success();
}

void ashlar::onnx_import::registerDataDependentOperators(
    OperatorRegistry &registry) {
  registry.add("Compress", 9, importCompress);
  registry.add("NonZero", 9, importNonZero);
}
