// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/SlotBox.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

int64_t ashlar::ringBytes(tile::ContractOp op, tile::StrategyAttr strategy) {
  SmallVector<int64_t> extents = llvm::to_vector(
      llvm::concat<const int64_t>(op.getParallel(), op.getReduced()));
  SmallVector<unsigned> dims(extents.size());
  std::iota(dims.begin(), dims.end(), 0);
  for (unsigned d : dims)
    if (int64_t tile = strategy.getTile(d))
      extents[d] = tile;
  int64_t bytes[2] = {0, 0}; // of a, of b: the last hop is the nearest one
  for (tile::HopAttr hop : strategy.getHops()) {
    if (hop.getKind() != tile::HopKind::Ring)
      continue;
    bool isA = hop.getOperand() == tile::OperandKind::A;
    Value operand = isA ? op.getA() : op.getB();
    SmallVector<int64_t> shape =
        SlotBox(isA ? op.getAMap() : op.getBMap(), dims, extents,
                hasSeveralRings(strategy, hop.getOperand()))
            .shape;
    tile::LayoutAttr layout = hop.getLayout();
    int64_t elements = layout && layout.whyNot(shape).empty()
                           ? layout.getSize(shape)
                           : ShapedType::getNumElements(shape);
    bytes[isA ? 0 : 1] = llvm::alignTo(
        hop.getSlots() * elements * elementBytes(getElementTypeOrSelf(operand)),
        layout && !layout.isStrided() ? swizzledAlignment : sharedAlignment);
  }
  return bytes[0] + bytes[1];
}
