// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StepWriter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Transforms/Simt/StepOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

static std::optional<std::string> float8Name(Type type) {
  if (isa_and_present<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa_and_present<Float8E5M2Type>(type))
    return "e5m2";
  return std::nullopt;
}

std::optional<StepTypes> ashlar::cuda::typesOf(tile::ThreadStepOp op) {
  Type sum = cast<tile::AccType>(op.getType()).getElementType();
  Type right = op.getB().getType().getElementType();
  Type left = op.getA()              ? op.getA().getType().getElementType()
              : op.getHeld().empty() ? Type()
                                     : op.getHeld()[0].getType();
  int64_t terms = 32 / elementBytes(right);
  if (std::optional<std::string> x = float8Name(left), y = float8Name(right);
      sum.isF32() && x && y)
    return StepTypes{*x, *y, "f32", false, false, terms};
  if (left != right)
    return std::nullopt;
  if (sum.isF32() && (right.isBF16() || right.isF16())) {
    std::string name = right.isBF16() ? "bf16" : "f16";
    return StepTypes{name, name, "f32", false, true, terms};
  }
  if (sum.isF32() && right.isF32())
    return StepTypes{"tf32", "tf32", "f32", false, false, terms};
  if (sum.isInteger(32) && right.isInteger(8)) {
    auto name = [](bool isUnsigned) { return isUnsigned ? "u8" : "s8"; };
    return StepTypes{name(op.getAUnsigned()),
                     name(op.getBUnsigned()),
                     "s32",
                     true,
                     false,
                     terms};
  }
  return std::nullopt;
}

StepWriter::StepWriter(tile::ThreadStepOp op)
    : op(op), w(op), part(cast<tile::AccType>(op.getType()).getPart()),
      rows(ShapedType::getNumElements(ArrayRef(part).drop_back())),
      columns(part.back()), types(*typesOf(op)) {}

void StepWriter::forEachTerm(llvm::function_ref<void()> visit) {
  ArrayRef<int64_t> sizes = op.getReduced();
  size_t d = terms.size();
  if (d == sizes.size())
    return visit();
  bool isLast = d + 1 == sizes.size();
  for (int64_t i = 0; i < sizes[d]; i += isLast ? types.terms : 1) {
    terms.push_back(i);
    forEachTerm(visit);
    terms.pop_back();
  }
}

SmallVector<Value> StepWriter::held(int64_t copy) {
  // Of fragments of 8 columns, row by row; a fragment is four values, of which
  // two lie side by side.
  int64_t across = op.getReduced().back() / 8;
  int64_t first = 4 * (copy * across + terms.back() / 8);
  SmallVector<Value> words;
  for (int64_t i = first; i != first + 8; i += 2)
    words.push_back(packPair(w, op.getHeld()[i], op.getHeld()[i + 1]));
  return words;
}

bool StepWriter::hasTermsInside(AffineMap map) {
  return map.getResults().back().isFunctionOfDim(map.getNumDims() - 1);
}

Value StepWriter::addressOf(TypedValue<tile::SlotType> slot, AffineMap map,
                            ValueRange offsets, ValueRange point,
                            ArrayRef<int64_t> steps) {
  auto memory = slot.getDefiningOp<tile::SlotOfOp>();
  simt::StepOperand operand{slot, map, offsets};
  Value inside = operand.placeOf(w.b, point, steps);
  return w.sharedAddress(memory.getMemory(),
                         arith::AddIOp::create(w.b, memory.getPlace(), inside));
}
