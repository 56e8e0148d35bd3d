// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what the precision graph says into the types of the program.
#include "HalfRange.h"
#include "LowOperands.h"
#include "PrecisionGraph.h"
#include "SimulatePrecision.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Precision/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_LOWERPRECISIONPASS
#include "ashlar/Transforms/Precision/Passes.h.inc"
} // namespace ashlar

namespace {
/// One program on its way to lower types.
class TypeLowering {
public:
  TypeLowering(const PrecisionGraph &graph, const PrecisionDecisions &decisions,
               MLIRContext *context)
      : graph(graph), decisions(decisions), b(context), operands(context) {}

  void run() {
    // Before anything changes, whoever has a class is asked for it.
    for (const PrecisionOp &entry : graph.ops())
      if (graph.lowersOperands(entry, decisions))
        contractions.push_back(&entry);
    for (const ValueClass &of : graph.classes()) {
      NumberType type = PrecisionGraph::agreed(of, decisions);
      if (type != NumberType::F32)
        for (Value value : of.values)
          lowered.push_back({value, typeOf(type, b.getContext())});
    }
    for (auto &[value, element] : lowered)
      lowerProducer(value, element);
    for (const PrecisionOp *entry : contractions)
      operands.lowerInputs(
          entry->op, typeOf(decisions.nodes[entry->node].type, b.getContext()));
    for (const PrecisionOp &entry : graph.ops()) {
      if (entry.gathers && entry.reads)
        entry.op.walk([&](tensor::ExtractOp extract) {
          operands.lower(
              extract.getTensorMutable(),
              typeOf(decisions.nodes[entry.node].type, b.getContext()));
        });
      LowOperands::extendReads(entry.op);
    }
  }

  unsigned numLow() const { return lowered.size(); }
  unsigned numConversions() const { return operands.numConversions(); }

private:
  void lowerProducer(Value value, Type element) {
    Operation *op = value.getDefiningOp();
    b.setInsertionPoint(op);
    if (isMovement(op))
      return lowerMovement(op, element);
    auto generic = cast<linalg::GenericOp>(op);
    OpOperand *init = generic.getDpsInitOperand(0);
    if (isContraction(generic) ||
        (!isSelection(generic) && generic.payloadUsesValueFromOperand(init))) {
      // The sums stay f32; what is stored is rounded behind them.
      b.setInsertionPointAfter(op);
      Value rounded = convert(b, value, element);
      replaceReads(value, rounded);
      return;
    }
    BlockArgument out = generic.getMatchingBlockArgument(init);
    Operation *yield = generic.getBody()->getTerminator();
    OpBuilder inner(yield);
    out.setType(element);
    if (isSelection(generic)) {
      // It rounds nothing, and chooses among what has the type already.
      init->set(convertStart(init->get(), element));
      generic.getBody()->getArgument(0).setType(element);
      generic.getBody()->front().getResult(0).setType(element);
    } else {
      init->set(emptyLike(b, init->get(), element));
      yield->setOperand(
          0, round(inner, generic.getLoc(), yield->getOperand(0), element));
    }
    value.setType(withElements(value, element));
  }

  /// Where a reduction starts, in its new type.
  Value convertStart(Value start, Type element) {
    auto fill = start.getDefiningOp<linalg::FillOp>();
    FloatAttr constant;
    if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&constant)))
      return convert(b, start, element);
    Value scalar = arith::ConstantOp::create(
        b, fill.getLoc(),
        FloatAttr::get(element, rounded(constant.getValue(), element)));
    return linalg::FillOp::create(b, fill.getLoc(), scalar,
                                  emptyLike(b, start, element))
        .getResult(0);
  }

  void lowerMovement(Operation *op, Type element) {
    for (OpOperand &operand : op->getOpOperands())
      if (llvm::is_contained(movedBy(op), operand.get()) &&
          isConstantBehindReshapes(operand.get()))
        operands.lower(operand, element);
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      OpOperand *init = generic.getDpsInitOperand(0);
      init->set(emptyLike(b, init->get(), element));
      for (BlockArgument argument : generic.getBody()->getArguments())
        argument.setType(element);
    } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      Operation *yield = pad.getRegion().front().getTerminator();
      FloatAttr margin;
      [[maybe_unused]] bool isKnown =
          matchPattern(pad.getConstantPaddingValue(), m_Constant(&margin));
      assert(isKnown && "a pad moves where its margin is constant");
      Value constant = arith::ConstantOp::create(
          b, pad.getLoc(),
          FloatAttr::get(element, rounded(margin.getValue(), element)));
      yield->setOperand(0, constant);
    }
    op->getResult(0).setType(withElements(op->getResult(0), element));
  }

  void replaceReads(Value value, Value by) {
    value.replaceUsesWithIf(by, [&](OpOperand &use) {
      return use.getOwner() != by.getDefiningOp() &&
             !isa<tensor::DimOp>(use.getOwner());
    });
  }

  const PrecisionGraph &graph;
  const PrecisionDecisions &decisions;
  OpBuilder b;
  SmallVector<const PrecisionOp *> contractions;
  SmallVector<std::pair<Value, Type>> lowered;
  LowOperands operands;
};

/// Indices are clamped to what they pick from: that is the range which the
/// graph accepts.
void findLargestInputs(func::FuncOp function, PrecisionDecisions &decisions) {
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      "ashlar.name");
    if (!name || !isa<IntegerType>(getElementTypeOrSelf(argument.getType())))
      continue;
    for (Operation *user : argument.getUsers())
      user->walk([&](Operation *inner) {
        APInt bound;
        if (isa<arith::MinSIOp, arith::MinUIOp>(inner) &&
            matchPattern(inner->getOperand(1), m_ConstantInt(&bound)))
          decisions.largestInputs[name.str()] = bound.getSExtValue();
      });
  }
}

struct LowerPrecision : ashlar::impl::LowerPrecisionPassBase<LowerPrecision> {
  using LowerPrecisionPassBase::LowerPrecisionPassBase;
  explicit LowerPrecision(const LowerPrecisionOptions &options)
      : options(options) {}

  LogicalResult initialize(MLIRContext *context) override {
    return readMachineOption(context, machineName, options.machine);
  }
  void runOnOperation() override {
    NumberType low = options.low;
    if (!type.empty() && !parseNumberType(type, low)) {
      emitError(getOperation().getLoc())
          << "'" << type << "' is no type; expected f32, bf16 or f16";
      return signalPassFailure();
    }
    // What rules say depends on the type that a plan names.
    auto lowOf = [&](const std::string &node) {
      if (!options.plan)
        return low;
      auto line = options.plan->nodes.find(node);
      if (line != options.plan->nodes.end() &&
          line->second.type != NumberType::F32)
        return line->second.type;
      return low == NumberType::F32 ? NumberType::BF16 : low;
    };
    PrecisionDecisions decisions;
    std::vector<std::unique_ptr<PrecisionGraph>> graphs;
    for (auto function : getOperation().getOps<func::FuncOp>())
      graphs.push_back(std::make_unique<PrecisionGraph>(
          function, lowOf, options.machine, options.lowElsewhere, decisions));
    decide(decisions);
    if (options.simulate || options.observe)
      for (auto function : getOperation().getOps<func::FuncOp>())
        findLargestInputs(function, decisions);
    for (auto &graph : graphs)
      keepHalvesInRange(*graph, decisions);
    for (auto &graph : graphs) {
      graph->settle(decisions);
      graph->markLow(decisions);
      explain(*graph, decisions);
      if (options.simulate || options.observe) {
        if (options.simulate)
          simulatePrecision(*graph, graph->function(), decisions);
        if (options.observe)
          observeRanges(*graph, graph->function(), decisions);
        continue;
      }
      TypeLowering lowering(*graph, decisions, &getContext());
      lowering.run();
      numLow += lowering.numLow();
      numConversions += lowering.numConversions();
    }
    if (options.decisions)
      *options.decisions = std::move(decisions);
  }

private:
  void decide(PrecisionDecisions &decisions) {
    for (PrecisionNode &node : decisions.nodes)
      node.type = options.plan ? NumberType::F32 : node.byRule;
    if (!options.plan)
      return;
    llvm::StringMap<PrecisionNode *> byName;
    for (PrecisionNode &node : decisions.nodes)
      byName[node.name] = &node;
    for (const auto &[name, line] : options.plan->nodes) {
      auto found = byName.find(name);
      if (found == byName.end())
        decisions.unknown.push_back("line " + std::to_string(line.number) +
                                    ": node '" + name +
                                    "' computes nothing in f32 in this model");
      else {
        found->second->type = line.type;
        found->second->reason = line.reason;
      }
    }
  }

  void explain(const PrecisionGraph &graph,
               const PrecisionDecisions &decisions) {
    if (!wantsRemarks(getOperation()))
      return;
    for (const PrecisionOp &entry : graph.ops()) {
      const PrecisionNode &node = decisions.nodes[entry.node];
      remark::analysis(entry.op.getLoc(),
                       about(entry.op, "Precision", "precision"))
          << remark::metric("Type", std::string(spell(node.type)))
          << (entry.reads ? ": reads" : ": does not read")
          << (entry.writes ? " and writes" : " or write") << " it by the rule '"
          << remark::metric("Rule", std::string(entry.rule->name))
          << "': " << std::string(entry.rule->why);
    }
  }

  LowerPrecisionOptions options;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createLowerPrecisionPass(const LowerPrecisionOptions &options) {
  return std::make_unique<LowerPrecision>(options);
}
