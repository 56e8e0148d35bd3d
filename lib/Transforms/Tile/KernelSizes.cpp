// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace ashlar;

OpFoldResult ashlar::findDim(Value value, int64_t d) {
  auto type = cast<ShapedType>(value.getType());
  if (!type.isDynamicDim(d))
    return IntegerAttr::get(IndexType::get(value.getContext()),
                            type.getDimSize(d));
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return findSize(empty.getMixedSizes()[d]);
  if (auto view = dyn_cast<memref::ReinterpretCastOp>(op))
    return findSize(view.getMixedSizes()[d]);
  if (auto slice = dyn_cast<tensor::ExpandShapeOp>(op))
    return findSize(slice.getMixedOutputShape()[d]);
  if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op))
    return slice.getMixedSizes().size() == size_t(type.getRank())
               ? findSize(slice.getMixedSizes()[d])
               : OpFoldResult();
  if (isa<memref::CastOp, tensor::CastOp, bufferization::ToTensorOp,
          bufferization::ToBufferOp>(op))
    return findDim(op->getOperand(0), d);
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return findSize(alloc.getMixedSizes()[d]);
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return findDim(destination.getTiedOpOperand(cast<OpResult>(value))->get(),
                   d);
  return {};
}

OpFoldResult ashlar::findSize(OpFoldResult size) {
  if (getConstantIntValue(size))
    return size;
  auto value = dyn_cast<Value>(size);
  Operation *op = value.getDefiningOp();
  OpFoldResult found;
  if (auto dim = dyn_cast_if_present<tensor::DimOp>(op)) {
    if (dim.getConstantIndex())
      found = findDim(dim.getSource(), *dim.getConstantIndex());
  } else if (auto dim = dyn_cast_if_present<memref::DimOp>(op)) {
    if (dim.getConstantIndex())
      found = findDim(dim.getSource(), *dim.getConstantIndex());
  }
  return found ? found : size;
}

SmallVector<Value> ashlar::openDims(Operation *op, unsigned count) {
  SmallVector<Value> open(count);
  auto parameters =
      op->getAttrOfType<DenseI64ArrayAttr>(exec::dimParametersAttrName);
  if (!parameters)
    return open;
  auto kernel = op->getParentOfType<func::FuncOp>();
  unsigned first = 0; // buffers come before parameters
  while (first != kernel.getNumArguments() &&
         !kernel.getArgAttr(first, exec::sizeAttrName))
    ++first;
  for (auto [value, number] : llvm::zip(open, parameters.asArrayRef()))
    if (number >= 0)
      value = kernel.getArgument(first + number);
  return open;
}

SmallVector<Value> ashlar::openDims(tile::ContractOp op) {
  SmallVector<Value> open =
      openDims(op, op.getParallel().size() + op.getReduced().size());
  for (auto [own, made] :
       llvm::zip(open, sizesAlong(op.getInit(), op.getResultMap())))
    if (!own)
      own = made;
  return open;
}

SmallVector<Value> ashlar::sizesAlong(Value memory, AffineMap map) {
  SmallVector<Value> sizes(map.getNumDims());
  auto type = cast<MemRefType>(memory.getType());
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && type.isDynamicDim(i))
      sizes[dim.getPosition()] = dyn_cast_if_present<Value>(findDim(memory, i));
  return sizes;
}

exec::SizeAttr ashlar::parameterOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto kernel = argument ? dyn_cast_if_present<func::FuncOp>(
                               argument.getOwner()->getParentOp())
                         : func::FuncOp();
  return kernel ? kernel.getArgAttrOfType<exec::SizeAttr>(
                      argument.getArgNumber(), exec::sizeAttrName)
                : exec::SizeAttr();
}

namespace {
/// The range of a number; what is not known is missing.
struct Interval {
  std::optional<int64_t> least, most;
};
} // namespace

static Interval rangeOf(OpFoldResult size);

static Interval rangeOf(AffineExpr expr, ValueRange operands, unsigned dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return rangeOf(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return rangeOf(operands[dims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Interval left = rangeOf(binary.getLHS(), operands, dims),
           right = rangeOf(binary.getRHS(), operands, dims);
  auto combine = [&](auto compute, std::optional<int64_t> x,
                     std::optional<int64_t> y) {
    return x && y ? std::optional<int64_t>(compute(*x, *y)) : std::nullopt;
  };
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return {combine(std::plus<int64_t>(), left.least, right.least),
            combine(std::plus<int64_t>(), left.most, right.most)};
  case AffineExprKind::Mul: {
    if (!right.least || right.least != right.most)
      return {};
    if (*right.least < 0)
      std::swap(left.least, left.most);
    return {combine(std::multiplies<int64_t>(), left.least, right.least),
            combine(std::multiplies<int64_t>(), left.most, right.least)};
  }
  case AffineExprKind::Mod:
    if (right.most)
      return {0, *right.most - 1};
    return {};
  default:
    if (!right.least || right.least != right.most || *right.least <= 0)
      return {};
    auto divide = [&](int64_t x, int64_t y) {
      return binary.getKind() == AffineExprKind::FloorDiv
                 ? llvm::divideFloorSigned(x, y)
                 : llvm::divideCeilSigned(x, y);
    };
    return {combine(divide, left.least, right.least),
            combine(divide, left.most, right.least)};
  }
}

static Interval rangeOf(OpFoldResult size) {
  size = findSize(size);
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return {constant, constant};
  auto value = cast<Value>(size);
  if (exec::SizeAttr parameter = parameterOf(value))
    return {0, parameter.getLargest()};
  Operation *op = value.getDefiningOp();
  if (!op) // an index of a loop
    return {0, std::nullopt};
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return rangeOf(apply.getAffineMap().getResult(0), apply.getOperands(),
                   apply.getAffineMap().getNumDims());
  if (auto least = dyn_cast<affine::AffineMinOp>(op)) {
    Interval range;
    for (AffineExpr expr : least.getMap().getResults()) {
      Interval one =
          rangeOf(expr, least.getOperands(), least.getMap().getNumDims());
      if (one.most)
        range.most = std::min(range.most.value_or(*one.most), *one.most);
    }
    return range;
  }
  return {};
}

std::optional<int64_t> ashlar::largestSize(OpFoldResult size) {
  return rangeOf(size).most;
}

AffineExpr ashlar::formulaOf(OpFoldResult size) {
  size = findSize(size);
  if (std::optional<int64_t> constant = getConstantIntValue(size)) {
    MLIRContext *context = isa<Value>(size)
                               ? cast<Value>(size).getContext()
                               : cast<Attribute>(size).getContext();
    return getAffineConstantExpr(*constant, context);
  }
  auto value = cast<Value>(size);
  if (exec::SizeAttr parameter = parameterOf(value))
    return parameter.getFormula();
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return {};
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(apply.getOperands())) {
    AffineExpr formula = formulaOf(operand);
    if (!formula)
      return {};
    (i < apply.getAffineMap().getNumDims() ? dims : symbols).push_back(formula);
  }
  return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, symbols);
}

exec::SizeAttr ashlar::sizeAttrOf(OpFoldResult size) {
  size = findSize(size);
  if (auto value = dyn_cast<Value>(size))
    return parameterOf(value);
  auto constant = cast<IntegerAttr>(cast<Attribute>(size));
  return exec::SizeAttr::get(constant.getContext(), constant.getInt());
}
