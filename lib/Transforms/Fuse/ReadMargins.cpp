// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zeros around a tensor are the copy engine's: a convolution reads boxes that
// reach beyond the tensor's ends, and nobody writes a padded one.
#include "LevelVariants.h"
#include "Margins.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_READMARGINSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
struct ReadMargins : ashlar::impl::ReadMarginsPassBase<ReadMargins> {
  using ReadMarginsPassBase::ReadMarginsPassBase;
  ReadMargins(const MachineModel &machine,
              std::shared_ptr<RefusedStrategies> refused)
      : machine(machine), refused(std::move(refused)) {}
  LogicalResult initialize(MLIRContext *context) override {
    if (!refused)
      refused = std::make_shared<RefusedStrategies>();
    return readMachineOption(context, machineName, machine);
  }

  void runOnOperation() override {
    if (llvm::none_of(machine.copyEngines, fillsBoxes))
      return;
    // Where one of several paddings of a tensor stays, a contraction writes
    // it, and others would have to read the middle of that.
    llvm::MapVector<Value, SmallVector<tensor::PadOp>> padsOf;
    getOperation().walk(
        [&](tensor::PadOp pad) { padsOf[pad.getSource()].push_back(pad); });
    for (auto &[source, pads] : padsOf) {
      if (!llvm::all_of(pads, [&](tensor::PadOp pad) { return fits(pad); }))
        continue;
      for (tensor::PadOp pad : pads) {
        remark::passed(pad.getLoc(), about(pad, "Padding", "padding"))
            << "margins are zeros that a copy engine fills in, and not in "
               "memory, saving "
            << remark::metric("BytesSaved", byteSize(pad.getResultType()) -
                                                byteSize(pad.getSourceType()))
            << " bytes";
        OpBuilder b(pad);
        pad.getResult().replaceAllUsesWith(marginsOf(b, pad).getResult());
        pad.erase();
      }
    }
  }

private:
  /// Whether the engine reads boxes, and zeros where they leave a tensor.
  static bool fillsBoxes(const CopyEngine &engine) {
    return engine.boxes && engine.zeroFill;
  }

  static tile::DecodeOp marginsOf(OpBuilder &b, tensor::PadOp pad) {
    return addMargins(b, pad.getLoc(), pad.getSource(), pad.getResultType(),
                      pad.getStaticLow());
  }

  /// Of known sizes and of zeros, but none between the elements of a row; and
  /// around a whole tensor, since around a part of one others lie.
  static bool isOfZeros(tensor::PadOp pad) {
    Value value = pad.getConstantPaddingValue();
    if (!value ||
        !(matchPattern(value, m_PosZeroFloat()) ||
          matchPattern(value, m_Zero())) ||
        pad.getResultType().getRank() == 0 ||
        !pad.getResultType().hasStaticShape() ||
        !pad.getSourceType().hasStaticShape() ||
        pad.getSourceType().getNumElements() == 0 ||
        pad.getSource().getDefiningOp<tensor::ExtractSliceOp>())
      return false;
    for (ArrayRef<int64_t> sizes : {pad.getStaticLow(), pad.getStaticHigh()})
      if (llvm::any_of(sizes, [](int64_t by) { return by < 0; }) ||
          sizes.back() != 0)
        return false;
    return true;
  }

  /// Whether contractions alone read it, each as its first operand, and the
  /// engine brings it there.
  bool fits(tensor::PadOp pad) {
    // Trials come and go among its readers.
    SmallVector<Operation *> readers(pad->getUsers());
    return isOfZeros(pad) && !readers.empty() &&
           llvm::all_of(readers, [&](Operation *user) {
             auto op = dyn_cast<tile::ContractOp>(user);
             return op && !op.getDevice() && op.getA() == pad.getResult() &&
                    llvm::count(op->getOperands(), pad.getResult()) == 1 &&
                    isBrought(op, pad);
           });
  }

  /// Whether what is predicted to be the fastest way has that engine.
  bool isBrought(tile::ContractOp op, tensor::PadOp pad) {
    OpBuilder b(op);
    auto trial = cast<tile::ContractOp>(b.clone(*op));
    b.setInsertionPoint(trial);
    trial.getAMutable().assign(marginsOf(b, pad));
    std::optional<LevelChoice> choice =
        tryLevelsOfVariants(trial, machine, *refused);
    return choice && !choice->strategy.getHops().empty() &&
           llvm::all_of(choice->strategy.getHops(), [&](tile::HopAttr hop) {
             return llvm::any_of(
                 machine.copyEngines, [&](const CopyEngine &engine) {
                   return engine.name == hop.getEngine() && fillsBoxes(engine);
                 });
           });
  }

  MachineModel machine = MachineModel::generic();
  std::shared_ptr<RefusedStrategies> refused;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createReadMarginsPass(const MachineModel &machine,
                              std::shared_ptr<RefusedStrategies> refused) {
  return std::make_unique<ReadMargins>(machine, std::move(refused));
}
