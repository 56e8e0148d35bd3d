// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_THREADPATTERN_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_THREADPATTERN_H

#include "ThreadWriter.h"
#include "mlir/Transforms/DialectConversion.h"

namespace ashlar::simt {

/// Of an operation on accumulators: what one thread does of it.
template <typename Op> struct ThreadPattern : mlir::OpConversionPattern<Op> {
  ThreadPattern(const mlir::TypeConverter &converter,
                mlir::MLIRContext *context, const Threads &threads)
      : mlir::OpConversionPattern<Op>(converter, context), threads(threads) {}
  Share shareOf(mlir::Value acc) const {
    return Share(mlir::cast<tile::AccType>(acc.getType()), threads);
  }
  const Threads &threads;
};

void populateReductionPatterns(mlir::RewritePatternSet &patterns,
                               const mlir::TypeConverter &converter,
                               const Threads &threads);

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_THREADPATTERN_H
