// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Simt/Slots.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar;

static tile::LayoutAttr layoutOf(tile::SlotType slot) {
  tile::LayoutAttr layout = slot.getLayout();
  return layout ? layout : tile::LayoutAttr::get(slot.getContext(), {}, {}, {});
}

static Value swizzled(ImplicitLocOpBuilder &b, tile::LayoutAttr layout,
                      Value place) {
  if (layout.getSwizzle().empty())
    return place;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  int64_t bits = layout.getSwizzle()[0], base = layout.getSwizzle()[1];
  Value moved =
      arith::ShRUIOp::create(b, place, number(layout.getSwizzle()[2]));
  Value mask = number(((int64_t(1) << bits) - 1) << base);
  return arith::XOrIOp::create(b, place, arith::AndIOp::create(b, moved, mask));
}

Value simt::placeInSlot(ImplicitLocOpBuilder &b, tile::SlotType slot,
                        ValueRange index) {
  tile::LayoutAttr layout = layoutOf(slot);
  ArrayRef<int64_t> shape = slot.getShape();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  SmallVector<Value> inside(index);
  Value place = number(0);
  if (int64_t block = layout.getBlock()) {
    int64_t size = layout.getSize(shape) / shape.back() * block;
    Value which = arith::DivUIOp::create(b, inside.back(), number(block));
    place = arith::MulIOp::create(b, which, number(size));
    inside.back() = arith::RemUIOp::create(b, inside.back(), number(block));
  }
  for (auto [at, stride] : llvm::zip_equal(inside, layout.getStrides(shape)))
    place = b.createOrFold<arith::AddIOp>(
        place, b.createOrFold<arith::MulIOp>(at, number(stride)));
  return swizzled(b, layout, place);
}

SmallVector<Value> simt::indexInSlot(ImplicitLocOpBuilder &b,
                                     tile::SlotType slot, Value place) {
  tile::LayoutAttr layout = layoutOf(slot);
  SmallVector<int64_t> shape(slot.getShape());
  // What moves by a swizzle says nothing of how far: it is its own inverse.
  place = swizzled(b, layout, place);
  Value first;
  if (int64_t block = layout.getBlock()) {
    Value size = arith::ConstantIndexOp::create(
        b, ShapedType::getNumElements(shape) / shape.back() * block);
    first = arith::MulIOp::create(b, arith::DivUIOp::create(b, place, size),
                                  arith::ConstantIndexOp::create(b, block));
    place = arith::RemUIOp::create(b, place, size);
    shape.back() = block;
  }
  SmallVector<Value> index(
      affine::AffineDelinearizeIndexOp::create(
          b, place,
          getAsIndexOpFoldResult(b.getContext(), ArrayRef<int64_t>(shape)))
          .getResults());
  if (first)
    index.back() = arith::AddIOp::create(b, index.back(), first);
  return index;
}

Value simt::placeInSlot(ImplicitLocOpBuilder &b, tile::SlotType slot,
                        ValueRange index, ArrayRef<int64_t> steps) {
  tile::LayoutAttr layout = layoutOf(slot);
  ArrayRef<int64_t> shape = slot.getShape(), swizzle = layout.getSwizzle();
  // What is a multiple of this neither moves by the swizzle nor moves others.
  int64_t period = 1, block = layout.getBlock(), all = 0;
  if (!swizzle.empty())
    period = int64_t(1) << (swizzle[0] + swizzle[1] + swizzle[2]);
  SmallVector<int64_t> strides = layout.getStrides(shape);
  SmallVector<Value> at(index);
  for (auto [d, step] : llvm::enumerate(steps)) {
    bool isBlocked = block != 0 && d + 1 == steps.size();
    int64_t own = step * strides[d];
    if (isBlocked && step % block == 0)
      own = step * (layout.getSize(shape) / shape.back());
    if (own % period == 0 && (!isBlocked || step % block == 0))
      all += own;
    else
      at[d] = arith::AddIOp::create(b, at[d],
                                    arith::ConstantIndexOp::create(b, step));
  }
  Value place = placeInSlot(b, slot, at);
  return all == 0 ? place
                  : arith::AddIOp::create(
                        b, place, arith::ConstantIndexOp::create(b, all));
}
