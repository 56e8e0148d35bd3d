// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DFT and STFT, computed in double. A transform of n = p q elements is q
// transforms of p elements, a turn of each result, and p transforms of q; what
// does not factor any more is a product with a matrix.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace ashlar::onnx_import;

/// Factors up to this are one matrix product.
static constexpr int64_t largestFactor = 32;
/// The largest prime factor, and the longest transform: its matrix and its
/// turns are constants.
static constexpr int64_t largestPrime = 1024, longest = int64_t(1) << 20;

namespace {
/// rows x n numbers in f64; `im` is null where all are real.
struct Signal {
  Value re, im;
  int64_t rows, n;
};
} // namespace

/// The constant f(i) for each i of `shape`, in row-major order.
static Value table(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                   llvm::function_ref<double(int64_t, int64_t)> f) {
  SmallVector<double> values;
  for (int64_t i = 0; i != shape[0]; ++i)
    for (int64_t j = 0; j != shape[1]; ++j)
      values.push_back(f(i, j));
  return constantTable(b, values, shape);
}

/// initial + sum over j1 of x[row, j1, j2] * matrix[j1, k1].
static Value applyMatrix(ImplicitLocOpBuilder &b, Value x, Value matrix,
                         Value initial) {
  AffineExpr row = b.getAffineDimExpr(0), k1 = b.getAffineDimExpr(1),
             j2 = b.getAffineDimExpr(2), j1 = b.getAffineDimExpr(3);
  AffineMap maps[] = {AffineMap::get(4, 0, {row, j1, j2}, b.getContext()),
                      AffineMap::get(4, 0, {j1, k1}, b.getContext()),
                      AffineMap::get(4, 0, {row, k1, j2}, b.getContext())};
  return contract(b, x, matrix, initial, maps);
}

/// The largest divisor of n up to largestFactor, or else its least above.
static int64_t factorOf(int64_t n) {
  if (n <= largestFactor)
    return n;
  for (int64_t p = largestFactor; p > 1; --p)
    if (n % p == 0)
      return p;
  for (int64_t p = largestFactor + 1; p * p <= n; ++p)
    if (n % p == 0)
      return p;
  return n;
}

static bool isTransformable(int64_t n) {
  if (n > longest)
    return false;
  for (int64_t p; n > 1; n /= p)
    if ((p = factorOf(n)) > largestPrime)
      return false;
  return true;
}

/// sum over j of x[j] exp(sign 2 pi i j k / n), along the rows.
static Signal transform(ImplicitLocOpBuilder &b, Signal x, int sign) {
  int64_t n = x.n, p = factorOf(n), q = n / p;
  if (n <= 1)
    return x;
  Value zero = fill(b, {x.rows, p, q},
                    arith::ConstantOp::create(b, b.getF64FloatAttr(0)));
  auto turns = [&](int64_t of, double factor, double (*f)(double)) {
    // Whole turns are taken away first, exactly.
    return [=](int64_t i, int64_t j) {
      return factor * f(2 * M_PI * double(i * j % of) / double(of));
    };
  };
  Value cosines = table(b, {p, p}, turns(p, 1, std::cos));
  Value sines = table(b, {p, p}, turns(p, sign, std::sin));
  SmallVector<int64_t> split{x.rows, p, q};
  Value re = reshape(b, x.re, split);
  Value outRe = applyMatrix(b, re, cosines, zero);
  Value outIm = applyMatrix(b, re, sines, zero);
  if (x.im) {
    Value im = reshape(b, x.im, split);
    outRe =
        applyMatrix(b, im, table(b, {p, p}, turns(p, -sign, std::sin)), outRe);
    outIm = applyMatrix(b, im, cosines, outIm);
  }
  if (q == 1)
    return {reshape(b, outRe, {x.rows, n}), reshape(b, outIm, {x.rows, n}),
            x.rows, n};
  Value c = table(b, {p, q}, turns(n, 1, std::cos));
  Value s = table(b, {p, q}, turns(n, sign, std::sin));
  Type f64 = b.getF64Type();
  auto turned = [&](bool imaginary) {
    return floatElementwise(
        b, {outRe, outIm, c, s}, f64, [&](FloatScalars &f, ValueRange a) {
          return imaginary ? f.add(f.mul(a[0], a[3]), f.mul(a[1], a[2]))
                           : f.sub(f.mul(a[0], a[2]), f.mul(a[1], a[3]));
        });
  };
  Signal parts{reshape(b, turned(false), {x.rows * p, q}),
               reshape(b, turned(true), {x.rows * p, q}), x.rows * p, q};
  parts = transform(b, parts, sign);
  auto join = [&](Value part) {
    Value ordered = transpose(b, reshape(b, part, split), {0, 2, 1});
    return reshape(b, ordered, {x.rows, n});
  };
  return {join(parts.re), join(parts.im), x.rows, n};
}

/// The first n numbers of each row, with zeros where there are fewer.
static Value resizeRows(ImplicitLocOpBuilder &b, Value x, int64_t from,
                        int64_t n) {
  if (!x)
    return x;
  Value zero = arith::ConstantOp::create(b, b.getF64FloatAttr(0));
  return padOrCrop(b, x, {0, 0}, {0, n - from}, zero);
}

static Value scaleBy(ImplicitLocOpBuilder &b, Value x, double factor) {
  return floatElementwise(b, {x}, b.getF64Type(),
                          [&](FloatScalars &s, ValueRange args) {
                            return s.mul(args[0], s.constant(factor));
                          });
}

/// A whole spectrum from its first half: what follows mirrors it, conjugated.
/// The numbers that would not are taken as real.
static Signal mirrored(ImplicitLocOpBuilder &b, Signal half, int64_t n) {
  auto make = [&](Value source, bool imaginary) {
    return generate(
        b, {half.rows, n}, b.getF64Type(),
        [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          auto index = [&](int64_t i) -> Value {
            return arith::ConstantIndexOp::create(b, loc, i);
          };
          auto compare = [&](arith::CmpIPredicate predicate, int64_t i) {
            return arith::CmpIOp::create(b, loc, predicate, at[1], index(i));
          };
          Value beyond = compare(arith::CmpIPredicate::sgt, n / 2);
          Value back = arith::SubIOp::create(b, loc, index(n), at[1]);
          Value from = arith::SelectOp::create(b, loc, beyond, back, at[1]);
          Value x = tensor::ExtractOp::create(b, loc, source,
                                              ValueRange{at[0], from});
          if (!imaginary)
            return x;
          FloatScalars s(b, loc, b.getF64Type());
          x = s.select(beyond, s.neg(x), x);
          Value isReal = compare(arith::CmpIPredicate::eq, 0);
          if (n % 2 == 0)
            isReal = arith::OrIOp::create(
                b, loc, isReal, compare(arith::CmpIPredicate::eq, n / 2));
          return s.select(isReal, s.constant(0), x);
        });
  };
  return {make(half.re, false), make(half.im, true), half.rows, n};
}

static LogicalResult expectTransformable(NodeImporter &node, int64_t n,
                                         int64_t rows) {
  if (n < 1)
    return node.invalid("expected a length of 1 or more, found " + Twine(n));
  if (!isTransformable(n))
    return node.unsupported("of length " + Twine(n) +
                            ": more than 2^20, or a multiple of a prime above "
                            "1024");
  return expectSize(node, {rows, n, 2}, node.b.getF64Type());
}

/// `axis` of the operand, which has a last axis for the two parts of a number.
static FailureOr<int64_t> readSignalAxis(NodeImporter &node) {
  int64_t rank = node.rank(0), axis;
  if (failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  if (node.opset() < 20) {
    axis = node.intAttribute("axis", 1);
  } else {
    axis = -2;
    if (node.hasOperand(2)) {
      auto given = node.constantInts(2, "the axis");
      if (failed(given) || failed(expectOneElement(node, 2)))
        return failure();
      axis = given->front();
    }
  }
  FailureOr<int64_t> normal = node.normalizeAxis(axis, rank);
  if (succeeded(normal) && *normal == rank - 1)
    return node.invalid("expected an axis before the last, found " +
                        Twine(axis));
  return normal;
}

static LogicalResult importDFT(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  FailureOr<int64_t> axis = readSignalAxis(node);
  if (failed(axis))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t rank = shape.size(), size = shape[*axis], parts = shape.back();
  if (parts != 1 && parts != 2)
    return node.invalid("expected a last axis of size 1 or 2, found " +
                        Twine(parts));
  bool inverse = node.intAttribute("inverse", 0);
  bool onesided = node.intAttribute("onesided", 0);
  int64_t n = inverse && onesided ? 2 * (size - 1) : size;
  if (node.hasOperand(1)) {
    auto given = node.constantInts(1, "the length");
    if (failed(given) || failed(expectOneElement(node, 1)))
      return failure();
    n = given->front();
  }
  // Parts first, the axis last.
  SmallVector<int64_t> order{rank - 1}, others;
  for (int64_t i = 0; i != rank - 1; ++i)
    if (i != *axis) {
      order.push_back(i);
      others.push_back(shape[i]);
    }
  order.push_back(*axis);
  int64_t rows = ShapedType::getNumElements(others);
  if (failed(expectTransformable(node, n, rows)))
    return failure();
  ElementType type = node.operandType(0);
  Value x = castTensor(b, node.operand(0), type, ElementType::F64);
  x = reshape(b, transpose(b, x, order), {parts, rows, size});
  auto part = [&](int64_t i) {
    Value whole = slice(b, x, {i, 0, 0}, {1, rows, size}, {1, 1, 1});
    return reshape(b, whole, {rows, size});
  };
  Signal signal{part(0), parts == 2 ? part(1) : Value(), rows, size};
  int64_t needed = inverse && onesided ? n / 2 + 1 : n;
  signal.re = resizeRows(b, signal.re, size, needed);
  signal.im = resizeRows(b, signal.im, size, needed);
  signal.n = needed;
  if (inverse && onesided) {
    if (!signal.im)
      signal.im = scaleBy(b, signal.re, 0);
    signal = mirrored(b, signal, n);
  }
  signal = transform(b, signal, inverse ? 1 : -1);
  if (!signal.im) // of one number
    signal.im = scaleBy(b, signal.re, 0);
  int64_t count = onesided && !inverse ? n / 2 + 1 : n;
  SmallVector<Value> results{signal.re};
  if (!(inverse && onesided))
    results.push_back(signal.im);
  SmallVector<int64_t> moved{1};
  llvm::append_range(moved, others);
  moved.push_back(count);
  for (Value &result : results) {
    result = resizeRows(b, result, n, count);
    if (inverse)
      result = scaleBy(b, result, 1.0 / n);
    result = reshape(b, castTensor(b, result, ElementType::F64, type), moved);
  }
  SmallVector<int64_t> back(rank);
  for (auto [i, from] : llvm::enumerate(order))
    back[from] = i;
  node.setResult(0, transpose(b, concat(b, results, 0), back), type);
  return success();
}

static LogicalResult importSTFT(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  // Exporters leave out the last size of real signals, as ONNX Runtime does.
  if (node.rank(0) == 2)
    node.replaceOperand(0, {reshape(b, node.operand(0),
                                    {node.shape(0)[0], node.shape(0)[1], 1}),
                            node.operandType(0)});
  ArrayRef<int64_t> shape = node.shape(0);
  if (shape.size() != 3 || (shape[2] != 1 && shape[2] != 2))
    return node.invalid("expected a signal of shape batch x length (x 1 or 2), "
                        "found " +
                        spellShape(shape));
  auto step = node.constantInts(1, "the step");
  if (failed(step) || failed(expectOneElement(node, 1)))
    return failure();
  bool hasWindow = node.hasOperand(2);
  if (hasWindow && failed(expectRank(node, 2, 1)))
    return failure();
  int64_t n = hasWindow ? node.shape(2)[0] : shape[1];
  if (node.hasOperand(3)) {
    auto given = node.constantInts(3, "the frame's length");
    if (failed(given) || failed(expectOneElement(node, 3)))
      return failure();
    n = given->front();
  }
  int64_t width = hasWindow ? node.shape(2)[0] : n, hop = step->front();
  if (hop < 1 || n < 1 || n > shape[1] || width > n)
    return node.invalid("expected a step of 1 or more and a window within a "
                        "frame within the signal of " +
                        Twine(shape[1]) + ", found a step of " + Twine(hop) +
                        ", a window of " + Twine(width) + " and a frame of " +
                        Twine(n));
  int64_t frames = 1 + (shape[1] - n) / hop, rows = shape[0] * frames;
  if (failed(expectTransformable(node, n, rows)))
    return failure();
  ElementType type = node.operandType(0);
  Value window;
  if (hasWindow)
    window = castTensor(b, node.operand(2), type, ElementType::F64);
  AffineExpr batch = b.getAffineDimExpr(0), frame = b.getAffineDimExpr(1),
             place = b.getAffineDimExpr(2);
  auto part = [&](int64_t i) {
    Value flat = slice(b, node.operand(0), {0, 0, i}, {shape[0], shape[1], 1},
                       {1, 1, 1});
    flat = castTensor(b, reshape(b, flat, {shape[0], shape[1]}), type,
                      ElementType::F64);
    SmallVector<Value> inputs{flat};
    SmallVector<AffineMap> maps{
        AffineMap::get(3, 0, {batch, frame * hop + place}, b.getContext())};
    if (window) {
      inputs.push_back(window);
      maps.push_back(AffineMap::get(3, 0, place, b.getContext()));
    }
    Value framed =
        parallel(b, {shape[0], frames, width}, b.getF64Type(), inputs, maps,
                 [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                   return args.size() == 1
                              ? args[0]
                              : arith::MulFOp::create(b, loc, args[0], args[1])
                                    .getResult();
                 });
    return resizeRows(b, reshape(b, framed, {rows, width}), width, n);
  };
  Signal signal{part(0), shape[2] == 2 ? part(1) : Value(), rows, n};
  signal = transform(b, signal, -1);
  if (!signal.im)
    signal.im = scaleBy(b, signal.re, 0);
  int64_t count = node.intAttribute("onesided", 1) ? n / 2 + 1 : n;
  SmallVector<Value> results;
  for (Value result : {signal.re, signal.im})
    results.push_back(reshape(
        b,
        castTensor(b, resizeRows(b, result, n, count), ElementType::F64, type),
        {shape[0], frames, count, 1}));
  node.setResult(0, concat(b, results, 3), type);
  return success();
}

void ashlar::onnx_import::registerFourierTransformOperators(
    OperatorRegistry &registry) {
  registry.add("DFT", 17, importDFT);
  registry.add("STFT", 17, importSTFT);
}
