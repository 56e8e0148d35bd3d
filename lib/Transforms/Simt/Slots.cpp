// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Simt/Slots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar;

Value simt::placeInSlot(ImplicitLocOpBuilder &b, tile::SlotType slot,
                        ValueRange index) {
  tile::LayoutAttr layout = slot.getLayout();
  if (!layout)
    layout = tile::LayoutAttr::get(b.getContext(), {}, {}, {});
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
  if (layout.getSwizzle().empty())
    return place;
  int64_t bits = layout.getSwizzle()[0], base = layout.getSwizzle()[1];
  Value moved =
      arith::ShRUIOp::create(b, place, number(layout.getSwizzle()[2]));
  Value mask = number(((int64_t(1) << bits) - 1) << base);
  return arith::XOrIOp::create(b, place, arith::AndIOp::create(b, moved, mask));
}
