// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/Divisors.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

static constexpr int64_t most = 4096;

/// The power of two in a number.
static int64_t powerIn(int64_t number) {
  return number == 0 ? most : std::min(most, number & -number);
}

static int64_t product(int64_t x, int64_t y) { return std::min(most, x * y); }

static int64_t divisorOf(AffineExpr expr, ValueRange dims, ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return powerIn(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return knownDivisor(dims[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return knownDivisor(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t x = divisorOf(binary.getLHS(), dims, symbols),
          y = divisorOf(binary.getRHS(), dims, symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::min(x, y);
  case AffineExprKind::Mul:
    return product(x, y);
  default: // a division
    return 1;
  }
}

/// What divides all that a map may give.
static int64_t divisorOf(AffineMap map, ValueRange operands) {
  int64_t common = most;
  for (AffineExpr expr : map.getResults())
    common =
        std::min(common, divisorOf(expr, operands.take_front(map.getNumDims()),
                                   operands.drop_front(map.getNumDims())));
  return common;
}

static int64_t divisorOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast_or_null<scf::ForOp>(parent);
      loop && argument == loop.getInductionVar())
    return std::min(knownDivisor(loop.getLowerBound()),
                    knownDivisor(loop.getStep()));
  auto loop = dyn_cast_or_null<scf::ForallOp>(parent);
  if (!loop || argument.getArgNumber() >= loop.getRank())
    return 1;
  unsigned i = argument.getArgNumber();
  return std::min(knownDivisor(loop.getMixedLowerBound()[i]),
                  knownDivisor(loop.getMixedStep()[i]));
}

int64_t ashlar::knownDivisor(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return powerIn(*constant);
  Value value = cast<Value>(index);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return divisorOfArgument(argument);
  Operation *op = value.getDefiningOp();
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return divisorOf(apply.getAffineMap(), apply.getOperands());
  if (auto least = dyn_cast<affine::AffineMinOp>(op))
    return divisorOf(least.getMap(), least.getOperands());
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp>(op))
    return std::min(knownDivisor(op->getOperand(0)),
                    knownDivisor(op->getOperand(1)));
  if (isa<arith::MulIOp>(op))
    return product(knownDivisor(op->getOperand(0)),
                   knownDivisor(op->getOperand(1)));
  return 1;
}

int64_t ashlar::knownDivisorOfOffset(Value memory) {
  // Sizes that are values are given to what an argument begins with.
  if (auto sized = memory.getDefiningOp<memref::ReinterpretCastOp>())
    return std::min(knownDivisorOfOffset(sized.getSource()),
                    knownDivisor(sized.getMixedOffsets().front()));
  auto view = memory.getDefiningOp<memref::SubViewOp>();
  if (!view) {
    auto type = cast<MemRefType>(memory.getType());
    bool begins =
        type.getLayout().isIdentity() &&
        (isa<BlockArgument>(memory) ||
         isa<memref::AllocOp, tile::DecodeOp>(memory.getDefiningOp()));
    return begins ? most : 1;
  }
  int64_t common = knownDivisorOfOffset(view.getSource());
  auto [strides, offset] = view.getSourceType().getStridesAndOffset();
  for (auto [step, stride] : llvm::zip(view.getMixedOffsets(), strides))
    common =
        std::min(common, ShapedType::isDynamic(stride)
                             ? 1
                             : product(knownDivisor(step), powerIn(stride)));
  return common;
}

bool ashlar::beginsRowsAt(Value memory, int64_t elements) {
  auto [strides, offset] =
      cast<MemRefType>(memory.getType()).getStridesAndOffset();
  return !strides.empty() && strides.back() == 1 &&
         knownDivisorOfOffset(memory) % elements == 0 &&
         llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
           return !ShapedType::isDynamic(stride) && stride % elements == 0;
         });
}

bool ashlar::endsRowsAt(Value memory, int64_t elements) {
  int64_t size = cast<MemRefType>(memory.getType()).getShape().back();
  if (!ShapedType::isDynamic(size))
    return size % elements == 0;
  auto view = memory.getDefiningOp<memref::SubViewOp>();
  return view && view.getDroppedDims().none() &&
         knownDivisor(view.getMixedSizes().back()) % elements == 0;
}
