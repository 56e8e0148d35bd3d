// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar::onnx_import;

SmallVector<Value> ashlar::onnx_import::loopOver(
    OpBuilder &b, Location loc, ArrayRef<int64_t> shape, ValueRange initial,
    llvm::function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange,
                                          ValueRange)>
        body) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> lower(shape.size(), zero), steps(shape.size(), one), upper;
  for (int64_t dim : shape)
    upper.push_back(arith::ConstantIndexOp::create(b, loc, dim));
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, lower, upper, steps, initial,
      [&](OpBuilder &b, Location loc, ValueRange indices, ValueRange carried) {
        return scf::ValueVector(body(b, loc, indices, carried));
      });
  return SmallVector<Value>(nest.results);
}
