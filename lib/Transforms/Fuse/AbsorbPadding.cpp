// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A halo belongs to the value: the contraction whose sums are padded writes
// them into the middle of the padded tensor, and the pad beside them.
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
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
    for (tensor::PadOp pad : pads) {
      StringRef obstacle = whyNot(pad);
      if (obstacle.empty())
        absorb(pad);
      else
        remark::missed(pad.getLoc(), about(pad, "Padding", "padding"))
            << "is a copy of "
            << remark::metric("Bytes", byteSize(pad.getResultType()))
            << " bytes: " << remark::metric("Reason", obstacle.str());
    }
  }

private:
  static TypedAttr constantPad(tensor::PadOp pad) {
    Value value = pad.getConstantPaddingValue();
    TypedAttr constant;
    if (value)
      matchPattern(value, m_Constant(&constant));
    return constant;
  }

  /// What keeps the pad out of its contraction; empty: nothing. Others who read
  /// the sums read them where they are: through a slice.
  static StringRef whyNot(tensor::PadOp pad) {
    auto contract = pad.getSource().getDefiningOp<tile::ContractOp>();
    if (!contract)
      return "what it pads is not a contraction's result";
    if (contract.getPadAttr())
      return "the contraction has another padding already";
    if (!constantPad(pad))
      return "the value it pads with is not constant";
    if (contract->getBlock() != pad->getBlock() ||
        !pad.getResultType().hasStaticShape())
      return "its size is not known";
    for (ArrayRef<int64_t> sizes : {pad.getStaticLow(), pad.getStaticHigh()})
      for (int64_t by : sizes)
        if (ShapedType::isDynamic(by) || by < 0)
          return "its margins are not known, or cut";
    for (Operation *user : contract->getUsers())
      if (user != pad && !isa<tile::ContractOp, linalg::GenericOp>(user))
        return "a view, a copy or the function's end reads the contraction's "
               "result without margins";
    return {};
  }

  static void absorb(tensor::PadOp pad) {
    auto contract = pad.getSource().getDefiningOp<tile::ContractOp>();
    OpBuilder b(contract);
    remark::passed(pad.getLoc(), about(pad, "Padding", "padding"))
        << "margins are written by the contraction of "
        << nodeName(contract.getLoc()) << ", saving "
        << remark::metric("BytesSaved", byteSize(pad.getSourceType()) +
                                            byteSize(pad.getResultType()))
        << " bytes";
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
        /*unrounded=*/Value(), contract.getParallelAttr(),
        contract.getReducedAttr(), b.getAffineMapArrayAttr(maps),
        contract.getAUnsignedAttr(), contract.getBUnsignedAttr(),
        constantPad(pad), contract.getStrategyAttr(), contract.getDeviceAttr());
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
