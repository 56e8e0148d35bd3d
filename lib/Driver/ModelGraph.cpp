// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ModelGraph.h"
#include "ProgramSizes.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ashlar;

namespace {
class Reader {
public:
  Reader(ModelGraph &graph, MLIRContext *context)
      : graph(graph), context(context) {}

  void read(ModuleOp model) {
    for (auto function : model.getOps<FunctionOpInterface>()) {
      if (function.isExternal())
        continue;
      markLive(function.getFunctionBody().front());
      graph.names.push_back(function.getName().str());
      graph.functions.push_back(readBlock(function.getFunctionBody().front()));
    }
  }

private:
  void markLive(mlir::Block &block);
  ModelGraph::Block readBlock(mlir::Block &block);
  ModelGraph::Op readOp(Operation *op);
  unsigned number(Value value);
  ModelGraph::Numbers add(ArrayRef<int64_t> numbers);
  AffineExpr bring(AffineExpr expr);
  AffineMap bring(AffineMap map);

  ModelGraph &graph;
  MLIRContext *context;
  llvm::DenseMap<Value, unsigned> numberOf;
  llvm::DenseSet<Value> liveValues;
  llvm::DenseSet<Operation *> liveOps;
};
} // namespace

static bool isOrdered(Operation *op) {
  return op->getNumResults() == 0 || !isMemoryEffectFree(op);
}

/// Backwards, so that users come before what they use.
void Reader::markLive(mlir::Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    if (!isOrdered(&op) && llvm::none_of(op.getResults(), [&](Value result) {
          return liveValues.contains(result);
        }))
      continue;
    liveOps.insert(&op);
    for (Region &region : op.getRegions())
      for (mlir::Block &inner : llvm::reverse(region))
        markLive(inner);
    liveValues.insert(op.operand_begin(), op.operand_end());
  }
}

ModelGraph::Numbers Reader::add(ArrayRef<int64_t> numbers) {
  ModelGraph::Numbers where{graph.numbers.size(), numbers.size()};
  graph.numbers.insert(graph.numbers.end(), numbers.begin(), numbers.end());
  return where;
}

unsigned Reader::number(Value value) {
  auto [it, isNew] = numberOf.try_emplace(value, graph.values.size());
  if (!isNew)
    return it->second;
  ModelGraph::Value added;
  Type type = value.getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    added.isTensor = true;
    added.shape = add(tensor.getShape());
    type = tensor.getElementType();
  }
  llvm::raw_string_ostream(added.type) << type;
  graph.values.push_back(std::move(added));
  return it->second;
}

/// An expression of another context.
AffineExpr Reader::bring(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getAffineConstantExpr(constant.getValue(), context);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getAffineDimExpr(dim.getPosition(), context);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getAffineSymbolExpr(symbol.getPosition(), context);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return getAffineBinaryOpExpr(binary.getKind(), bring(binary.getLHS()),
                               bring(binary.getRHS()));
}

AffineMap Reader::bring(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(bring(result));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                        context);
}

ModelGraph::Op Reader::readOp(Operation *op) {
  ModelGraph::Op read;
  read.name = op->getName().getStringRef().str();
  read.node = nodeName(op->getLoc());
  read.isOfNode = !nodeNames(op->getLoc()).empty();
  read.isOrdered = isOrdered(op);
  for (Value operand : op->getOperands())
    read.operands.push_back(number(operand));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (generic)
    for (AffineMap map : generic.getIndexingMapsArray())
      read.maps.push_back(bring(map));
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (attribute.getName() == apartAttrName ||
        (generic && attribute.getName() == generic.getIndexingMapsAttrName()))
      continue;
    ModelGraph::Attribute added{attribute.getName().str(), "", {}};
    SmallVector<int64_t> numbers;
    auto elements = dyn_cast<DenseIntElementsAttr>(attribute.getValue());
    // A shape is a splat at some sizes only.
    if (elements && elements.getNumElements() <= 64)
      for (const APInt &element : elements)
        numbers.push_back(element.getSExtValue());
    if (!numbers.empty() || readNumbers(attribute.getValue(), numbers))
      added.numbers = add(numbers);
    else
      llvm::raw_string_ostream(added.text) << attribute.getValue();
    read.attributes.push_back(std::move(added));
  }
  for (Region &region : op->getRegions())
    for (mlir::Block &block : region)
      read.blocks.push_back(readBlock(block));
  for (Value result : op->getResults())
    read.results.push_back(number(result));
  return read;
}

ModelGraph::Block Reader::readBlock(mlir::Block &block) {
  ModelGraph::Block read;
  for (BlockArgument argument : block.getArguments())
    read.arguments.push_back(number(argument));
  for (Operation &op : block)
    if (liveOps.contains(&op))
      read.ops.push_back(readOp(&op));
  return read;
}

ModelGraph::ModelGraph(ModuleOp model, MLIRContext *context) {
  Reader(*this, context).read(model);
}

namespace {
/// Puts numbers of one graph in the places of another's.
class Alignment {
public:
  Alignment(const ModelGraph &first, const ModelGraph &other)
      : first(first), other(other), aligned(first.numbers.size()) {}

  bool place(ModelGraph::Numbers to, ModelGraph::Numbers from) {
    auto own = ArrayRef(first.numbers).slice(to.begin, to.count);
    auto theirs = ArrayRef(other.numbers).slice(from.begin, from.count);
    auto result = aligned.begin() + to.begin;
    if (own.size() == theirs.size()) {
      llvm::copy(theirs, result);
      return true;
    }
    if (own.empty() || theirs.empty() || !llvm::all_equal(own) ||
        !llvm::all_equal(theirs))
      return false;
    std::fill_n(result, own.size(), theirs[0]);
    return true;
  }
  bool place(const ModelGraph::Block &to, const ModelGraph::Block &from) {
    return to.ops.size() == from.ops.size() &&
           llvm::all_of(llvm::zip(to.ops, from.ops), [&](auto pair) {
             return place(std::get<0>(pair), std::get<1>(pair));
           });
  }
  std::vector<int64_t> take() { return std::move(aligned); }

private:
  bool place(const ModelGraph::Op &to, const ModelGraph::Op &from) {
    if (to.name != from.name ||
        to.attributes.size() != from.attributes.size() ||
        to.blocks.size() != from.blocks.size())
      return false;
    for (auto [own, theirs] : llvm::zip(to.attributes, from.attributes))
      if (own.name != theirs.name || !place(own.numbers, theirs.numbers))
        return false;
    for (auto [own, theirs] : llvm::zip(to.blocks, from.blocks))
      if (!place(own, theirs))
        return false;
    return true;
  }

  const ModelGraph &first, &other;
  std::vector<int64_t> aligned;
};
} // namespace

std::optional<std::vector<int64_t>>
ashlar::numbersLike(const ModelGraph &first, const ModelGraph &other) {
  if (first.values.size() != other.values.size() ||
      first.functions.size() != other.functions.size())
    return std::nullopt;
  Alignment alignment(first, other);
  for (auto [own, theirs] : llvm::zip(first.values, other.values))
    if (!alignment.place(own.shape, theirs.shape))
      return std::nullopt;
  for (auto [own, theirs] : llvm::zip(first.functions, other.functions))
    if (!alignment.place(own, theirs))
      return std::nullopt;
  return alignment.take();
}

/// Whether the op adds and multiplies, or moves.
static bool isLinear(StringRef name) {
  return name.starts_with("tensor.") ||
         llvm::is_contained({"arith.constant", "arith.addi", "arith.subi",
                             "arith.muli", "arith.extsi", "arith.trunci",
                             "arith.index_cast", "linalg.generic",
                             "linalg.fill", "linalg.yield"},
                            name);
}

const std::string *ashlar::findSizeDecision(const ModelGraph &graph,
                                            llvm::ArrayRef<bool> isFixed) {
  // Of each value: whether it hangs on constants alone, and on sizes.
  std::vector<bool> isConstant(graph.values.size()), isSized(isConstant);
  for (const ModelGraph::Block &function : graph.functions)
    for (const ModelGraph::Op &op : function.ops) {
      bool constant =
          llvm::all_of(op.operands, [&](unsigned i) { return isConstant[i]; });
      bool sized =
          llvm::any_of(op.operands, [&](unsigned i) { return isSized[i]; });
      if (op.name == "arith.constant")
        for (const ModelGraph::Attribute &attribute : op.attributes)
          for (size_t i = 0; i != attribute.numbers.count; ++i)
            sized |= !isFixed[attribute.numbers.begin + i];
      for (unsigned result : op.results) {
        isConstant[result] = constant;
        isSized[result] = sized;
      }
      if (!constant || !sized)
        continue;
      bool decides = !isLinear(op.name);
      for (const ModelGraph::Block &block : op.blocks)
        for (const ModelGraph::Op &inner : block.ops)
          decides |= !isLinear(inner.name);
      if (decides)
        return &op.node;
    }
  return nullptr;
}
