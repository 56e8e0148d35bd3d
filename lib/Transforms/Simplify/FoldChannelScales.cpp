// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A factor per output channel after a contraction moves into the weights: so
// batch normalizations disappear. Weights of a convolution begin with their
// output channels, so a channel is a row of them, whatever follows.
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Analysis/Zeros.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Matchers.h"
#include <cstring>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FOLDCHANNELSCALESPASS
#include "ashlar/Transforms/Simplify/Passes.h.inc"
} // namespace ashlar

namespace {
bool hasOneUseThroughReshapes(Value value) {
  for (; value.hasOneUse(); value = value.getDefiningOp()->getOperand(0))
    if (!isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            value.getDefiningOp()))
      return true;
  return false;
}

/// x * factor inside an elementwise op.
struct Scale {
  arith::MulFOp product;
  OpOperand *scaled;
  DenseElementsAttr factors;
};

/// Finds a product of an operand with a constant vector along dim 1.
std::optional<Scale> findScale(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0 || op.getNumLoops() < 2)
    return std::nullopt;
  for (auto product : op.getBody()->getOps<arith::MulFOp>())
    for (unsigned side : {0u, 1u}) {
      auto scaled = dyn_cast<BlockArgument>(product->getOperand(side));
      auto factor = dyn_cast<BlockArgument>(product->getOperand(1 - side));
      if (!scaled || !factor || scaled.getOwner() != op.getBody() ||
          factor.getOwner() != op.getBody() || !scaled.hasOneUse() ||
          scaled.getArgNumber() >= op.getNumDpsInputs() ||
          factor.getArgNumber() >= op.getNumDpsInputs())
        continue;
      OpOperand *x = op.getDpsInputOperand(scaled.getArgNumber());
      OpOperand *f = op.getDpsInputOperand(factor.getArgNumber());
      DenseElementsAttr factors;
      AffineMap map = op.getMatchingIndexingMap(f);
      if (op.getMatchingIndexingMap(x).isIdentity() &&
          map.getNumResults() == 1 &&
          map.getResult(0) == getAffineDimExpr(1, op.getContext()) &&
          matchPattern(f->get(), m_Constant(&factors)) &&
          factors.getElementType().isF32())
        return Scale{product, x, factors};
    }
  return std::nullopt;
}

/// The weights of a contraction whose first dims are the result's channels,
/// counted after the batch; or null.
OpOperand *findWeights(linalg::GenericOp contraction, int64_t channels) {
  if (!contraction || contraction.getNumReductionLoops() == 0 ||
      contraction.getNumDpsInputs() != 2 ||
      !linalg::detail::isContractionBody(
          *contraction.getBody(), [](Operation *multiply, Operation *add) {
            return isa<arith::MulFOp>(multiply) && isa<arith::AddFOp>(add);
          }))
    return nullptr;
  if (!isFilledWithZero(contraction.getDpsInits()[0]))
    return nullptr;
  OpOperand *weights = contraction.getDpsInputOperand(1);
  auto type = cast<RankedTensorType>(weights->get().getType());
  AffineMap map = contraction.getMatchingIndexingMap(weights);
  AffineMap result =
      contraction.getMatchingIndexingMap(contraction.getDpsInitOperand(0));
  int64_t covered = 1;
  for (unsigned i = 0; i < type.getRank() && covered < channels; ++i) {
    if (i + 1 >= result.getNumResults() ||
        map.getResult(i) != result.getResult(i + 1))
      return nullptr;
    covered *= type.getDimSize(i);
  }
  return covered == channels && type.getElementType().isF32() ? weights
                                                              : nullptr;
}

TypedAttr scaleRows(ArrayRef<char> bytes, RankedTensorType type,
                    ArrayRef<float> factors, StringRef name) {
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(bytes.size(), alignof(float));
  float *out = reinterpret_cast<float *>(blob.getMutableData().data());
  size_t row = bytes.size() / sizeof(float) / factors.size();
  // The file gives no alignment.
  std::memcpy(out, bytes.data(), bytes.size());
  for (size_t channel = 0; channel != factors.size(); ++channel)
    for (size_t i = 0; i != row; ++i)
      out[channel * row + i] *= factors[channel];
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}

bool foldScale(linalg::GenericOp op) {
  std::optional<Scale> scale = findScale(op);
  if (!scale || !hasOneUseThroughReshapes(scale->scaled->get()))
    return false;
  auto contraction =
      behindReshapes(scale->scaled->get()).getDefiningOp<linalg::GenericOp>();
  auto type = cast<RankedTensorType>(scale->scaled->get().getType());
  int64_t channels = scale->factors.getNumElements();
  OpOperand *weights = findWeights(contraction, channels);
  if (!weights)
    return false;
  // Reshapes between the two must keep batch and channels where they are.
  auto resultType = cast<RankedTensorType>(contraction->getResult(0).getType());
  if (resultType.getDimSize(0) != type.getDimSize(0))
    return false;
  auto constant =
      behindReshapes(weights->get()).getDefiningOp<arith::ConstantOp>();
  // A scaled splat would be larger than what it came from.
  if (!constant || isa<SplatElementsAttr>(constant.getValue()))
    return false;
  ArrayRef<char> bytes = constantBytes(constant.getValue());
  if (bytes.empty())
    return false;
  auto weightType = cast<RankedTensorType>(weights->get().getType());
  std::string name = "weights";
  if (auto location = dyn_cast<NameLoc>(constant.getLoc()))
    name = location.getName().str();
  OpBuilder b(contraction);
  Value scaled = arith::ConstantOp::create(
      b, constant.getLoc(),
      scaleRows(bytes, weightType,
                llvm::to_vector(scale->factors.getValues<float>()),
                name + ".scaled"));
  weights->set(scaled);
  auto argument = op.getBody()->getArgument(scale->scaled->getOperandNumber());
  scale->product.replaceAllUsesWith(cast<Value>(argument));
  scale->product.erase();
  return true;
}

struct FoldChannelScales
    : ashlar::impl::FoldChannelScalesPassBase<FoldChannelScales> {
  void runOnOperation() override {
    for (auto op : getOperation().getOps<linalg::GenericOp>())
      if (foldScale(op))
        ++numFolded;
  }
};
} // namespace
