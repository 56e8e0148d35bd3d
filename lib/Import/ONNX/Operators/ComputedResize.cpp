// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ComputedResize.h"
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../RunTimeSizes.h"
#include "../ScalarBuilder.h"
#include "AxisTables.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// One axis, and tensors of one f64 that hold what is computed from.
struct ComputedTarget {
  int64_t axis;
  Number dim, size;
  Value scale, dimValue, sizeValue;
  Value roiStart = {}, roiEnd = {}; ///< null where there is no region
};

/// Scalars while an entry of a table is computed, as AxisSampling.cpp does when
/// all is known.
struct Sampler {
  FloatScalars s;
  const SamplingRules &rules;
  Value dim, size, scale, roiStart, roiEnd;

  Value number(double value) { return s.constant(value); }
  Value coordinate(Value i);
  Value nearest(Value x);
  Value weight(Value distance);
  /// Whether a coordinate is outside of what a region is cut out of.
  Value isOutside(Value x) {
    Value last = s.sub(dim, number(1));
    return arith::OrIOp::create(s.b, s.loc, s.less(x, number(0)),
                                s.greater(x, last));
  }
  Value bounded(Value place) {
    return s.max(s.min(place, s.sub(dim, number(1))), number(0));
  }
};
} // namespace

Value Sampler::coordinate(Value i) {
  Value last = s.sub(dim, number(1));
  Value whole = s.mul(scale, dim);
  auto otherwise = [&](Value isSpecial, double special, Value value) {
    return s.select(isSpecial, number(special), value);
  };
  auto is = [&](Value x, double value) {
    return s.compare(arith::CmpFPredicate::OEQ, x, number(value));
  };
  if (rules.transform == "align_corners")
    return otherwise(is(whole, 1), 0,
                     s.div(s.mul(i, last), s.sub(whole, number(1))));
  if (rules.transform == "asymmetric")
    return s.div(i, scale);
  if (rules.transform == "tf_crop_and_resize") {
    Value span = s.sub(roiEnd, roiStart);
    Value step = s.div(s.mul(span, last), s.sub(size, number(1)));
    Value place = s.add(s.mul(roiStart, last), s.mul(i, step));
    Value middle = s.mul(s.mul(number(0.5), s.add(roiStart, roiEnd)), last);
    return s.select(s.greater(size, number(1)), place, middle);
  }
  Value middle = s.div(s.add(i, number(0.5)), scale);
  if (rules.transform == "tf_half_pixel_for_nn")
    return middle;
  Value plain = s.sub(middle, number(0.5));
  if (rules.transform == "pytorch_half_pixel")
    return otherwise(s.compare(arith::CmpFPredicate::OLE, size, number(1)), 0,
                     plain);
  if (rules.transform == "half_pixel_symmetric") {
    Value part = s.sub(number(1), s.div(size, whole));
    plain = s.add(s.mul(s.mul(dim, number(0.5)), part), plain);
  }
  return plain;
}

Value Sampler::nearest(Value x) {
  if (rules.nearest == "floor")
    return s.make<math::FloorOp>(x);
  if (rules.nearest == "ceil")
    return s.make<math::CeilOp>(x);
  return rules.nearest == "round_prefer_ceil"
             ? s.make<math::FloorOp>(s.add(x, number(0.5)))
             : s.make<math::CeilOp>(s.sub(x, number(0.5)));
}

Value Sampler::weight(Value distance) {
  Value x = s.abs(distance);
  if (rules.mode == "linear")
    return s.max(s.sub(number(1), x), number(0));
  double a = rules.cubicA;
  // ((a + 2) x - (a + 3)) x x + 1, and ((a x - 5a) x + 8a) x - 4a.
  Value near = s.sub(s.mul(number(a + 2), x), number(a + 3));
  near = s.add(s.mul(s.mul(near, x), x), number(1));
  Value far = s.sub(s.mul(number(a), x), number(5 * a));
  far = s.add(s.mul(far, x), number(8 * a));
  far = s.sub(s.mul(far, x), number(4 * a));
  far = s.select(s.less(x, number(2)), far, number(0));
  return s.select(s.compare(arith::CmpFPredicate::OLE, x, number(1)), near,
                  far);
}

/// A column of a table, each entry made by `body` from its number.
static Value makeColumn(ImplicitLocOpBuilder &b, const SamplingRules &rules,
                        const ComputedTarget &target, Type type,
                        llvm::function_ref<Value(Sampler &, Value)> body) {
  SmallVector<Value> inputs = {target.dimValue, target.sizeValue, target.scale};
  if (target.roiStart)
    inputs.append({target.roiStart, target.roiEnd});
  SmallVector<AffineMap> maps(inputs.size(),
                              AffineMap::get(1, 0, {}, b.getContext()));
  return parallel(b, {target.size.high}, type, inputs, maps,
                  [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                    Sampler sampler{FloatScalars(b, loc, b.getF64Type()),
                                    rules,
                                    x[0],
                                    x[1],
                                    x[2],
                                    {},
                                    {}};
                    if (target.roiStart)
                      sampler.roiStart = x[3], sampler.roiEnd = x[4];
                    Value i = arith::IndexCastOp::create(
                        b, loc, b.getI64Type(),
                        linalg::IndexOp::create(b, loc, 0));
                    i = arith::SIToFPOp::create(b, loc, b.getF64Type(), i);
                    return body(sampler, i);
                  });
}

static AxisTables computeTables(NodeImporter &node, const SamplingRules &rules,
                                const ComputedTarget &target, Type weight) {
  ImplicitLocOpBuilder &b = node.b;
  AxisTables tables{target.axis, target.size.high, {}, {}, {}};
  Type i64 = b.getI64Type();
  int64_t last = std::max<int64_t>(target.dim.high - 1, 0);
  // What is beyond the real size is not used, but read.
  auto placeOf = [&](Sampler &of, Value place) -> Value {
    Value bounded = of.bounded(place);
    bounded = arith::FPToSIOp::create(of.s.b, of.s.loc, i64, bounded);
    bounded =
        arith::MinSIOp::create(of.s.b, of.s.loc, bounded,
                               scalarIntConstant(of.s.b, of.s.loc, i64, last));
    return arith::MaxSIOp::create(of.s.b, of.s.loc, bounded,
                                  scalarIntConstant(of.s.b, of.s.loc, i64, 0));
  };
  // Outside of what a region is cut out of, there is one value.
  auto inside = [&](Sampler &of, Value x, Value weight) -> Value {
    return target.roiStart ? of.s.select(of.isOutside(x), of.number(0), weight)
                           : weight;
  };
  if (target.roiStart)
    tables.constants =
        makeColumn(b, rules, target, weight, [&](Sampler &of, Value i) {
          Value made =
              of.s.select(of.isOutside(of.coordinate(i)),
                          of.number(rules.extrapolation), of.number(0));
          return resizeFloat(of.s.b, of.s.loc, made, weight);
        });
  if (rules.mode == "nearest") {
    tables.places.push_back(
        makeColumn(b, rules, target, i64, [&](Sampler &of, Value i) {
          return placeOf(of, of.nearest(of.coordinate(i)));
        }));
    if (target.roiStart)
      tables.weights.push_back(
          makeColumn(b, rules, target, weight, [&](Sampler &of, Value i) {
            Value made = inside(of, of.coordinate(i), of.number(1));
            return resizeFloat(of.s.b, of.s.loc, made, weight);
          }));
    return tables;
  }
  unsigned radius = rules.mode == "linear" ? 1 : 2, taps = 2 * radius;
  // The last element at or before x, but one before it if x is on one; and
  // those beside it.
  auto tapOf = [&](Sampler &of, Value x, unsigned tap) {
    Value base = of.s.sub(of.s.make<math::CeilOp>(x), of.number(1));
    return of.s.add(base, of.number(double(tap) + 1 - double(radius)));
  };
  auto weightOf = [&](Sampler &of, Value x, unsigned tap) {
    Value place = tapOf(of, x, tap);
    Value made = of.weight(of.s.sub(place, x));
    if (!rules.excludeOutside)
      return made;
    Value zero = of.number(0), end = of.s.sub(of.dim, of.number(1));
    made = of.s.select(of.s.less(place, zero), zero, made);
    return of.s.select(of.s.greater(place, end), zero, made);
  };
  for (unsigned tap = 0; tap != taps; ++tap) {
    tables.places.push_back(
        makeColumn(b, rules, target, i64, [&](Sampler &of, Value i) {
          return placeOf(of, tapOf(of, of.coordinate(i), tap));
        }));
    tables.weights.push_back(
        makeColumn(b, rules, target, weight, [&](Sampler &of, Value i) {
          Value x = of.coordinate(i), made = weightOf(of, x, tap);
          if (rules.excludeOutside) {
            Value sum = weightOf(of, x, 0);
            for (unsigned other = 1; other != taps; ++other)
              sum = of.s.add(sum, weightOf(of, x, other));
            Value isZero =
                of.s.compare(arith::CmpFPredicate::OEQ, sum, of.number(0));
            made = of.s.select(isZero, of.number(0), of.s.div(made, sum));
          }
          return resizeFloat(of.s.b, of.s.loc, inside(of, x, made), weight);
        }));
  }
  return tables;
}

static bool isGiven(NodeImporter &node, unsigned i) {
  return node.hasOperand(i) && node.tensorType(i).getNumElements() != 0;
}

bool ashlar::onnx_import::isResizeComputed(NodeImporter &node,
                                           ArrayRef<int64_t> axes, bool isOld) {
  bool hasRegion = node.stringAttribute("coordinate_transformation_mode", "") ==
                   "tf_crop_and_resize";
  for (unsigned i = isOld || hasRegion ? 1 : 2; i != (isOld ? 2 : 4); ++i)
    if (isGiven(node, i) && !node.constantOperand(i))
      return true;
  if (node.sizes(0).empty())
    return false;
  // An axis that keeps its size may have any.
  unsigned scales = isOld ? 1 : 2;
  DenseElementsAttr known =
      isGiven(node, scales) ? node.constantOperand(scales) : nullptr;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (isSized(node.sizes(0), axis) &&
        (!known || known.getNumElements() <= int64_t(i) ||
         known.getValues<APFloat>()[i].convertToDouble() != 1))
      return true;
  return false;
}

/// Element i of a list as a tensor of f64 without dimensions.
static Value elementOf(NodeImporter &node, unsigned operand, int64_t i) {
  ImplicitLocOpBuilder &b = node.b;
  Value one = reshape(b, slice(b, node.operand(operand), {i}, {1}, {1}), {});
  return castTensor(b, one, node.operandType(operand), ElementType::F64);
}

/// The size that a scale gives, in single precision as it is defined.
static Number sizeByScale(NodeImporter &node, Value dim, Value scale) {
  ImplicitLocOpBuilder &b = node.b;
  Value size = elementwise(
      b, b.getI64Type(), {dim, scale},
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        FloatScalars s(b, loc, b.getF32Type());
        Value made =
            s.make<math::FloorOp>(s.mul(resizeFloat(b, loc, x[0], s.type),
                                        resizeFloat(b, loc, x[1], s.type)));
        return castScalar(b, loc, made, ElementType::F32, ElementType::I64);
      });
  return numberOf(node, size);
}

static bool isOne(NodeImporter &node, Value value) {
  DenseElementsAttr known = node.constantValue(value);
  return known && (*known.getValues<APFloat>().begin()).convertToDouble() == 1;
}

static FailureOr<SmallVector<ComputedTarget>>
readTargets(NodeImporter &node, ArrayRef<int64_t> axes, unsigned operand,
            bool isScale) {
  ImplicitLocOpBuilder &b = node.b;
  if (failed(expectShape(node, operand, {int64_t(axes.size())})))
    return failure();
  SmallVector<Number> sizes;
  if (!isScale) {
    FailureOr<SmallVector<Number>> given =
        numbersOf(node, operand, "the sizes");
    if (failed(given))
      return failure();
    sizes = *given;
  } else if (!node.constantOperand(operand)) {
    node.readAtRunTime(operand);
  }
  auto asFloat = [&](const Number &number) {
    return castTensor(b, asTensor(node, number), ElementType::I64,
                      ElementType::F64);
  };
  SmallVector<ComputedTarget> targets;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    ComputedTarget target{axis, sizeOf(node, 0, axis), {}, {}, {}, {}};
    target.dimValue = asFloat(target.dim);
    if (isScale) {
      target.scale = elementOf(node, operand, i);
      target.size = isOne(node, target.scale)
                        ? target.dim
                        : sizeByScale(node, target.dimValue, target.scale);
    } else {
      target.size = sizes[i];
    }
    if (!target.size.isKnown())
      target.size = max(node, target.size, knownNumber(0));
    target.sizeValue = asFloat(target.size);
    if (!isScale)
      target.scale =
          floatElementwise(b, {target.sizeValue, target.dimValue},
                           b.getF64Type(), [](FloatScalars &s, ValueRange x) {
                             return s.div(x[0], s.max(x[1], s.constant(1)));
                           });
    targets.push_back(target);
  }
  return targets;
}

LogicalResult
ashlar::onnx_import::importComputedResize(NodeImporter &node,
                                          const SamplingRules &rules,
                                          ArrayRef<int64_t> axes, bool isOld) {
  ImplicitLocOpBuilder &b = node.b;
  ElementType type = node.operandType(0);
  unsigned operand = isOld ? 1 : isGiven(node, 2) ? 2 : 3;
  if (!isGiven(node, operand))
    return node.invalid("has neither scales nor sizes");
  bool keepsAspect =
      node.stringAttribute("keep_aspect_ratio_policy", "stretch") != "stretch";
  if (keepsAspect || rules.antialias) {
    // That may be known after all.
    if (!node.constantOperand(operand))
      return node.needsConstant(operand,
                                operand == 3 ? "the sizes" : "the scales");
    return node.unsupportedSize(Twine(rules.antialias
                                          ? "it filters against aliasing"
                                          : "it keeps the aspect ratio") +
                                ", and its sizes depend on data");
  }
  bool hasRegion = rules.transform == "tf_crop_and_resize";
  if (hasRegion && !node.hasOperand(1))
    return node.invalid("input 1, the region, is missing");
  if (hasRegion && failed(expectShape(node, 1, {2 * int64_t(axes.size())})))
    return failure();
  bool weighs = rules.mode != "nearest" || hasRegion;
  if (weighs && type == ElementType::Bool)
    return node.unsupported("interpolation between values of type bool");
  if (node.tensorType(0).getNumElements() == 0)
    return node.unsupportedSize("its sizes depend on data, and input 0 has no "
                                "elements");
  auto targets = readTargets(node, axes, operand, operand != 3);
  if (failed(targets))
    return failure();
  SmallVector<Number> numbers;
  for (int64_t axis = 0; axis != node.rank(0); ++axis)
    numbers.push_back(sizeOf(node, 0, axis));
  for (const ComputedTarget &target : *targets)
    numbers[target.axis] = target.size;
  FailureOr<SizedShape> shape = boundShape(
      node, numbers, operand, operand == 3 ? "the sizes" : "the scales");
  if (failed(shape))
    return failure();
  if (ShapedType::getNumElements(shape->bounds) == 0)
    return node.unsupportedSize("its sizes depend on data, and some are 0");
  ElementType wide = !weighs                    ? type
                     : type == ElementType::F64 ? ElementType::F64
                                                : ElementType::F32;
  Value value = castTensor(b, node.operand(0), type, wide);
  if (hasRegion)
    for (auto [i, target] : llvm::enumerate(*targets)) {
      target.roiStart = elementOf(node, 1, i);
      target.roiEnd = elementOf(node, 1, axes.size() + i);
    }
  for (const ComputedTarget &target : llvm::reverse(*targets)) {
    // Nothing moves along an axis that keeps its size.
    if (!hasRegion && target.size == target.dim &&
        (operand == 3 || isOne(node, target.scale)))
      continue;
    AxisTables tables =
        computeTables(node, rules, target, getElementTypeOrSelf(value));
    value = weighs ? interpolate(b, value, tables)
                   : gatherNearest(b, value, tables);
  }
  node.setResult(0, {castTensor(b, value, wide, type), type, shape->sizes});
  return success();
}
