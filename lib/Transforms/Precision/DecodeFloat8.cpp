// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of a byte become f32 by integer arithmetic, where no unit multiplies
// them as they are.
#include "ashlar/Analysis/SmallFloats.h"
#include "ashlar/Transforms/Precision/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_DECODEFLOAT8PASS
#include "ashlar/Transforms/Precision/Passes.h.inc"
} // namespace ashlar

namespace {
struct DecodeFloat8 : ashlar::impl::DecodeFloat8PassBase<DecodeFloat8> {
  using DecodeFloat8PassBase::DecodeFloat8PassBase;
  void runOnOperation() override {
    getOperation()->walk([&](arith::ExtFOp op) {
      auto format = ashlar::smallFloatOf(getElementTypeOrSelf(op.getIn()));
      if (format && (everywhere || isCode(op.getIn())))
        decode(op, *format);
    });
  }

private:
  /// Whether a byte holds it.
  static bool isCode(Value value) {
    auto bitcast = value.getDefiningOp<arith::BitcastOp>();
    return bitcast && getElementTypeOrSelf(bitcast.getIn()).isInteger(8);
  }

  void decode(arith::ExtFOp op, const ashlar::SmallFloat &format) {
    OpBuilder b(op);
    Location at = op.getLoc();
    Value code = op.getIn();
    Operation *source = code.getDefiningOp();
    if (isCode(code)) {
      code = source->getOperand(0);
    } else {
      Type bytes = b.getI8Type();
      if (auto vector = dyn_cast<VectorType>(code.getType()))
        bytes = vector.clone(bytes);
      code = arith::BitcastOp::create(b, at, bytes, code);
    }
    Value number = ashlar::decodeSmallFloat(b, at, code, format);
    Type type = op.getType();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    if (width < 32) // exact: both types of 16 bits hold them all
      number = arith::TruncFOp::create(b, at, type, number);
    else if (width > 32)
      number = arith::ExtFOp::create(b, at, type, number);
    op.replaceAllUsesWith(number);
    op.erase();
    if (source && isa<arith::BitcastOp>(source) && source->use_empty())
      source->erase();
    ++numDecoded;
  }
};
} // namespace
