// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HalfRange.h"
#include "ashlar/Analysis/Reshapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

using namespace mlir;
using namespace ashlar;

namespace {
/// The outputs as they grow, an element a site.
class RangeOutputs {
public:
  RangeOutputs(func::FuncOp function, PrecisionDecisions &decisions)
      : function(function),
        back(cast<func::ReturnOp>(function.getBody().back().getTerminator())),
        b(back.getLoc(), back), decisions(decisions) {}

  /// Values in the bodies of control flow are not seen from outside.
  bool sees(Value value) const {
    return value.getParentBlock() == &function.getBody().front();
  }

  void addSite(unsigned source, ArrayRef<Value> values) {
    Value largest = scalar(b.getF32FloatAttr(0)),
          count = scalar(b.getI32IntegerAttr(0));
    for (Value value : values) {
      largest = reduce(
          value, largest,
          [](ImplicitLocOpBuilder &body, Value x, Value, Value so) -> Value {
            return arith::MaximumFOp::create(body, so, x);
          });
      count = reduce(value, count,
                     [](ImplicitLocOpBuilder &body, Value, Value exceeds,
                        Value so) -> Value {
                       Value one = arith::ExtUIOp::create(
                           body, body.getI32Type(), exceeds);
                       return arith::AddIOp::create(body, so, one);
                     });
    }
    decisions.sites.push_back({{source}, source});
    maxima.push_back(asRow(largest));
    counts.push_back(asRow(count));
  }

  void add() {
    if (maxima.empty())
      return;
    addOutput("precision.largest", "float", maxima);
    addOutput("precision.overflows", "int32", counts);
  }

private:
  Value scalar(TypedAttr start) {
    Value constant = arith::ConstantOp::create(b, start);
    Value empty =
        tensor::EmptyOp::create(b, ArrayRef<int64_t>(), start.getType());
    return linalg::FillOp::create(b, constant, empty).getResult(0);
  }

  /// `step` gets |x|, zero where it is not finite; whether f16 cannot hold x;
  /// and what is known so far.
  Value
  reduce(Value value, Value so,
         llvm::function_ref<Value(ImplicitLocOpBuilder &, Value, Value, Value)>
             step) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    AffineMap maps[] = {b.getMultiDimIdentityMap(rank),
                        AffineMap::get(rank, 0, b.getContext())};
    SmallVector<utils::IteratorType> loops(rank,
                                           utils::IteratorType::reduction);
    return linalg::GenericOp::create(
               b, so.getType(), value, so, maps, loops,
               [&](OpBuilder &inner, Location at, ValueRange x) {
                 ImplicitLocOpBuilder body(at, inner);
                 auto constant = [&](float number) -> Value {
                   return arith::ConstantOp::create(
                       body, body.getF32FloatAttr(number));
                 };
                 Value size = math::AbsFOp::create(body, x[0]);
                 Value isFinite = arith::CmpFOp::create(
                     body, arith::CmpFPredicate::OLT, size,
                     constant(std::numeric_limits<float>::infinity()));
                 Value finite =
                     arith::SelectOp::create(body, isFinite, size, constant(0));
                 Value exceeds =
                     arith::CmpFOp::create(body, arith::CmpFPredicate::OGE,
                                           finite, constant(firstInfiniteHalf));
                 linalg::YieldOp::create(body,
                                         step(body, finite, exceeds, x[1]));
               })
        .getResult(0);
  }

  Value asRow(Value value) {
    auto type =
        cast<RankedTensorType>(value.getType()).clone(ArrayRef<int64_t>{1});
    return tensor::ExpandShapeOp::create(b, type, value,
                                         ArrayRef<ReassociationIndices>());
  }

  void addOutput(StringRef name, StringRef type, ArrayRef<Value> rows) {
    Value output =
        rows.size() == 1 ? rows.front() : tensor::ConcatOp::create(b, 0, rows);
    NamedAttribute attributes[] = {
        b.getNamedAttr("ashlar.name", b.getStringAttr(name)),
        b.getNamedAttr("ashlar.type", b.getStringAttr(type))};
    unsigned index = function.getNumResults();
    (void)function.insertResult(index, output.getType(),
                                b.getDictionaryAttr(attributes));
    back.getOperandsMutable().append(output);
  }

  mutable func::FuncOp function; ///< a handle: MLIR asks it unconst
  func::ReturnOp back;
  ImplicitLocOpBuilder b;
  PrecisionDecisions &decisions;
  SmallVector<Value> maxima, counts;
};

unsigned producerOf(Value value, const PrecisionGraph &graph, unsigned none) {
  for (const PrecisionOp &entry : graph.ops())
    if (entry.op == value.getDefiningOp())
      return entry.node;
  return none;
}
} // namespace

void ashlar::observeRanges(const PrecisionGraph &graph, func::FuncOp function,
                           PrecisionDecisions &decisions) {
  RangeOutputs outputs(function, decisions);
  for (const ValueClass &of : graph.classes()) {
    if (PrecisionGraph::agreed(of, decisions) != NumberType::F16)
      continue;
    for (Value value : of.values)
      if (!isMovement(value.getDefiningOp()) && outputs.sees(value))
        outputs.addSite(producerOf(value, graph, of.nodes.front()), value);
  }
  // What it multiplies is rounded for a contraction, whoever computed it.
  for (const PrecisionOp &entry : graph.ops()) {
    if (!entry.isContraction || !entry.converts || !entry.reads ||
        decisions.nodes[entry.node].type != NumberType::F16)
      continue;
    SmallVector<Value> operands;
    for (Value operand : entry.op.getDpsInputs())
      if (!isConstantBehindReshapes(operand) && outputs.sees(operand))
        operands.push_back(operand);
    if (!operands.empty())
      outputs.addSite(entry.node, operands);
  }
  outputs.add();
}
