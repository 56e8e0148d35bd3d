// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StepWriter.h"
#include "ashlar/Transforms/Simt/Slots.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

StepWriter::StepWriter(tile::ThreadStepOp op)
    : op(op), w(op), part(cast<tile::AccType>(op.getType()).getPart()),
      rows(ShapedType::getNumElements(ArrayRef(part).drop_back())),
      columns(part.back()),
      type(op.getA().getType().getElementType().isBF16() ? "bf16" : "f16") {}

void StepWriter::forEachTerm(llvm::function_ref<void()> visit) {
  ArrayRef<int64_t> sizes = op.getReduced();
  size_t d = terms.size();
  if (d == sizes.size())
    return visit();
  bool isLast = d + 1 == sizes.size();
  for (int64_t i = 0; i < sizes[d]; i += isLast ? 16 : 1) {
    terms.push_back(i);
    forEachTerm(visit);
    terms.pop_back();
  }
}

bool StepWriter::hasTermsInside(AffineMap map) {
  return map.getResults().back().isFunctionOfDim(map.getNumDims() - 1);
}

Value StepWriter::addressOf(TypedValue<tile::SlotType> slot, AffineMap map,
                            ValueRange offsets, ValueRange point) {
  auto memory = slot.getDefiningOp<tile::SlotOfOp>();
  SmallVector<Value> place;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    place.push_back(affine::AffineApplyOp::create(
        w.b, AffineMap::get(map.getNumDims(), 0, expr), point));
    if (!offsets.empty())
      place.back() = arith::AddIOp::create(w.b, place.back(), offsets[d]);
  }
  Value inside = simt::placeInSlot(w.b, slot.getType(), place);
  return w.sharedAddress(memory.getMemory(),
                         arith::AddIOp::create(w.b, memory.getPlace(), inside));
}
