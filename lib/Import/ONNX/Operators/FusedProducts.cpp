// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// com.microsoft: FusedMatMul, MatMulNBits, and QLinearAdd and QLinearMul.
#include "../MatrixRules.h"
#include "../OperandRules.h"
#include "../Quantization.h"
#include "../ScalarBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// alpha * product, in the type of operand 0.
static LogicalResult setScaled(NodeImporter &node, Value product, double alpha,
                               Value bias = {}) {
  Type element = node.tensorType(0).getElementType();
  SmallVector<Value> terms{product};
  if (bias)
    terms.push_back(bias);
  Value result = floatElementwise(
      node.b, terms, element, [&](FloatScalars &s, ValueRange args) {
        Value x = alpha == 1 ? args[0] : s.mul(args[0], s.constant(alpha));
        return args.size() > 1 ? s.add(x, args[1]) : x;
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

static LogicalResult importFusedMatMul(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectFloat(node, 0)) ||
      failed(expectSameType(node, 1)))
    return failure();
  for (StringRef name : {"transBatchA", "transBatchB"})
    if (node.intAttribute(name, 0))
      return node.unsupported("with " + name);
  Value operands[2];
  for (unsigned i : {0, 1}) {
    operands[i] = node.operand(i);
    if (!node.intAttribute(i == 0 ? "transA" : "transB", 0))
      continue;
    if (failed(expectRankAtLeast(node, i, 2)))
      return failure();
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, node.rank(i)));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    operands[i] = transpose(node.b, operands[i], order);
  }
  auto shape = [&](unsigned i) {
    return cast<RankedTensorType>(operands[i].getType()).getShape();
  };
  for (unsigned i : {0, 1})
    if (failed(expectRankAtLeast(node, i, 1)))
      return failure();
  if (failed(expectMatrixProduct(node, 0, 1, shape(0), shape(1))))
    return failure();
  Type wide = computeType(node.tensorType(0).getElementType());
  return setScaled(node, matmul(node.b, operands[0], operands[1], wide),
                   node.floatAttribute("alpha", 1));
}

namespace {
/// A weight of `rows` rows in blocks, each of `bytes` bytes that hold `parts`
/// numbers of `bits` bits, the first of them lowest.
struct PackedWeight {
  int64_t rows, blocks, bytes, parts, bits;
};
} // namespace

/// Number `part` of a byte.
static Value unpack(OpBuilder &b, Location loc, Value byte, Value part,
                    const PackedWeight &weight, Type compute) {
  Type i32 = b.getI32Type();
  Value shift = arith::MulIOp::create(
      b, loc, arith::IndexCastOp::create(b, loc, i32, part),
      scalarIntConstant(b, loc, i32, weight.bits));
  Value word = arith::ExtUIOp::create(b, loc, i32, byte);
  word = arith::ShRUIOp::create(b, loc, word, shift);
  word = arith::AndIOp::create(
      b, loc, word, scalarIntConstant(b, loc, i32, (1 << weight.bits) - 1));
  return arith::UIToFPOp::create(b, loc, compute, word);
}

/// Zero points, {rows, blocks}, of bytes whose last may have room left.
static Value unpackZeros(ImplicitLocOpBuilder &b, Value zeros,
                         const PackedWeight &weight, Type compute) {
  int64_t bytes = llvm::divideCeil(weight.blocks, weight.parts);
  AffineExpr row = b.getAffineDimExpr(0), byte = b.getAffineDimExpr(1);
  Value all =
      parallel(b, {weight.rows, bytes, weight.parts}, compute,
               reshape(b, zeros, {weight.rows, bytes}),
               AffineMap::get(3, 0, {row, byte}, b.getContext()),
               [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                 Value part = linalg::IndexOp::create(b, loc, 2);
                 return unpack(b, loc, args[0], part, weight, compute);
               });
  all = reshape(b, all, {weight.rows, bytes * weight.parts});
  return slice(b, all, {0, 0}, {weight.rows, weight.blocks}, {1, 1});
}

/// What unpacking reads for each element of its result, whose first two loops
/// are rows and blocks and the last is bytes.
static SmallVector<AffineMap> mapsOfPacked(OpBuilder &b, unsigned loops,
                                           size_t count) {
  SmallVector<AffineExpr> dims{b.getAffineDimExpr(0), b.getAffineDimExpr(1)};
  SmallVector<AffineMap> maps(count,
                              AffineMap::get(loops, 0, dims, b.getContext()));
  dims.push_back(b.getAffineDimExpr(loops - 1));
  maps[0] = AffineMap::get(loops, 0, dims, b.getContext());
  return maps;
}

/// How far number `part` of byte args[0] is from its zero point, which is
/// args[2] where there is one.
static Value unpackOffset(FloatScalars &s, ValueRange args, Value part,
                          bool hasZeros, const PackedWeight &weight) {
  Value zero = hasZeros ? resizeFloat(s.b, s.loc, args[2], s.type)
                        : s.constant(double(1 << (weight.bits - 1)));
  return s.sub(unpack(s.b, s.loc, args[0], part, weight, s.type), zero);
}

/// x * weight for rows of x: the weight becomes a matrix of x's type, numbers
/// of one place in their bytes side by side, as vectors take them.
static Value multiplyMatrix(ImplicitLocOpBuilder &b, Value x, ValueRange packed,
                            const PackedWeight &weight, Type compute) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t outer = type.getDimSize(0);
  int64_t depth = weight.blocks * weight.parts * weight.bytes;
  Value matrix =
      parallel(b, {weight.rows, weight.blocks, weight.parts, weight.bytes},
               type.getElementType(), packed, mapsOfPacked(b, 4, packed.size()),
               [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                 FloatScalars s(b, loc, compute);
                 Value part = linalg::IndexOp::create(b, loc, 2);
                 Value number = s.mul(
                     unpackOffset(s, args, part, packed.size() > 2, weight),
                     resizeFloat(b, loc, args[1], compute));
                 return resizeFloat(b, loc, number, type.getElementType());
               });
  x = reshape(b, transpose(b, x, {0, 1, 3, 2}), {outer, depth});
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto map = [&](AffineExpr first, AffineExpr second) {
    return AffineMap::get(3, 0, {first, second}, b.getContext());
  };
  return contract(b, x, reshape(b, matrix, {weight.rows, depth}),
                  splat(b, {outer, weight.rows}, zeroOf(compute)),
                  {map(m, k), map(n, k), map(m, n)});
}

/// The same for one row, which each number of the weight meets once: it is
/// unpacked on its way into the sums, and not rounded before.
static Value multiplyRow(ImplicitLocOpBuilder &b, Value x, ValueRange packed,
                         const PackedWeight &weight, Type compute) {
  x = reshape(b, x, {weight.blocks, weight.bytes, weight.parts});
  x = transpose(b, x, {2, 0, 1});
  SmallVector<Value> inputs(packed);
  SmallVector<AffineMap> maps = mapsOfPacked(b, 3, packed.size());
  for (int64_t part = 0; part < weight.parts; ++part) {
    Value one =
        slice(b, x, {part, 0, 0}, {1, weight.blocks, weight.bytes}, {1, 1, 1});
    inputs.push_back(reshape(b, one, {weight.blocks, weight.bytes}));
    maps.push_back(AffineMap::get(
        3, 0, {b.getAffineDimExpr(1), b.getAffineDimExpr(2)}, b.getContext()));
  }
  maps.push_back(AffineMap::get(3, 0, b.getAffineDimExpr(0), b.getContext()));
  Value initial = splat(b, {weight.rows}, zeroOf(compute));
  using utils::IteratorType;
  auto sums = linalg::GenericOp::create(
      b, initial.getType(), inputs, initial, maps,
      SmallVector<IteratorType>{IteratorType::parallel, IteratorType::reduction,
                                IteratorType::reduction},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        FloatScalars s(b, loc, compute);
        Value sum;
        for (int64_t i = 0; i < weight.parts; ++i) {
          Value part = arith::ConstantIndexOp::create(b, loc, i);
          Value term =
              s.mul(unpackOffset(s, args, part, packed.size() > 2, weight),
                    args[packed.size() + i]);
          sum = sum ? s.add(sum, term) : term;
        }
        sum = s.mul(sum, resizeFloat(b, loc, args[1], compute));
        Value all = s.add(args.back(), sum);
        linalg::YieldOp::create(b, loc, all);
      });
  return sums.getResult(0);
}

/// {outer, blocks, bytes, parts}: rows of `columns`, with zeros behind the last
/// column.
static Value splitIntoBlocks(ImplicitLocOpBuilder &b, Value x, int64_t columns,
                             const PackedWeight &weight) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t outer = type.getNumElements() / columns;
  int64_t padded = weight.blocks * weight.bytes * weight.parts;
  x = reshape(b, x, {outer, columns});
  if (padded != columns) {
    Value zero =
        arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    x = pad(b, x, {0, 0}, {0, padded - columns}, zero);
  }
  return reshape(b, x, {outer, weight.blocks, weight.bytes, weight.parts});
}

/// Rows of a weight in blocks of `bits` bits each, with a scale and a zero
/// point for each block.
static LogicalResult importMatMulNBits(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  if (failed(expectOperands(node, 3, 6)) || failed(expectFloat(node, 0)) ||
      failed(expectRankAtLeast(node, 0, 1)) || failed(expectSameType(node, 2)))
    return failure();
  if (node.hasOperand(4))
    return node.unsupported("with g_idx");
  int64_t columns = node.intAttribute("K", 0), rows = node.intAttribute("N", 0);
  int64_t bits = node.intAttribute("bits", 4);
  int64_t block = node.intAttribute("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8)
    return node.unsupported("of " + Twine(bits) + " bits");
  if (block < 16 || block > 4096 || !llvm::isPowerOf2_64(block) ||
      columns < 1 || rows < 1 || node.shape(0).back() != columns)
    return node.invalid("expected K of the first operand's last size, N of 1 "
                        "or more and a block_size that is a power of two from "
                        "16, found " +
                        Twine(columns) + ", " + Twine(rows) + " and " +
                        Twine(block));
  PackedWeight weight = {rows, int64_t(llvm::divideCeil(columns, block)),
                         block * bits / 8, 8 / bits, bits};
  int64_t zeroBytes = llvm::divideCeil(weight.blocks, weight.parts);
  auto holds = [&](unsigned i, int64_t count, ElementType type) {
    if (node.operandType(i) == type &&
        node.tensorType(i).getNumElements() == count)
      return success();
    return LogicalResult(node.invalid(
        "expected input " + Twine(i) + " to hold " + Twine(count) + " of " +
        elementTypeName(type) + ", found " + spellShape(node.shape(i)) +
        " of " + elementTypeName(node.operandType(i))));
  };
  if (failed(expectSize(node, {rows, weight.blocks, weight.bytes})) ||
      failed(holds(1, rows * weight.blocks * weight.bytes, ElementType::U8)) ||
      failed(holds(2, rows * weight.blocks, node.operandType(0))) ||
      (node.hasOperand(5) && failed(expectShape(node, 5, {rows}))))
    return failure();
  bool packedZeros = node.operandType(3) == ElementType::U8;
  if (node.hasOperand(3) &&
      failed(packedZeros ? holds(3, rows * zeroBytes, ElementType::U8)
                         : holds(3, rows * weight.blocks, node.operandType(0))))
    return failure();
  Type element = node.tensorType(0).getElementType();
  Type compute = computeType(element);
  auto ofBlocks = [&](unsigned i) {
    return reshape(b, node.operand(i), {rows, weight.blocks});
  };
  SmallVector<Value> packed{
      reshape(b, node.operand(1), {rows, weight.blocks, weight.bytes}),
      ofBlocks(2)};
  if (packedZeros)
    packed.push_back(unpackZeros(b, node.operand(3), weight, compute));
  else if (node.hasOperand(3))
    packed.push_back(ofBlocks(3));
  SmallVector<int64_t> shape(node.shape(0));
  shape.back() = rows;
  if (failed(expectSize(node, shape)))
    return failure();
  Value x = splitIntoBlocks(b, node.operand(0), columns, weight);
  bool isRow = cast<RankedTensorType>(x.getType()).getDimSize(0) == 1;
  if (isRow)
    x = castTensor(b, x, node.operandType(0), computeType(node.operandType(0)));
  auto *multiply = isRow ? multiplyRow : multiplyMatrix;
  Value product = multiply(b, x, packed, weight, compute);
  return setScaled(node, reshape(b, product, shape), 1, node.operand(5));
}

/// One element from two quantized ones, by what `combine` does to their values.
template <Value (FloatScalars::*combine)(Value, Value)>
static LogicalResult importQLinear(NodeImporter &node) {
  if (failed(expectOperands(node, 7, 8)) || failed(expectSameType(node, 3)))
    return failure();
  ElementType type = node.operandType(0);
  if (type != ElementType::U8 && type != ElementType::I8)
    return node.invalid("expected uint8 or int8, found " +
                        elementTypeName(type));
  for (unsigned scale : {1, 4, 6}) {
    if (node.operandType(scale) != ElementType::F32)
      return node.invalid("expected scales of float");
    if (node.hasOperand(scale + 1) && failed(expectSameType(node, scale + 1)))
      return failure();
    if (failed(expectOneElement(node, scale)) ||
        failed(expectOneElement(node, scale + 1)))
      return failure();
  }
  if (failed(expectBroadcast(node, {0, 3})))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  Value zero = splat(b, {}, zeroOf(b.getI8Type()));
  SmallVector<Value> inputs{node.operand(0), node.operand(3)};
  for (unsigned scale : {1, 4, 6}) {
    inputs.push_back(reshape(b, node.operand(scale), {}));
    inputs.push_back(node.hasOperand(scale + 1)
                         ? reshape(b, node.operand(scale + 1), {})
                         : zero);
  }
  Value result = elementwise(
      b, b.getI8Type(), inputs,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        FloatScalars s(b, loc, b.getF32Type());
        auto number = [&](Value code) {
          return castScalar(b, loc, code, type, ElementType::F32);
        };
        auto value = [&](Value code, unsigned at) {
          return s.mul(s.sub(number(code), number(args[at + 1])), args[at]);
        };
        Value made = (s.*combine)(value(args[0], 2), value(args[1], 4));
        return roundToQuantized(b, loc, s.div(made, args[6]), args[7], type);
      });
  node.setResult(0, result, type);
  return success();
}

void ashlar::onnx_import::registerFusedProductsOperators(
    OperatorRegistry &registry) {
  constexpr StringLiteral domain = "com.microsoft";
  registry.add("FusedMatMul", 1, importFusedMatMul, domain);
  registry.add("MatMulNBits", 1, importMatMulNBits, domain);
  registry.add("QLinearAdd", 1, importQLinear<&FloatScalars::add>, domain);
  registry.add("QLinearMul", 1, importQLinear<&FloatScalars::mul>, domain);
}
