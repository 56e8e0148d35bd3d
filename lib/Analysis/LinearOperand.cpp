// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/LinearOperand.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ashlar;

std::optional<LinearIndex> ashlar::linearIndex(AffineExpr expr, unsigned dims) {
  LinearIndex sum;
  sum.factors.assign(dims, 0);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    sum.constant = constant.getValue();
    return sum;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    sum.factors[dim.getPosition()] = 1;
    return sum;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto left = linearIndex(binary.getLHS(), dims);
  auto right = linearIndex(binary.getRHS(), dims);
  if (!left || !right)
    return std::nullopt;
  int64_t scale = 1;
  if (binary.getKind() == AffineExprKind::Mul) {
    // The right factor of a product is a number.
    scale = right->constant;
    right->constant = 0;
    right->factors.assign(dims, 0);
  } else if (binary.getKind() != AffineExprKind::Add) {
    return std::nullopt;
  }
  sum.constant = left->constant * scale + right->constant;
  for (unsigned d = 0; d < dims; ++d)
    sum.factors[d] = left->factors[d] * scale + right->factors[d];
  return sum;
}

/// What `value` is a part of: its type says where and how far apart. Of a view
/// of bytes `shift` says where it begins.
static Value wholeOf(Value value, int64_t &shift) {
  while (isa_and_nonnull<memref::SubViewOp, memref::ReinterpretCastOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto view = value.getDefiningOp<memref::ViewOp>();
  if (!view)
    return value;
  std::optional<int64_t> bytes = getConstantIntValue(view.getByteShift());
  shift = bytes.value_or(0);
  return bytes ? view.getSource() : value;
}

Refusal ashlar::readPlaces(Value value, StringRef name, ElementPlaces &places) {
  auto type = cast<ShapedType>(value.getType());
  if (!type.hasStaticShape())
    return llvm::formatv("{0} has sizes that are not known", name).str();
  places.offset = 0;
  places.strides.assign(type.getRank(), 0);
  int64_t inner = 1;
  for (int64_t i = type.getRank(); i-- > 0;) {
    places.strides[i] = inner;
    inner *= type.getDimSize(i);
  }
  if (auto memory = dyn_cast<MemRefType>(type)) {
    places.strides.clear();
    if (failed(memory.getStridesAndOffset(places.strides, places.offset)) ||
        ShapedType::isDynamic(places.offset) ||
        llvm::any_of(places.strides, ShapedType::isDynamic))
      return llvm::formatv("{0} has a layout that is not known", name).str();
  }
  int64_t shift = 0;
  places.whole = wholeOf(value, shift);
  if (shift == 0)
    return std::nullopt;
  int64_t bytes = elementBytes(type.getElementType());
  if (shift % bytes != 0)
    return llvm::formatv("{0} begins between two of its elements", name).str();
  places.offset += shift / bytes;
  return std::nullopt;
}

Refusal ashlar::readLinearOperand(Value value, AffineMap map,
                                  ArrayRef<int64_t> sizes, StringRef name,
                                  LinearOperand &operand) {
  ElementPlaces places;
  if (Refusal why = readPlaces(value, name, places))
    return why;
  operand.whole = places.whole;
  operand.offset = places.offset;
  operand.strides.assign(sizes.size(), 0);
  operand.indices.clear();
  for (auto [expr, stride, size] :
       llvm::zip_equal(map.getResults(), places.strides,
                       cast<ShapedType>(value.getType()).getShape())) {
    auto index = linearIndex(expr, map.getNumDims());
    if (!index)
      return llvm::formatv("{0}'s elements lie in panels", name).str();
    index->factors.resize(sizes.size(), 0);
    index->stride = stride;
    int64_t least = index->constant, greatest = index->constant;
    for (auto [d, factor] : llvm::enumerate(index->factors))
      (factor < 0 ? least : greatest) += factor * (sizes[d] - 1);
    if (least < 0 || greatest >= size)
      return llvm::formatv("{0} is read beyond its {1} elements", name, size)
          .str();
    operand.offset += index->constant * stride;
    for (auto [d, factor] : llvm::enumerate(index->factors))
      operand.strides[d] += factor * stride;
    operand.indices.push_back(std::move(*index));
  }
  return std::nullopt;
}
