// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PieceShapes.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
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

/// All sizes where they are few; else the ends of the ranges, of many ranges
/// these of the first few, and sizes between along each.
static std::vector<SmallVector<int64_t>> pointsOf(ArrayRef<OpenSize> ranges) {
  constexpr size_t mostFree = 6;
  constexpr int64_t few = 256, between = 48;
  auto countOf = [](const OpenSize &range) {
    return (range.maximum - range.minimum) / range.step + 1;
  };
  __int128 all = 1;
  for (const OpenSize &range : ranges)
    all = std::min<__int128>(all * countOf(range), few + 1);
  std::vector<SmallVector<int64_t>> points(1);
  if (all <= few) {
    for (const OpenSize &range : ranges) {
      std::vector<SmallVector<int64_t>> longer;
      for (const SmallVector<int64_t> &point : points)
        for (int64_t j = 0; j != countOf(range); ++j) {
          longer.push_back(point);
          longer.back().push_back(range.minimum + j * range.step);
        }
      points = std::move(longer);
    }
    return points;
  }
  points.clear();
  size_t free = std::min(ranges.size(), mostFree);
  for (size_t set = 0; set != size_t(1) << free; ++set) {
    SmallVector<int64_t> &corner = points.emplace_back();
    for (auto [i, range] : llvm::enumerate(ranges))
      corner.push_back(i < free && set >> i & 1 ? range.minimum
                                                : range.maximum);
  }
  for (auto [i, range] : llvm::enumerate(ranges))
    for (int64_t j = 1; j < std::min(between, countOf(range)); ++j)
      for (bool isTop : {false, true}) {
        // The first ones tell divisions apart, the others all else.
        __int128 spread = __int128(countOf(range) - 1) * j / between;
        int64_t step = isTop ? int64_t(spread) : j;
        points.push_back(points.front());
        points.back()[i] = range.minimum + step * range.step;
      }
  return points;
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
      fits = fits &&
             llvm::all_of(pointsOf(piece.ranges),
                          [&, size = own](ArrayRef<int64_t> point) {
                            return valueAt(dim, point) == valueAt(size, point);
                          });
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
  for (StringRef name :
       {StringRef(stateSizesAttrName), StringRef(exec::sizesAttrName)})
    if (auto open = described.getAs<ArrayAttr>(name))
      return llvm::to_vector(open.getAsRange<exec::SizeAttr>());
  SmallVector<exec::SizeAttr> dims;
  if (auto shape = described.getAs<DenseI64ArrayAttr>(stateShapeAttrName)) {
    for (int64_t dim : shape.asArrayRef())
      dims.push_back(exec::SizeAttr::get(described.getContext(), dim));
    return dims;
  }
  auto type =
      cast<RankedTensorType>(described.getAs<TypeAttr>("tensor").getValue());
  for (int64_t dim : type.getShape())
    dims.push_back(exec::SizeAttr::get(described.getContext(), dim));
  return dims;
}
