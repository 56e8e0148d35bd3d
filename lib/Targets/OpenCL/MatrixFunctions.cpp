// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixFunctions.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::opencl;

static constexpr int64_t rowsOfSums = 8;

int64_t ashlar::opencl::termsOfStep(Type element) {
  return bitsOfTerms / element.getIntOrFloatBitWidth();
}

/// Vectors of 8 as arguments in C++'s mangling; one that is there before is
/// said by its place.
static std::string mangle(ArrayRef<char> elements) {
  std::string text;
  SmallVector<char> known;
  for (char element : elements) {
    const auto *before = llvm::find(known, element);
    if (before == known.end()) {
      text += std::string("Dv8_") + element;
      known.push_back(element);
    } else {
      const auto place = before - known.begin();
      text += place == 0 ? "S_" : "S" + std::to_string(place - 1) + "_";
    }
  }
  return text;
}

/// As OpenCL's functions are called; empty: there is none of such operands.
static std::string nameFor(tile::ThreadStepOp op, tile::AccType acc) {
  Type element = op.getB().getType().getElementType(),
       sum = acc.getElementType();
  // Letters of short and int, and without a sign.
  const bool isWide = acc.getFragment().getThreads() == 8;
  auto rowOf = [&](bool isUnsigned) {
    return isWide ? (isUnsigned ? 'j' : 'i') : (isUnsigned ? 't' : 's');
  };
  std::string left, right, arguments;
  if ((element.isF16() || element.isBF16()) && sum.isF32()) {
    left = right = element.isF16() ? "f16" : "bf16";
    arguments = mangle({rowOf(false), 'i', 'f'});
  } else if (element.isInteger(8) && sum.isInteger(32)) {
    left = op.getAUnsigned() ? "u8" : "i8";
    right = op.getBUnsigned() ? "u8" : "i8";
    arguments =
        mangle({rowOf(op.getAUnsigned()), op.getBUnsigned() ? 'j' : 'i', 'i'});
  } else {
    return "";
  }
  std::string name = "intel_sub_group_" + left + "_" + right + "_matrix_mad_k" +
                     std::to_string(termsOfStep(element));
  return "_Z" + std::to_string(name.size()) + name + arguments;
}

/// Whether a lane has a column, of subgroups of which there are functions.
static bool isColumns(tile::FragmentAttr fragment) {
  constexpr int64_t lanes[] = {0, 1, 0, 2, 0, 4, 0, 8};
  return fragment &&
         fragment.getRegisters() == ArrayRef<int64_t>{1, 0, 2, 0, 4, 0} &&
         (fragment.getLanes() == ArrayRef(lanes) ||
          fragment.getLanes() == ArrayRef(lanes).drop_back(2));
}

std::string ashlar::opencl::matrixFunctionOf(tile::ThreadStepOp op) {
  auto acc = cast<tile::AccType>(op.getType());
  tile::FragmentAttr fragment = acc.getFragment();
  if (!isColumns(fragment))
    return "";
  Type element = op.getB().getType().getElementType();
  std::string name = nameFor(op, acc);
  if (name.empty())
    return "";
  ArrayRef<int64_t> terms = op.getReduced();
  SmallVector<int64_t> part = acc.getPart();
  const int64_t sums = ShapedType::getNumElements(part);
  const bool takesA =
      op.getA() ? op.getHeld().empty() &&
                      op.getA().getType().getElementType() == element &&
                      op.getA().getDefiningOp<tile::SlotOfOp>()
                : terms.size() == 1 && !element.isInteger() &&
                      llvm::all_of(op.getHeld().getTypes(),
                                   [&](Type type) { return type == element; });
  if (op.getAsynchronous() || terms.empty() ||
      terms.back() % termsOfStep(element) != 0 ||
      part.back() % fragment.getThreads() != 0 ||
      sums / part.back() % rowsOfSums != 0 || !takesA ||
      !op.getB().getDefiningOp<tile::SlotOfOp>() ||
      int64_t(op.getValues().size()) * fragment.getThreads() != sums)
    return "";
  return name;
}
