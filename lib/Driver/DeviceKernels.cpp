// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each device's pipeline for its own kernels, which stand apart from the others
// for as long as it runs.
#include "Companions.h"
#include "NamedTargets.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Driver/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_LOWERDEVICEKERNELSPASS
#include "ashlar/Driver/Passes.h.inc"
} // namespace ashlar

namespace {
struct LowerDeviceKernels
    : ashlar::impl::LowerDeviceKernelsPassBase<LowerDeviceKernels> {
  using LowerDeviceKernelsPassBase::LowerDeviceKernelsPassBase;
  LowerDeviceKernels(const Target &target, const KernelOptions &options)
      : target(&target), options(options) {}

  /// Alone, a pass learns its devices before anything is loaded.
  LogicalResult initializeOptions(
      StringRef text,
      function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(Pass::initializeOptions(text, errorHandler)))
      return failure();
    std::string why;
    named = findTarget(devices, why);
    target = named.get();
    return target ? success() : errorHandler("target=" + devices + ": " + why);
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    for (unsigned number = 0; target && number <= target->companions.size();
         ++number)
      if (const Target *owner = ownerOf(number))
        pipelineOf(*owner).getDependentDialects(registry);
  }
  void runOnOperation() override {
    if (!target) {
      emitError(getOperation().getLoc())
          << "expected the program's devices in target=";
      return signalPassFailure();
    }
    for (unsigned number = 0; number <= target->companions.size(); ++number)
      if (const Target *owner = ownerOf(number))
        if (failed(lower(number, *owner)))
          return signalPassFailure();
  }

private:
  /// The host or a companion that lowers its own; null: the host does.
  const Target *ownerOf(unsigned number) const {
    if (number == 0)
      return target;
    const Target *companion = target->companions[number - 1].get();
    return companion->capabilities().lowersKernels ? companion : nullptr;
  }
  OpPassManager pipelineOf(const Target &owner) const {
    OpPassManager pipeline(ModuleOp::getOperationName());
    owner.buildKernelPipeline(pipeline, options);
    return pipeline;
  }

  LogicalResult lower(unsigned number, const Target &owner) {
    ModuleOp program = getOperation();
    SymbolTable symbols(program);
    auto part = ModuleOp::create(program.getLoc());
    part->setDiscardableAttrs(program->getDiscardableAttrDictionary());
    program.push_back(part);
    for (auto kernel :
         llvm::make_early_inc_range(program.getOps<exec::KernelOp>())) {
      unsigned device = kernel.getDevice();
      if (device != number && (number != 0 || ownerOf(device)))
        continue;
      auto body = symbols.lookup<func::FuncOp>(*kernel.getBody());
      kernel->moveBefore(part.getBody(), part.getBody()->end());
      body->moveBefore(part.getBody(), part.getBody()->end());
      // To its own pipeline, no contraction is another device's.
      if (number != 0)
        body.walk([](tile::ContractOp op) { op.removeDeviceAttr(); });
    }
    OpPassManager pipeline = pipelineOf(owner);
    LogicalResult lowered = runPipeline(pipeline, part);
    for (Operation &op : llvm::make_early_inc_range(*part.getBody()))
      op.moveBefore(part);
    part.erase();
    return lowered;
  }

  const Target *target = nullptr;
  KernelOptions options;
  std::shared_ptr<Target> named; ///< the target, where an option names it
};
} // namespace

void ashlar::buildKernelPipelines(OpPassManager &program, const Target &target,
                                  const KernelOptions &options) {
  if (llvm::any_of(target.companions, [](const auto &companion) {
        return companion->capabilities().lowersKernels;
      }))
    program.addPass(std::make_unique<LowerDeviceKernels>(target, options));
  else
    target.buildKernelPipeline(program, options);
}
