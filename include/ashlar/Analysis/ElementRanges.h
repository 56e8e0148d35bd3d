// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between which bounds the elements of small tensors lie, so that a size that
// is computed when a model runs has a bound when it is compiled. A generic is
// evaluated by its body's ops on ranges: integers by the ranges that each op
// infers for itself, floats here.
#ifndef ASHLAR_ANALYSIS_ELEMENTRANGES_H
#define ASHLAR_ANALYSIS_ELEMENTRANGES_H

#include "ashlar/Analysis/EvaluateConstant.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace ashlar {

/// What is known of one element: nothing else is ever in it.
struct ElementRange {
  /// Of an integer; of no bits for a float.
  mlir::ConstantIntRanges integer;
  /// Of a float.
  double low = 0, high = 0;
  /// The value that was noted and whose one element this is a copy of, or that
  /// and a number more; or null.
  mlir::Value copyOf = {};
  int64_t more = 0;

  /// A value that this is the same as, or null.
  mlir::Value original() const { return more == 0 ? copyOf : mlir::Value(); }

  static ElementRange any(mlir::Type type);
  static ElementRange constant(mlir::Attribute attribute);
  /// The one number that a float can be.
  bool isConstantFloat() const { return low == high; }
};

/// Remembers what it has evaluated, as ConstantEvaluator does.
class ElementRanges {
public:
  explicit ElementRanges(ConstantEvaluator &constants) : constants(constants) {}

  /// The one element of `value`, an i64 tensor, is between these.
  void note(mlir::Value value, int64_t low, int64_t high);

  /// The elements in row-major order; a single one stands for all of them.
  llvm::ArrayRef<ElementRange> evaluate(mlir::Value value);

  void forget() { known.clear(), noted.clear(); }

private:
  friend class BodyRanges;
  using Elements = llvm::SmallVector<ElementRange, 1>;
  Elements compute(mlir::Value value);
  Elements computeGeneric(mlir::Operation *op, unsigned result);
  Elements computeContract(mlir::Operation *op, unsigned result);
  Elements pick(mlir::Value source, llvm::ArrayRef<int64_t> shape,
                llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)> place);

  ConstantEvaluator &constants;
  llvm::DenseMap<mlir::Value, Elements> known;
  llvm::DenseMap<mlir::Value, std::pair<int64_t, int64_t>> noted;
  unsigned depth = 0;
};

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_ELEMENTRANGES_H
