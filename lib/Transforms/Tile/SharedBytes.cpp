// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Transforms/Tile/MemoryUses.h"
#include "ashlar/Transforms/Tile/Threads.h"

using namespace mlir;
using namespace ashlar;

/// Whether both say alike which element is whose.
static bool areAlike(tile::AccType x, tile::AccType y) {
  return x.getShape() == y.getShape() && x.getGroups() == y.getGroups() &&
         x.getFragment() == y.getFragment();
}

bool ashlar::isOfRows(tile::MapOp op, unsigned input) {
  auto from = dyn_cast<tile::AccType>(op.getInputs()[input].getType());
  tile::AccType to = op.getAcc().getType();
  if (!from || !to.getFragment() || !areAlike(from, to.getRowsAlone()))
    return false;
  // What is one column for itself is so at the identity as well.
  AffineMap map = op.getMap(input);
  unsigned last = map.getNumDims() - 1;
  return map.getMajorSubMap(last) ==
             AffineMap::getMultiDimIdentityMap(last + 1, op.getContext())
                 .getMajorSubMap(last) &&
         !map.getResults().back().isFunctionOfDim(last);
}

bool ashlar::isExchanged(tile::MapOp op, unsigned input) {
  auto from = dyn_cast<tile::AccType>(op.getInputs()[input].getType());
  return from && !isOfRows(op, input) &&
         (!areAlike(from, op.getAcc().getType()) ||
          !op.getMap(input).isIdentity());
}

/// Whether only threads that hold a row combine it.
static bool staysInRows(tile::ReduceOp op) {
  tile::AccType from = op.getAcc().getType();
  return from.getFragment() &&
         areAlike(op.getResult().getType(), from.getRowsAlone());
}

static int64_t bytesOf(Value acc) {
  auto type = cast<tile::AccType>(acc.getType());
  return llvm::alignTo(ShapedType::getNumElements(type.getShape()) *
                           elementBytes(type.getElementType()),
                       sharedAlignment);
}

int64_t ashlar::sharedBytes(func::FuncOp function) {
  MemoryUses uses(function);
  int64_t most = 0;
  function.walk([&](Operation *op) {
    int64_t bytes = uses.bytesAt(op, sharedAlignment);
    if (auto contract = dyn_cast<tile::ContractOp>(op))
      if (tile::StrategyAttr strategy = contract.getStrategyAttr())
        bytes += ringBytes(contract, strategy);
    if (auto reduce = dyn_cast<tile::ReduceOp>(op);
        reduce && !staysInRows(reduce))
      bytes += bytesOf(reduce.getAcc());
    if (auto map = dyn_cast<tile::MapOp>(op))
      for (auto [i, input] : llvm::enumerate(map.getInputs()))
        if (isExchanged(map, i))
          bytes += bytesOf(input);
    most = std::max(most, bytes);
  });
  return most;
}
