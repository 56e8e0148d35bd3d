// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RandomUniform, RandomNormal, Bernoulli and Multinomial, and dropping out.
// Number i of a node is a hash of i and the node's seed, so that elements are
// independent of each other and of threads, and the same in every run. Without
// a seed of its own a node takes its name for one.
#include "RandomNumbers.h"
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// `isInteger`: Dropout's seed is one, those of the others are floats.
static int64_t seedOf(NodeImporter &node, bool isInteger) {
  if (node.hasAttribute("seed")) {
    if (isInteger)
      return node.intAttribute("seed", 0);
    double seed = node.floatAttribute("seed", 0);
    int64_t bits;
    std::memcpy(&bits, &seed, sizeof(bits));
    return bits;
  }
  // FNV-1a.
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : node.name())
    hash = (hash ^ uint8_t(c)) * 0x100000001b3u;
  return hash;
}

/// The finish of splitmix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014).
static Value mix(OpBuilder &b, Location loc, Value x) {
  auto constant = [&](uint64_t value) {
    return scalarIntConstant(b, loc, b.getI64Type(), int64_t(value));
  };
  auto step = [&](int shift, uint64_t factor) {
    Value high = arith::ShRUIOp::create(b, loc, x, constant(shift));
    x = arith::XOrIOp::create(b, loc, x, high);
    if (factor)
      x = arith::MulIOp::create(b, loc, x, constant(factor));
  };
  step(30, 0xbf58476d1ce4e5b9u);
  step(27, 0x94d049bb133111ebu);
  step(31, 0);
  return x;
}

/// Number `at` of the sequence of `seed` in [0, 1), of 52 bits: in the middle
/// of its step, so that it is never 0.
static Value uniform(OpBuilder &b, Location loc, int64_t seed,
                     ArrayRef<int64_t> shape, ValueRange at, int64_t stream) {
  Type i64 = b.getI64Type(), f64 = b.getF64Type();
  auto constant = [&](uint64_t value) {
    return scalarIntConstant(b, loc, i64, int64_t(value));
  };
  Value place = constant(0);
  for (auto [dim, i] : llvm::zip(shape, at)) {
    place = arith::MulIOp::create(b, loc, place, constant(dim));
    Value index = arith::IndexCastOp::create(b, loc, i64, i);
    place = arith::AddIOp::create(b, loc, place, index);
  }
  place = arith::MulIOp::create(b, loc, place, constant(0x9e3779b97f4a7c15u));
  Value start = mix(b, loc, constant(uint64_t(seed) + stream));
  Value bits = mix(b, loc, arith::AddIOp::create(b, loc, place, start));
  Value high = arith::ShRUIOp::create(b, loc, bits, constant(12));
  FloatScalars s(b, loc, f64);
  Value number = arith::UIToFPOp::create(b, loc, f64, high);
  return s.mul(s.add(number, s.constant(0.5)), s.constant(0x1p-52));
}

/// One number of a distribution for each element, from uniform ones.
using Distribution =
    llvm::function_ref<Value(FloatScalars &, Value first, Value second)>;

static Value draw(NodeImporter &node, ArrayRef<int64_t> shape, ElementType type,
                  Distribution distribution, bool integerSeed = false) {
  int64_t seed = seedOf(node, integerSeed);
  return generate(node.b, shape, convertElementType(node.b.getContext(), type),
                  [&](OpBuilder &b, Location loc, ValueRange at) {
                    FloatScalars s(b, loc, b.getF64Type());
                    Value number =
                        distribution(s, uniform(b, loc, seed, shape, at, 0),
                                     uniform(b, loc, seed, shape, at, 1));
                    return castScalar(b, loc, number, ElementType::F64, type);
                  });
}

static FailureOr<ElementType> readType(NodeImporter &node,
                                       ElementType otherwise) {
  int64_t given = node.intAttribute("dtype", 0);
  auto type = given ? static_cast<ElementType>(given) : otherwise;
  if (!convertElementType(node.b.getContext(), type) || packedBits(type))
    return node.unsupported("as " + elementTypeName(type));
  return type;
}

/// The result of RandomUniform or RandomNormal of this shape.
static LogicalResult setRandom(NodeImporter &node, ArrayRef<int64_t> shape,
                               ElementType otherwise, bool isNormal) {
  FailureOr<ElementType> type = readType(node, otherwise);
  if (failed(type) || failed(expectSize(node, shape)))
    return failure();
  if (!isFloat(*type))
    return node.invalid("expected a float type, found " +
                        elementTypeName(*type));
  double low = node.floatAttribute("low", 0);
  double high = node.floatAttribute("high", 1);
  double mean = node.floatAttribute("mean", 0);
  double scale = node.floatAttribute("scale", 1);
  Value result =
      draw(node, shape, *type, [&](FloatScalars &s, Value first, Value second) {
        if (!isNormal)
          return s.add(s.constant(low), s.mul(first, s.constant(high - low)));
        // Box and Muller's transform.
        Value radius = s.sqrt(s.mul(s.constant(-2), s.log(first)));
        Value angle = s.mul(second, s.constant(2 * M_PI));
        Value normal = s.mul(radius, s.make<math::CosOp>(angle));
        return s.add(s.constant(mean), s.mul(normal, s.constant(scale)));
      });
  node.setResult(0, result, *type);
  return success();
}

template <bool isNormal> static LogicalResult importRandom(NodeImporter &node) {
  return setRandom(node, node.intsAttribute("shape"), ElementType::F32,
                   isNormal);
}

template <bool isNormal>
static LogicalResult importRandomLike(NodeImporter &node) {
  return setRandom(node, node.shape(0), node.operandType(0), isNormal);
}

static LogicalResult importBernoulli(NodeImporter &node) {
  ElementType given = node.operandType(0);
  FailureOr<ElementType> type = readType(node, given);
  if (failed(type))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  Value numbers = draw(node, shape, ElementType::F64,
                       [](FloatScalars &, Value x, Value) { return x; });
  Value result =
      elementwise(node.b, convertElementType(node.b.getContext(), *type),
                  {node.operand(0), numbers},
                  [&](OpBuilder &b, Location loc, ValueRange args) {
                    FloatScalars s(b, loc, b.getF64Type());
                    Value chance =
                        castScalar(b, loc, args[0], given, ElementType::F64);
                    return castScalar(b, loc, s.less(args[1], chance),
                                      ElementType::Bool, *type);
                  });
  node.setResult(0, result, *type);
  return success();
}

/// Adding -log(-log(u)) to the logarithms of the chances makes the largest one
/// fall on each class with its chance (Gumbel's trick).
static LogicalResult importMultinomial(NodeImporter &node) {
  if (failed(expectRank(node, 0, 2)))
    return failure();
  int64_t count = node.intAttribute("sample_size", 1);
  ArrayRef<int64_t> in = node.shape(0);
  FailureOr<ElementType> type = readType(node, ElementType::I32);
  if (failed(type) || failed(expectSize(node, {in[0], count, in[1]})))
    return failure();
  if (in[1] == 0)
    return node.invalid("expected classes, found none");
  Value noise = draw(node, {in[0], count, in[1]}, ElementType::F64,
                     [](FloatScalars &s, Value x, Value) {
                       return s.neg(s.log(s.neg(s.log(x))));
                     });
  Value logits = castTensor(node.b, node.operand(0), node.operandType(0),
                            ElementType::F64);
  Value scores = floatElementwise(
      node.b, {noise, reshape(node.b, logits, {in[0], 1, in[1]})},
      node.b.getF64Type(),
      [](FloatScalars &s, ValueRange args) { return s.add(args[0], args[1]); });
  Value classes = argExtreme(node.b, scores, ElementType::F64, 2,
                             /*isMax=*/true, /*selectLast=*/false);
  node.setResult(0, castTensor(node.b, classes, ElementType::I64, *type),
                 *type);
  return success();
}

Value ashlar::onnx_import::drawKept(NodeImporter &node, ArrayRef<int64_t> shape,
                                    Value ratio, ElementType type) {
  Value numbers = draw(
      node, shape, ElementType::F64,
      [](FloatScalars &, Value x, Value) { return x; },
      /*integerSeed=*/true);
  return elementwise(
      node.b, node.b.getI1Type(), {numbers, ratio},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        FloatScalars s(b, loc, b.getF64Type());
        Value dropped = castScalar(b, loc, args[1], type, ElementType::F64);
        return s.compare(FloatScalars::Predicate::OGE, args[0], dropped);
      });
}

void ashlar::onnx_import::registerRandomNumbersOperators(
    OperatorRegistry &registry) {
  registry.add("RandomUniform", 1, importRandom<false>);
  registry.add("RandomNormal", 1, importRandom<true>);
  registry.add("RandomUniformLike", 1, importRandomLike<false>);
  registry.add("RandomNormalLike", 1, importRandomLike<true>);
  registry.add("Bernoulli", 15, importBernoulli);
  registry.add("Multinomial", 7, importMultinomial);
}
