// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/Carried.h"

using namespace mlir;
using namespace ashlar;

scf::ForOp ashlar::loopCarrying(Value value, unsigned &number) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    number = argument.getArgNumber() - 1;
    return argument.getArgNumber() == 0 ? scf::ForOp() : loop;
  }
  number = cast<OpResult>(value).getResultNumber();
  return value.getDefiningOp<scf::ForOp>();
}

Value ashlar::originOf(Value value) {
  unsigned number;
  while (scf::ForOp loop = loopCarrying(value, number))
    value = loop.getInitArgs()[number];
  return value;
}

TypedValue<tile::RingType> ashlar::ringOf(Value slot) {
  slot = originOf(slot);
  if (auto copy = slot.getDefiningOp<tile::CopyOp>())
    return copy.getRing();
  if (auto take = slot.getDefiningOp<tile::TakeOp>())
    return take.getRing();
  return {};
}
