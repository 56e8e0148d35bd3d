// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Transforms/Tile/MemoryUses.h"
#include "ashlar/Transforms/Tile/Threads.h"

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

int64_t ashlar::sharedBytes(func::FuncOp function) {
  MemoryUses uses(function);
  int64_t most = 0;
  function.walk([&](Operation *op) {
    int64_t bytes = uses.bytesAt(op, sharedAlignment);
    if (auto contract = dyn_cast<tile::ContractOp>(op))
      if (tile::StrategyAttr strategy = contract.getStrategyAttr())
        bytes += ringBytes(contract, strategy);
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
