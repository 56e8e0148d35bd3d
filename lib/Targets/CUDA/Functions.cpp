// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions for which a GPU has an instruction that is as exact as was asked
// for.
#include "PtxWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

/// Where an approximation will do: a power of two, to 2 ulp (PTX ISA, ex2),
/// of an argument that is rounded, which is most of the error.
static void translate(math::ExpOp op) {
  if (!bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
    return;
  PtxWriter w(op);
  Value ratio =
      arith::ConstantOp::create(w.b, w.b.getF32FloatAttr(llvm::numbers::log2e));
  Value power = arith::MulFOp::create(w.b, op.getOperand(), ratio);
  op.replaceAllUsesWith(w.write("ex2.approx.ftz.f32 $0, $1;", "=f,f", power,
                                w.b.getF32Type(), /*isOrdered=*/false)[0]);
  op.erase();
}

/// max.NaN and min.NaN, which LLVM writes for these.
template <typename To, typename From> static void replace(From op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  op.replaceAllUsesWith(To::create(b, op.getLhs(), op.getRhs()).getResult());
  op.erase();
}

void ashlar::cuda::writeFunctions(Operation *kernel) {
  SmallVector<Operation *> ops;
  kernel->walk([&](Operation *op) {
    if (op->getNumResults() == 1 && op->getResult(0).getType().isF32())
      ops.push_back(op);
  });
  for (Operation *op : ops)
    llvm::TypeSwitch<Operation *>(op)
        .Case([](math::ExpOp own) { translate(own); })
        .Case([](arith::MaximumFOp own) { replace<LLVM::MaximumOp>(own); })
        .Case([](arith::MinimumFOp own) { replace<LLVM::MinimumOp>(own); });
}
