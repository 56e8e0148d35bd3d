// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions for which a GPU has an instruction that is as exact as was asked
// for.
#include "ThreadWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

/// Where an approximation will do: a power of two, to 1 ulp (MI300 ISA,
/// V_EXP_F32), of an argument that is rounded, which is most of the error.
static void translate(math::ExpOp op) {
  if (!bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value ratio =
      arith::ConstantOp::create(b, b.getF32FloatAttr(llvm::numbers::log2e));
  Value power = arith::MulFOp::create(b, op.getOperand(), ratio);
  op.replaceAllUsesWith(
      ROCDL::ROCDLExp2::create(b, b.getF32Type(), power).getResult());
  op.erase();
}

void ashlar::rocm::writeFunctions(Operation *kernel) {
  SmallVector<math::ExpOp> ops;
  kernel->walk([&](math::ExpOp op) {
    if (op.getType().isF32())
      ops.push_back(op);
  });
  for (math::ExpOp op : ops)
    translate(op);
}
