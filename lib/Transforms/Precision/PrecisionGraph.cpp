// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PrecisionGraph.h"
#include "HalfRange.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Copies.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Analysis/Sums.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ashlar;

/// Smaller products gain less than a kernel that converts their operands costs.
static constexpr int64_t fewProducts = 1 << 16;
/// Smaller weights and values are in a near cache whatever they are.
static constexpr int64_t fewBytes = 1 << 16;
static constexpr int64_t fewElements = 2048;

bool ashlar::isMovement(Operation *op) {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return bool(pad.getConstantPaddingValue());
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return isCopy(generic);
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::ConcatOp, tensor::CastOp>(op);
}

SmallVector<Value> ashlar::movedBy(Operation *op) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return llvm::to_vector(concat.getInputs());
  return {op->getOperand(0)};
}

/// Whether an elementwise op reads this, element by element.
static bool readsInPlace(OpOperand &use) {
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  return reader && reader.getNumReductionLoops() == 0 && !isCopy(reader) &&
         reader.getNumDpsInits() == 1 && reader.isDpsInput(&use) &&
         reader.getMatchingIndexingMap(&use) ==
             reader.getMatchingIndexingMap(reader.getDpsInitOperand(0));
}

/// Whether a reduction reads each element of this once, as the norm of a row
/// does: what computes them becomes part of it.
static bool reducesInPlace(OpOperand &use) {
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  return reader && reader.getNumReductionLoops() != 0 &&
         reader.getNumDpsInputs() == 1 && reader.isDpsInput(&use) &&
         reader.getMatchingIndexingMap(&use).isIdentity();
}

/// Whether an elementwise op is part of a contraction's kernel, which no
/// reduction becomes part of.
static bool followsContraction(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    auto before = input.getDefiningOp<linalg::GenericOp>();
    return before && !isCopy(before) && staysInRegisters(input) &&
           (isContraction(before) || followsContraction(before));
  });
}

bool ashlar::staysInRegisters(Value value) {
  auto producer = value.getDefiningOp<linalg::GenericOp>();
  if (!producer || value.use_empty() || isCopy(producer))
    return false;
  Block *block = producer->getBlock();
  auto isHere = [&](OpOperand &use) {
    return use.getOwner()->getBlock() == block;
  };
  if (value.hasOneUse() && reducesInPlace(*value.use_begin()) &&
      producer.getNumReductionLoops() == 0)
    return isHere(*value.use_begin()) && !followsContraction(producer);
  if (producer.getNumReductionLoops() != 0 && !isContraction(producer))
    return false;
  // All ways from here, such as those of x * sigmoid(x), lead to one op.
  SmallVector<Operation *> ways;
  auto follow = [&](Value from) {
    for (OpOperand &use : from.getUses()) {
      if (!readsInPlace(use) || !isHere(use) || followsOtherSums(use))
        return false;
      if (!llvm::is_contained(ways, use.getOwner()))
        ways.push_back(use.getOwner());
    }
    return !from.use_empty();
  };
  constexpr unsigned mostSteps = 32;
  bool isInPlace = follow(value);
  for (unsigned step = 0; isInPlace && ways.size() != 1; ++step) {
    auto first = llvm::min_element(
        ways, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    Operation *op = *first;
    ways.erase(first);
    isInPlace = step != mostSteps && follow(op->getResult(0));
  }
  return isInPlace;
}

static bool isCandidate(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32() &&
         !isConstantBehindReshapes(value);
}

double ashlar::multiplyRate(const MachineModel &machine, NumberType type,
                            int64_t *group) {
  std::string name = spell(type);
  const MultiplyUnit *unit = machine.unit({name, name, "f32"});
  if (!unit || !machine.hasFeatures(unit->requiredFeatures)) {
    unit = machine.unit({"f32", "f32", "f32"});
    if (group)
      *group = 1;
    return unit ? unit->flopsPerCycle() / 2 : 1;
  }
  if (group)
    *group = unit->k;
  return unit->flopsPerCycle() / 2;
}

static int64_t productsOf(linalg::GenericOp op) {
  int64_t products = 1;
  for (int64_t range : op.getStaticLoopRanges())
    if (ShapedType::isDynamic(range) ||
        llvm::MulOverflow(products, std::max<int64_t>(range, 1), products))
      return 0;
  return products;
}

static int64_t constantBytes(linalg::GenericOp op) {
  int64_t bytes = 0;
  for (Value input : op.getDpsInputs())
    if (isConstantBehindReshapes(input))
      bytes += byteSize(input.getType());
  return bytes;
}

/// Whether all that the body picks comes from large constants of f32.
static bool gathersConstant(linalg::GenericOp op) {
  bool any = false, all = true;
  op.walk([&](tensor::ExtractOp extract) {
    any = true;
    Value source = extract.getTensor();
    all &= getElementTypeOrSelf(source).isF32() &&
           isConstantBehindReshapes(source) &&
           byteSize(source.getType()) >= fewBytes;
  });
  return any && all;
}

/// Whether units that add up several products at once can take this one: some
/// reduced dim runs along both operands, and results share what they read.
static bool fitsGroups(linalg::GenericOp op, int64_t group) {
  AffineMap a = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap b = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  bool terms = false, rows = false, columns = false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [dim, loop] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool inA = a.isFunctionOfDim(dim), inB = b.isFunctionOfDim(dim);
    auto isPlain = [&, d = dim](AffineMap map) {
      return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
        auto found = dyn_cast<AffineDimExpr>(expr);
        return found && found.getPosition() == d;
      });
    };
    if (loop == utils::IteratorType::reduction)
      terms |= isPlain(a) && isPlain(b) && ranges[dim] % group == 0;
    else {
      rows |= inA && !inB;
      columns |= inB && !inA;
    }
  }
  return terms && (rows || columns);
}

unsigned PrecisionGraph::numberOf(Value value) {
  auto [it, isNew] = valueNumbers.try_emplace(value, values.size());
  if (isNew) {
    values.push_back(value);
    parents.push_back(it->second);
  }
  return it->second;
}

unsigned PrecisionGraph::find(unsigned number) const {
  while (parents[number] != number)
    number = parents[number];
  return number;
}

void PrecisionGraph::unite(Value x, Value y) {
  unsigned first = find(numberOf(x)), second = find(numberOf(y));
  // The earlier value stands for the class.
  parents[std::max(first, second)] = std::min(first, second);
}

/// The node that an op belongs to: what was fused later counts less.
static std::string nodeOf(Operation *op) {
  std::vector<std::string> names = nodeNames(op->getLoc());
  return names.empty() ? nodeName(op->getLoc()) : names.front();
}

PrecisionGraph::PrecisionGraph(func::FuncOp function, LowType lowOf,
                               const MachineModel &machine,
                               ArrayRef<NumberType> lowElsewhere,
                               PrecisionDecisions &decisions)
    : owner(function) {
  llvm::StringMap<unsigned> nodeNumbers;
  for (auto [i, node] : llvm::enumerate(decisions.nodes))
    nodeNumbers[node.name] = i;
  SensitiveOps sensitive;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isMovement(op)) {
      if (!isCandidate(op->getResult(0)))
        return;
      numberOf(op->getResult(0));
      for (Value source : movedBy(op))
        if (isCandidate(source))
          unite(op->getResult(0), source);
      return;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !generic.hasPureTensorSemantics())
      return;
    std::string name = nodeOf(op);
    NumberType low = lowOf(name);
    const PrecisionRule &rule = sensitive.classify(generic, low);
    bool anyFloat = llvm::any_of(op->getResults(), isCandidate) ||
                    llvm::any_of(generic.getDpsInputs(), isCandidate);
    if (!anyFloat)
      return;
    for (Value result : op->getResults())
      if (isCandidate(result))
        numberOf(result);
    if (isSelection(generic) && isCandidate(generic.getDpsInputs()[0]))
      unite(op->getResult(0), generic.getDpsInputs()[0]);
    auto [it, isNew] =
        nodeNumbers.try_emplace(name, unsigned(decisions.nodes.size()));
    if (isNew)
      decisions.nodes.push_back({name, {}, {}, {}, {}, 0});
    PrecisionNode &node = decisions.nodes[it->second];
    if (!llvm::is_contained(node.rules, rule.name))
      node.rules.push_back(rule.name);
    if (rule.reads || rule.writes)
      node.byRule = low;
    opNumbers[op] = computing.size();
    PrecisionOp entry{generic, &rule, it->second, low};
    entry.isContraction = isContraction(generic);
    if (entry.isContraction) {
      int64_t group = 1;
      multiplyRate(machine, low, &group);
      bool gains = (group > 1 && fitsGroups(generic, group)) ||
                   llvm::is_contained(lowElsewhere, low);
      entry.converts = (gains && productsOf(generic) >= fewProducts) ||
                       constantBytes(generic) >= fewBytes;
    }
    entry.gathers = gathersConstant(generic);
    computing.push_back(entry);
  });
  predictGains(decisions, machine);
}

void PrecisionGraph::predictGains(PrecisionDecisions &decisions,
                                  const MachineModel &machine) const {
  double wide = multiplyRate(machine, NumberType::F32);
  double bytesPerCycle = machine.readBytesPerCycle(machine.memories.back());
  if (!(bytesPerCycle > 0))
    bytesPerCycle = 8;
  for (const PrecisionOp &entry : computing) {
    double saved = 0;
    for (Value result : entry.op->getResults())
      if (isCandidate(result) && !staysInRegisters(result) &&
          cast<RankedTensorType>(result.getType()).hasStaticShape())
        saved += double(byteSize(result.getType())) / 2 / bytesPerCycle;
    if (entry.isContraction) {
      decisions.cycles += double(productsOf(entry.op)) / wide;
      saved += double(constantBytes(entry.op)) / 2 / bytesPerCycle;
      int64_t group = 1;
      double narrow = multiplyRate(machine, entry.low, &group);
      if (group > 1 && fitsGroups(entry.op, group))
        saved += double(productsOf(entry.op)) * (1 / wide - 1 / narrow);
    }
    decisions.nodes[entry.node].gain += saved;
  }
}

const PrecisionOp *PrecisionGraph::readerOf(OpOperand &use) const {
  // A body may read elements of tensors that it does not name as operands.
  for (Operation *op = use.getOwner(); op && op != owner;
       op = op->getParentOp())
    if (auto found = opNumbers.find(op); found != opNumbers.end())
      return &computing[found->second];
  return nullptr;
}

/// How a use of a value of f32 counts.
enum class Say { None, Node, Pins };

static Say sayOf(OpOperand &use, const PrecisionOp *reader) {
  Operation *owner = use.getOwner();
  if (isMovement(owner)) {
    bool isInit = isa<linalg::GenericOp>(owner) && use.getOperandNumber() != 0;
    return isInit || isCandidate(owner->getResult(0)) ? Say::None : Say::Pins;
  }
  if (isa<tensor::DimOp>(owner))
    return Say::None;
  if (!reader)
    return Say::Pins;
  if (reader->op != owner)
    return isa<tensor::ExtractOp>(owner) ? Say::Node : Say::Pins;
  if (reader->op.isDpsInput(&use))
    return Say::Node;
  return reader->op.payloadUsesValueFromOperand(&use) ? Say::Pins : Say::None;
}

/// Whether constants join what `op` moves that f16 cannot hold.
static bool movesBeyondHalf(Operation *op) {
  if (!isMovement(op))
    return false;
  auto pad = dyn_cast<tensor::PadOp>(op);
  APFloat margin(0.0f);
  if (pad &&
      matchPattern(pad.getConstantPaddingValue(), m_ConstantFloat(&margin)) &&
      exceedsHalf(margin))
    return true;
  return llvm::any_of(movedBy(op), [](Value source) {
    return largestConstant(source) >= firstInfiniteHalf;
  });
}

void PrecisionGraph::settle(const PrecisionDecisions &decisions) {
  for (PrecisionOp &entry : computing) {
    const PrecisionNode &node = decisions.nodes[entry.node];
    bool wished = node.byRule == NumberType::F32;
    bool isLow = node.type != NumberType::F32;
    entry.reads = isLow && (entry.rule->reads || wished);
    // What a reduction adds up in stays f32 whatever one wishes.
    entry.writes = isLow &&
                   (entry.rule->writes ||
                    (wished && entry.op.getNumReductionLoops() == 0)) &&
                   entry.op->getNumResults() == 1;
  }
  bool anyHalf = llvm::any_of(decisions.nodes, [](const PrecisionNode &node) {
    return node.type == NumberType::F16;
  });
  all.clear();
  classNumbers.assign(values.size(), 0);
  for (unsigned number = 0; number != values.size(); ++number) {
    unsigned root = find(number);
    if (root == number) {
      classNumbers[number] = all.size();
      all.emplace_back();
    } else {
      classNumbers[number] = classNumbers[root];
    }
    Value value = values[number];
    ValueClass &of = all[classNumbers[number]];
    of.values.push_back(value);
    auto say = [&](const PrecisionOp *who, bool agrees) {
      if (!who || !agrees)
        of.isPinned = true;
      else if (!llvm::is_contained(of.nodes, who->node))
        of.nodes.push_back(who->node);
    };
    auto type = cast<RankedTensorType>(value.getType());
    of.isWorth |= type.hasStaticShape() && type.getNumElements() >= fewElements;
    Operation *producer = value.getDefiningOp();
    if (!producer || (anyHalf && movesBeyondHalf(producer)))
      of.isPinned = true;
    else if (!isMovement(producer)) {
      auto found = opNumbers.find(producer);
      const PrecisionOp *who =
          found == opNumbers.end() ? nullptr : &computing[found->second];
      say(who, who && who->writes);
    }
    for (OpOperand &use : value.getUses()) {
      const PrecisionOp *reader = readerOf(use);
      Say counts = sayOf(use, reader);
      if (counts == Say::Pins)
        of.isPinned = true;
      if (counts != Say::Node)
        continue;
      say(reader, reader->reads);
      of.isWorth |= reader->isContraction && reader->converts;
    }
  }
  // In the order of the program, not of uses.
  for (ValueClass &of : all)
    llvm::sort(of.nodes);
}

const ValueClass *PrecisionGraph::classOf(Value value) const {
  auto found = valueNumbers.find(value);
  return found == valueNumbers.end() ? nullptr
                                     : &all[classNumbers[found->second]];
}

NumberType PrecisionGraph::agreed(const ValueClass &of,
                                  const PrecisionDecisions &decisions) {
  if (of.isPinned || !of.isWorth || of.nodes.empty())
    return NumberType::F32;
  NumberType type = decisions.nodes[of.nodes.front()].type;
  for (unsigned node : of.nodes)
    if (decisions.nodes[node].type != type)
      return NumberType::F32;
  return type;
}

bool PrecisionGraph::lowersOperands(const PrecisionOp &contraction,
                                    const PrecisionDecisions &decisions) const {
  if (!contraction.isContraction || !contraction.reads)
    return false;
  if (contraction.converts)
    return true;
  return llvm::any_of(contraction.op.getDpsInputs(), [&](Value input) {
    const ValueClass *of = classOf(input);
    return of && agreed(*of, decisions) != NumberType::F32;
  });
}

void PrecisionGraph::markLow(PrecisionDecisions &decisions) const {
  for (const PrecisionOp &entry : computing)
    if (lowersOperands(entry, decisions) || (entry.gathers && entry.reads))
      decisions.nodes[entry.node].isLow = true;
  // What stays in registers is not rounded, whatever its type.
  auto isStored = [](Value value) {
    Operation *op = value.getDefiningOp();
    return op && !isMovement(op) && !staysInRegisters(value);
  };
  for (const ValueClass &of : all)
    if (agreed(of, decisions) != NumberType::F32 &&
        llvm::any_of(of.values, isStored))
      for (unsigned node : of.nodes)
        decisions.nodes[node].isLow = true;
}
