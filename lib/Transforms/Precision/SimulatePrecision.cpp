// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimulatePrecision.h"
#include "ashlar/Analysis/Reshapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;

namespace {
class Simulation {
public:
  Simulation(func::FuncOp function, PrecisionDecisions &decisions)
      : function(function), decisions(decisions), b(function.getContext()) {}

  /// All readers of `value` get it rounded, where the last site says so.
  void roundReads(Value value, Type to) {
    b.setInsertionPointAfterValue(value);
    Value chosen = choose(value, to);
    Operation *op = chosen.getDefiningOp();
    value.replaceUsesWithIf(chosen, [&](OpOperand &use) {
      return use.getOwner() != op && !isa<tensor::DimOp>(use.getOwner());
    });
  }

  void roundOperand(OpOperand &operand, Type to) {
    b.setInsertionPoint(operand.getOwner());
    operand.set(choose(operand.get(), to));
  }

  void addSite(ArrayRef<unsigned> nodes) {
    decisions.sites.push_back({{nodes.begin(), nodes.end()}});
    flags.emplace_back();
  }

  /// Once their number is known, the switches become an input.
  void addInput() {
    int64_t count = decisions.sites.size();
    auto type = RankedTensorType::get({count}, b.getF32Type());
    unsigned index = function.getNumArguments();
    Location location = NameLoc::get(b.getStringAttr("precision.sites"));
    NamedAttribute attributes[] = {
        b.getNamedAttr("ashlar.name", b.getStringAttr("precision.sites")),
        b.getNamedAttr("ashlar.type", b.getStringAttr("float"))};
    (void)function.insertArgument(index, type, b.getDictionaryAttr(attributes),
                                  location);
    b.setInsertionPointToStart(&function.getBody().front());
    for (auto [site, uses] : llvm::enumerate(flags)) {
      if (uses.empty())
        continue;
      auto one = RankedTensorType::get({1}, b.getF32Type());
      Value slice = tensor::ExtractSliceOp::create(
          b, location, one, function.getArgument(index),
          ArrayRef<OpFoldResult>(b.getIndexAttr(site)),
          ArrayRef<OpFoldResult>(b.getIndexAttr(1)),
          ArrayRef<OpFoldResult>(b.getIndexAttr(1)));
      Value flag = tensor::CollapseShapeOp::create(
          b, location, RankedTensorType::get({}, b.getF32Type()), slice,
          ArrayRef<ReassociationIndices>());
      for (Operation *placeholder : uses) {
        placeholder->getResult(0).replaceAllUsesWith(flag);
        placeholder->erase();
      }
    }
  }

private:
  Value choose(Value value, Type to) {
    Location location = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    auto flag = tensor::EmptyOp::create(b, location, ArrayRef<int64_t>(),
                                        b.getF32Type());
    flags.back().push_back(flag);
    Value init =
        tensor::EmptyOp::create(b, location, type.getShape(), b.getF32Type());
    AffineMap same = b.getMultiDimIdentityMap(type.getRank());
    AffineMap scalar = AffineMap::get(type.getRank(), 0, b.getContext());
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, location, type, ValueRange{value, flag}, init,
               ArrayRef<AffineMap>{same, scalar, same}, loops,
               [&](OpBuilder &inner, Location at, ValueRange x) {
                 ImplicitLocOpBuilder body(at, inner);
                 Value low = arith::TruncFOp::create(body, to, x[0]);
                 Value back =
                     arith::ExtFOp::create(body, body.getF32Type(), low);
                 Value zero =
                     arith::ConstantOp::create(body, body.getF32FloatAttr(0));
                 Value isOn = arith::CmpFOp::create(
                     body, arith::CmpFPredicate::UNE, x[1], zero);
                 Value chosen = arith::SelectOp::create(body, isOn, back, x[0]);
                 linalg::YieldOp::create(body, chosen);
               })
        .getResult(0);
  }

  func::FuncOp function;
  PrecisionDecisions &decisions;
  OpBuilder b;
  /// What stands for each site's switch until there is an input.
  std::vector<SmallVector<Operation *>> flags;
};
} // namespace

void ashlar::simulatePrecision(const PrecisionGraph &graph,
                               func::FuncOp function,
                               PrecisionDecisions &decisions) {
  Simulation simulation(function, decisions);
  // Before there are more readers than the program has.
  DenseSet<Value> stored;
  for (const ValueClass &of : graph.classes())
    for (Value value : of.values)
      if (value.getDefiningOp() && !isMovement(value.getDefiningOp()) &&
          !staysInRegisters(value))
        stored.insert(value);
  auto typeOf = [&](NumberType type) -> Type {
    return type == NumberType::BF16
               ? Type(BFloat16Type::get(function.getContext()))
               : Type(Float16Type::get(function.getContext()));
  };
  for (const PrecisionOp &entry : graph.ops()) {
    if (!entry.isContraction || !entry.converts || !entry.reads)
      continue;
    simulation.addSite(entry.node);
    for (OpOperand *operand : linalg::GenericOp(entry.op).getDpsInputOperands())
      simulation.roundOperand(*operand,
                              typeOf(decisions.nodes[entry.node].type));
  }
  // What is picked from rounded constants is rounded.
  for (const PrecisionOp &entry : graph.ops())
    if (entry.gathers && entry.reads && entry.op->getNumResults() == 1 &&
        getElementTypeOrSelf(entry.op.getResult(0)).isF32()) {
      simulation.addSite(entry.node);
      simulation.roundReads(entry.op.getResult(0),
                            typeOf(decisions.nodes[entry.node].type));
    }
  for (const ValueClass &of : graph.classes()) {
    NumberType type = PrecisionGraph::agreed(of, decisions);
    if (type == NumberType::F32)
      continue;
    auto isRounded = [&](Value value) { return stored.contains(value); };
    if (llvm::none_of(of.values, isRounded))
      continue;
    simulation.addSite(of.nodes);
    for (Value value : of.values)
      if (isRounded(value))
        simulation.roundReads(value, typeOf(type));
  }
  simulation.addInput();
}
