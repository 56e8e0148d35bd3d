// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TopK. Every value becomes an integer key whose order is the one asked for;
// then each place takes the best key that comes after the one before it. Equal
// keys go by their index, and NaN counts as greater than all numbers.
#include "../TensorBuilder.h"
#include "LoopNest.h"
#include "OperandChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Signed integers that are greater where `type`'s values come earlier.
static Value makeKeys(ImplicitLocOpBuilder &b, Value input, ElementType type,
                      bool largest) {
  Type element = getElementTypeOrSelf(input);
  unsigned width = element.getIntOrFloatBitWidth();
  Type key = b.getIntegerType(width);
  return elementwise(
      b, key, {input}, [&](OpBuilder &b, Location loc, ValueRange args) {
        Value bits = args[0];
        auto constant = [&](const APInt &value) -> Value {
          return arith::ConstantOp::create(b, loc,
                                           IntegerAttr::get(key, value));
        };
        if (isFloat(type)) {
          // Minus zero becomes zero; negative numbers turn round.
          Value zero = arith::ConstantOp::create(b, loc, zeroOf(element));
          Value sum = arith::AddFOp::create(b, loc, bits, zero);
          bits = arith::BitcastOp::create(b, loc, key, sum);
          Value sign = arith::ShRSIOp::create(
              b, loc, bits, constant(APInt(width, width - 1)));
          Value mask = arith::AndIOp::create(
              b, loc, sign, constant(APInt::getSignedMaxValue(width)));
          bits = arith::XOrIOp::create(b, loc, bits, mask);
        } else if (isUnsigned(type)) {
          bits = arith::XOrIOp::create(
              b, loc, bits, constant(APInt::getSignMask(width)));
        }
        if (!largest)
          bits = arith::XOrIOp::create(b, loc, bits,
                                       constant(APInt::getAllOnes(width)));
        return bits;
      });
}

/// The indices of the first `k` keys of each row.
static Value selectFirst(ImplicitLocOpBuilder &b, Value keys, int64_t k) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(keys.getType()).getShape();
  auto key = cast<IntegerType>(getElementTypeOrSelf(keys));
  Value empty = tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{shape[0], k}, b.getI64Type());
  using arith::CmpIPredicate;
  Value none = arith::ConstantIndexOp::create(b, -1);
  Value best = arith::ConstantOp::create(
      b, IntegerAttr::get(key, APInt::getSignedMaxValue(key.getWidth())));
  auto compare = [](OpBuilder &b, Location loc, CmpIPredicate predicate,
                    Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  auto row = [&](OpBuilder &b, Location loc, ValueRange rows,
                 ValueRange carried) -> SmallVector<Value> {
    // Carried: the indices so far, and the last key and index taken.
    Value initial[] = {carried[0], best, none};
    return {loopOver(
        b, loc, {k}, initial,
        [&](OpBuilder &b, Location loc, ValueRange places,
            ValueRange taken) -> SmallVector<Value> {
          // Carried: the best key so far, its index (-1 before there is one).
          Value start = arith::ConstantOp::create(
              b, loc,
              IntegerAttr::get(key, APInt::getSignedMinValue(key.getWidth())));
          Value found[] = {start, none};
          SmallVector<Value> next = loopOver(
              b, loc, {shape[1]}, found,
              [&](OpBuilder &b, Location loc, ValueRange at,
                  ValueRange current) -> SmallVector<Value> {
                Value x = tensor::ExtractOp::create(
                    b, loc, keys, ValueRange{rows[0], at[0]});
                // Still to be taken: less, or equal and behind.
                Value less =
                    compare(b, loc, CmpIPredicate::slt, x, taken[1]);
                Value same =
                    compare(b, loc, CmpIPredicate::eq, x, taken[1]);
                Value behind =
                    compare(b, loc, CmpIPredicate::sgt, at[0], taken[2]);
                same = arith::AndIOp::create(b, loc, same, behind);
                Value left = arith::OrIOp::create(b, loc, less, same);
                Value greater =
                    compare(b, loc, CmpIPredicate::sgt, x, current[0]);
                Value first =
                    compare(b, loc, CmpIPredicate::eq, current[1], none);
                Value better = arith::OrIOp::create(b, loc, greater, first);
                better = arith::AndIOp::create(b, loc, better, left);
                return {
                    arith::SelectOp::create(b, loc, better, x, current[0]),
                    arith::SelectOp::create(b, loc, better, at[0],
                                            current[1])};
              });
          Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                                   next[1]);
          Value written = tensor::InsertOp::create(
              b, loc, index, taken[0], ValueRange{rows[0], places[0]});
          return {written, next[0], next[1]};
        })[0]};
  };
  return loopOver(b, b.getLoc(), {shape[0]}, empty, row)[0];
}

static FailureOr<int64_t> readCount(NodeImporter &node) {
  if (node.opset() < 10)
    return node.intAttribute("k", -1);
  if (failed(expectOperands(node, 2, 2)))
    return failure();
  if (node.tensorType(1).getNumElements() != 1)
    return expectShapeOf(node, 1, {1});
  auto given = node.constantInts(1, "the count");
  if (failed(given))
    return failure();
  return (*given)[0];
}

static LogicalResult importTopK(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 2)) ||
      failed(expectMinimumRank(node, 0, 1)))
    return failure();
  FailureOr<int64_t> count = readCount(node);
  if (failed(count))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  ElementType type = node.operandType(0);
  if (type == ElementType::Bool)
    return node.invalid("input 0 has type bool; expected numbers");
  int64_t rank = node.rank(0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -1), rank);
  if (failed(axis))
    return failure();
  int64_t dim = node.shape(0)[*axis];
  if (*count < 0 || *count > dim)
    return node.invalid("the count is " + Twine(*count) + "; expected 0 to " +
                        Twine(dim) + ", the size of axis " + Twine(*axis));
  bool largest = node.intAttribute("largest", 1) != 0;
  // Rows to choose from, with the axis last.
  SmallVector<int64_t> toLast = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  toLast.erase(toLast.begin() + *axis);
  toLast.push_back(*axis);
  Value moved = transpose(b, node.operand(0), toLast);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(moved.getType()).getShape());
  int64_t rows = ShapedType::getNumElements(ArrayRef(shape).drop_back());
  Value table = reshape(b, moved, {rows, dim});
  shape.back() = *count;
  Value indices, values;
  if (ShapedType::getNumElements(shape) == 0) {
    indices = tensor::EmptyOp::create(b, ArrayRef<int64_t>{rows, *count},
                                      b.getI64Type());
    values = tensor::EmptyOp::create(b, ArrayRef<int64_t>{rows, *count},
                                     node.tensorType(0).getElementType());
  } else {
    indices = selectFirst(b, makeKeys(b, table, type, largest), *count);
    values = parallel(
        b, {rows, *count}, node.tensorType(0).getElementType(), indices,
        b.getMultiDimIdentityMap(2),
        [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
          Value row = linalg::IndexOp::create(b, loc, 0);
          Value place = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                                   args[0]);
          return tensor::ExtractOp::create(b, loc, table,
                                           ValueRange{row, place});
        });
  }
  SmallVector<int64_t> back = llvm::to_vector(
      llvm::seq<int64_t>(0, rank - 1));
  back.insert(back.begin() + *axis, rank - 1);
  auto restore = [&](Value value) {
    return transpose(b, reshape(b, value, shape), back);
  };
  node.setResult(0, restore(values), type);
  if (node.hasResult(1))
    node.setResult(1, restore(indices), ElementType::I64);
  return success();
}

void ashlar::onnx_import::registerTopKOperators(OperatorRegistry &registry) {
  registry.add("TopK", 1, importTopK);
}
