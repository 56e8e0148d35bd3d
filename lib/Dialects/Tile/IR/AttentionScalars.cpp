// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/AttentionScalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

Value ashlar::tile::replaceNumber(OpBuilder &b, Location loc, Value value,
                                  Value special, Value instead) {
  Value is =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value, special);
  return arith::SelectOp::create(b, loc, is, instead, value);
}

Value ashlar::tile::inlineBody(OpBuilder &b, Region &region,
                               ValueRange arguments,
                               llvm::function_ref<Value(IndexOp)> placeOf) {
  IRMapping mapping;
  mapping.map(region.front().getArguments(), arguments);
  for (Operation &inner : region.front().without_terminator()) {
    if (auto index = dyn_cast<IndexOp>(inner))
      mapping.map(index.getResult(), placeOf(index));
    else
      b.clone(inner, mapping);
  }
  return mapping.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}
