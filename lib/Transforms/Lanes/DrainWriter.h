// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_DRAINWRITER_H
#define ASHLAR_LIB_TRANSFORMS_LANES_DRAINWRITER_H

#include "RegisterLayout.h"
#include "VectorWriter.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ashlar {

/// Writes an epilogue on vectors.
class DrainWriter : VectorWriter {
public:
  DrainWriter(tile::DrainOp op, mlir::OpBuilder &builder,
              const RegisterLayout &layout)
      : VectorWriter(op.getLoc(), builder), op(op), layout(layout) {}

  /// `sums` gives register `i`, and is asked once for each where it is needed.
  void run(llvm::function_ref<mlir::Value(int64_t i)> sums);
  /// The sums lie in memory, row by row without gaps: loops over rows, since a
  /// matrix unit has far more sums than there are vectors in registers.
  void runRows(mlir::Value sums);

private:
  struct Operands {
    llvm::SmallVector<Line, 2> inputs; ///< for `runRows` the sums come first
    Line target;
  };
  Operands operands();
  /// Loops over the dims from `d` on; `bases` are where the outer ones have
  /// moved inputs and target to.
  void emitRows(const Operands &lines, size_t d,
                llvm::ArrayRef<mlir::Value> bases,
                llvm::ArrayRef<llvm::SmallVector<mlir::Value>> fixed);
  /// Vectors of one row of an input.
  llvm::SmallVector<mlir::Value> loadRow(const Line &line, mlir::Value base);

  tile::DrainOp op;
  const RegisterLayout &layout;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_DRAINWRITER_H
