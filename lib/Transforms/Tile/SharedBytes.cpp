// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BoxView.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Transforms/Tile/MemoryUses.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

bool ashlar::isExchanged(tile::MapOp op, unsigned input) {
  auto from = dyn_cast<tile::AccType>(op.getInputs()[input].getType());
  tile::AccType to = op.getAcc().getType();
  return from &&
         (from.getShape() != to.getShape() ||
          from.getGroups() != to.getGroups() || !op.getMap(input).isIdentity());
}

static int64_t bytesOf(Value acc) {
  auto type = cast<tile::AccType>(acc.getType());
  return llvm::alignTo(ShapedType::getNumElements(type.getShape()) *
                           elementBytes(type.getElementType()),
                       sharedAlignment);
}

/// Slots of the rings that a contraction's operands come through.
static int64_t ringBytes(tile::ContractOp op) {
  tile::StrategyAttr strategy = op.getStrategyAttr();
  if (!strategy)
    return 0;
  SmallVector<int64_t> extents = llvm::to_vector(
      llvm::concat<const int64_t>(op.getParallel(), op.getReduced()));
  SmallVector<unsigned> dims(extents.size());
  std::iota(dims.begin(), dims.end(), 0);
  for (unsigned d : dims)
    if (int64_t tile = strategy.getTile(d))
      extents[d] = tile;
  int64_t bytes = 0;
  for (tile::HopAttr hop : strategy.getHops()) {
    if (hop.getKind() != tile::HopKind::Ring)
      continue;
    bool isA = hop.getOperand() == tile::OperandKind::A;
    Value operand = isA ? op.getA() : op.getB();
    SmallVector<int64_t> shape;
    for (AffineExpr expr : (isA ? op.getAMap() : op.getBMap()).getResults())
      shape.push_back(BoxReach(expr, dims, extents).length);
    tile::LayoutAttr layout = hop.getLayout();
    int64_t elements = layout && layout.whyNot(shape).empty()
                           ? layout.getSize(shape)
                           : ShapedType::getNumElements(shape);
    bytes += llvm::alignTo(hop.getSlots() * elements *
                               elementBytes(getElementTypeOrSelf(operand)),
                           sharedAlignment);
  }
  return bytes;
}

int64_t ashlar::sharedBytes(func::FuncOp function) {
  MemoryUses uses(function);
  int64_t most = 0;
  function.walk([&](Operation *op) {
    int64_t bytes = uses.bytesAt(op, sharedAlignment);
    if (auto contract = dyn_cast<tile::ContractOp>(op))
      bytes += ringBytes(contract);
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      bytes += bytesOf(reduce.getAcc());
    if (auto map = dyn_cast<tile::MapOp>(op))
      for (auto [i, input] : llvm::enumerate(map.getInputs()))
        if (isExchanged(map, i))
          bytes += bytesOf(input);
    most = std::max(most, bytes);
  });
  return most;
}
