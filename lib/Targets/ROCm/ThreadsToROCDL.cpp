// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixUnits.h"
#include "ashlar/Targets/ROCm/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::rocm;

namespace ashlar {
#define GEN_PASS_DEF_THREADSTOROCDLPASS
#include "ashlar/Targets/ROCm/Passes.h.inc"
} // namespace ashlar

static void translate(gpu::ThreadIdOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value id = ROCDL::ThreadIdXOp::create(b, b.getI32Type());
  op->getResult(0).replaceAllUsesWith(
      arith::IndexCastOp::create(b, b.getIndexType(), id));
  op.erase();
}

/// All memory of the workgroup is ordered: the fences say so to the back end,
/// which waits for what is under way.
static void translate(gpu::BarrierOp op) {
  constexpr char workgroup[] = "workgroup";
  ImplicitLocOpBuilder b(op.getLoc(), op);
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::release, workgroup);
  ROCDL::SBarrierOp::create(b);
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acquire, workgroup);
  op.erase();
}

static LogicalResult translate(gpu::ShuffleOp op, Chip chip) {
  Value read = op.getValid().use_empty() ? writeShuffle(op, chip) : Value();
  if (!read)
    return op.emitOpError("expected a number of up to 64 bits that lanes whose "
                          "numbers differ in some bits exchange");
  op.getShuffleResult().replaceAllUsesWith(read);
  op.erase();
  return success();
}

static LogicalResult translate(tile::ThreadStepOp op, Chip chip,
                               bool roundsToTF32) {
  std::optional<MatrixUnit> unit = unitOf(op, chip, roundsToTF32);
  if (!unit)
    return op.emitOpError("expected types, whole steps of terms and the "
                          "fragment of a 16x16 matrix instruction of the "
                          "chip, found ")
           << op.getType();
  writeMatrixStep(op, *unit);
  return success();
}

namespace {
struct ThreadsToROCDL : ashlar::impl::ThreadsToROCDLPassBase<ThreadsToROCDL> {
  using ThreadsToROCDLPassBase::ThreadsToROCDLPassBase;

  void runOnOperation() override {
    const Chip chip(processor);
    writeCopies(getOperation(), chip);
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case<gpu::ThreadIdOp, gpu::BarrierOp>(
              [](auto own) { translate(own); })
          .Case([&](gpu::ShuffleOp own) {
            if (failed(translate(own, chip)))
              signalPassFailure();
          })
          .Case([&](tile::ThreadStepOp own) {
            if (failed(translate(own, chip, roundsToTF32)))
              signalPassFailure();
          });
    getOperation().walk([](tile::SlotOfOp op) {
      if (op->use_empty())
        op.erase();
    });
    writeFunctions(getOperation());
  }
};
} // namespace
