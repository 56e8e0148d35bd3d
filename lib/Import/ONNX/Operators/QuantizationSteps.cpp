// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include "../OperandRules.h"
#include "../Quantization.h"
#include "../ReductionBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// How scale (operand 1) and zero point (operand 2) lie beside operand 0.
struct Granularity {
  SmallVector<int64_t> xShape;     ///< that x is given for the computation
  SmallVector<int64_t> paramShape; ///< broadcasts to xShape
};
} // namespace

static FailureOr<Granularity> blockedGranularity(NodeImporter &node,
                                                 int64_t axis, int64_t block) {
  ArrayRef<int64_t> x = node.shape(0);
  SmallVector<int64_t> expected(x);
  expected[axis] = llvm::divideCeil(x[axis], block);
  if (failed(expectShape(node, 1, expected)))
    return failure();
  if (x[axis] % block != 0)
    return node.unsupported("blocks of " + Twine(block) +
                            " that do not divide the size " + Twine(x[axis]) +
                            " of axis " + Twine(axis));
  Granularity result;
  for (auto [i, dim] : llvm::enumerate(x)) {
    bool split = int64_t(i) == axis;
    result.xShape.push_back(split ? dim / block : dim);
    result.paramShape.push_back(result.xShape.back());
    if (!split)
      continue;
    result.xShape.push_back(block);
    result.paramShape.push_back(1);
  }
  return result;
}

static FailureOr<Granularity> granularity(NodeImporter &node) {
  ArrayRef<int64_t> x = node.shape(0), scale = node.shape(1);
  if (node.hasOperand(2) && node.tensorType(2).getNumElements() !=
                                node.tensorType(1).getNumElements())
    return node.invalid("expected a zero point of the shape of the scale, " +
                        spellShape(scale) + ", found " +
                        spellShape(node.shape(2)));
  Granularity result;
  result.xShape.assign(x.begin(), x.end());
  int64_t block = node.opset() >= 21 ? node.intAttribute("block_size", 0) : 0;
  if (block == 0 && node.tensorType(1).getNumElements() == 1)
    return result;
  int64_t given = node.opset() >= 13 ? node.intAttribute("axis", 1) : 1;
  // A vector has one axis, whatever the attribute says.
  if (x.size() == 1)
    given = 0;
  FailureOr<int64_t> axis = node.normalizeAxis(given, x.size());
  if (failed(axis))
    return failure();
  if (block < 0)
    return node.invalid("expected attribute 'block_size' of 1 or more, found " +
                        Twine(block));
  if (block > 0)
    return blockedGranularity(node, *axis, block);
  if (failed(expectShape(node, 1, x[*axis])))
    return failure();
  result.paramShape.assign(x.size() - *axis, 1);
  result.paramShape[0] = x[*axis];
  return result;
}

/// Operands 0 to 2, in shapes that broadcast.
static SmallVector<Value> parts(NodeImporter &node, const Granularity &shapes) {
  SmallVector<Value> values = {reshape(node.b, node.operand(0), shapes.xShape)};
  for (unsigned i : {1, 2})
    if (node.hasOperand(i))
      values.push_back(reshape(node.b, node.operand(i), shapes.paramShape));
  return values;
}

/// The type that an attribute names, or `otherwise` when it is absent or 0.
static FailureOr<ElementType> typeAttribute(NodeImporter &node, StringRef name,
                                            ElementType otherwise) {
  int64_t given = node.intAttribute(name, 0);
  if (given == 0)
    return otherwise;
  auto type = static_cast<ElementType>(given);
  if (!convertElementType(node.b.getContext(), type))
    return node.unsupported("to " + elementTypeName(type));
  return type;
}

static LogicalResult importQuantizeLinear(NodeImporter &node) {
  bool hasZero = node.hasOperand(2);
  ElementType scaleType = node.operandType(1);
  FailureOr<ElementType> to = typeAttribute(
      node, "output_dtype", hasZero ? node.operandType(2) : ElementType::U8);
  FailureOr<ElementType> precision =
      typeAttribute(node, "precision", scaleType);
  FailureOr<Granularity> shapes = granularity(node);
  if (failed(to) || failed(precision) || failed(shapes))
    return failure();
  if (hasZero && *to != node.operandType(2))
    return node.invalid("expected a zero point of type " +
                        elementTypeName(*to) + ", found " +
                        elementTypeName(node.operandType(2)));
  Type target = convertElementType(node.b.getContext(), *to);
  bool toFloat = isSmallFloat(*to) && *to != ElementType::F8E8M0;
  if (!toFloat && (!isInteger(*to) || target.getIntOrFloatBitWidth() > 16))
    return node.unsupported("to " + elementTypeName(*to));
  CastRules rules;
  rules.saturate = node.intAttribute("saturate", 1) != 0;
  if (!isFloat(*precision) || !isFloat(scaleType))
    return node.invalid("expected scales and a precision of a float type");
  ElementType wide = computeType(*precision);
  Value result = elementwise(
      node.b, target, parts(node, *shapes),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value x = castScalar(b, loc, args[0], node.operandType(0), wide);
        Value scale = castScalar(b, loc, args[1], scaleType, wide);
        Value scaled = arith::DivFOp::create(b, loc, x, scale);
        // Rounded as the division in the narrow type would be.
        scaled = castScalar(b, loc, scaled, wide, *precision);
        scaled = castScalar(b, loc, scaled, *precision, wide);
        if (toFloat) {
          // Only f4 has zero points; those of f8 are zero.
          if (hasZero && *to == ElementType::F4E2M1)
            scaled = arith::AddFOp::create(
                b, loc, scaled, castScalar(b, loc, args[2], *to, wide));
          return castScalar(b, loc, scaled, wide, *to, rules);
        }
        return roundToQuantized(b, loc, scaled, hasZero ? args[2] : Value(),
                                *to);
      });
  node.setResult(0, reshape(node.b, result, node.shape(0)), *to);
  return success();
}

static LogicalResult importDequantizeLinear(NodeImporter &node) {
  bool hasZero = node.hasOperand(2);
  ElementType from = node.operandType(0), scaleType = node.operandType(1);
  FailureOr<ElementType> to = typeAttribute(node, "output_dtype", scaleType);
  FailureOr<Granularity> shapes = granularity(node);
  if (failed(to) || failed(shapes))
    return failure();
  if (!isFloat(*to) || !isFloat(scaleType))
    return node.invalid("expected scales and a result of a float type");
  bool fromFloat = isSmallFloat(from) && from != ElementType::F8E8M0;
  if (!isInteger(from) && !fromFloat)
    return node.unsupported("from " + elementTypeName(from));
  ElementType wide = computeType(scaleType);
  Value result = elementwise(
      node.b, convertElementType(node.b.getContext(), *to),
      parts(node, *shapes), [&](OpBuilder &b, Location loc, ValueRange args) {
        ElementType exact = fromFloat ? ElementType::F32 : ElementType::I32;
        Value x = castScalar(b, loc, args[0], from, exact);
        if (hasZero && !fromFloat) {
          Value zero = castScalar(b, loc, args[2], from, ElementType::I32);
          x = arith::SubIOp::create(b, loc, x, zero);
        }
        Value number = castScalar(b, loc, x, exact, wide);
        Value scale = castScalar(b, loc, args[1], scaleType, wide);
        Value product = arith::MulFOp::create(b, loc, number, scale);
        return castScalar(b, loc, product, wide, *to);
      });
  node.setResult(0, reshape(node.b, result, node.shape(0)), *to);
  return success();
}

static LogicalResult importDynamicQuantizeLinear(NodeImporter &node) {
  DynamicCodes made = quantizeDynamically(node.b, node.operand(0));
  node.setResult(0, made.codes, ElementType::U8);
  node.setResult(1, made.scale, ElementType::F32);
  node.setResult(2, made.zero, ElementType::U8);
  return success();
}

void ashlar::onnx_import::registerQuantizationStepsOperators(
    OperatorRegistry &registry) {
  registry.add("QuantizeLinear", 10, importQuantizeLinear);
  registry.add("DequantizeLinear", 10, importDequantizeLinear);
  registry.add("DynamicQuantizeLinear", 11, importDynamicQuantizeLinear);
}
