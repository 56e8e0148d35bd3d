// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_DRAINWRITER_H
#define ASHLAR_LIB_TRANSFORMS_TILE_DRAINWRITER_H

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

private:
  tile::DrainOp op;
  const RegisterLayout &layout;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_DRAINWRITER_H
