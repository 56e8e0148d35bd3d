// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what the precision graph says into the types of the program. Bodies go
// on computing in f32: what they read is extended, what they store is rounded.
// These casts carry `contract`, which says that a value need not be rounded
// where it never leaves the registers: when fusion brings a rounding and its
// extension together, they fold away.
#include "HalfRange.h"
#include "PrecisionGraph.h"
#include "SimulatePrecision.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
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
Type typeOf(NumberType type, MLIRContext *context) {
  switch (type) {
  case NumberType::F32:
    return Float32Type::get(context);
  case NumberType::BF16:
    return BFloat16Type::get(context);
  case NumberType::F16:
    return Float16Type::get(context);
  }
  llvm_unreachable("covered switch");
}

RankedTensorType withElements(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return RankedTensorType::get(type.getShape(), element);
}

Value round(OpBuilder &b, Location location, Value value, Type to) {
  return arith::TruncFOp::create(
      b, location, to, value, arith::RoundingModeAttr(),
      arith::FastMathFlagsAttr::get(b.getContext(),
                                    arith::FastMathFlags::contract));
}

Value extend(OpBuilder &b, Location location, Value value) {
  return arith::ExtFOp::create(
      b, location, b.getF32Type(), value,
      arith::FastMathFlagsAttr::get(b.getContext(),
                                    arith::FastMathFlags::contract));
}

APFloat rounded(APFloat value, Type to) {
  bool loses;
  value.convert(cast<FloatType>(to).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &loses);
  return value;
}

/// The constant, its elements rounded: at once where it is an attribute, while
/// it is written where it lies in a file.
TypedAttr roundConstant(TypedAttr constant, Type to) {
  auto type = cast<RankedTensorType>(constant.getType());
  auto target = RankedTensorType::get(type.getShape(), to);
  if (auto dense = dyn_cast<DenseFPElementsAttr>(constant))
    return cast<TypedAttr>(
        Attribute(dense.mapValues(to, [&](const APFloat &value) {
          return rounded(value, to).bitcastToAPInt();
        })));
  return tile::RoundedAttr::get(constant.getContext(), constant, target);
}

/// One program on its way to lower types.
class TypeLowering {
public:
  TypeLowering(const PrecisionGraph &graph, const PrecisionDecisions &decisions,
               MLIRContext *context)
      : graph(graph), decisions(decisions), b(context) {}

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
      for (OpOperand *operand : entry->op.getDpsInputOperands())
        lowerOperand(*operand,
                     typeOf(decisions.nodes[entry->node].type, b.getContext()));
    for (const PrecisionOp &entry : graph.ops()) {
      if (entry.gathers && entry.reads)
        entry.op.walk([&](tensor::ExtractOp extract) {
          lowerOperand(
              extract.getTensorMutable(),
              typeOf(decisions.nodes[entry.node].type, b.getContext()));
        });
      extendReads(entry.op);
    }
  }

  unsigned numLow() const { return lowered.size(); }
  unsigned numConversions() const { return conversions.size(); }

private:
  Value emptyLike(Value value, Type element) {
    auto sizes = tensor::getMixedSizes(b, value.getLoc(), value);
    return tensor::EmptyOp::create(b, value.getLoc(), sizes, element);
  }

  /// A tensor in another type.
  Value convert(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    Value init = emptyLike(value, element);
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, value.getLoc(), init.getType(), value, init, maps, loops,
               [&](OpBuilder &inner, Location at, ValueRange x) {
                 linalg::YieldOp::create(inner, at,
                                         round(inner, at, x[0], element));
               })
        .getResult(0);
  }

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
      Value rounded = convert(value, element);
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
      init->set(emptyLike(init->get(), element));
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
      return convert(start, element);
    Value scalar = arith::ConstantOp::create(
        b, fill.getLoc(),
        FloatAttr::get(element, rounded(constant.getValue(), element)));
    return linalg::FillOp::create(b, fill.getLoc(), scalar,
                                  emptyLike(start, element))
        .getResult(0);
  }

  void lowerMovement(Operation *op, Type element) {
    for (OpOperand &operand : op->getOpOperands())
      if (llvm::is_contained(movedBy(op), operand.get()) &&
          isConstantBehindReshapes(operand.get()))
        lowerOperand(operand, element);
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      OpOperand *init = generic.getDpsInitOperand(0);
      init->set(emptyLike(init->get(), element));
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

  /// What a contraction multiplies, in its type.
  void lowerOperand(OpOperand &operand, Type element) {
    Value value = operand.get();
    if (!getElementTypeOrSelf(value).isF32())
      return;
    Value &converted = conversions[{value.getAsOpaquePointer(), element}];
    if (!converted) {
      OpBuilder::InsertionGuard guard(b);
      if (TypedAttr constant = constantBehindReshapes(value)) {
        b.setInsertionPoint(behindReshapes(value).getDefiningOp());
        converted = arith::ConstantOp::create(b, value.getLoc(),
                                              roundConstant(constant, element));
      } else {
        b.setInsertionPointAfterValue(value);
        converted = convert(value, element);
      }
    }
    operand.set(converted);
  }

  /// Lets a body work with what its operands have become.
  void extendReads(linalg::GenericOp op) {
    OpBuilder begin = OpBuilder::atBlockBegin(op.getBody());
    for (OpOperand *operand : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(operand);
      Type element = getElementTypeOrSelf(operand->get());
      if (argument.getType() == element)
        continue;
      argument.setType(element);
      if (argument.use_empty())
        continue;
      Value wide = extend(begin, op.getLoc(), argument);
      argument.replaceAllUsesExcept(wide, wide.getDefiningOp());
    }
    op.walk([&](tensor::ExtractOp extract) {
      Type element = getElementTypeOrSelf(extract.getTensor());
      if (extract.getType() == element)
        return;
      extract.getResult().setType(element);
      OpBuilder after(extract->getContext());
      after.setInsertionPointAfter(extract);
      Value wide = extend(after, extract.getLoc(), extract);
      extract.getResult().replaceAllUsesExcept(wide, wide.getDefiningOp());
    });
  }

  const PrecisionGraph &graph;
  const PrecisionDecisions &decisions;
  OpBuilder b;
  SmallVector<const PrecisionOp *> contractions;
  SmallVector<std::pair<Value, Type>> lowered;
  /// Never iterated.
  DenseMap<std::pair<const void *, Type>, Value> conversions;
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
          function, lowOf, options.machine, decisions));
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
