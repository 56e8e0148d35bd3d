// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lane has which element: AMD matrix instruction calculator, "MI300 ISA"
// and "MI200 ISA", matrix arithmetic; "RDNA3 ISA" and "RDNA4 ISA", WMMA.
#include "MatrixUnits.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::rocm;

/// The fragment of our sums, which are the instruction's across: lanes go down
/// 16 rows, and so many values of a lane lie in its row, `step` columns apart.
static tile::FragmentAttr fragmentOf(Type element, Chip chip) {
  MLIRContext *context = element.getContext();
  if (element.isF64())
    return tile::FragmentAttr::get(context, {0, 4, 0, 8},
                                   {1, 0, 2, 0, 4, 0, 8, 0, 0, 1, 0, 2}, 0);
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

/// For factors of f32.
static std::optional<MatrixUnit> unitOfSingles(Type element, Chip chip,
                                               bool roundsToTF32) {
  if (chip.isRDNA())
    return std::nullopt;
  if (roundsToTF32 && chip.kind == Chip::CDNA3)
    return MatrixUnit{"rocdl.mfma.f32.16x16x8.xf32", 2,      4, true,
                      VectorType::get({2}, element), element};
  return MatrixUnit{"rocdl.mfma.f32.16x16x4f32", 1, 4, true, element, element};
}

/// For factors of f64.
static std::optional<MatrixUnit> unitOfDoubles(Type element, Chip chip) {
  if (chip.isRDNA())
    return std::nullopt;
  return MatrixUnit{"rocdl.mfma.f64.16x16x4f64", 1, 4, true, element, element};
}

/// For factors of 16 bits.
static MatrixUnit unitOfHalves(Type element, Chip chip) {
  Type part =
      element.isBF16() ? IntegerType::get(element.getContext(), 16) : element;
  auto of = [&](int64_t count) -> Type {
    return VectorType::get({count}, part);
  };
  if (!chip.isRDNA())
    return {element.isF16() ? "rocdl.mfma.f32.16x16x16f16"
                            : "rocdl.mfma.f32.16x16x16bf16.1k",
            4,
            4,
            true,
            of(4),
            element};
  const bool isWhole = chip.kind == Chip::RDNA3; // rows, in both halves
  return {element.isF16() ? "rocdl.wmma.f32.16x16x16.f16"
                          : "rocdl.wmma.f32.16x16x16.bf16",
          isWhole ? 16 : 8,
          isWhole ? 1 : 2,
          false,
          of(isWhole ? 16 : 8),
          element};
}

/// For factors of 8 bits: an operand is their words, a vector where the op has
/// one.
static MatrixUnit unitOfBytes(Type element, Chip chip) {
  Builder b(element.getContext());
  switch (chip.kind) {
  case Chip::CDNA2:
    return {"rocdl.mfma.i32.16x16x16i8", 4, 4, true, b.getI32Type(), element};
  case Chip::CDNA3:
    return {"rocdl.mfma.i32.16x16x32.i8", 8, 4, true, b.getI64Type(), element};
  case Chip::RDNA3:
    return {"rocdl.wmma.i32.16x16x16.iu8",        16,     1, false,
            VectorType::get({4}, b.getI32Type()), element};
  case Chip::RDNA4:
    return {"rocdl.wmma.i32.16x16x16.iu8",        8,      2, false,
            VectorType::get({2}, b.getI32Type()), element};
  }
  llvm_unreachable("all kinds of chips");
}

static StringRef float8Name(Type type, bool hasZeroOnce) {
  if (hasZeroOnce)
    return isa<Float8E4M3FNUZType>(type)   ? "fp8"
           : isa<Float8E5M2FNUZType>(type) ? "bf8"
                                           : "";
  return isa<Float8E4M3FNType>(type) ? "fp8"
         : isa<Float8E5M2Type>(type) ? "bf8"
                                     : "";
}

/// For floats of 8 bits, as bytes lie: CDNA3 has those with one zero, RDNA4
/// those of OCP.
static std::optional<MatrixUnit> unitOfFloat8(Type left, Type right,
                                              Chip chip) {
  const bool isCDNA3 = chip.kind == Chip::CDNA3;
  if (!isCDNA3 && chip.kind != Chip::RDNA4)
    return std::nullopt;
  StringRef second = float8Name(left, isCDNA3),
            first = float8Name(right, isCDNA3);
  if (first.empty() || second.empty())
    return std::nullopt;
  MatrixUnit unit = unitOfBytes(right, chip);
  unit.name = (isCDNA3 ? "rocdl.mfma.f32.16x16x32." + first + "."
                       : "rocdl.wmma.f32.16x16x16." + first + "_")
                  .str() +
              second.str();
  unit.leftElement = left;
  return unit;
}

/// For what two elements are multiplied, whichever lanes have them.
static std::optional<MatrixUnit> instructionOf(tile::ThreadStepOp op, Type sum,
                                               Chip chip, bool roundsToTF32) {
  Type element = op.getB().getType().getElementType();
  if (sum.isF64() && element.isF64())
    return unitOfDoubles(element, chip);
  if (sum.isF32() && element.isF32())
    return unitOfSingles(element, chip, roundsToTF32);
  if (sum.isF32() && (element.isF16() || element.isBF16()))
    return unitOfHalves(element, chip);
  if (sum.isF32() && op.getA() && elementBytes(element) == 1)
    return unitOfFloat8(op.getA().getType().getElementType(), element, chip);
  if (!sum.isInteger(32) || !element.isInteger(8))
    return std::nullopt;
  MatrixUnit unit = unitOfBytes(element, chip);
  unit.leftUnsigned = op.getAUnsigned();
  unit.rightUnsigned = op.getBUnsigned();
  return unit;
}

std::optional<MatrixUnit> ashlar::rocm::unitOf(tile::ThreadStepOp op, Chip chip,
                                               bool roundsToTF32) {
  auto acc = cast<tile::AccType>(op.getType());
  Type element = op.getB().getType().getElementType();
  tile::FragmentAttr fragment = acc.getFragment(),
                     own = fragmentOf(element, chip);
  if (fragment.getRegisters() != own.getRegisters() ||
      fragment.getLanes() != own.getLanes() || op.getAsynchronous())
    return std::nullopt;
  auto unit = instructionOf(op, acc.getElementType(), chip, roundsToTF32);
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
             op.getA().getType().getElementType() == unit->leftElement &&
             reads(op.getA(), op.getAMap());
    // Sums of f64 are not side by side, as terms of the next product are.
    return terms.size() == 1 && !element.isF64() &&
           terms.back() % fragment.getColumns() == 0 &&
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
