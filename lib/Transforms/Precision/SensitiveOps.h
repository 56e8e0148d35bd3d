// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operations may read and write values of fewer bits: one table of named
// rules. All of them compute in f32, whatever they read and write.
#ifndef ASHLAR_LIB_TRANSFORMS_PRECISION_SENSITIVEOPS_H
#define ASHLAR_LIB_TRANSFORMS_PRECISION_SENSITIVEOPS_H

#include "ashlar/Transforms/Precision/PrecisionPlan.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"

namespace ashlar {

struct PrecisionRule {
  const char *name;
  bool reads;  ///< its operands may have been rounded
  bool writes; ///< its results may be rounded
  const char *why;
};

/// All rules, for whoever documents them.
llvm::ArrayRef<PrecisionRule> allPrecisionRules();

/// Knows which values come from reductions, so ops are asked about in order.
class SensitiveOps {
public:
  /// What holds for an op whose low type would be `low`.
  const PrecisionRule &classify(mlir::linalg::GenericOp op, NumberType low);

private:
  bool subtractsReduced(mlir::linalg::GenericOp op) const;

  /// Results of reductions, and what is computed from nothing else; of sums
  /// alone.
  llvm::DenseSet<mlir::Value> reduced, summed;
};

/// A sum of products of two operands of f32, which starts anywhere.
bool isContraction(mlir::linalg::GenericOp op);
/// A maximum or minimum over reduced dims and nothing else.
bool isSelection(mlir::linalg::GenericOp op);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_PRECISION_SENSITIVEOPS_H
