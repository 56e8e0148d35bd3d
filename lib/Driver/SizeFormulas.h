// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a number is at some sizes to how it follows from them. Sizes of
// tensors come from the sizes of inputs by sums, products with constants and
// divisions that round, along one symbol at a time:
// c * floor((W + a) / d) + f * W + e, and products or sums of such, where W is
// the symbol or how many of its steps it is. A formula must give every number
// that was seen, a whole period of each division among them.
#ifndef ASHLAR_LIB_DRIVER_SIZEFORMULAS_H
#define ASHLAR_LIB_DRIVER_SIZEFORMULAS_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Driver/CompileOptions.h"
#include <map>
#include <optional>

namespace ashlar {

/// Values of all symbols, in their order.
using SizePoint = std::vector<int64_t>;

/// Value of an expression over symbols; nothing where a divisor is not
/// positive.
std::optional<int64_t> evaluateFormula(mlir::AffineExpr formula,
                                       const SizePoint &point);

/// What comes some steps behind the first of three numbers that are a step
/// apart and grow evenly, or as squares. Wraps around.
inline int64_t continueEvenly(int64_t first, int64_t second, int64_t third,
                              int64_t times) {
  uint64_t begin = uint64_t(first), rise = uint64_t(second) - begin,
           bend = uint64_t(third) - uint64_t(second) - rise;
  return int64_t(begin + uint64_t(times) * rise +
                 uint64_t(times * (times - 1) / 2) * bend);
}

class SizeFormulas {
public:
  /// `points`: where numbers are known. The largest sizes come first, then
  /// others along one symbol each, then some along several.
  SizeFormulas(mlir::MLIRContext *context, std::vector<SizeRange> symbols,
               std::vector<SizePoint> points);

  /// The largest divisor that is looked for, of a size or of its steps.
  /// Networks halve sizes, five times at most; spectra go by as many samples as
  /// a step has.
  static constexpr int64_t largestDivisor = 32;

  /// The formula that gives `values`, one per point; a constant where they are
  /// all equal, nothing where there is none.
  std::optional<exec::SizeAttr> find(llvm::ArrayRef<int64_t> values);

private:
  /// c * floor((s / unit + a) / d) + f * s / unit + e.
  struct Line {
    int64_t c = 0, a = 0, d = 1, f = 0, e = 0, unit = 1;
  };
  std::optional<Line> findLine(unsigned symbol, int64_t unit,
                               llvm::ArrayRef<int64_t> values) const;
  mlir::AffineExpr spell(unsigned symbol, const Line &line, bool whole) const;
  bool fits(mlir::AffineExpr formula, llvm::ArrayRef<int64_t> values) const;
  /// Of a line along each symbol.
  using SymbolLines = llvm::SmallVector<std::pair<unsigned, Line>>;
  mlir::AffineExpr multiply(const SymbolLines &factors,
                            llvm::ArrayRef<int64_t> values) const;
  mlir::AffineExpr search(llvm::ArrayRef<int64_t> values);

  mlir::MLIRContext *context;
  std::vector<SizeRange> symbols;
  std::vector<SizePoint> where;
  std::vector<std::vector<size_t>> along; ///< by symbol: its points
  std::map<std::vector<int64_t>, mlir::AffineExpr> known; ///< null: none
  std::vector<mlir::AffineExpr> lines; ///< that were found, in their order
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZEFORMULAS_H
