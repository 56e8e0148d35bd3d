// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates small constant expressions of linalg, tensor and arith ops, so
// that shape arithmetic is known while a model is imported and is folded in
// `simplify`. A generic is evaluated by folding its body's ops element by
// element, so every op is defined once, by its own folder.
#ifndef ASHLAR_ANALYSIS_EVALUATECONSTANT_H
#define ASHLAR_ANALYSIS_EVALUATECONSTANT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace ashlar {

/// Remembers what it has evaluated; valid while the IR above the values that
/// it was asked for does not change.
class ConstantEvaluator {
public:
  /// Tensors of more elements are not evaluated.
  explicit ConstantEvaluator(int64_t maximumElements = 16384)
      : maximumElements(maximumElements) {}

  /// The value of a tensor, or null when it depends on an input, is too large,
  /// or an op on the way is not known here.
  mlir::DenseElementsAttr evaluate(mlir::Value value);
  /// From now on `value` is `constant`.
  void assume(mlir::Value value, mlir::DenseElementsAttr constant) {
    known[value] = constant;
  }

private:
  mlir::DenseElementsAttr compute(mlir::Value value);
  llvm::SmallVector<mlir::Value> operandsOf(mlir::Value value);

  int64_t maximumElements;
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> known;
  unsigned depth = 0;
};

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_EVALUATECONSTANT_H
