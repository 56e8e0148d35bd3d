// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With a scale that is a power of two, every number on the way is exact as long
// as sums, with the bias, have no more bits than f32: the order of adding and
// scaling does not matter then.
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Analysis/SumBounds.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_ADDBIASESTOSUMSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
constexpr double mostExact = 1 << 24;

/// What the sums are at most, whatever their sign.
double mostOf(tile::ContractOp op) {
  SumBounds bounds = boundSums(op);
  return std::max(-bounds.least, bounds.most);
}

/// A constant in units of `scale`; nothing where those are no integers.
DenseElementsAttr inUnits(TypedAttr constant, double scale, double most) {
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  ArrayRef<char> bytes = constantBytes(constant);
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  if (!type || !type.getElementType().isF32() || bytes.empty() ||
      (dense && dense.isSplat() && type.getNumElements() != 1))
    return {};
  SmallVector<int32_t> units;
  for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    float value;
    std::memcpy(&value, bytes.data() + i, sizeof(value));
    double unit = double(value) / scale;
    if (unit != std::rint(unit) || std::abs(unit) + most > mostExact)
      return {};
    units.push_back(int32_t(unit));
  }
  auto integers = type.clone(IntegerType::get(type.getContext(), 32));
  return DenseElementsAttr::get(integers, ArrayRef(units));
}

struct AddBiasesToSums
    : ashlar::impl::AddBiasesToSumsPassBase<AddBiasesToSums> {
  void runOnOperation() override {
    getOperation().walk([](tile::ContractOp op) { rewrite(op); });
  }

private:
  static void rewrite(tile::ContractOp op) {
    Block &body = op->getRegion(0).front();
    BlockArgument sum = body.getArgument(0);
    if (!sum.getType().isInteger(32) || !sum.hasOneUse() || op.getAUnsigned() ||
        op.getBUnsigned())
      return;
    auto widen = dyn_cast<arith::SIToFPOp>(*sum.getUsers().begin());
    if (!widen || !widen.getType().isF32() || !widen->hasOneUse())
      return;
    auto multiply = dyn_cast<arith::MulFOp>(*widen->getUsers().begin());
    FloatAttr scale;
    int exponent;
    if (!multiply || !multiply->hasOneUse() ||
        !matchPattern(multiply.getRhs(), m_Constant(&scale)) ||
        std::frexp(scale.getValueAsDouble(), &exponent) != 0.5 ||
        std::abs(exponent) > 64)
      return;
    auto add = dyn_cast<arith::AddFOp>(*multiply->getUsers().begin());
    if (!add)
      return;
    auto bias = dyn_cast<BlockArgument>(
        add.getLhs() == multiply.getResult() ? add.getRhs() : add.getLhs());
    if (!bias || !bias.hasOneUse() || bias.getArgNumber() == 0)
      return;
    OpOperand &operand = op.getEpilogueMutable()[bias.getArgNumber() - 1];
    TypedAttr constant = constantBehindReshapes(operand.get());
    if (!constant)
      return;
    DenseElementsAttr units =
        inUnits(constant, scale.getValueAsDouble(), mostOf(op));
    if (!units)
      return;
    OpBuilder b(op);
    operand.set(arith::ConstantOp::create(b, operand.get().getLoc(), units));
    bias.setType(b.getI32Type());
    b.setInsertionPoint(widen);
    widen.getInMutable().assign(
        arith::AddIOp::create(b, add.getLoc(), sum, bias));
    add.getResult().replaceAllUsesWith(multiply.getResult());
    add.erase();
  }
};
} // namespace
