// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DepthToSpace, SpaceToDepth, ReverseSequence, Trilu and OneHot.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "IndexArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static FailureOr<int64_t> readBlockSize(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)) || failed(expectRank(node, 0, 4)))
    return failure();
  int64_t block = node.intAttribute("blocksize", 0);
  if (block < 1 || block > int64_t(1) << 15)
    return node.invalid("attribute 'blocksize' is " + Twine(block) +
                        "; expected 1 to 32768");
  return block;
}

/// Whether the depth or the place in a block is the outer part of a channel.
static FailureOr<std::string> readMode(NodeImporter &node) {
  std::string mode = node.stringAttribute("mode", "DCR");
  if (failed(expectOneOf(node, "attribute 'mode'", mode, {"DCR", "CRD"})))
    return failure();
  return mode;
}

static LogicalResult importDepthToSpace(NodeImporter &node) {
  FailureOr<int64_t> read = readBlockSize(node);
  if (failed(read))
    return failure();
  FailureOr<std::string> mode = readMode(node);
  if (failed(mode))
    return failure();
  ArrayRef<int64_t> in = node.shape(0);
  int64_t block = *read, depth = in[1] / (block * block);
  if (in[1] % (block * block) != 0)
    return node.invalid("the input has " + Twine(in[1]) +
                        " channels; expected a multiple of " +
                        Twine(block * block));
  SmallVector<int64_t> split, permutation;
  if (*mode == "DCR") {
    split = {in[0], block, block, depth, in[2], in[3]};
    permutation = {0, 3, 4, 1, 5, 2};
  } else {
    split = {in[0], depth, block, block, in[2], in[3]};
    permutation = {0, 1, 4, 2, 5, 3};
  }
  SmallVector<int64_t> result{in[0], depth, in[2] * block, in[3] * block};
  if (failed(expectSize(node, result)))
    return failure();
  Value moved =
      transpose(node.b, reshape(node.b, node.operand(0), split), permutation);
  node.setResult(0, reshape(node.b, moved, result), node.operandType(0));
  return success();
}

static LogicalResult importSpaceToDepth(NodeImporter &node) {
  FailureOr<int64_t> read = readBlockSize(node);
  FailureOr<std::string> mode = std::string("DCR"); // the only one before 28
  if (node.opset() >= 28)
    mode = readMode(node);
  if (failed(read) || failed(mode))
    return failure();
  ArrayRef<int64_t> in = node.shape(0);
  int64_t block = *read;
  if (in[2] % block != 0 || in[3] % block != 0)
    return node.invalid("the input has shape " + spellShape(in) +
                        "; expected a height and width that are multiples "
                        "of " +
                        Twine(block));
  SmallVector<int64_t> split{in[0], in[1],         in[2] / block,
                             block, in[3] / block, block};
  SmallVector<int64_t> result{in[0], in[1] * block * block, in[2] / block,
                              in[3] / block};
  if (failed(expectSize(node, result)))
    return failure();
  SmallVector<int64_t> permutation{0, 3, 5, 1, 2, 4};
  if (*mode == "CRD")
    permutation = {0, 1, 3, 5, 2, 4};
  Value moved =
      transpose(node.b, reshape(node.b, node.operand(0), split), permutation);
  node.setResult(0, reshape(node.b, moved, result), node.operandType(0));
  return success();
}

static LogicalResult importReverseSequence(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) ||
      failed(expectRankAtLeast(node, 0, 2)) || failed(expectIndexType(node, 1)))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  FailureOr<int64_t> batch =
      node.normalizeAxis(node.intAttribute("batch_axis", 1), shape.size());
  FailureOr<int64_t> time =
      node.normalizeAxis(node.intAttribute("time_axis", 0), shape.size());
  if (failed(batch) || failed(time))
    return failure();
  if (*batch == *time)
    return node.invalid("batch_axis and time_axis are both " + Twine(*batch));
  if (failed(expectShape(node, 1, {shape[*batch]})))
    return failure();
  Value source = node.operand(0);
  AffineMap map =
      AffineMap::get(shape.size(), 0, node.b.getAffineDimExpr(*batch));
  Value result = parallel(
      node.b, shape, node.tensorType(0).getElementType(), node.operand(1), map,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        SmallVector<Value> at;
        for (unsigned i = 0; i != shape.size(); ++i)
          at.push_back(linalg::IndexOp::create(b, loc, i));
        Value length =
            arith::IndexCastOp::create(b, loc, b.getIndexType(), args[0]);
        Value one = arith::ConstantIndexOp::create(b, loc, 1);
        Value last = arith::SubIOp::create(b, loc, length, one);
        Value mirrored = arith::SubIOp::create(b, loc, last, at[*time]);
        mirrored = clampIndex(b, loc, mirrored, shape[*time]);
        Value isInside = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::slt, at[*time], length);
        at[*time] =
            arith::SelectOp::create(b, loc, isInside, mirrored, at[*time]);
        return tensor::ExtractOp::create(b, loc, source, at);
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

static LogicalResult importTrilu(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 2)) ||
      failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  bool upper = node.intAttribute("upper", 1) != 0;
  Value shift = scalarIntConstant(b, b.getLoc(), b.getI64Type(), 0);
  if (node.hasOperand(1)) {
    if (node.operandType(1) != ElementType::I64)
      return node.invalid("input 1 has type " +
                          elementTypeName(node.operandType(1)) +
                          "; expected int64");
    if (node.tensorType(1).getNumElements() != 1)
      return expectShape(node, 1, {});
    if (DenseElementsAttr constant = node.constantOperand(1))
      shift = arith::ConstantOp::create(
          b, cast<TypedAttr>(*constant.getValues<Attribute>().begin()));
    else
      shift = tensor::ExtractOp::create(b, reshape(b, node.operand(1), {}),
                                        ValueRange{});
  }
  int64_t rank = node.rank(0);
  Type element = node.tensorType(0).getElementType();
  Value result = elementwise(
      b, element, {node.operand(0)},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        auto index = [&](int64_t i) -> Value {
          Value at = linalg::IndexOp::create(b, loc, i);
          return arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
        };
        // Compared this way nothing overflows, whatever the shift.
        Value distance =
            arith::SubIOp::create(b, loc, index(rank - 1), index(rank - 2));
        Value keeps = arith::CmpIOp::create(b, loc,
                                            upper ? arith::CmpIPredicate::sge
                                                  : arith::CmpIPredicate::sle,
                                            distance, shift);
        Value zero = arith::ConstantOp::create(b, loc, zeroOf(element));
        return arith::SelectOp::create(b, loc, keeps, args[0], zero);
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

/// How many places OneHot has.
static FailureOr<Number> readDepth(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  if (!node.constantOperand(1)) {
    node.readAtRunTime(1);
    return numberOf(node, castTensor(b, reshape(b, node.operand(1), {}),
                                     node.operandType(1), ElementType::I64));
  }
  if (isFloat(node.operandType(1))) {
    auto given = node.constantFloats(1, "the depth");
    if (failed(given))
      return failure();
    double depth = (*given)[0];
    return knownNumber(depth >= 0 && depth < 1e12 ? int64_t(depth) : -1);
  }
  auto given = node.constantInts(1, "the depth");
  return failed(given) ? FailureOr<Number>() : knownNumber((*given)[0]);
}

static LogicalResult importOneHot(NodeImporter &node) {
  if (failed(expectOperands(node, 3, 3)) || failed(expectShape(node, 2, {2})))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  if (node.tensorType(1).getNumElements() != 1)
    return expectShape(node, 1, {});
  FailureOr<Number> depth = readDepth(node);
  if (failed(depth))
    return failure();
  int64_t rank = node.rank(0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -1), rank + 1);
  if (failed(axis))
    return failure();
  SmallVector<Number> numbers;
  for (int64_t i = 0; i != rank; ++i)
    numbers.push_back(sizeOf(node, 0, i));
  numbers.insert(numbers.begin() + *axis, *depth);
  FailureOr<SizedShape> shape = boundShape(node, numbers, 1, "the depth");
  if (failed(shape))
    return failure();
  SmallVector<AffineExpr> place;
  for (int64_t i = 0; i != rank + 1; ++i)
    if (i != *axis)
      place.push_back(b.getAffineDimExpr(i));
  Value values = node.operand(2);
  auto pick = [&](int64_t i) -> Value {
    Value at = arith::ConstantIndexOp::create(b, i);
    return tensor::ExtractOp::create(b, values, at);
  };
  Value off = pick(0), on = pick(1);
  ElementType type = node.operandType(0);
  Value result = parallel(
      b, shape->bounds, node.tensorType(2).getElementType(), node.operand(0),
      AffineMap::get(rank + 1, 0, place, b.getContext()),
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value hot = castScalar(b, loc, args[0], type, ElementType::I64);
        Value zero = scalarIntConstant(b, loc, b.getI64Type(), 0);
        Value size =
            depth->isKnown()
                ? scalarIntConstant(b, loc, b.getI64Type(), depth->low)
                : tensor::ExtractOp::create(b, loc, depth->tensor, ValueRange())
                      .getResult();
        Value isNegative =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, hot, zero);
        Value fromEnd = arith::AddIOp::create(b, loc, hot, size);
        hot = arith::SelectOp::create(b, loc, isNegative, fromEnd, hot);
        Value at = linalg::IndexOp::create(b, loc, *axis);
        at = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
        Value isHot =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at, hot);
        return arith::SelectOp::create(b, loc, isHot, on, off);
      });
  node.setResult(0, {result, node.operandType(2), shape->sizes});
  return success();
}

void ashlar::onnx_import::registerRearrangementOperators(
    OperatorRegistry &registry) {
  registry.add("DepthToSpace", 1, importDepthToSpace);
  registry.add("SpaceToDepth", 1, importSpaceToDepth);
  registry.add("ReverseSequence", 10, importReverseSequence);
  registry.add("Trilu", 14, importTrilu);
  registry.add("OneHot", 9, importOneHot);
}
