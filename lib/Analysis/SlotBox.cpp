// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/SlotBox.h"

using namespace mlir;
using namespace ashlar;

SlotBox::SlotBox(AffineMap map, ArrayRef<unsigned> dims,
                 ArrayRef<int64_t> extents, bool isWhole) {
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    BoxReach reach(expr, dims, extents);
    bool isLast = i + 1 == map.getNumResults();
    steps.push_back(isWhole || isLast ? 1 : reach.step);
    shape.push_back((reach.length - 1) / steps.back() + 1);
  }
}

int64_t SlotBox::numElements() const {
  return ShapedType::getNumElements(shape);
}

bool ashlar::hasSeveralRings(tile::StrategyAttr strategy,
                             tile::OperandKind operand) {
  return llvm::count_if(strategy.getHops(), [&](tile::HopAttr hop) {
           return hop.getOperand() == operand &&
                  hop.getKind() == tile::HopKind::Ring;
         }) > 1;
}
