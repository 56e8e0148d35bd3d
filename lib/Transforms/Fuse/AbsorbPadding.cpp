// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A halo belongs to the value: the contraction whose sums are padded writes
// them into the middle of the padded tensor, and the pad beside them.
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_ABSORBPADDINGPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
struct AbsorbPadding : ashlar::impl::AbsorbPaddingPassBase<AbsorbPadding> {
  void runOnOperation() override {
    SmallVector<tensor::PadOp> pads;
    getOperation().walk([&](tensor::PadOp pad) { pads.push_back(pad); });
    for (tensor::PadOp pad : pads)
      if (canAbsorb(pad))
        absorb(pad);
  }

private:
  static TypedAttr constantPad(tensor::PadOp pad) {
    Value value = pad.getConstantPaddingValue();
    TypedAttr constant;
    if (value)
      matchPattern(value, m_Constant(&constant));
    return constant;
  }

  /// Others who read the sums read them where they are: through a slice.
  static bool canAbsorb(tensor::PadOp pad) {
    auto contract = pad.getSource().getDefiningOp<tile::ContractOp>();
    if (!contract || contract.getPadAttr() || !constantPad(pad) ||
        contract->getBlock() != pad->getBlock() ||
        !pad.getResultType().hasStaticShape())
      return false;
    for (int64_t by : pad.getStaticLow())
      if (ShapedType::isDynamic(by) || by < 0)
        return false;
    for (int64_t by : pad.getStaticHigh())
      if (ShapedType::isDynamic(by) || by < 0)
        return false;
    return llvm::all_of(contract->getUsers(), [&](Operation *user) {
      return user == pad || isa<tile::ContractOp, linalg::GenericOp>(user);
    });
  }

  static void absorb(tensor::PadOp pad) {
    auto contract = pad.getSource().getDefiningOp<tile::ContractOp>();
    OpBuilder b(contract);
    RankedTensorType type = pad.getResultType();
    SmallVector<AffineMap> maps(
        contract.getMaps().getAsValueRange<AffineMapAttr>());
    SmallVector<AffineExpr> place;
    for (auto [expr, low] :
         llvm::zip(maps.back().getResults(), pad.getStaticLow()))
      place.push_back(expr + low);
    maps.back() = AffineMap::get(maps.back().getNumDims(), 0, place,
                                 contract.getContext());
    Value init = tensor::EmptyOp::create(b, pad.getLoc(), type.getShape(),
                                         type.getElementType());
    auto padded = tile::ContractOp::create(
        b, b.getFusedLoc({contract.getLoc(), pad.getLoc()}), type,
        contract.getA(), contract.getB(), contract.getEpilogue(), init,
        contract.getParallelAttr(), contract.getReducedAttr(),
        b.getAffineMapArrayAttr(maps), contract.getAUnsignedAttr(),
        contract.getBUnsignedAttr(), constantPad(pad),
        contract.getStrategyAttr());
    padded.getBody().takeBody(contract.getBody());
    pad.getResult().replaceAllUsesWith(padded.getResult(0));
    pad.erase();
    Value sums = contract.getResult(0);
    if (!sums.use_empty()) {
      SmallVector<OpFoldResult> offsets, sizes, strides;
      auto shape = cast<RankedTensorType>(sums.getType()).getShape();
      for (auto [expr, size] : llvm::zip(place, shape)) {
        strides.push_back(b.getIndexAttr(1));
        sizes.push_back(b.getIndexAttr(size));
      }
      for (auto [was, now] :
           llvm::zip(contract.getResultMap().getResults(), place))
        offsets.push_back(b.getIndexAttr(
            cast<AffineConstantExpr>(
                simplifyAffineExpr(now - was, contract.getParallel().size(), 0))
                .getValue()));
      sums.replaceAllUsesWith(tensor::ExtractSliceOp::create(
          b, contract.getLoc(), cast<RankedTensorType>(sums.getType()),
          padded.getResult(0), offsets, sizes, strides));
    }
    contract.erase();
  }
};
} // namespace
