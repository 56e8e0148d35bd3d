// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PieceShapes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ashlar;

ModuleOp ashlar::programOf(ModulePieces::Piece piece, unsigned program) {
  return *std::next(piece.module.getOps<ModuleOp>().begin(), program);
}

int64_t ashlar::evaluateAt(AffineExpr formula, ArrayRef<int64_t> sizes) {
  SmallVector<AffineExpr> values;
  for (int64_t size : sizes)
    values.push_back(getAffineConstantExpr(size, formula.getContext()));
  return cast<AffineConstantExpr>(formula.replaceSymbols(values)).getValue();
}

int64_t ashlar::largestOf(AffineExpr formula, ArrayRef<OpenSize> symbols) {
  SmallVector<int64_t> largest;
  for (const OpenSize &symbol : symbols)
    largest.push_back(symbol.maximum);
  return evaluateAt(formula, largest);
}

/// The ends of all ranges, and of many ranges these of the first few.
static std::vector<SmallVector<int64_t>> cornersOf(ArrayRef<OpenSize> ranges) {
  constexpr size_t most = 6;
  std::vector<SmallVector<int64_t>> corners;
  size_t free = std::min(ranges.size(), most);
  for (size_t set = 0; set != size_t(1) << free; ++set) {
    SmallVector<int64_t> &corner = corners.emplace_back();
    for (auto [i, range] : llvm::enumerate(ranges))
      corner.push_back(i < free && set >> i & 1 ? range.minimum
                                                : range.maximum);
  }
  return corners;
}

static int64_t valueAt(exec::SizeAttr size, ArrayRef<int64_t> sizes) {
  return size.isConstant() ? size.getConstant()
                           : evaluateAt(size.getFormula(), sizes);
}

std::pair<AffineExpr, int64_t> ashlar::joinDims(const ModulePieces &pieces,
                                                ArrayRef<exec::SizeAttr> dims) {
  int64_t largest = 0;
  for (exec::SizeAttr dim : dims)
    largest = std::max(largest,
                       dim.isConstant() ? dim.getConstant() : dim.getLargest());
  for (exec::SizeAttr dim : dims) {
    bool fits = true;
    for (auto [piece, own] : llvm::zip(pieces.pieces, dims))
      for (ArrayRef<int64_t> corner : cornersOf(piece.ranges))
        fits &= valueAt(dim, corner) == valueAt(own, corner);
    if (fits)
      return {dim.isConstant() ? AffineExpr() : dim.getFormula(), largest};
  }
  return {AffineExpr(), largest};
}

SmallVector<exec::ProgramOp> ashlar::entryOfPieces(const ModulePieces &pieces,
                                                   unsigned program,
                                                   unsigned entry) {
  SmallVector<exec::ProgramOp> found;
  for (const ModulePieces::Piece &piece : pieces.pieces)
    found.push_back(*std::next(
        programOf(piece, program).getOps<exec::ProgramOp>().begin(), entry));
  return found;
}

SmallVector<exec::SizeAttr> ashlar::dimsOf(DictionaryAttr described) {
  if (auto open = described.getAs<ArrayAttr>(exec::sizesAttrName))
    return llvm::to_vector(open.getAsRange<exec::SizeAttr>());
  SmallVector<exec::SizeAttr> dims;
  auto type =
      cast<RankedTensorType>(described.getAs<TypeAttr>("tensor").getValue());
  for (int64_t dim : type.getShape())
    dims.push_back(exec::SizeAttr::get(described.getContext(), dim));
  return dims;
}
