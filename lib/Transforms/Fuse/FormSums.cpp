// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array without a vector unit adds all the same: its accumulator takes one
// operand and then the other. Two bytes times one power of two have few bits,
// so that adding and scaling may change places.
#include "ashlar/Analysis/Ones.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMSUMSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// A byte of an operand times a power of two.
struct Summand {
  BlockArgument byte;
  double scale = 1;
};

/// Of a body, each step read by nobody else.
std::optional<Summand> summandOf(Value value) {
  Summand summand;
  FloatAttr scale;
  if (auto multiply = value.getDefiningOp<arith::MulFOp>()) {
    int exponent;
    if (!value.hasOneUse() ||
        !matchPattern(multiply.getRhs(), m_Constant(&scale)))
      return std::nullopt;
    summand.scale = scale.getValueAsDouble();
    if (std::frexp(summand.scale, &exponent) != 0.5 || std::abs(exponent) > 64)
      return std::nullopt;
    value = multiply.getLhs();
  }
  auto number = value.getDefiningOp<arith::SIToFPOp>();
  if (!number || !number.getType().isF32() || !number->hasOneUse())
    return std::nullopt;
  value = number.getIn();
  if (auto wide = value.getDefiningOp<arith::ExtSIOp>()) {
    if (!wide->hasOneUse())
      return std::nullopt;
    value = wide.getIn();
  }
  summand.byte = dyn_cast<BlockArgument>(value);
  if (!summand.byte || !value.hasOneUse() || !value.getType().isInteger(8))
    return std::nullopt;
  return summand;
}

/// An op on two tensors of bytes whose body adds them, before all else.
struct Sum {
  linalg::GenericOp op;
  arith::AddFOp add;
  Summand left, right;
};

std::optional<Sum> findSum(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumResults() != 1 ||
      op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() || op.getNumLoops() == 0 ||
      !getElementTypeOrSelf(op.getResult(0)).isInteger(8) ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return std::nullopt;
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isIdentity())
      return std::nullopt;
  for (int64_t range : op.getStaticLoopRanges())
    if (ShapedType::isDynamic(range) || range == 0)
      return std::nullopt;
  for (auto add : op.getBody()->getOps<arith::AddFOp>()) {
    std::optional<Summand> left = summandOf(add.getLhs()),
                           right = summandOf(add.getRhs());
    if (left && right && left->byte != right->byte &&
        left->scale == right->scale)
      return Sum{op, add, *left, *right};
  }
  return std::nullopt;
}

/// The contraction of one term: each element times one, the other operand in
/// its epilogue.
class SumWriter {
public:
  explicit SumWriter(const Sum &sum) : sum(sum), b(sum.op) {}

  tile::ContractOp write() {
    linalg::GenericOp op = sum.op;
    Location location = op.getLoc();
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    unsigned dims = sizes.size();
    auto ones = RankedTensorType::get({sizes.back()}, b.getI8Type());
    Value one = arith::ConstantOp::create(
        b, location, DenseElementsAttr::get(ones, b.getI8IntegerAttr(1)));
    Value init = tensor::EmptyOp::create(b, location, sizes, b.getI8Type());
    auto places = AffineMap::getMultiDimIdentityMap(dims + 1, b.getContext());
    AffineMap each = b.getMultiDimIdentityMap(dims);
    OperationState state(location, tile::ContractOp::getOperationName());
    state.addOperands({operandOf(sum.left), one, operandOf(sum.right), init});
    state.addTypes(op->getResultTypes());
    auto &properties = state.getOrAddProperties<tile::ContractOp::Properties>();
    properties.operandSegmentSizes = {1, 1, 1, 1, 0};
    properties.parallel = b.getDenseI64ArrayAttr(sizes);
    properties.reduced = b.getDenseI64ArrayAttr({1});
    properties.maps = b.getAffineMapArrayAttr(
        {places.dropResult(dims),
         AffineMap::get(dims + 1, 0, b.getAffineDimExpr(dims - 1)), each,
         each});
    state.addRegion();
    auto contract = cast<tile::ContractOp>(b.create(state));
    contract->setAttr(onesAttrName, b.getUnitAttr());
    writeBody(contract->getRegion(0));
    return contract;
  }

private:
  Value operandOf(const Summand &summand) {
    return sum.op.getDpsInputs()[summand.byte.getArgNumber()];
  }

  /// That of the op, but for what is added.
  void writeBody(Region &region) {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&region);
    Location location = sum.add.getLoc();
    Value left = body->addArgument(b.getI32Type(), location);
    Value right = body->addArgument(b.getI8Type(), location);
    right = arith::ExtSIOp::create(b, location, b.getI32Type(), right);
    Value all = arith::AddIOp::create(b, location, left, right);
    all = arith::SIToFPOp::create(b, location, b.getF32Type(), all);
    if (sum.left.scale != 1) {
      Value scale = arith::ConstantOp::create(
          b, location, b.getF32FloatAttr(float(sum.left.scale)));
      all = arith::MulFOp::create(b, location, all, scale);
    }
    IRMapping mapping;
    mapping.map(sum.add.getResult(), all);
    // What led to the sum is read by nobody else.
    bool isBehind = false;
    for (Operation &inner : sum.op.getBody()->without_terminator()) {
      if (&inner == sum.add.getOperation()) {
        isBehind = true;
        continue;
      }
      if (!isBehind)
        continue;
      for (Value operand : inner.getOperands())
        copyConstant(operand, mapping);
      b.clone(inner, mapping);
    }
    Value result = sum.op.getBody()->getTerminator()->getOperand(0);
    copyConstant(result, mapping);
    tile::YieldOp::create(b, location, mapping.lookup(result));
  }

  /// Constants from outside or from before the sum come along.
  void copyConstant(Value value, IRMapping &mapping) {
    if (!mapping.contains(value) && matchPattern(value, m_Constant()))
      b.clone(*value.getDefiningOp(), mapping);
  }

  Sum sum;
  OpBuilder b;
};

struct FormSums : ashlar::impl::FormSumsPassBase<FormSums> {
  using FormSumsPassBase::FormSumsPassBase;
  explicit FormSums(std::vector<CompanionDevice> companions)
      : companions(std::move(companions)) {}

  LogicalResult initialize(MLIRContext *context) override {
    return readCompanionOption(context, deviceNames, companions);
  }

  void runOnOperation() override {
    // What is part of a condition or loop stays on the host.
    for (auto op :
         llvm::make_early_inc_range(getOperation().getOps<linalg::GenericOp>()))
      if (std::optional<Sum> sum = findSum(op))
        rewrite(*sum);
  }

private:
  void rewrite(const Sum &sum) {
    tile::ContractOp contract = SumWriter(sum).write();
    std::string reasons;
    const CompanionDevice *device = findDevice(contract, reasons);
    linalg::GenericOp op = sum.op;
    if (device) {
      remark::passed(op.getLoc(), about(op, "Sum", "place"))
          << "is added in accumulators of "
          << remark::metric("Target", device->name);
      op.getResult(0).replaceAllUsesWith(contract.getOutputs().front());
      op.erase();
      return;
    }
    contract.erase();
    if (!reasons.empty())
      remark::missed(op.getLoc(), about(op, "Sum", "place"))
          << "is added by the host: " << remark::metric("Reason", reasons);
  }

  /// The first that adds it, or why none without a vector unit does.
  const CompanionDevice *findDevice(tile::ContractOp contract,
                                    std::string &reasons) {
    for (const CompanionDevice &device : companions) {
      if (!device.endsInBytes)
        continue;
      std::string why = device.whyNot(contract);
      if (why.empty())
        return &device;
      reasons += (reasons.empty() ? "" : "; ") + device.name + ": " + why;
    }
    return nullptr;
  }

  std::vector<CompanionDevice> companions;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createFormSumsPass(std::vector<CompanionDevice> companions) {
  return std::make_unique<FormSums>(std::move(companions));
}
