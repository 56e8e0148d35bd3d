// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OpenLoss.h"
#include "VectorPlan.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ashlar;

namespace {
/// The values of a kernel at the least sizes of its program, in the first of
/// its boxes.
class LeastSizes {
public:
  explicit LeastSizes(func::FuncOp kernel) : kernel(kernel) {
    ArrayAttr found;
    for (Operation *op = kernel; op && !found; op = op->getParentOp())
      found = op->getAttrOfType<ArrayAttr>(exec::symbolsAttrName);
    for (Attribute each : found ? found.getValue() : ArrayRef<Attribute>()) {
      auto symbol = cast<DictionaryAttr>(each);
      int64_t least = symbol.getAs<IntegerAttr>("minimum").getInt();
      if (!text.empty())
        text += ", ";
      text +=
          symbol.getAs<StringAttr>("name").str() + "=" + std::to_string(least);
      symbols.push_back(least);
    }
  }
  /// "H=8, W=8"; empty where no size is open.
  const std::string &spelled() const { return text; }

  std::optional<int64_t> find(OpFoldResult size) const {
    size = findSize(size);
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      return constant;
    auto value = cast<Value>(size);
    auto argument = dyn_cast<BlockArgument>(value);
    func::FuncOp kernel = this->kernel;
    if (argument && argument.getOwner() == &kernel.getBody().front()) {
      auto own = kernel.getArgAttrOfType<exec::SizeAttr>(
          argument.getArgNumber(), exec::sizeAttrName);
      return own ? evaluate(own.getMap(), symbols) : std::nullopt;
    }
    if (argument) // an index of a loop
      return 0;
    if (auto apply = value.getDefiningOp<affine::AffineApplyOp>())
      return evaluate(apply.getMap(), apply.getOperands());
    if (auto least = value.getDefiningOp<affine::AffineMinOp>())
      return evaluate(least.getMap(), least.getOperands());
    return std::nullopt;
  }

private:
  std::optional<int64_t> evaluate(AffineMap map, ValueRange operands) const {
    SmallVector<int64_t> values;
    for (Value operand : operands) {
      std::optional<int64_t> value = find(operand);
      if (!value)
        return std::nullopt;
      values.push_back(*value);
    }
    return evaluate(map, values);
  }
  /// The least of a map's results.
  std::optional<int64_t> evaluate(AffineMap map,
                                  ArrayRef<int64_t> values) const {
    if (values.size() < map.getNumInputs())
      return std::nullopt;
    SmallVector<Attribute> inputs, results;
    Builder b(map.getContext());
    for (int64_t value : values.take_front(map.getNumInputs()))
      inputs.push_back(b.getIndexAttr(value));
    if (failed(map.constantFold(inputs, results)))
      return std::nullopt;
    std::optional<int64_t> least;
    for (Attribute result : results) {
      int64_t value = cast<IntegerAttr>(result).getInt();
      least = std::min(least.value_or(value), value);
    }
    return least;
  }

  func::FuncOp kernel;
  SmallVector<int64_t> symbols;
  std::string text;
};

/// An op beside what it would be for the least sizes alone.
class LossOfOp {
public:
  LossOfOp(linalg::GenericOp op, const LeastSizes &sizes, int64_t vectorBytes,
           int64_t registers)
      : op(op), sizes(sizes), vectorBytes(vectorBytes), registers(registers) {}

  /// Vector operations of both; fails where that is not known.
  LogicalResult predict(double &open, double &alone) {
    Block block;
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (!type)
        continue;
      std::optional<MemRefType> fixed = fixedType(operand, type);
      if (!fixed)
        return failure();
      mapping.map(operand, block.addArgument(*fixed, op.getLoc()));
    }
    OpBuilder b(op.getContext());
    b.setInsertionPointToEnd(&block);
    auto fixed = cast<linalg::GenericOp>(b.clone(*op.getOperation(), mapping));
    extents = fixed.getStaticLoopRanges();
    bool isKnown = llvm::none_of(extents, ShapedType::isDynamic);
    if (isKnown) {
      open = costOf(planVectors(op, vectorBytes, registers));
      alone = costOf(planVectors(fixed, vectorBytes, registers));
    }
    fixed.erase();
    return success(isKnown);
  }

private:
  /// With numbers for the sizes and strides that are values.
  std::optional<MemRefType> fixedType(Value memory, MemRefType type) {
    SmallVector<int64_t> shape(type.getShape()), strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return std::nullopt;
    for (auto [d, size] : llvm::enumerate(shape))
      if (ShapedType::isDynamic(size)) {
        OpFoldResult dim = findDim(memory, d);
        std::optional<int64_t> least = dim ? sizes.find(dim) : std::nullopt;
        if (!least)
          return std::nullopt;
        size = *least;
      }
    for (auto [d, stride] : llvm::enumerate(strides))
      if (ShapedType::isDynamic(stride)) {
        std::optional<int64_t> least = strideOf(memory, d);
        if (!least)
          return std::nullopt;
        stride = *least;
      }
    return MemRefType::get(shape, type.getElementType(),
                           StridedLayoutAttr::get(type.getContext(),
                                                  ShapedType::kDynamic,
                                                  strides),
                           type.getMemorySpace());
  }

  std::optional<int64_t> strideOf(Value memory, unsigned d) {
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = cast<MemRefType>(memory.getType());
    if (failed(type.getStridesAndOffset(strides, offset)))
      return std::nullopt;
    if (!ShapedType::isDynamic(strides[d]))
      return strides[d];
    if (auto view = memory.getDefiningOp<memref::ReinterpretCastOp>())
      return sizes.find(view.getMixedStrides()[d]);
    if (auto cast = memory.getDefiningOp<memref::CastOp>())
      return strideOf(cast.getSource(), d);
    auto part = memory.getDefiningOp<memref::SubViewOp>();
    if (!part)
      return std::nullopt;
    llvm::SmallBitVector dropped = part.getDroppedDims();
    for (unsigned from = 0; from != dropped.size(); ++from)
      if (!dropped[from] && d-- == 0) {
        std::optional<int64_t> step = sizes.find(part.getMixedStrides()[from]),
                               own = strideOf(part.getSource(), from);
        return step && own ? std::optional(*step * *own) : std::nullopt;
      }
    return std::nullopt;
  }

  /// Of the body, for one vector: what has no pipeline of its own takes long.
  double costOfBody() {
    double cost = 0;
    for (Operation &inner : op.getBody()->without_terminator())
      cost += isa<arith::DivFOp, math::SqrtOp>(inner)                  ? 8
              : isa_and_nonnull<math::MathDialect>(inner.getDialect()) ? 16
                                                                       : 1;
    return cost;
  }

  /// Vectors, of loads along other strides than one each lane.
  double costOf(const std::optional<VectorPlan> &plan) {
    double points = 1;
    for (int64_t extent : extents)
      points *= double(extent);
    if (!plan)
      return points * (double(op->getNumOperands()) + costOfBody());
    auto costOfAccess = [&](const VectorOperand &operand) {
      std::optional<int64_t> step = operand.steps[plan->vectorDim];
      return step == 0 ? 0 : step == 1 ? 1.0 : double(plan->lanes);
    };
    double each = costOfBody();
    for (const VectorOperand &operand : plan->inputs)
      each += costOfAccess(operand);
    for (const VectorOperand &operand : plan->outputs)
      each += costOfAccess(operand);
    int64_t along = std::max<int64_t>(extents[plan->vectorDim], 1);
    return points / double(along) *
           double(llvm::divideCeil(along, plan->lanes)) * each;
  }

  linalg::GenericOp op;
  const LeastSizes &sizes;
  int64_t vectorBytes, registers;
  SmallVector<int64_t> extents;
};
} // namespace

void ashlar::explainOpenLoss(func::FuncOp kernel, int64_t vectorBytes,
                             int64_t registers) {
  LeastSizes sizes(kernel);
  if (sizes.spelled().empty() || !wantsRemarks(kernel))
    return;
  double open = 0, alone = 0;
  Operation *last = nullptr;
  kernel.walk([&](linalg::GenericOp op) {
    double own = 0, fixed = 0;
    if (failed(LossOfOp(op, sizes, vectorBytes, registers).predict(own, fixed)))
      return;
    open += own;
    alone += fixed;
    last = op;
  });
  // As far as such a prediction goes.
  constexpr double worthSaying = 1.2;
  if (!last || open <= worthSaying * alone)
    return;
  remark::missed(last->getLoc(), about(last, "OpenSizes", "vectors"))
      << "vectors are chosen for all sizes: at " << sizes.spelled()
      << " its rows are predicted to take "
      << llvm::formatv("{0:f2}", open / alone).str()
      << " times as long as with vectors for these alone ("
      << remark::metric("Operations", int64_t(open)) << " operations beside "
      << remark::metric("Alone", int64_t(alone)) << ")";
}
