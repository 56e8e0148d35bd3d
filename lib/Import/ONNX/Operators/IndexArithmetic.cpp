// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IndexArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar::onnx_import;

Value ashlar::onnx_import::clampIndex(OpBuilder &b, Location loc, Value index,
                                      int64_t dim) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value last = arith::ConstantIndexOp::create(b, loc, dim - 1);
  Value atLeast = arith::MaxSIOp::create(b, loc, index, zero);
  return arith::MinSIOp::create(b, loc, atLeast, last);
}

Value ashlar::onnx_import::boundedIndex(OpBuilder &b, Location loc,
                                        Value integer, int64_t dim) {
  Value index =
      integer.getType().isIndex()
          ? integer
          : arith::IndexCastOp::create(b, loc, b.getIndexType(), integer)
                .getResult();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value size = arith::ConstantIndexOp::create(b, loc, dim);
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, zero);
  Value fromEnd = arith::AddIOp::create(b, loc, index, size);
  index = arith::SelectOp::create(b, loc, isNegative, fromEnd, index);
  return clampIndex(b, loc, index, dim);
}
