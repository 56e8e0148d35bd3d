// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each value of a graph gets a name for how it is computed: a number that
// stands for the operation, its attributes and the names and shapes of its
// operands. Values of two graphs that have one name are equal.
#include "ModelGraph.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace ashlar;

namespace {
using Number = std::optional<int64_t>;
using Name = unsigned;

class Naming {
public:
  /// Graphs that are compared share `known`.
  Naming(const ModelGraph &graph, ArrayRef<Number> numbers,
         llvm::StringMap<Name> &known, bool areNumbersOwn)
      : graph(graph), numbers(numbers), known(known),
        missing(areNumbersOwn ? "own" : "?"), names(graph.values.size()) {}

  /// The name of all that a function returns and does.
  Name nameFunction(size_t i);
  Name nameOf(unsigned value) const { return names[value]; }
  std::string spellType(unsigned value) const;

private:
  Name intern(const std::string &text) {
    return known.try_emplace(text, known.size()).first->second;
  }
  ArrayRef<Number> of(ModelGraph::Numbers where) const {
    return numbers.slice(where.begin, where.count);
  }
  ArrayRef<Number> shapeOf(unsigned value) const {
    return of(graph.values[value].shape);
  }
  std::string spell(ArrayRef<Number> numbers) const;
  const ModelGraph::Attribute *find(const ModelGraph::Op &op,
                                    StringRef name) const;
  std::string nameBlock(const ModelGraph::Block &block, unsigned depth);
  void nameOp(const ModelGraph::Op &op, unsigned depth, std::string &effects);
  std::optional<Name> nameAsOperand(const ModelGraph::Op &op) const;
  bool isWholeSlice(const ModelGraph::Op &op) const;
  bool movesOnlyOnes(const ModelGraph::Op &op) const;
  std::optional<std::string> spellGeneric(const ModelGraph::Op &op,
                                          unsigned depth,
                                          std::optional<Name> &copied);
  std::string spellPlain(const ModelGraph::Op &op, unsigned depth);

  const ModelGraph &graph;
  ArrayRef<Number> numbers;
  llvm::StringMap<Name> &known;
  std::string missing; ///< how a number that is not there is spelled
  std::vector<Name> names;
  /// In a linalg.generic whose sizes are all known: the number of each loop
  /// among those of more than one step; nothing for one of a single step.
  std::vector<Number> loops;
};
} // namespace

std::string Naming::spell(ArrayRef<Number> numbers) const {
  std::string text;
  for (Number number : numbers)
    text += (number ? std::to_string(*number) : missing) + ",";
  return text;
}

/// Of numbers that are all the same, the first.
static ArrayRef<Number> once(ArrayRef<Number> numbers) {
  return llvm::all_equal(numbers) ? numbers.take_front(1) : numbers;
}

std::string Naming::spellType(unsigned value) const {
  const ModelGraph::Value &of = graph.values[value];
  return of.isTensor ? "[" + spell(shapeOf(value)) + "]" + of.type : of.type;
}

const ModelGraph::Attribute *Naming::find(const ModelGraph::Op &op,
                                          StringRef name) const {
  for (const ModelGraph::Attribute &attribute : op.attributes)
    if (attribute.name == name)
      return &attribute;
  return nullptr;
}

bool Naming::isWholeSlice(const ModelGraph::Op &op) const {
  auto all = [&](StringRef name, auto &&holds) {
    const ModelGraph::Attribute *attribute = find(op, name);
    return attribute && llvm::all_of(of(attribute->numbers), holds);
  };
  const ModelGraph::Attribute *sizes = find(op, "static_sizes");
  return op.operands.size() == 1 && sizes &&
         of(sizes->numbers) == shapeOf(op.operands[0]) &&
         llvm::all_of(of(sizes->numbers), [](Number n) { return n; }) &&
         all("static_offsets", [](Number n) { return n == 0; }) &&
         all("static_strides", [](Number n) { return n == 1; });
}

/// Whether a transpose leaves the elements in their order.
bool Naming::movesOnlyOnes(const ModelGraph::Op &op) const {
  const ModelGraph::Attribute *order = find(op, "permutation");
  if (!order)
    return false;
  ArrayRef<Number> shape = shapeOf(op.operands[0]);
  int64_t last = -1;
  for (Number dim : of(order->numbers)) {
    if (!dim)
      return false;
    if (shape[*dim] == 1)
      continue;
    if (*dim < last)
      return false;
    last = *dim;
  }
  return true;
}

/// Where the result has the elements of the first operand, in their order.
std::optional<Name> Naming::nameAsOperand(const ModelGraph::Op &op) const {
  bool isSame = llvm::StringSwitch<bool>(op.name)
                    .Cases({"tensor.expand_shape", "tensor.collapse_shape",
                            "tensor.cast"},
                           true)
                    .Case("tensor.extract_slice", isWholeSlice(op))
                    .Case("linalg.transpose", movesOnlyOnes(op))
                    .Default(false);
  return isSame ? std::optional(names[op.operands[0]]) : std::nullopt;
}

/// Loops of one step are left out, and with them dims of one. Nothing where a
/// size is not known.
std::optional<std::string> Naming::spellGeneric(const ModelGraph::Op &op,
                                                unsigned depth,
                                                std::optional<Name> &copied) {
  unsigned count = op.maps.front().getNumDims();
  std::vector<Number> extents(count);
  for (auto [operand, map] : llvm::zip_equal(op.operands, op.maps)) {
    for (auto [size, expr] :
         llvm::zip_equal(graph.values[operand].isTensor ? shapeOf(operand)
                                                        : ArrayRef<Number>(),
                         map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        if (!size)
          return std::nullopt;
        extents[dim.getPosition()] = size;
      }
  }
  MLIRContext *context = op.maps.front().getContext();
  std::vector<Number> outer = std::exchange(loops, {});
  SmallVector<AffineExpr> replacements;
  int64_t kept = 0;
  for (Number extent : extents) {
    loops.push_back(extent == 1 ? Number() : kept++);
    replacements.push_back(loops.back()
                               ? getAffineDimExpr(*loops.back(), context)
                               : getAffineConstantExpr(0, context));
  }
  std::string text;
  std::vector<bool> isIdentity;
  llvm::raw_string_ostream stream(text);
  stream << "generic " << kept << ":";
  for (Number extent : extents)
    if (extent != 1)
      stream << spell(extent);
  bool isParallel = true;
  if (const ModelGraph::Attribute *kinds = find(op, "iterator_types")) {
    SmallVector<StringRef> each;
    StringRef(kinds->text).split(each, ',');
    for (auto [extent, kind] : llvm::zip_equal(extents, each))
      if (extent != 1) {
        bool isReduction = kind.contains("reduction");
        isParallel &= !isReduction;
        stream << (isReduction ? "r" : "p");
      }
  }
  for (auto [operand, map] : llvm::zip_equal(op.operands, op.maps)) {
    stream << " " << names[operand] << graph.values[operand].type << "(";
    int64_t next = 0;
    bool inOrder = true;
    if (graph.values[operand].isTensor)
      for (auto [size, expr] :
           llvm::zip_equal(shapeOf(operand), map.getResults())) {
        if (size == 1)
          continue;
        AffineExpr index = simplifyAffineExpr(expr.replaceDims(replacements),
                                              kept, map.getNumSymbols());
        inOrder &= index == getAffineDimExpr(next++, context);
        stream << spell(size) << index << ";";
      }
    isIdentity.push_back(inOrder && next == kept);
    stream << ")";
  }
  for (const ModelGraph::Block &block : op.blocks)
    stream << nameBlock(block, depth + 1);
  loops = std::move(outer);
  // A copy of an operand.
  const ModelGraph::Block &body = op.blocks.front();
  if (isParallel && isIdentity.back() && op.results.size() == 1 &&
      body.ops.size() == 1)
    for (auto [i, argument] : llvm::enumerate(body.arguments))
      if (isIdentity[i] && body.ops[0].operands[0] == argument)
        copied = names[op.operands[i]];
  return text;
}

std::string Naming::spellPlain(const ModelGraph::Op &op, unsigned depth) {
  std::string text = op.name;
  for (const ModelGraph::Attribute &attribute : op.attributes)
    // How much a pad adds at the end follows from the rest.
    if (op.name != "tensor.pad" || attribute.name != "static_high")
      text += " " + attribute.name + "=" + attribute.text +
              spell(op.name == "arith.constant" ? once(of(attribute.numbers))
                                                : of(attribute.numbers));
  for (unsigned operand : op.operands)
    text += " " + std::to_string(names[operand]) + spellType(operand);
  // Where all elements are one number, the shape is not part of it.
  if (op.name != "arith.constant")
    for (unsigned result : op.results)
      text += " " + spellType(result);
  else
    text += graph.values[op.results[0]].type;
  // An index in a body is one of its own operation's loops.
  std::vector<Number> outer = loops;
  if (!op.maps.empty())
    loops.clear();
  for (const ModelGraph::Block &block : op.blocks)
    text += nameBlock(block, depth + 1);
  loops = std::move(outer);
  return text;
}

void Naming::nameOp(const ModelGraph::Op &op, unsigned depth,
                    std::string &effects) {
  auto isEmpty = [&](unsigned value) {
    return graph.values[value].isTensor &&
           llvm::is_contained(shapeOf(value), Number(0));
  };
  std::string text;
  std::optional<Name> same = nameAsOperand(op);
  if (!op.isOrdered && llvm::all_of(op.results, isEmpty))
    text = "no elements";
  else if (op.name == "tensor.empty")
    text = "any elements";
  else if (op.name == "linalg.index" && !loops.empty()) {
    Number loop = loops[*of(op.attributes[0].numbers)[0]];
    text = "index " + (loop ? std::to_string(*loop) : "0");
  } else if (!op.maps.empty()) {
    if (auto spelled = spellGeneric(op, depth, same))
      text = *spelled;
  }
  if (text.empty() && !same)
    text = spellPlain(op, depth);
  Name name = same ? *same : intern(text);
  if (op.isOrdered)
    effects += std::to_string(name) + ";";
  for (auto [i, result] : llvm::enumerate(op.results))
    names[result] =
        i == 0 ? name
               : intern(std::to_string(name) + " result " + std::to_string(i));
}

std::string Naming::nameBlock(const ModelGraph::Block &block, unsigned depth) {
  for (auto [i, argument] : llvm::enumerate(block.arguments))
    names[argument] =
        intern("argument " + std::to_string(depth) + "." + std::to_string(i));
  std::string effects = " {";
  for (const ModelGraph::Op &op : block.ops)
    nameOp(op, depth, effects);
  return effects + "}";
}

Name Naming::nameFunction(size_t i) {
  std::string types;
  for (unsigned argument : graph.functions[i].arguments)
    types += spellType(argument);
  return intern(graph.names[i] + types + nameBlock(graph.functions[i], 0));
}

/// What makes a result of which the shape alone differs.
static const ModelGraph::Op *lastDifferent(const ModelGraph::Block &block,
                                           const Naming &naming,
                                           const ModelGraph::Block &found,
                                           const Naming &other) {
  const ModelGraph::Op &end = block.ops.back();
  for (auto [value, theirs] :
       llvm::zip(end.operands, found.ops.back().operands))
    if (naming.spellType(value) != other.spellType(theirs))
      for (const ModelGraph::Op &op : block.ops)
        if (llvm::is_contained(op.results, value))
          return &op;
  return &end;
}

const std::string *ashlar::findDifference(const ModelGraph &expected,
                                          ArrayRef<Number> numbers,
                                          const ModelGraph &found) {
  llvm::StringMap<Name> known;
  std::vector<Number> own(found.numbers.begin(), found.numbers.end());
  Naming naming(expected, numbers, known, false);
  Naming other(found, own, known, true);
  std::vector<Name> theirs;
  for (size_t i = 0; i != found.functions.size(); ++i)
    theirs.push_back(other.nameFunction(i));
  size_t before = known.size();
  assert(theirs.size() == expected.functions.size() &&
         "other entries at another size");
  for (size_t i = 0; i != expected.functions.size(); ++i) {
    if (naming.nameFunction(i) == theirs[i])
      continue;
    // The first that has a name of its own, if one of a node's there is one.
    const ModelGraph::Op *first = nullptr;
    for (const ModelGraph::Op &op : expected.functions[i].ops)
      for (unsigned result : op.results)
        if (naming.nameOf(result) >= before &&
            (!first || (op.isOfNode && !first->isOfNode)))
          first = &op;
    if (first)
      return &first->node;
    return &lastDifferent(expected.functions[i], naming, found.functions[i],
                          other)
                ->node;
  }
  return nullptr;
}
