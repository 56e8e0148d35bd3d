// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/OpenCL/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_LOWERTHREADSPASS
#include "ashlar/Targets/OpenCL/Passes.h.inc"
} // namespace ashlar

namespace {
struct LowerThreads : ashlar::impl::LowerThreadsPassBase<LowerThreads> {
  /// CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE of OpenCL C: a barrier of the
  /// dialect gpu orders all memory of the workgroup.
  static constexpr int64_t fences = 3;

  Value call(OpBuilder &b, Location at, StringRef name, int64_t argument,
             Type result) {
    ModuleOp module = getOperation();
    auto callee = module.lookupSymbol<func::FuncOp>(name);
    if (!callee) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      SmallVector<Type> results;
      if (result)
        results.push_back(result);
      callee = func::FuncOp::create(
          top, at, name, top.getFunctionType({top.getI32Type()}, results));
      callee.setPrivate();
    }
    Value number = arith::ConstantIntOp::create(b, at, argument, 32);
    auto made = func::CallOp::create(b, at, callee, number);
    return result ? made.getResult(0) : Value();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa<gpu::ThreadIdOp, gpu::BarrierOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder b(op);
      Location at = op->getLoc();
      if (isa<gpu::ThreadIdOp>(op)) {
        Value id = call(b, at, "_Z12get_local_idj", 0, b.getI64Type());
        op->getResult(0).replaceAllUsesWith(
            arith::IndexCastOp::create(b, at, b.getIndexType(), id));
      } else {
        call(b, at, "_Z7barrierj", fences, {});
      }
      op->erase();
    }
  }
};
} // namespace
