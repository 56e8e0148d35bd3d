// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lane has which element: AMD matrix instruction calculator, "MI300 ISA"
// and "MI200 ISA", matrix arithmetic; "RDNA3 ISA" and "RDNA4 ISA", WMMA.
#include "MatrixUnits.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::rocm;

/// The fragment of our sums, which are the instruction's across: lanes go down
/// 16 rows, and so many values of a lane lie in its row, `step` columns apart.
static tile::FragmentAttr fragmentOf(MLIRContext *context, Chip chip) {
  switch (chip.kind) {
  case Chip::CDNA2:
  case Chip::CDNA3:
    return tile::FragmentAttr::get(context, {0, 1, 0, 2},
                                   {1, 0, 2, 0, 4, 0, 8, 0, 0, 4, 0, 8}, 0);
  case Chip::RDNA3:
    return tile::FragmentAttr::get(context, {0, 2, 0, 4, 0, 8},
                                   {1, 0, 2, 0, 4, 0, 8, 0, 0, 1}, 0);
  case Chip::RDNA4:
    return tile::FragmentAttr::get(context, {0, 1, 0, 2, 0, 4},
                                   {1, 0, 2, 0, 4, 0, 8, 0, 0, 8}, 0);
  }
  llvm_unreachable("all kinds of chips");
}

/// For what two elements are multiplied, whichever lanes have them.
static std::optional<MatrixUnit> instructionOf(Type element, Type sum,
                                               Chip chip) {
  Builder b(element.getContext());
  auto of = [](int64_t count, Type type) -> Type {
    return VectorType::get({count}, type);
  };
  Type i16 = b.getI16Type();
  if (!sum.isF32())
    return std::nullopt;
  const bool isMfma = !chip.isRDNA();
  if (element.isF32() && isMfma)
    return MatrixUnit{
        "rocdl.mfma.f32.16x16x4f32", 1, 4, true, element, element};
  if (!element.isF16() && !element.isBF16())
    return std::nullopt;
  Type part = element.isBF16() ? i16 : element;
  if (isMfma)
    return MatrixUnit{element.isF16() ? "rocdl.mfma.f32.16x16x16f16"
                                      : "rocdl.mfma.f32.16x16x16bf16.1k",
                      4,
                      4,
                      true,
                      of(4, part),
                      element};
  const bool isWhole = chip.kind == Chip::RDNA3; // rows, in both halves
  return MatrixUnit{element.isF16() ? "rocdl.wmma.f32.16x16x16.f16"
                                    : "rocdl.wmma.f32.16x16x16.bf16",
                    isWhole ? 16 : 8,
                    isWhole ? 1 : 2,
                    false,
                    of(isWhole ? 16 : 8, part),
                    element};
}

std::optional<MatrixUnit> ashlar::rocm::unitOf(tile::ThreadStepOp op,
                                               Chip chip) {
  auto acc = cast<tile::AccType>(op.getType());
  tile::FragmentAttr fragment = acc.getFragment(),
                     own = fragmentOf(op.getContext(), chip);
  Type element = op.getB().getType().getElementType();
  if (fragment.getRegisters() != own.getRegisters() ||
      fragment.getLanes() != own.getLanes() || op.getAsynchronous())
    return std::nullopt;
  auto unit = instructionOf(element, acc.getElementType(), chip);
  if (!unit)
    return std::nullopt;
  ArrayRef<int64_t> terms = op.getReduced();
  size_t dims = acc.getShape().size() + terms.size();
  auto reads = [&](Value slot, AffineMap map) {
    return slot.getDefiningOp<tile::SlotOfOp>() && map.getNumDims() == dims &&
           map.getNumSymbols() == 0 &&
           map.getNumResults() ==
               cast<tile::SlotType>(slot.getType()).getShape().size();
  };
  SmallVector<int64_t> part = acc.getPart();
  int64_t sums = ShapedType::getNumElements(part), rows = sums / part.back();
  // Of its own sums a lane has half of the terms, its neighbour in the row
  // beside the others.
  bool hasHalf =
      chip.kind == Chip::RDNA3 && 2 * fragment.getCount() == unit->terms;
  auto takesA = [&] {
    if (op.getA())
      return op.getHeld().empty() &&
             op.getA().getType().getElementType() == element &&
             reads(op.getA(), op.getAMap());
    return terms.size() == 1 && terms.back() % fragment.getColumns() == 0 &&
           (fragment.getCount() % unit->terms == 0 || hasHalf) &&
           int64_t(op.getHeld().size()) * fragment.getThreads() ==
               rows * terms.back() &&
           llvm::all_of(op.getHeld().getTypes(),
                        [&](Type type) { return type == element; });
  };
  bool suits = part.back() % fragment.getColumns() == 0 &&
               rows % fragment.getRows() == 0 && !terms.empty() &&
               terms.back() % (unit->terms * unit->lanes) == 0 && takesA() &&
               reads(op.getB(), op.getBMap()) &&
               int64_t(op.getValues().size()) * fragment.getThreads() == sums;
  return suits ? unit : std::nullopt;
}
