// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is rounded and back where its site's switch is on. A contraction with
// constant weights is there twice, in the low type and as it is, and the switch
// chooses which of them runs: so weights are prepared while compiling, either
// way, and a run takes no longer than the program that it stands for.
#include "SimulatePrecision.h"
#include "LowOperands.h"
#include "ashlar/Analysis/Reshapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;

namespace {
class Simulation {
public:
  Simulation(func::FuncOp function, PrecisionDecisions &decisions)
      : function(function), decisions(decisions), b(function.getContext()),
        operands(function.getContext()) {}

  /// All readers of `value` get it rounded, where the site says so.
  void roundReads(Value value, size_t site, Type to) {
    b.setInsertionPointAfterValue(value);
    Value chosen = choose(value, site, to);
    Operation *op = chosen.getDefiningOp();
    value.replaceUsesWithIf(chosen, [&](OpOperand &use) {
      return use.getOwner() != op && !isa<tensor::DimOp>(use.getOwner());
    });
  }

  void roundOperand(OpOperand &operand, size_t site, Type to) {
    b.setInsertionPoint(operand.getOwner());
    operand.set(choose(operand.get(), site, to));
  }

  /// Runs `op` or one that multiplies rounded operands, as the site says.
  void chooseProducts(linalg::GenericOp op, size_t site, Type to) {
    b.setInsertionPoint(op);
    Location location = op.getLoc();
    Value init = tensor::EmptyOp::create(b, location, ArrayRef<int64_t>(),
                                         b.getI1Type());
    AffineMap scalar = AffineMap::get(0, 0, b.getContext());
    Value isOn = linalg::GenericOp::create(
                     b, location, init.getType(), switchOf(site, location),
                     init, ArrayRef<AffineMap>{scalar, scalar},
                     ArrayRef<utils::IteratorType>(),
                     [&](OpBuilder &inner, Location at, ValueRange x) {
                       ImplicitLocOpBuilder body(at, inner);
                       linalg::YieldOp::create(body, isNotZero(body, x[0]));
                     })
                     .getResult(0);
    Value condition = tensor::ExtractOp::create(b, location, isOn);
    auto branches = scf::IfOp::create(b, location, op.getResultTypes(),
                                      condition, /*withElseRegion=*/true);
    op.getResult(0).replaceAllUsesWith(branches.getResult(0));
    OpBuilder then = branches.getThenBodyBuilder();
    auto low = cast<linalg::GenericOp>(then.clone(*op));
    OpBuilder otherwise = branches.getElseBodyBuilder();
    scf::YieldOp::create(then, location, low.getResults());
    op->moveBefore(scf::YieldOp::create(otherwise, location, op.getResults()));
    operands.lowerInputs(low, to);
    LowOperands::extendReads(low);
    for (linalg::GenericOp each : {low, op})
      startWithin(each);
  }

  /// Returns its number.
  size_t addSite(ArrayRef<unsigned> nodes) {
    decisions.sites.push_back({{nodes.begin(), nodes.end()}});
    flags.emplace_back();
    return flags.size() - 1;
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
  Value switchOf(size_t site, Location location) {
    auto flag = tensor::EmptyOp::create(b, location, ArrayRef<int64_t>(),
                                        b.getF32Type());
    flags[site].push_back(flag);
    return flag;
  }

  static Value isNotZero(ImplicitLocOpBuilder &body, Value flag) {
    Value zero = arith::ConstantOp::create(body, body.getF32FloatAttr(0));
    return arith::CmpFOp::create(body, arith::CmpFPredicate::UNE, flag, zero);
  }

  /// What the sums start with belongs to the branch that adds them up.
  void startWithin(linalg::GenericOp op) {
    OpOperand *init = op.getDpsInitOperand(0);
    auto fill = init->get().getDefiningOp<linalg::FillOp>();
    if (!fill)
      return;
    OpBuilder before(op);
    IRMapping within;
    if (Operation *empty =
            fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
      before.clone(*empty, within);
    init->set(before.clone(*fill, within)->getResult(0));
  }

  Value choose(Value value, size_t site, Type to) {
    Location location = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    Value flag = switchOf(site, location);
    Value init = emptyLike(b, value, b.getF32Type());
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
                 Value chosen = arith::SelectOp::create(
                     body, isNotZero(body, x[1]), back, x[0]);
                 linalg::YieldOp::create(body, chosen);
               })
        .getResult(0);
  }

  func::FuncOp function;
  PrecisionDecisions &decisions;
  OpBuilder b;
  LowOperands operands;
  /// What stands for each site's switch until there is an input.
  std::vector<SmallVector<Operation *>> flags;
};
} // namespace

/// Whether nobody but contractions reads a class, each of which would round it
/// anyway: then it adds no error.
static bool onlyFeedsProducts(const PrecisionGraph &graph,
                              const ValueClass &of) {
  return llvm::all_of(of.values, [&](Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      if (isMovement(use.getOwner()) || isa<tensor::DimOp>(use.getOwner()))
        return true;
      const PrecisionOp *reader = graph.readerOf(use);
      return reader && reader->isContraction && reader->converts &&
             reader->reads;
    });
  });
}

void ashlar::simulatePrecision(const PrecisionGraph &graph,
                               func::FuncOp function,
                               PrecisionDecisions &decisions) {
  Simulation simulation(function, decisions);
  // Before there are more readers than the program has.
  DenseSet<Value> stored;
  for (const ValueClass &of : graph.classes())
    for (Value value :
         onlyFeedsProducts(graph, of) ? ArrayRef<Value>() : ArrayRef(of.values))
      if (value.getDefiningOp() && !isMovement(value.getDefiningOp()) &&
          !staysInRegisters(value))
        stored.insert(value);
  auto typeOfNode = [&](unsigned node) {
    return typeOf(decisions.nodes[node].type, function.getContext());
  };
  auto hasWeights = [&](const PrecisionOp &contraction) {
    return llvm::any_of(contraction.op.getDpsInputs(),
                        isConstantBehindReshapes) &&
           contraction.op->getBlock() == &function.getBody().front();
  };
  SmallVector<std::pair<const PrecisionOp *, size_t>> twice;
  DenseMap<const ValueClass *, SmallVector<const PrecisionOp *>> multiplying;
  for (const PrecisionOp &entry : graph.ops())
    if (entry.isContraction && !entry.converts && entry.reads &&
        hasWeights(entry))
      for (Value input : entry.op.getDpsInputs())
        if (const ValueClass *of = graph.classOf(input))
          multiplying[of].push_back(&entry);
  for (const PrecisionOp &entry : graph.ops()) {
    if (!entry.isContraction || !entry.converts || !entry.reads)
      continue;
    size_t site = simulation.addSite(entry.node);
    if (hasWeights(entry)) {
      twice.push_back({&entry, site});
      continue;
    }
    for (OpOperand *operand : linalg::GenericOp(entry.op).getDpsInputOperands())
      simulation.roundOperand(*operand, site, typeOfNode(entry.node));
  }
  // What is picked from rounded constants is rounded.
  for (const PrecisionOp &entry : graph.ops())
    if (entry.gathers && entry.reads && entry.op->getNumResults() == 1 &&
        getElementTypeOrSelf(entry.op.getResult(0)).isF32())
      simulation.roundReads(entry.op.getResult(0),
                            simulation.addSite(entry.node),
                            typeOfNode(entry.node));
  for (const ValueClass &of : graph.classes()) {
    NumberType type = PrecisionGraph::agreed(of, decisions);
    if (type == NumberType::F32)
      continue;
    auto isRounded = [&](Value value) { return stored.contains(value); };
    if (llvm::none_of(of.values, isRounded))
      continue;
    size_t site = simulation.addSite(of.nodes);
    for (Value value : of.values)
      if (isRounded(value))
        simulation.roundReads(value, site, typeOf(type, function.getContext()));
  }
  // Now that everybody reads what it would, rounded or not.
  for (auto [entry, site] : twice)
    simulation.chooseProducts(entry->op, site, typeOfNode(entry->node));
  simulation.addInput();
}
