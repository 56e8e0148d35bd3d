// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IntegerProduct.h"
#include "ashlar/Analysis/MapElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;

namespace {
/// Calls `use` with each point of a box, in row-major order.
void forEachPoint(ArrayRef<int64_t> sizes,
                  llvm::function_ref<void(ArrayRef<int64_t>)> use) {
  SmallVector<int64_t> point(sizes.size(), 0);
  for (int64_t left = ShapedType::getNumElements(sizes); left > 0; --left) {
    use(point);
    for (size_t d = sizes.size(); d-- > 0 && ++point[d] == sizes[d];)
      point[d] = 0;
  }
}

/// The place of `point` in a tensor of `shape`, where dims of size 1 do not
/// count.
int64_t placeOf(ArrayRef<int64_t> point, ArrayRef<int64_t> shape) {
  int64_t place = 0;
  for (auto [index, size] : llvm::zip(point, shape))
    place = place * size + (size == 1 ? 0 : index);
  return place;
}

/// Writes one product and what follows from its zero points and scales.
class ProductWriter {
public:
  ProductWriter(const IntegerProduct &product,
                const llvm::DenseMap<Value, Value> &flipped)
      : product(product), op(product.op), b(op.getLoc(), op), flipped(flipped) {
  }

  void write() {
    for (unsigned i : {0u, 1u})
      operands[i] = writeOperand(product.factors[i]);
    Value sums = writeSums();
    Value result = writeCorrections(sums);
    op->replaceAllUsesWith(ValueRange{result});
    op.erase();
  }

private:
  const IntegerFactor &factor(unsigned i) const { return product.factors[i]; }

  Value writeOperand(const IntegerFactor &factor) {
    if (product.isFloat())
      return moveBytes(b, factor.tensor, floatsOf(factor.tensor));
    if (factor.isConstant())
      return writeWeights(factor);
    Value bytes = flipped.lookup(factor.tensor.root);
    unsigned dim = 0;
    if (product.padding != 0)
      dim = *factor.map.getResultPosition(b.getAffineDimExpr(*product.channel));
    return moveBytes(b, factor.tensor, bytes ? bytes : factor.tensor.root, dim,
                     product.padding);
  }

  /// The same constant where nothing about its bytes changes.
  Value writeWeights(const IntegerFactor &factor) {
    const QuantizedTensor &tensor = factor.tensor;
    if (!factor.changesSign && product.padding == 0)
      return moveBytes(b, tensor, tensor.root);
    auto type = cast<RankedTensorType>(
                    op.getDpsInputs()[&factor - product.factors].getType())
                    .clone(b.getI8Type());
    SmallVector<int64_t> shape(type.getShape());
    if (product.padding != 0)
      shape[*factor.map.getResultPosition(
          b.getAffineDimExpr(*product.channel))] += product.padding;
    // What multiplies nothing must be worth nothing: its zero point.
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
        ShapedType::getNumElements(shape), /*align=*/64);
    char *out = blob.getMutableData().data();
    ArrayRef<int64_t> old = type.getShape();
    ArrayRef<int64_t> zeros = tensor.zeroPoint.shape;
    forEachPoint(shape, [&](ArrayRef<int64_t> point) {
      bool isInside = llvm::all_of(llvm::zip(point, old), [](auto pair) {
        return std::get<0>(pair) < std::get<1>(pair);
      });
      *out++ = char(isInside ? factor.weight(placeOf(point, old))
                             : tensor.zeroPoint.values[placeOf(point, zeros)]);
    });
    Location location = tensor.root.getLoc();
    std::string name = "weights";
    if (auto named = dyn_cast<NameLoc>(location))
      name = named.getName().str();
    return arith::ConstantOp::create(
        b, location,
        DenseResourceElementsAttr::get(type.clone(shape), name + ".bytes",
                                       std::move(blob)));
  }

  /// The numbers that the bytes are codes of. Constants are so as they are.
  Value floatsOf(const QuantizedTensor &tensor) {
    Type type = product.decoded ? product.decoded : tensor.code;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(tensor.root);
    if (type == tensor.code)
      if (Value same = retyped(tensor.root, type))
        return same;
    auto read = [&](OpBuilder &inner, Location at, Value byte) -> Value {
      Value number = arith::BitcastOp::create(inner, at, tensor.code, byte);
      if (type != tensor.code)
        number = arith::ExtFOp::create(inner, at, type, number);
      return number;
    };
    return mapElements(b, tensor.root.getLoc(), tensor.root, type, read)
        .getResult(0);
  }

  /// The same bytes, if they are constant, as elements of another type.
  Value retyped(Value bytes, Type type) {
    auto shape = cast<RankedTensorType>(bytes.getType());
    TypedAttr value;
    if (auto constant = bytes.getDefiningOp<arith::ConstantOp>()) {
      if (auto resource =
              dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
        value = DenseResourceElementsAttr::get(shape.clone(type),
                                               resource.getRawHandle());
      else if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
        value = dense.bitcast(type);
    }
    return value ? arith::ConstantOp::create(b, bytes.getLoc(), value)
                 : Value();
  }

  Value zeros(ArrayRef<int64_t> shape) {
    Type type = product.isFloat() ? Type(b.getF32Type()) : b.getI32Type();
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    Value empty = tensor::EmptyOp::create(b, shape, type);
    return linalg::FillOp::create(b, zero, empty).getResult(0);
  }

  static Value extend(OpBuilder &b, Location at, Value byte, bool isUnsigned) {
    Type i32 = b.getI32Type();
    if (isUnsigned)
      return arith::ExtUIOp::create(b, at, i32, byte);
    return arith::ExtSIOp::create(b, at, i32, byte);
  }

  Value writeSums() {
    auto shape = cast<RankedTensorType>(op.getResultTypes()[0]).getShape();
    Value init = zeros(shape);
    return linalg::GenericOp::create(
               b, init.getType(), ValueRange{operands[0], operands[1]}, init,
               op.getIndexingMapsArray(), op.getIteratorTypesArray(),
               [&](OpBuilder &inner, Location at, ValueRange x) {
                 if (product.isFloat())
                   return writeFloatSum(inner, at, x);
                 Value l = extend(inner, at, x[0], isUnsigned(0));
                 Value r = extend(inner, at, x[1], isUnsigned(1));
                 Value term = arith::MulIOp::create(inner, at, l, r);
                 Value sum = arith::AddIOp::create(inner, at, x[2], term);
                 linalg::YieldOp::create(inner, at, sum);
               })
        .getResult(0);
  }

  static void writeFloatSum(OpBuilder &b, Location at, ValueRange x) {
    Type f32 = b.getF32Type();
    Value l = arith::ExtFOp::create(b, at, f32, x[0]);
    Value r = arith::ExtFOp::create(b, at, f32, x[1]);
    Value term = arith::MulFOp::create(b, at, l, r);
    Value sum = arith::AddFOp::create(b, at, x[2], term);
    linalg::YieldOp::create(b, at, sum);
  }

  bool isUnsigned(unsigned i) const { return factor(i).tensor.isUnsigned; }

  /// Where a parallel dim stands in the result.
  AffineExpr placeInResult(unsigned dim) {
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    return b.getAffineDimExpr(
        *result.getResultPosition(b.getAffineDimExpr(dim)));
  }

  bool isParallel(unsigned dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::parallel;
  }

  /// The sums of one operand's bytes over the reduced dims, for each point of
  /// the parallel dims that it depends on; its map from the result's dims in
  /// `places`.
  Value writeSumsOf(unsigned i, SmallVectorImpl<AffineExpr> &places) {
    AffineMap map = factor(i).map;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges(), shape, window;
    if (product.padding != 0)
      ranges[*product.channel] += product.padding;
    SmallVector<AffineExpr> renamed(map.getNumDims(),
                                    b.getAffineConstantExpr(0)),
        target, windowDims;
    SmallVector<utils::IteratorType> loops;
    unsigned count = 0;
    // A reduced dim that only the other operand depends on repeats the sum.
    for (unsigned dim = 0; dim != map.getNumDims(); ++dim) {
      bool parallel = isParallel(dim);
      if (!map.isFunctionOfDim(dim) && parallel)
        continue;
      renamed[dim] = b.getAffineDimExpr(count++);
      loops.push_back(op.getIteratorTypesArray()[dim]);
      (parallel ? target : windowDims).push_back(renamed[dim]);
      (parallel ? shape : window).push_back(ranges[dim]);
      if (parallel)
        places.push_back(placeInResult(dim));
    }
    AffineMap maps[] = {map.replaceDimsAndSymbols(renamed, {}, count, 0),
                        AffineMap::get(count, 0, windowDims, b.getContext()),
                        AffineMap::get(count, 0, target, b.getContext())};
    Value sizes = tensor::EmptyOp::create(b, window, b.getI8Type());
    Value init = zeros(shape);
    bool extendsUnsigned = isUnsigned(i);
    return linalg::GenericOp::create(
               b, init.getType(), ValueRange{operands[i], sizes}, init, maps,
               loops,
               [&](OpBuilder &inner, Location at, ValueRange x) {
                 Value term = extend(inner, at, x[0], extendsUnsigned);
                 Value sum = arith::AddIOp::create(inner, at, x[2], term);
                 linalg::YieldOp::create(inner, at, sum);
               })
        .getResult(0);
  }

  /// For each column of constant weights: what its terms are worth beyond
  /// their zero points, times the other operand's zero point if it is known.
  DenseElementsAttr columnCorrections(unsigned i,
                                      SmallVectorImpl<AffineExpr> &places) {
    const IntegerFactor &weights = factor(i);
    const QuantizedTensor &tensor = weights.tensor;
    auto type = cast<RankedTensorType>(op.getDpsInputs()[i].getType());
    SmallVector<int64_t> shape, result;
    for (auto [expr, size] :
         llvm::zip(weights.map.getResults(), type.getShape())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      shape.push_back(isParallel(dim) ? size : 1);
      if (!isParallel(dim))
        continue;
      result.push_back(size);
      places.push_back(placeInResult(dim));
    }
    SmallVector<int32_t> sums(ShapedType::getNumElements(shape), 0);
    int64_t at = 0;
    const QuantizedTensor &across = factor(1 - i).tensor;
    int64_t other = across.computedZero ? 1 : across.zeroPoint.values[0];
    forEachPoint(type.getShape(), [&](ArrayRef<int64_t> point) {
      int64_t zero =
          tensor.zeroPoint.values[placeOf(point, tensor.zeroPoint.shape)];
      int64_t term = weights.weight(at++) - zero;
      int32_t &sum = sums[placeOf(point, shape)];
      sum = int32_t(uint32_t(sum) + uint32_t(term * other));
    });
    return DenseElementsAttr::get(RankedTensorType::get(result, b.getI32Type()),
                                  ArrayRef<int32_t>(sums));
  }

  /// How many terms a sum has.
  int64_t countTerms() {
    int64_t terms = 1;
    for (auto [dim, range] : llvm::enumerate(op.getStaticLoopRanges()))
      if (!isParallel(dim))
        terms *= range;
    return terms;
  }

  /// A parameter of operand i without dims along which it does not change.
  template <typename T>
  Value writeParameter(unsigned i, const QuantizationParameter<T> &given,
                       ArrayRef<T> values,
                       SmallVectorImpl<AffineExpr> &places) {
    SmallVector<int64_t> shape;
    for (auto [expr, size] : llvm::zip(factor(i).map.getResults(), given.shape))
      if (size != 1) {
        shape.push_back(size);
        places.push_back(
            placeInResult(cast<AffineDimExpr>(expr).getPosition()));
      }
    Type element =
        std::is_same_v<T, float> ? Type(b.getF32Type()) : Type(b.getI32Type());
    return arith::ConstantOp::create(
        b,
        DenseElementsAttr::get(RankedTensorType::get(shape, element), values));
  }

  Value writeCorrections(Value sums) {
    auto type = cast<RankedTensorType>(op.getResultTypes()[0]);
    unsigned rank = type.getRank();
    inputs = {sums};
    maps = {b.getMultiDimIdentityMap(rank)};
    for (unsigned i : {0u, 1u})
      addTerms(i);
    bool isScaled = type.getElementType().isF32();
    if (terms.empty() && !isScaled)
      return sums;
    float scale = 1;
    SmallVector<unsigned> scales;
    if (isScaled)
      scales = writeScales(scale);
    if (product.isFloat() && scale == 1 && scales.empty())
      return sums;
    maps.push_back(b.getMultiDimIdentityMap(rank));
    Value init =
        tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, type, inputs, init, maps, loops,
               [&](OpBuilder &inner, Location at, ValueRange x) {
                 ImplicitLocOpBuilder body(at, inner);
                 Value sum = writeTotal(body, x);
                 if (isScaled) {
                   if (!product.isFloat())
                     sum =
                         arith::SIToFPOp::create(body, body.getF32Type(), sum);
                   Value by;
                   if (scale != 1 || scales.empty())
                     by = arith::ConstantOp::create(
                         body, body.getF32FloatAttr(scale));
                   for (unsigned number : scales)
                     by = by ? arith::MulFOp::create(body, by, x[number])
                             : x[number];
                   sum = arith::MulFOp::create(body, sum, by);
                 }
                 linalg::YieldOp::create(body, sum);
               })
        .getResult(0);
  }

  /// What is subtracted from a sum of products: an input times a zero point,
  /// where it does not know it already.
  struct Term {
    unsigned input;
    /// The operand whose zero point it is, if that is one number.
    std::optional<unsigned> zeroOf;
    std::optional<unsigned> zeroInput; ///< if it is one for each element
  };

  /// What the zero point of operand i is worth: it counts the bytes of the
  /// other one. Constant bytes are summed up here, less their own zero points;
  /// computed ones while the program runs.
  void addTerms(unsigned i) {
    const QuantizedTensor &tensor = factor(i).tensor;
    if (tensor.hasNoZeroPoint())
      return;
    if (tensor.computedZero)
      computedZeros[i] = addScalar(tensor.computedZero);
    SmallVector<AffineExpr> places;
    if (factor(1 - i).isConstant()) {
      DenseElementsAttr values = columnCorrections(1 - i, places);
      addInput(arith::ConstantOp::create(b, values), places);
      if (tensor.computedZero)
        terms.back().zeroOf = i;
      return;
    }
    addInput(writeSumsOf(1 - i, places), places);
    if (tensor.zeroPoint.isUniform()) {
      terms.back().zeroOf = i;
      return;
    }
    const auto &zero = tensor.zeroPoint;
    SmallVector<int32_t> values(zero.values.begin(), zero.values.end());
    places.clear();
    terms.back().zeroInput = inputs.size();
    inputs.push_back(
        writeParameter<int32_t>(i, {zero.shape, values}, values, places));
    maps.push_back(mapTo(places));
  }

  AffineMap mapTo(ArrayRef<AffineExpr> places) {
    return AffineMap::get(maps.front().getNumDims(), 0, places, b.getContext());
  }

  void addInput(Value value, ArrayRef<AffineExpr> places) {
    terms.push_back({unsigned(inputs.size()), std::nullopt, std::nullopt});
    inputs.push_back(value);
    maps.push_back(mapTo(places));
  }

  /// A tensor of one element as an input.
  unsigned addScalar(Value one) {
    auto type = cast<RankedTensorType>(one.getType());
    if (type.getRank() != 0)
      one = tensor::CollapseShapeOp::create(b, type.clone(ArrayRef<int64_t>()),
                                            one,
                                            ArrayRef<ReassociationIndices>());
    inputs.push_back(one);
    maps.push_back(mapTo({}));
    return inputs.size() - 1;
  }

  /// `value` times the zero point of operand i, which is one number; inside of
  /// a body with the arguments `x`.
  Value timesZeroPoint(ImplicitLocOpBuilder &body, ValueRange x, Value value,
                       unsigned i) {
    const QuantizedTensor &tensor = factor(i).tensor;
    int64_t known = tensor.zeroPoint.values[0];
    Value zero;
    if (computedZeros[i])
      zero = extend(body, body.getLoc(), x[*computedZeros[i]],
                    tensor.computedZeroIsUnsigned);
    if (known != 0 || !zero) {
      if (known == 1 && !zero)
        return value;
      Value number = integer(body, known);
      zero = zero ? arith::AddIOp::create(body, zero, number) : number;
    }
    return arith::MulIOp::create(body, value, zero);
  }

  static Value integer(ImplicitLocOpBuilder &body, int64_t value) {
    return arith::ConstantOp::create(body,
                                     body.getI32IntegerAttr(int32_t(value)));
  }

  Value writeTotal(ImplicitLocOpBuilder &body, ValueRange x) {
    Value total = x[0];
    for (const Term &term : terms) {
      Value part = x[term.input];
      if (term.zeroInput)
        part = arith::MulIOp::create(body, part, x[*term.zeroInput]);
      else if (term.zeroOf)
        part = timesZeroPoint(body, x, part, *term.zeroOf);
      total = arith::SubIOp::create(body, total, part);
    }
    // Sums of constants know their own zero points already.
    if (terms.size() != 2 || factor(0).isConstant() || factor(1).isConstant())
      return total;
    int64_t both = countTerms();
    for (unsigned i : {0u, 1u})
      if (!computedZeros[i])
        both *= factor(i).tensor.zeroPoint.values[0];
    Value worth = integer(body, both);
    for (unsigned i : {0u, 1u})
      if (computedZeros[i])
        worth = timesZeroPoint(body, x, worth, i);
    return arith::AddIOp::create(body, total, worth);
  }

  /// The product of both scales: a number and inputs.
  SmallVector<unsigned> writeScales(float &uniform) {
    SmallVector<unsigned> found;
    unsigned varying = factor(0).tensor.scale.isUniform() ? 1 : 0;
    const auto &scale = factor(varying).tensor.scale;
    uniform = factor(1 - varying).tensor.scale.values[0];
    if (scale.isUniform()) {
      uniform *= scale.values[0];
    } else {
      SmallVector<float> values(scale.values);
      for (float &value : values)
        value *= uniform;
      uniform = 1;
      SmallVector<AffineExpr> places;
      found.push_back(inputs.size());
      inputs.push_back(writeParameter<float>(varying, scale, values, places));
      maps.push_back(mapTo(places));
    }
    for (unsigned i : {0u, 1u})
      if (Value computed = factor(i).tensor.computedScale)
        found.push_back(addScalar(computed));
    return found;
  }

  const IntegerProduct &product;
  linalg::GenericOp op;
  ImplicitLocOpBuilder b;
  const llvm::DenseMap<Value, Value> &flipped;
  Value operands[2];
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<Term> terms;
  /// The inputs that hold them.
  std::optional<unsigned> computedZeros[2];
};
} // namespace

void ashlar::writeIntegerProduct(const IntegerProduct &product,
                                 const llvm::DenseMap<Value, Value> &flipped) {
  ProductWriter(product, flipped).write();
}
