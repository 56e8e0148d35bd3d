// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "QuantizedTensor.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Analysis/SmallFloats.h"
#include "ashlar/Analysis/Zeros.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

namespace {
template <typename T> T numberOf(Attribute value, bool isUnsigned);
template <> float numberOf<float>(Attribute value, bool) {
  return cast<FloatAttr>(value).getValue().convertToFloat();
}
template <> int64_t numberOf<int64_t>(Attribute value, bool isUnsigned) {
  APInt number = cast<IntegerAttr>(value).getValue();
  return isUnsigned ? number.getZExtValue() : number.getSExtValue();
}

/// The elements of a constant; null: it is none. Large ones are resources.
DenseElementsAttr elementsOf(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  if (!resource)
    return dyn_cast<DenseElementsAttr>(constant);
  ShapedType type = resource.getType();
  ArrayRef<char> bytes = resourceBytes(resource);
  if (int64_t(bytes.size()) != byteSize(type))
    return {};
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

/// A constant that a dequantization reads: inside its body, or as an operand
/// whose elements follow dims of the result.
template <typename T>
std::optional<QuantizationParameter<T>>
findParameter(linalg::GenericOp op, Value value, bool isUnsigned) {
  int64_t rank = op.getNumLoops();
  QuantizationParameter<T> found;
  found.shape.assign(rank, 1);
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    found.values = {numberOf<T>(constant, isUnsigned)};
    return found;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return std::nullopt;
  OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
  DenseElementsAttr elements = elementsOf(operand->get());
  if (!elements || elements.getNumElements() == 0)
    return std::nullopt;
  if (elements.isSplat()) {
    found.values = {
        numberOf<T>(elements.getSplatValue<Attribute>(), isUnsigned)};
    return found;
  }
  // Dims of the parameter in the order of the result's.
  int64_t last = -1;
  auto shape = cast<RankedTensorType>(operand->get().getType()).getShape();
  for (auto [expr, size] :
       llvm::zip(op.getMatchingIndexingMap(operand).getResults(), shape)) {
    if (size == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || int64_t(dim.getPosition()) <= last)
      return std::nullopt;
    last = dim.getPosition();
    found.shape[last] = size;
  }
  for (Attribute element : elements.getValues<Attribute>())
    found.values.push_back(numberOf<T>(element, isUnsigned));
  return found;
}

/// A single number that a dequantization reads and that each call chooses.
Value findComputed(linalg::GenericOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return {};
  Value operand = op.getDpsInputs()[argument.getArgNumber()];
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  bool isOne = type && type.hasStaticShape() && type.getNumElements() == 1;
  return isOne ? operand : Value();
}

/// The value before it was extended to i32.
Value beforeExtension(Value value, bool &isUnsigned) {
  if (auto extension = value.getDefiningOp<arith::ExtUIOp>()) {
    isUnsigned = true;
    return extension.getIn();
  }
  if (auto extension = value.getDefiningOp<arith::ExtSIOp>()) {
    isUnsigned = false;
    return extension.getIn();
  }
  return {};
}

/// The byte whose float this is, as an f32.
Value beforeDecoding(Value value, FloatType &code) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  if (!extension || !extension.getType().isF32() ||
      !isFloat8(extension.getIn().getType()))
    return {};
  auto bitcast = extension.getIn().getDefiningOp<arith::BitcastOp>();
  if (bitcast)
    code = cast<FloatType>(bitcast.getType());
  return bitcast ? bitcast.getIn() : Value();
}

/// The number that a product scales; null: not this side.
Value scaledNumber(Value factor) {
  FloatType code;
  if (auto integer = factor.getDefiningOp<arith::SIToFPOp>())
    return integer.getIn();
  return beforeDecoding(factor, code) ? factor : Value();
}

/// x of (ext(x) - zero) * scale, the last two where they are; the parameters in
/// `tensor`.
BlockArgument matchDequantization(linalg::GenericOp op,
                                  QuantizedTensor &tensor) {
  QuantizationParameter<float> one{SmallVector<int64_t>(op.getNumLoops(), 1),
                                   {1}};
  tensor.scale = one;
  Value number = op.getBody()->getTerminator()->getOperand(0);
  if (auto product = number.getDefiningOp<arith::MulFOp>()) {
    for (unsigned side : {0u, 1u})
      if (Value scaled = scaledNumber(product->getOperand(side))) {
        Value by = product->getOperand(1 - side);
        auto scale = findParameter<float>(op, by, false);
        if (!scale)
          tensor.computedScale = findComputed(op, by);
        if (!product.getType().isF32() || (!scale && !tensor.computedScale))
          return {};
        if (scale)
          tensor.scale = *scale;
        tensor.isScaled = true;
        number = scaled;
        break;
      }
    if (!tensor.isScaled)
      return {};
  }
  Value zero, x = beforeDecoding(number, tensor.code);
  tensor.isScaled |= bool(x);
  if (!x && !number.getType().isInteger(32))
    return {};
  if (auto difference = number.getDefiningOp<arith::SubIOp>()) {
    number = difference.getLhs();
    zero = difference.getRhs();
  }
  if (!x)
    x = beforeExtension(number, tensor.isUnsigned);
  auto bytes = dyn_cast_or_null<BlockArgument>(x);
  if (!bytes || bytes.getOwner() != op.getBody() ||
      !bytes.getType().isInteger(8) ||
      bytes.getArgNumber() >= op.getNumDpsInputs())
    return {};
  tensor.zeroPoint = {SmallVector<int64_t>(op.getNumLoops(), 1), {0}};
  if (zero) {
    bool isUnsigned = false;
    if (Value narrow = beforeExtension(zero, isUnsigned))
      zero = narrow;
    auto found = findParameter<int64_t>(op, zero, isUnsigned);
    if (found) {
      tensor.zeroPoint = *found;
    } else {
      tensor.computedZero = findComputed(op, zero);
      tensor.computedZeroIsUnsigned = isUnsigned;
      if (!tensor.computedZero || !zero.getType().isInteger(8))
        return {};
    }
  }
  return bytes;
}

bool isDequantization(linalg::GenericOp op, QuantizedTensor &tensor) {
  if (op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return false;
  BlockArgument bytes = matchDequantization(op, tensor);
  if (!bytes)
    return false;
  OpOperand *operand = op.getDpsInputOperand(bytes.getArgNumber());
  tensor.root = operand->get();
  return op.getMatchingIndexingMap(operand).isIdentity();
}

bool isTransposition(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics() &&
         llvm::hasSingleElement(*op.getBody()) &&
         op.getBody()->getTerminator()->getOperand(0) ==
             op.getBody()->getArgument(0) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isPermutation(); });
}

/// A margin of zeros.
bool isZeroPad(tensor::PadOp pad) {
  Value margin = pad.getConstantPaddingValue();
  if (!margin || !isZero(margin))
    return false;
  return pad.getResultType().hasStaticShape() &&
         pad.getSourceType().hasStaticShape() &&
         llvm::none_of(pad.getStaticLow(), [](int64_t by) { return by < 0; }) &&
         llvm::none_of(pad.getStaticHigh(), [](int64_t by) { return by < 0; });
}

/// The shape of a parameter behind a reshape: `groups` are dims of `large`,
/// each of which is one of `small`.
template <typename Groups>
bool reshapeParameter(SmallVectorImpl<int64_t> &shape, const Groups &groups,
                      ArrayRef<int64_t> small, ArrayRef<int64_t> large,
                      bool expands) {
  SmallVector<int64_t> result(expands ? large.size() : small.size(), 1);
  for (auto [i, group] : llvm::enumerate(groups)) {
    if (expands) {
      for (int64_t d : group)
        result[d] = shape[i] == 1 ? 1 : large[d];
      continue;
    }
    bool isConstant =
        llvm::all_of(group, [&](int64_t d) { return shape[d] == 1; });
    bool isWhole =
        llvm::all_of(group, [&](int64_t d) { return shape[d] == large[d]; });
    if (!isConstant && !isWhole)
      return false;
    result[i] = isConstant ? 1 : small[i];
  }
  shape.assign(result.begin(), result.end());
  return true;
}

/// Follows `op` with the shape of a parameter; its values stay in order.
bool follow(Operation *op, SmallVectorImpl<int64_t> &shape) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)),
                    to = shapeOf(op->getResult(0));
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return reshapeParameter(shape, expand.getReassociationIndices(), from, to,
                            true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return reshapeParameter(shape, collapse.getReassociationIndices(), to, from,
                            false);
  if (isa<tensor::PadOp>(op)) {
    for (auto [size, before, after] : llvm::zip(shape, from, to))
      if (size != 1 && before != after)
        return false;
    return true;
  }
  auto copy = cast<linalg::GenericOp>(op);
  AffineMap move = copy.getIndexingMapsArray()[0].compose(
      inversePermutation(copy.getIndexingMapsArray()[1]));
  SmallVector<int64_t> result(shape.size());
  for (auto [i, expr] : llvm::enumerate(move.getResults()))
    result[cast<AffineDimExpr>(expr).getPosition()] = shape[i];
  bool inOrder =
      llvm::count_if(shape, [](int64_t size) { return size != 1; }) <= 1;
  shape.assign(result.begin(), result.end());
  return inOrder;
}
} // namespace

std::optional<QuantizedTensor> ashlar::findQuantized(Value value,
                                                     bool isUnsigned) {
  QuantizedTensor tensor;
  while (Operation *op = value.getDefiningOp()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape())
      return std::nullopt;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    auto pad = dyn_cast<tensor::PadOp>(op);
    bool isOnTheWay = isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ||
                      (pad && isZeroPad(pad)) ||
                      (generic && isTransposition(generic));
    if (!isOnTheWay)
      break;
    tensor.path.push_back(op);
    value = op->getOperand(0);
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  std::reverse(tensor.path.begin(), tensor.path.end());
  if (type.getElementType().isInteger(8)) {
    tensor.root = value;
    tensor.isUnsigned = isUnsigned;
    SmallVector<int64_t> ones(type.getRank(), 1);
    tensor.zeroPoint = {ones, {0}};
    tensor.scale = {ones, {1}};
  } else {
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic || !isDequantization(generic, tensor))
      return std::nullopt;
  }
  for (Operation *op : tensor.path)
    if (!follow(op, tensor.zeroPoint.shape) ||
        !follow(op, tensor.scale.shape) ||
        (isa<tensor::PadOp>(op) && !tensor.zeroPoint.isUniform()))
      return std::nullopt;
  return tensor;
}

Value ashlar::extractOne(OpBuilder &b, Location location, Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<Value> zeros;
  if (rank != 0)
    zeros.assign(rank, arith::ConstantIndexOp::create(b, location, 0));
  return tensor::ExtractOp::create(b, location, tensor, zeros).getResult();
}

Value ashlar::moveBytes(OpBuilder &b, const QuantizedTensor &tensor,
                        Value bytes, unsigned dim, int64_t channels) {
  Type byte = getElementTypeOrSelf(bytes);
  auto inBytes = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).clone(byte);
  };
  auto pad = [&](Location location, Value source, RankedTensorType type,
                 ArrayRef<OpFoldResult> low, ArrayRef<OpFoldResult> high) {
    int64_t known = tensor.zeroPoint.values[0];
    Value zero;
    if (!tensor.computedZero || known != 0)
      zero = arith::ConstantOp::create(
          b, location,
          tensor.code ? b.getZeroAttr(byte)
                      : TypedAttr(b.getI8IntegerAttr(int8_t(known))));
    if (tensor.computedZero) {
      Value computed = extractOne(b, location, tensor.computedZero);
      // Bytes of the other sign are 128 further, round the end of a byte.
      zero =
          zero ? arith::AddIOp::create(b, location, computed, zero) : computed;
    }
    return tensor::PadOp::create(b, location, type, source, low, high, zero);
  };
  auto index = [&](int64_t value) -> OpFoldResult {
    return b.getIndexAttr(value);
  };
  for (Operation *op : tensor.path) {
    Location location = op->getLoc();
    RankedTensorType type = inBytes(op->getResult(0));
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      bytes = tensor::ExpandShapeOp::create(b, location, type, bytes,
                                            expand.getReassociationIndices());
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      bytes = tensor::CollapseShapeOp::create(
          b, location, type, bytes, collapse.getReassociationIndices());
    } else if (auto margins = dyn_cast<tensor::PadOp>(op)) {
      SmallVector<OpFoldResult> low = margins.getMixedLowPad(),
                                high = margins.getMixedHighPad();
      if (op == tensor.path.back() && channels != 0) {
        high[dim] = index(margins.getStaticHigh()[dim] + channels);
        SmallVector<int64_t> shape(type.getShape());
        shape[dim] += channels;
        type = type.clone(shape);
        channels = 0;
      }
      bytes = pad(location, bytes, type, low, high);
    } else {
      auto copy = cast<linalg::GenericOp>(op);
      Value init = tensor::EmptyOp::create(b, location, type.getShape(), byte);
      bytes = linalg::GenericOp::create(
                  b, location, type, bytes, init, copy.getIndexingMapsArray(),
                  copy.getIteratorTypesArray(),
                  [](OpBuilder &inner, Location at, ValueRange x) {
                    linalg::YieldOp::create(inner, at, x[0]);
                  })
                  .getResult(0);
    }
  }
  if (channels == 0)
    return bytes;
  auto type = cast<RankedTensorType>(bytes.getType());
  SmallVector<OpFoldResult> low(type.getRank(), index(0)), high(low);
  high[dim] = index(channels);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] += channels;
  return pad(bytes.getLoc(), bytes, type.clone(shape), low, high);
}
