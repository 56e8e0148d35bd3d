// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CarryScalars.h"
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

  void addSite(unsigned source, ArrayRef<Value> values) {
    Value largest, count;
    for (Value value : values) {
      add(largest, find(value, b.getF32FloatAttr(0), keepLargest), largerOf);
      add(count, find(value, b.getI32IntegerAttr(0), countExceeding), sumOf);
    }
    decisions.sites.push_back({{source}, source});
    maxima.push_back(asRow(carry.now(largest)));
    counts.push_back(asRow(count));
  }

  void add() {
    if (maxima.empty())
      return;
    addOutput("precision.largest", "float", maxima);
    addOutput("precision.overflows", "int32", counts);
  }

private:
  static Value largerOf(ImplicitLocOpBuilder &body, Value x, Value y) {
    return arith::MaximumFOp::create(body, x, y);
  }
  static Value sumOf(ImplicitLocOpBuilder &body, Value x, Value y) {
    return arith::AddIOp::create(body, x, y);
  }
  /// From |x|, zero where it is not finite; whether f16 cannot hold x; and what
  /// is known so far.
  using Step = Value (*)(ImplicitLocOpBuilder &, Value, Value, Value);
  static Value keepLargest(ImplicitLocOpBuilder &body, Value x, Value,
                           Value so) {
    return largerOf(body, so, x);
  }
  static Value countExceeding(ImplicitLocOpBuilder &body, Value, Value exceeds,
                              Value so) {
    Value one = arith::ExtUIOp::create(body, body.getI32Type(), exceeds);
    return sumOf(body, so, one);
  }

  /// Of all elements, over all iterations where the value is in a loop.
  Value find(Value value, TypedAttr start, Step step) {
    value = carry.now(value);
    ImplicitLocOpBuilder at(b.getLoc(),
                            value.getParentBlock()->getTerminator());
    Value found = reduce(at, value, scalarTensor(at, start), step);
    while (found.getParentBlock() != &function.getBody().front())
      found = carry.out(found, start, step == keepLargest ? largerOf : sumOf);
    return found;
  }

  void add(Value &sum, Value found, CombineScalars combine) {
    sum = sum ? joinScalars(back->getBlock(), carry.now(sum), found, combine)
              : found;
  }

  static Value reduce(ImplicitLocOpBuilder &b, Value value, Value start,
                      Step step) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    AffineMap maps[] = {b.getMultiDimIdentityMap(rank),
                        AffineMap::get(rank, 0, b.getContext())};
    SmallVector<utils::IteratorType> loops(rank,
                                           utils::IteratorType::reduction);
    return linalg::GenericOp::create(
               b, start.getType(), value, start, maps, loops,
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
  CarryScalars carry;
  SmallVector<Value> maxima, counts;
};

/// Who rounds what; before anything is added to the program.
struct Rounding {
  unsigned source;
  SmallVector<Value> values;
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
  std::vector<Rounding> roundings;
  for (const ValueClass &of : graph.classes()) {
    if (PrecisionGraph::agreed(of, decisions) != NumberType::F16)
      continue;
    for (Value value : of.values)
      if (!isMovement(value.getDefiningOp()))
        roundings.push_back(
            {producerOf(value, graph, of.nodes.front()), {value}});
  }
  // What it multiplies is rounded for a contraction, whoever computed it.
  for (const PrecisionOp &entry : graph.ops())
    if (entry.isContraction && entry.converts && entry.reads &&
        decisions.nodes[entry.node].type == NumberType::F16)
      roundings.push_back(
          {entry.node,
           llvm::filter_to_vector(entry.op.getDpsInputs(), [](Value value) {
             return !isConstantBehindReshapes(value);
           })});
  for (auto &[source, values] : roundings) {
    size_t count = values.size();
    llvm::erase_if(values, [](Value value) {
      return !CarryScalars::reaches(value.getParentBlock());
    });
    if (values.size() != count &&
        !llvm::is_contained(decisions.unobserved, source))
      decisions.unobserved.push_back(source);
  }
  RangeOutputs outputs(function, decisions);
  for (auto &[source, values] : roundings)
    if (!values.empty())
      outputs.addSite(source, values);
  outputs.add();
}
