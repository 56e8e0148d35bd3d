// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over axes that an attribute or an operand names. Each is a map of
// the elements, a fold of them and a map of the result, where integers wrap
// and f16 and bf16 are summed in f32.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../ReductionBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// The shape of one reduction: its axes and whether they are kept.
struct Extent {
  SmallVector<int64_t> axes;
  bool keepDims;
  SmallVector<int64_t> resultShape;
  double count = 1;             ///< of the elements that are folded into one
  Number real = knownNumber(1); ///< the same, as far as it depends on data
};
} // namespace

static FailureOr<Extent> readExtent(NodeImporter &node) {
  int64_t rank = node.rank(0);
  FailureOr<SmallVector<int64_t>> axes = node.axes(1, rank);
  if (failed(axes))
    return failure();
  Extent extent{*axes, node.intAttribute("keepdims", 1) != 0, {}};
  if (axes->empty() && node.intAttribute("noop_with_empty_axes", 0) == 0)
    extent.axes = allAxes(rank);
  for (auto [i, dim] : llvm::enumerate(node.shape(0))) {
    bool reduced = llvm::is_contained(extent.axes, int64_t(i));
    if (Number size = sizeOf(node, 0, i); reduced && !size.isKnown())
      extent.real = mul(node, extent.real, size);
    else if (reduced)
      extent.count *= dim;
    if (!reduced || extent.keepDims)
      extent.resultShape.push_back(reduced ? 1 : dim);
  }
  return extent;
}

using ElementMap =
    llvm::function_ref<Value(OpBuilder &, Location, Value element)>;

/// Folds map(element) with `fold`, in the type of `initial`.
static Value foldAxes(NodeImporter &node, const Extent &extent,
                      TypedAttr initial, ElementMap map, ScalarBody fold) {
  return reduce(node.b, node.operand(0), extent.axes, /*keepDims=*/false,
                initial, [&](OpBuilder &b, Location loc, ValueRange args) {
                  Value element = args[0];
                  if (isa<FloatType>(initial.getType()))
                    element = resizeFloat(b, loc, element, initial.getType());
                  return fold(b, loc, {map(b, loc, element), args[1]});
                });
}

static LogicalResult finish(NodeImporter &node, const Extent &extent,
                            Value folded) {
  Type element = node.tensorType(0).getElementType();
  if (getElementTypeOrSelf(folded) != element)
    folded = floatElementwise(
        node.b, {folded}, element,
        [](FloatScalars &, ValueRange args) { return args[0]; });
  node.setResult(0, reshape(node.b, folded, extent.resultShape),
                 node.operandType(0));
  return success();
}

static Value itself(OpBuilder &, Location, Value element) { return element; }

static Value square(OpBuilder &b, Location loc, Value element) {
  return scalarMul(b, loc, element, element);
}

static Value addBody(OpBuilder &b, Location loc, ValueRange args) {
  return scalarAdd(b, loc, args[0], args[1]);
}

/// The sum of map(element), as the compute type.
static Value sumAxes(NodeImporter &node, const Extent &extent, ElementMap map) {
  Type type = computeType(node.tensorType(0).getElementType());
  return foldAxes(node, extent, zeroOf(type), map, addBody);
}

static LogicalResult importSum(NodeImporter &node, ElementMap map) {
  FailureOr<Extent> extent = readExtent(node);
  if (failed(extent))
    return failure();
  return finish(node, *extent, sumAxes(node, *extent, map));
}

static LogicalResult importReduceSum(NodeImporter &node) {
  return importSum(node, itself);
}

static LogicalResult importReduceSumSquare(NodeImporter &node) {
  return importSum(node, square);
}

static LogicalResult importReduceL1(NodeImporter &node) {
  return importSum(node, [&](OpBuilder &b, Location loc, Value x) -> Value {
    if (isFloat(node.operandType(0)))
      return math::AbsFOp::create(b, loc, x);
    if (isUnsigned(node.operandType(0)))
      return x;
    Value zero = scalarIntConstant(b, loc, x.getType(), 0);
    Value negated = arith::SubIOp::create(b, loc, zero, x);
    return arith::MaxSIOp::create(b, loc, x, negated);
  });
}

static LogicalResult importReduceProd(NodeImporter &node) {
  FailureOr<Extent> extent = readExtent(node);
  if (failed(extent))
    return failure();
  Type type = computeType(node.tensorType(0).getElementType());
  TypedAttr one = isa<FloatType>(type)
                      ? TypedAttr(node.b.getFloatAttr(type, 1))
                      : TypedAttr(node.b.getIntegerAttr(type, 1));
  return finish(node, *extent,
                foldAxes(node, *extent, one, itself,
                         [](OpBuilder &b, Location loc, ValueRange args) {
                           return scalarMul(b, loc, args[0], args[1]);
                         }));
}

/// Minimum and maximum need no wider type. NaN wins.
static LogicalResult importExtreme(NodeImporter &node, bool isMax) {
  FailureOr<Extent> extent = readExtent(node);
  if (failed(extent))
    return failure();
  ElementType type = node.operandType(0);
  Type element = node.tensorType(0).getElementType();
  bool asUnsigned = isUnsigned(type) || type == ElementType::Bool;
  TypedAttr initial =
      isMax ? lowestOf(element, asUnsigned) : highestOf(element, asUnsigned);
  Value folded =
      foldAxes(node, *extent, initial, itself,
               [&](OpBuilder &b, Location loc, ValueRange args) {
                 return isMax ? scalarMax(b, loc, type, args[0], args[1])
                              : scalarMin(b, loc, type, args[0], args[1]);
               });
  return finish(node, *extent, folded);
}

static LogicalResult importReduceMax(NodeImporter &node) {
  return importExtreme(node, /*isMax=*/true);
}

static LogicalResult importReduceMin(NodeImporter &node) {
  return importExtreme(node, /*isMax=*/false);
}

static LogicalResult importReduceMean(NodeImporter &node) {
  FailureOr<Extent> extent = readExtent(node);
  if (failed(extent))
    return failure();
  ElementType type = node.operandType(0);
  Value sum = sumAxes(node, *extent, itself);
  SmallVector<Value> inputs = {sum};
  if (!extent->real.isKnown())
    inputs.push_back(extent->real.tensor);
  Value mean = elementwise(
      node.b, node.tensorType(0).getElementType(), inputs,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Type wide = args[0].getType();
        // What depends on data is divided by as well.
        auto times = [&](Value count) -> Value {
          if (args.size() == 1)
            return count;
          Value real =
              castScalar(b, loc, args[1], ElementType::I64, computeType(type));
          return scalarMul(b, loc, count, real);
        };
        if (isFloat(type)) {
          Value count = times(scalarConstant(b, loc, wide, extent->count));
          Value mean = arith::DivFOp::create(b, loc, args[0], count);
          return resizeFloat(b, loc, mean, node.tensorType(0).getElementType());
        }
        Value count = times(scalarIntConstant(
            b, loc, wide, int64_t(std::min(extent->count, 0x1p62))));
        return divideIntegers(b, loc, isUnsigned(type), args[0], count);
      });
  return finish(node, *extent, mean);
}

/// Imports a reduction that ends in a function of floats, applied to the sum
/// of map(element). Integers go through f64 for it.
static LogicalResult importSumThen(NodeImporter &node, ElementMap map,
                                   FloatBody function) {
  FailureOr<Extent> extent = readExtent(node);
  if (failed(extent))
    return failure();
  ElementType type = node.operandType(0);
  ElementType wide = isFloat(type) ? computeType(type) : ElementType::F64;
  Value result =
      elementwise(node.b, node.tensorType(0).getElementType(),
                  {sumAxes(node, *extent, map)},
                  [&](OpBuilder &b, Location loc, ValueRange args) {
                    Value sum =
                        castScalar(b, loc, args[0], computeType(type), wide);
                    FloatScalars s(b, loc, sum.getType());
                    return castScalar(b, loc, function(s, sum), wide, type);
                  });
  return finish(node, *extent, result);
}

static LogicalResult importReduceL2(NodeImporter &node) {
  return importSumThen(node, square, [](FloatScalars &s, ValueRange args) {
    return s.sqrt(args[0]);
  });
}

static LogicalResult importReduceLogSum(NodeImporter &node) {
  return importSumThen(node, itself, [](FloatScalars &s, ValueRange args) {
    return s.log(args[0]);
  });
}

static LogicalResult importReduceLogSumExp(NodeImporter &node) {
  FailureOr<Extent> extent = readExtent(node);
  if (failed(extent))
    return failure();
  ElementType type = node.operandType(0);
  ElementType wide = isFloat(type) ? computeType(type) : ElementType::F64;
  Value x = castTensor(node.b, node.operand(0), type, wide);
  Type compute = getElementTypeOrSelf(x);
  // The largest element leaves the sum, so that no exponential overflows; an
  // infinite one cannot and need not.
  Value largest =
      floatElementwise(node.b, {maxOver(node.b, x, extent->axes)}, compute,
                       [](FloatScalars &s, ValueRange args) {
                         Value isInfinite =
                             s.compare(FloatScalars::Predicate::OEQ,
                                       s.abs(args[0]), s.infinity());
                         return s.select(isInfinite, s.constant(0), args[0]);
                       });
  Aligned aligned = {largest, otherAxes(node.rank(0), extent->axes)};
  Value shifted = alignedElementwise(node.b, x, {aligned}, compute, compute,
                                     [](FloatScalars &s, ValueRange args) {
                                       return s.exp(s.sub(args[0], args[1]));
                                     });
  Value result = elementwise(node.b, node.tensorType(0).getElementType(),
                             {sumOver(node.b, shifted, extent->axes), largest},
                             [&](OpBuilder &b, Location loc, ValueRange args) {
                               FloatScalars s(b, loc, compute);
                               Value sum = s.add(s.log(args[0]), args[1]);
                               return castScalar(b, loc, sum, wide, type);
                             });
  return finish(node, *extent, result);
}

void ashlar::onnx_import::registerReductionsOperators(
    OperatorRegistry &registry) {
  registry.add("ReduceSum", 1, importReduceSum);
  registry.add("ReduceSumSquare", 1, importReduceSumSquare);
  registry.add("ReduceL1", 1, importReduceL1);
  registry.add("ReduceL2", 1, importReduceL2);
  registry.add("ReduceProd", 1, importReduceProd);
  registry.add("ReduceMax", 1, importReduceMax);
  registry.add("ReduceMin", 1, importReduceMin);
  registry.add("ReduceMean", 1, importReduceMean);
  registry.add("ReduceLogSum", 1, importReduceLogSum);
  registry.add("ReduceLogSumExp", 1, importReduceLogSumExp);
}
