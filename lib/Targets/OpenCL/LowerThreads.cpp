// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixSteps.h"
#include "ashlar/Targets/OpenCL/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_LOWERTHREADSPASS
#include "ashlar/Targets/OpenCL/Passes.h.inc"
} // namespace ashlar

namespace {
struct LowerThreads : ashlar::impl::LowerThreadsPassBase<LowerThreads> {
  /// CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE of OpenCL C: a barrier of the
  /// dialect gpu orders all memory of the workgroup.
  static constexpr int64_t fences = 3;

  Value call(OpBuilder &b, Location at, StringRef name, ValueRange arguments,
             TypeRange results) {
    ModuleOp module = getOperation();
    auto callee = module.lookupSymbol<func::FuncOp>(name);
    if (!callee) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      callee = func::FuncOp::create(
          top, at, name, top.getFunctionType(arguments.getTypes(), results));
      callee.setPrivate();
    }
    auto made = func::CallOp::create(b, at, callee, arguments);
    return results.empty() ? Value() : made.getResult(0);
  }

  /// What a lane whose number differs in some bits has, of up to 64 bits.
  LogicalResult translate(gpu::ShuffleOp op) {
    Type type = op.getValue().getType();
    if (op.getMode() != gpu::ShuffleMode::XOR || !type.isIntOrFloat() ||
        type.getIntOrFloatBitWidth() > 64 || !op.getValid().use_empty())
      return op.emitOpError("expected a number of up to 64 bits that lanes "
                            "whose numbers differ in some bits exchange");
    OpBuilder b(op);
    Location at = op.getLoc();
    const unsigned size = type.getIntOrFloatBitWidth();
    Type own = b.getIntegerType(size),
         word = b.getIntegerType(size > 32 ? 64 : 32);
    Value bits = op.getValue();
    if (type != own)
      bits = arith::BitcastOp::create(b, at, own, bits);
    if (own != word)
      bits = arith::ExtUIOp::create(b, at, word, bits);
    Value read = call(b, at,
                      size > 32 ? "_Z21sub_group_shuffle_xorlj"
                                : "_Z21sub_group_shuffle_xorij",
                      {bits, op.getOffset()}, word);
    if (own != word)
      read = arith::TruncIOp::create(b, at, own, read);
    if (type != own)
      read = arith::BitcastOp::create(b, at, type, read);
    op.getShuffleResult().replaceAllUsesWith(read);
    op.erase();
    return success();
  }

  LogicalResult translate(Operation *op) {
    if (auto step = dyn_cast<tile::ThreadStepOp>(op))
      return opencl::writeMatrixStep(step);
    if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
      return translate(shuffle);
    OpBuilder b(op);
    Location at = op->getLoc();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, at, value, 32);
    };
    if (isa<gpu::ThreadIdOp>(op)) {
      Value id = call(b, at, "_Z12get_local_idj", number(0), b.getI64Type());
      op->getResult(0).replaceAllUsesWith(
          arith::IndexCastOp::create(b, at, b.getIndexType(), id));
    } else if (isa<gpu::BarrierOp>(op)) {
      call(b, at, "_Z7barrierj", number(fences), {});
    } // All copies are done when they are issued: a wait is the barrier's.
    op->erase();
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa<gpu::ThreadIdOp, gpu::BarrierOp, gpu::ShuffleOp,
              tile::ThreadStepOp, tile::ThreadWaitOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(translate(op)))
        return signalPassFailure();
    module.walk([](tile::SlotOfOp op) {
      if (op->use_empty())
        op.erase();
    });
  }
};
} // namespace
