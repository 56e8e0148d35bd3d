// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ashlar;

/// 1x58x58x64xf32, and for an operand its addresses: (d0, d1 + d4, ...).
static void print(Type type, bool isUnsigned, AffineMap map,
                  llvm::raw_ostream &out) {
  auto shaped = cast<ShapedType>(type);
  for (int64_t size : shaped.getShape())
    out << size << "x";
  out << (isUnsigned ? "u" : "") << shaped.getElementType() << " (";
  llvm::interleaveComma(map.getResults(), out);
  out << ")";
}

std::string ashlar::contractionText(tile::ContractOp op, bool hasPanels) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(op.getParallel(), out, "x");
  out << " | ";
  llvm::interleave(op.getReduced(), out, "x");
  out << ": ";
  print(op.getA().getType(), op.getAUnsigned(), op.getAMap(), out);
  out << (hasPanels ? " * constant " : " * ");
  print(op.getB().getType(), op.getBUnsigned(), op.getBMap(), out);
  out << ", sums " << op.getAccumulatorType();
  return text;
}
