// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MaxPool, AveragePool, LpPool, their global forms and MaxUnpool. A pool is a
// reduction over a window operand that has a shape and no contents, as
// upstream's linalg.pooling ops have it.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "WindowGeometry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
struct PoolShape {
  WindowGeometry window;
  SmallVector<int64_t> result;
};
} // namespace

static FailureOr<PoolShape> readPool(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)) ||
      failed(expectRankAtLeast(node, 0, 3)))
    return failure();
  ArrayRef<int64_t> input = node.shape(0);
  FailureOr<WindowGeometry> window =
      readWindowGeometry(node, input.drop_front(2), std::nullopt);
  if (failed(window))
    return failure();
  PoolShape pool{*window, {input[0], input[1]}};
  SmallVector<int64_t> padded{input[0], input[1]};
  for (unsigned i = 0; i != window->rank(); ++i) {
    pool.result.push_back(window->output[i]);
    padded.push_back(input[i + 2] + window->low[i] + window->reach[i]);
    // A window over nothing but padding has no maximum and no mean.
    if (window->low[i] >= window->extent(i) && window->low[i] > 0)
      return node.invalid("attribute 'pads' holds " + Twine(window->low[i]) +
                          "; expected less than the kernel's " +
                          Twine(window->extent(i)));
  }
  if (failed(expectSize(node, pool.result)) || failed(expectSize(node, padded)))
    return failure();
  return pool;
}

/// Folds the windows of a padded input into `initial` tensors of the results'
/// shape. `body` gets the element and the accumulators, and makes new ones; it
/// may use linalg.index, whose last dimensions run over the window.
static SmallVector<Value> reduceWindows(
    ImplicitLocOpBuilder &b, Value padded, const PoolShape &pool,
    ValueRange initial,
    llvm::function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)>
        body) {
  const WindowGeometry &window = pool.window;
  unsigned rank = pool.result.size(), loops = rank;
  SmallVector<AffineExpr> input{b.getAffineDimExpr(0), b.getAffineDimExpr(1)};
  SmallVector<AffineExpr> windowExprs;
  SmallVector<int64_t> windowShape;
  for (unsigned i = 0; i != window.rank(); ++i) {
    AffineExpr place = b.getAffineDimExpr(i + 2) * window.strides[i];
    if (window.kernel[i] != 1) {
      AffineExpr k = b.getAffineDimExpr(loops++);
      place = place + k * window.dilations[i];
      windowExprs.push_back(k);
      windowShape.push_back(window.kernel[i]);
    }
    input.push_back(place);
  }
  MLIRContext *context = b.getContext();
  SmallVector<AffineMap> maps{AffineMap::get(loops, 0, input, context),
                              AffineMap::get(loops, 0, windowExprs, context)};
  AffineMap resultMap = b.getMultiDimIdentityMap(loops).getMajorSubMap(rank);
  maps.append(initial.size(), resultMap);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.append(loops - rank, utils::IteratorType::reduction);
  Value shape = tensor::EmptyOp::create(
      b, windowShape,
      cast<RankedTensorType>(padded.getType()).getElementType());
  auto generic = linalg::GenericOp::create(
      b, TypeRange(initial), ValueRange{padded, shape}, initial, maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
        SmallVector<Value> inner{args[0]};
        llvm::append_range(inner, args.drop_front(2));
        linalg::YieldOp::create(b, loc, body(b, loc, inner));
      });
  return llvm::to_vector_of<Value>(generic.getResults());
}

static Value maximum(OpBuilder &b, Location loc, ElementType type, Value x,
                     Value y) {
  if (isFloat(type))
    return arith::MaximumFOp::create(b, loc, x, y);
  if (isUnsigned(type))
    return arith::MaxUIOp::create(b, loc, x, y);
  return arith::MaxSIOp::create(b, loc, x, y);
}

/// The place of the first maximum of each window in the flattened input.
static Value importMaxPoolIndices(NodeImporter &node, const PoolShape &pool,
                                  Value padded, TypedAttr lowest) {
  ImplicitLocOpBuilder &b = node.b;
  const WindowGeometry &window = pool.window;
  ElementType type = node.operandType(0);
  ArrayRef<int64_t> input = node.shape(0);
  bool columnMajor = node.intAttribute("storage_order", 0) == 1;
  SmallVector<int64_t> strides(input.size(), 1);
  for (unsigned i = 0; i != window.rank(); ++i) {
    // storage_order 1 swaps the order of the spatial dimensions alone.
    unsigned at = columnMajor ? i + 2 : input.size() - 1 - i;
    for (unsigned j = 0; j != i; ++j)
      strides[at] *= input[columnMajor ? j + 2 : input.size() - 1 - j];
  }
  int64_t area = ShapedType::getNumElements(input.drop_front(2));
  strides[1] = area;
  strides[0] = area * input[1];
  Value none = scalarIntConstant(b, b.getLoc(), b.getI64Type(), -1);
  Value initial[] = {fill(b, pool.result, arith::ConstantOp::create(b, lowest)),
                     fill(b, pool.result, none)};
  return reduceWindows(
      b, padded, pool, initial,
      [&](OpBuilder &b, Location loc, ValueRange args) -> SmallVector<Value> {
        auto index = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        Value place = index(0), inside;
        unsigned loop = input.size();
        for (unsigned i = 0; i != input.size(); ++i) {
          Value at = linalg::IndexOp::create(b, loc, i);
          if (i >= 2) {
            at =
                arith::MulIOp::create(b, loc, at, index(window.strides[i - 2]));
            if (window.kernel[i - 2] != 1) {
              Value k = linalg::IndexOp::create(b, loc, loop++);
              k = arith::MulIOp::create(b, loc, k,
                                        index(window.dilations[i - 2]));
              at = arith::AddIOp::create(b, loc, at, k);
            }
            at = arith::SubIOp::create(b, loc, at, index(window.low[i - 2]));
            // Unsigned, so that what is below zero is outside too.
            Value fits = arith::CmpIOp::create(
                b, loc, arith::CmpIPredicate::ult, at, index(input[i]));
            inside =
                inside ? arith::AndIOp::create(b, loc, inside, fits).getResult()
                       : fits;
          }
          Value step = arith::MulIOp::create(b, loc, at, index(strides[i]));
          place = arith::AddIOp::create(b, loc, place, step);
        }
        Value none = scalarIntConstant(b, loc, b.getI64Type(), -1);
        Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            args[2], none);
        Value greater;
        if (isFloat(type))
          greater = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                          args[0], args[1]);
        else
          greater = arith::CmpIOp::create(b, loc,
                                          isUnsigned(type)
                                              ? arith::CmpIPredicate::ugt
                                              : arith::CmpIPredicate::sgt,
                                          args[0], args[1]);
        Value better = arith::OrIOp::create(b, loc, first, greater);
        better = arith::AndIOp::create(b, loc, better, inside);
        place = arith::IndexCastOp::create(b, loc, b.getI64Type(), place);
        return {arith::SelectOp::create(b, loc, better, args[0], args[1]),
                arith::SelectOp::create(b, loc, better, place, args[2])};
      })[1];
}

static LogicalResult importMaxPool(NodeImporter &node) {
  FailureOr<PoolShape> pool = readPool(node);
  if (failed(pool))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  ElementType type = node.operandType(0);
  if (type == ElementType::Bool)
    return node.invalid("input 0 has type bool; expected numbers");
  TypedAttr lowest =
      lowestOf(node.tensorType(0).getElementType(), isUnsigned(type));
  Value scalar = arith::ConstantOp::create(b, lowest);
  Value padded = pool->window.pad(b, node.operand(0), scalar);
  Value result = reduceWindows(
      b, padded, *pool, fill(b, pool->result, scalar),
      [&](OpBuilder &b, Location loc, ValueRange args) -> SmallVector<Value> {
        return {maximum(b, loc, type, args[1], args[0])};
      })[0];
  node.setResult(0, result, type);
  if (node.hasResult(1))
    node.setResult(1, importMaxPoolIndices(node, *pool, padded, lowest),
                   ElementType::I64);
  return success();
}

/// How many elements of each window along axis i count for the mean.
static SmallVector<int64_t> windowCounts(const WindowGeometry &window,
                                         unsigned i, int64_t input,
                                         bool includePad) {
  SmallVector<int64_t> counts;
  int64_t begin = includePad ? -window.low[i] : 0;
  int64_t end = includePad ? input + window.high[i] : input;
  for (int64_t o = 0; o != window.output[i]; ++o) {
    // Elements k with begin <= first + k * dilation < end.
    int64_t first = o * window.strides[i] - window.low[i];
    int64_t dilation = window.dilations[i];
    int64_t from =
        first >= begin ? 0 : llvm::divideCeil(begin - first, dilation);
    int64_t to = end <= first ? 0 : llvm::divideCeil(end - first, dilation);
    counts.push_back(
        std::max<int64_t>(std::min(to, window.kernel[i]) - from, 0));
  }
  return counts;
}

/// Sums of windows, in f32 for what is narrower.
static Value
sumWindows(ImplicitLocOpBuilder &b, Value input, const PoolShape &pool,
           Type accumulator,
           llvm::function_ref<Value(OpBuilder &, Location, Value)> term) {
  Type element = getElementTypeOrSelf(input);
  Value padded =
      pool.window.pad(b, input, arith::ConstantOp::create(b, zeroOf(element)));
  Value zero = arith::ConstantOp::create(b, zeroOf(accumulator));
  return reduceWindows(
      b, padded, pool, fill(b, pool.result, zero),
      [&](OpBuilder &b, Location loc, ValueRange args) -> SmallVector<Value> {
        Value x = args[0];
        if (accumulator != element)
          x = arith::ExtFOp::create(b, loc, accumulator, x);
        return {arith::AddFOp::create(b, loc, args[1], term(b, loc, x))};
      })[0];
}

static Type wideFloat(Type element) {
  return element.getIntOrFloatBitWidth() < 32
             ? Float32Type::get(element.getContext())
             : element;
}

static LogicalResult importAveragePool(NodeImporter &node) {
  FailureOr<PoolShape> pool = readPool(node);
  if (failed(pool) || failed(expectFloat(node, 0)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  Type element = node.tensorType(0).getElementType();
  Type wide = wideFloat(element);
  bool includePad = node.intAttribute("count_include_pad", 0) != 0;
  Value sum = sumWindows(b, node.operand(0), *pool, wide,
                         [](OpBuilder &, Location, Value x) { return x; });
  // The divisor is a product over axes; most are the same for all windows.
  double common = 1;
  SmallVector<Value> inputs{sum};
  unsigned rank = pool->window.rank();
  for (unsigned i = 0; i != rank; ++i) {
    SmallVector<int64_t> counts =
        windowCounts(pool->window, i, node.shape(0)[i + 2], includePad);
    if (llvm::all_equal(counts)) {
      common *= counts.empty() ? 1 : counts[0];
      continue;
    }
    SmallVector<Attribute> values;
    for (int64_t count : counts)
      values.push_back(FloatAttr::get(wide, double(count)));
    SmallVector<int64_t> shape(rank, 1);
    shape[i] = counts.size();
    inputs.push_back(constantOf(
        b, DenseElementsAttr::get(RankedTensorType::get(shape, wide), values)));
  }
  Value result = elementwise(
      b, element, inputs, [&](OpBuilder &b, Location loc, ValueRange args) {
        Value divisor = scalarConstant(b, loc, wide, common);
        for (Value count : args.drop_front())
          divisor = arith::MulFOp::create(b, loc, divisor, count);
        Value mean = arith::DivFOp::create(b, loc, args[0], divisor);
        if (wide != element)
          mean = arith::TruncFOp::create(b, loc, element, mean);
        return mean;
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

/// (sum |x|^p)^(1/p): the term before the sum and the root after it.
static Value power(OpBuilder &b, Location loc, Value x, int64_t p) {
  if (p == 2)
    return arith::MulFOp::create(b, loc, x, x);
  Value magnitude = math::AbsFOp::create(b, loc, x);
  if (p == 1)
    return magnitude;
  return math::PowFOp::create(b, loc, magnitude,
                              scalarConstant(b, loc, x.getType(), double(p)));
}

static Value root(OpBuilder &b, Location loc, Value x, int64_t p) {
  if (p == 1)
    return x;
  if (p == 2)
    return math::SqrtOp::create(b, loc, x);
  return math::PowFOp::create(
      b, loc, x, scalarConstant(b, loc, x.getType(), 1.0 / double(p)));
}

static Value rootAndRound(ImplicitLocOpBuilder &b, Value sum, Type element,
                          int64_t p) {
  return elementwise(b, element, {sum},
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       Value x = root(b, loc, args[0], p);
                       if (x.getType() != element)
                         x = arith::TruncFOp::create(b, loc, element, x);
                       return x;
                     });
}

static FailureOr<int64_t> readNorm(NodeImporter &node) {
  int64_t p = node.intAttribute("p", 2);
  if (p < 1)
    return node.invalid("attribute 'p' is " + Twine(p) +
                        "; expected 1 or more");
  return p;
}

static LogicalResult importLpPool(NodeImporter &node) {
  FailureOr<PoolShape> pool = readPool(node);
  if (failed(pool) || failed(expectFloat(node, 0)))
    return failure();
  FailureOr<int64_t> p = readNorm(node);
  if (failed(p))
    return failure();
  Type element = node.tensorType(0).getElementType();
  Value sum = sumWindows(node.b, node.operand(0), *pool, wideFloat(element),
                         [&](OpBuilder &b, Location loc, Value x) {
                           return power(b, loc, x, *p);
                         });
  node.setResult(0, rootAndRound(node.b, sum, element, *p),
                 node.operandType(0));
  return success();
}

static FailureOr<SmallVector<int64_t>> readGlobalPool(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)) ||
      failed(expectRankAtLeast(node, 0, 2)) || failed(expectFloat(node, 0)))
    return failure();
  return llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
}

static LogicalResult importGlobalMaxPool(NodeImporter &node) {
  FailureOr<SmallVector<int64_t>> axes = readGlobalPool(node);
  if (failed(axes))
    return failure();
  Type element = node.tensorType(0).getElementType();
  Value result =
      reduce(node.b, node.operand(0), *axes, true, lowestOf(element, false),
             [](OpBuilder &b, Location loc, ValueRange args) -> Value {
               return arith::MaximumFOp::create(b, loc, args[0], args[1]);
             });
  node.setResult(0, result, node.operandType(0));
  return success();
}

/// The sum of `term` over all of each channel, with sizes of one kept.
static Value
sumChannels(NodeImporter &node, ArrayRef<int64_t> axes,
            llvm::function_ref<Value(OpBuilder &, Location, Value)> term) {
  Type wide = wideFloat(node.tensorType(0).getElementType());
  return reduce(node.b, node.operand(0), axes, true, zeroOf(wide),
                [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                  Value x = args[0];
                  if (x.getType() != wide)
                    x = arith::ExtFOp::create(b, loc, wide, x);
                  return arith::AddFOp::create(b, loc, args[1],
                                               term(b, loc, x));
                });
}

static LogicalResult importGlobalAveragePool(NodeImporter &node) {
  FailureOr<SmallVector<int64_t>> axes = readGlobalPool(node);
  if (failed(axes))
    return failure();
  Type element = node.tensorType(0).getElementType();
  double count = 1;
  for (int64_t axis : *axes)
    count *= node.shape(0)[axis];
  Value sum = sumChannels(node, *axes,
                          [](OpBuilder &, Location, Value x) { return x; });
  Value mean = elementwise(
      node.b, element, {sum},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value divisor = scalarConstant(b, loc, args[0].getType(), count);
        Value mean = arith::DivFOp::create(b, loc, args[0], divisor);
        if (mean.getType() != element)
          mean = arith::TruncFOp::create(b, loc, element, mean);
        return mean;
      });
  node.setResult(0, mean, node.operandType(0));
  return success();
}

static LogicalResult importGlobalLpPool(NodeImporter &node) {
  FailureOr<SmallVector<int64_t>> axes = readGlobalPool(node);
  if (failed(axes))
    return failure();
  FailureOr<int64_t> p = readNorm(node);
  if (failed(p))
    return failure();
  Value sum =
      sumChannels(node, *axes, [&](OpBuilder &b, Location loc, Value x) {
        return power(b, loc, x, *p);
      });
  node.setResult(
      0, rootAndRound(node.b, sum, node.tensorType(0).getElementType(), *p),
      node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerPoolingOperators(OperatorRegistry &registry) {
  registry.add("MaxPool", 1, importMaxPool);
  registry.add("AveragePool", 1, importAveragePool);
  registry.add("LpPool", 2, importLpPool);
  registry.add("GlobalMaxPool", 1, importGlobalMaxPool);
  registry.add("GlobalAveragePool", 1, importGlobalAveragePool);
  registry.add("GlobalLpPool", 2, importGlobalLpPool);
}
