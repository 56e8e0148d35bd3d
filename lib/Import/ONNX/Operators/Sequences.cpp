// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sequences and optionals. They exist while the model is imported and not
// afterwards: how many tensors a sequence holds, and which one is asked for,
// must be known. A loop that builds one is written out.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Tensors that a sequence made here may have, and nodes that mapping one may
/// make.
static constexpr int64_t maximumLength = 4096, maximumMappedNodes = 8192;

/// The tensors of a sequence operand.
static FailureOr<SmallVector<ImportedValue>> elementsOf(NodeImporter &node,
                                                        unsigned i) {
  ImportedValue operand = node.importedOperand(i);
  if (operand.kind == ImportedValue::Sequence)
    return llvm::to_vector_of<ImportedValue>(*operand.elements);
  return node.invalid("input " + Twine(i) + " is no sequence");
}

/// A position given by operand i, of `count` places; `otherwise` when absent.
static FailureOr<int64_t> positionOf(NodeImporter &node, unsigned i,
                                     int64_t count, int64_t otherwise) {
  if (!node.hasOperand(i))
    return otherwise;
  FailureOr<SmallVector<int64_t>> given = node.constantInts(i, "the position");
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return node.invalid("the position (input " + Twine(i) +
                        ") has more than one element");
  int64_t at = given->front() < 0 ? given->front() + count : given->front();
  if (at < 0 || at >= count)
    return node.invalid("position " + Twine(given->front()) +
                        " is outside of a sequence with " + Twine(count) +
                        " places");
  return at;
}

static LogicalResult importConstruct(NodeImporter &node) {
  SmallVector<ImportedValue> elements;
  for (unsigned i = 0; i != node.numOperands(); ++i)
    elements.push_back(node.importedOperand(i));
  node.setSequence(0, elements);
  return success();
}

static LogicalResult importEmpty(NodeImporter &node) {
  node.setSequence(0, {});
  return success();
}

static LogicalResult importInsert(NodeImporter &node) {
  auto elements = elementsOf(node, 0);
  if (failed(elements))
    return failure();
  int64_t count = elements->size();
  // One place more than there are tensors; a negative one counts from the end.
  int64_t at = count;
  if (node.hasOperand(2)) {
    FailureOr<SmallVector<int64_t>> given =
        node.constantInts(2, "the position");
    if (failed(given))
      return failure();
    at = given->size() != 1   ? -1 - count
         : given->front() < 0 ? given->front() + count
                              : given->front();
    if (at < 0 || at > count)
      return node.invalid("the position (input 2) is outside of a sequence "
                          "with " +
                          Twine(count) + " tensors");
  }
  elements->insert(elements->begin() + at, node.importedOperand(1));
  node.setSequence(0, *elements);
  return success();
}

static LogicalResult importErase(NodeImporter &node) {
  auto elements = elementsOf(node, 0);
  if (failed(elements))
    return failure();
  int64_t count = elements->size();
  if (count == 0)
    return node.invalid("the sequence (input 0) is empty");
  auto at = positionOf(node, 1, count, count - 1);
  if (failed(at))
    return failure();
  elements->erase(elements->begin() + *at);
  node.setSequence(0, *elements);
  return success();
}

static LogicalResult importAt(NodeImporter &node) {
  auto elements = elementsOf(node, 0);
  if (failed(elements))
    return failure();
  auto at = positionOf(node, 1, elements->size(), 0);
  if (failed(at))
    return failure();
  node.setResult(0, (*elements)[*at]);
  return success();
}

static LogicalResult importLength(NodeImporter &node) {
  auto elements = elementsOf(node, 0);
  if (failed(elements))
    return failure();
  node.setResult(0, constantTensor(node.b, {int64_t(elements->size())}, {}),
                 ElementType::I64);
  return success();
}

static LogicalResult importConcatFromSequence(NodeImporter &node) {
  auto elements = elementsOf(node, 0);
  if (failed(elements))
    return failure();
  if (elements->empty())
    return node.invalid("the sequence (input 0) is empty");
  bool isNew = node.intAttribute("new_axis", 0) != 0;
  auto first = cast<RankedTensorType>(elements->front().value.getType());
  auto axis =
      node.normalizeAxis(node.intAttribute("axis", 0), first.getRank() + isNew);
  if (failed(axis))
    return failure();
  SmallVector<Value> parts;
  for (auto [i, element] : llvm::enumerate(*elements)) {
    auto type = cast<RankedTensorType>(element.value.getType());
    bool agrees = element.type == elements->front().type &&
                  type.getRank() == first.getRank();
    for (int64_t d = 0; agrees && d != type.getRank(); ++d)
      agrees =
          (!isNew && d == *axis) || type.getDimSize(d) == first.getDimSize(d);
    if (!element.sizes.empty())
      return node.unsupportedSize("a size of tensor " + Twine(i) +
                                  " of the sequence depends on data");
    if (!agrees)
      return node.invalid("tensor " + Twine(i) + " of the sequence has shape " +
                          spellShape(type.getShape()) +
                          ", which does not go with " +
                          spellShape(first.getShape()));
    SmallVector<int64_t> shape(type.getShape());
    if (isNew)
      shape.insert(shape.begin() + *axis, 1);
    parts.push_back(reshape(node.b, element.value, shape));
  }
  node.setResult(0, concat(node.b, parts, *axis), elements->front().type);
  return success();
}

static LogicalResult importSplitToSequence(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 1)))
    return failure();
  auto axis = node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
  if (failed(axis))
    return failure();
  int64_t dim = node.shape(0)[*axis];
  SmallVector<int64_t> sizes;
  bool keeps = true;
  if (!node.hasOperand(1)) {
    sizes.assign(std::min(dim, maximumLength + 1), 1);
    keeps = node.intAttribute("keepdims", 1) != 0;
  } else {
    auto given = node.constantInts(1, "the sizes of the parts");
    if (failed(given))
      return failure();
    sizes = *given;
    // One number is the size of all parts but the last.
    if (node.rank(1) == 0) {
      int64_t part = sizes[0];
      if (part < 1)
        return node.invalid("the size of the parts (input 1) is " +
                            Twine(part) + "; expected at least 1");
      sizes.clear();
      for (int64_t left = dim;
           left > 0 && int64_t(sizes.size()) <= maximumLength; left -= part)
        sizes.push_back(std::min(part, left));
    }
  }
  if (int64_t(sizes.size()) > maximumLength)
    return node.unsupported("a sequence of more than " + Twine(maximumLength) +
                            " tensors");
  int64_t sum = 0;
  for (int64_t size : sizes)
    if (size < 0 || (sum += size) > dim)
      return node.invalid("the sizes of the parts (input 1) do not add up to " +
                          Twine(dim));
  if (sum != dim)
    return node.invalid("the sizes of the parts (input 1) add up to " +
                        Twine(sum) + ", but the axis has " + Twine(dim));
  SmallVector<ImportedValue> parts;
  SmallVector<int64_t> offsets(node.rank(0), 0), shape(node.shape(0)),
      strides(node.rank(0), 1);
  for (int64_t size : sizes) {
    shape[*axis] = size;
    Value part = slice(node.b, node.operand(0), offsets, shape, strides);
    if (!keeps) {
      SmallVector<int64_t> rest(shape);
      rest.erase(rest.begin() + *axis);
      part = reshape(node.b, part, rest);
    }
    parts.push_back({part, node.operandType(0)});
    offsets[*axis] += size;
  }
  node.setSequence(0, parts);
  return success();
}

/// The body for each place of the sequences; a tensor is the same in all.
static LogicalResult importMap(NodeImporter &node) {
  auto first = elementsOf(node, 0);
  const onnx::GraphProto *body = node.graphAttribute("body");
  if (failed(first) || !body)
    return failure();
  if (unsigned(body->input_size()) != node.numOperands() ||
      unsigned(body->output_size()) < node.numResults())
    return node.invalid(
        "the body has " + Twine(body->input_size()) + " inputs and " +
        Twine(body->output_size()) + " outputs, but the node has " +
        Twine(node.numOperands()) + " and " + Twine(node.numResults()));
  SmallVector<ImportedValue> operands;
  for (unsigned i = 0; i != node.numOperands(); ++i) {
    operands.push_back(node.importedOperand(i));
    if (operands[i].kind == ImportedValue::Sequence &&
        operands[i].elements->size() != first->size())
      return node.invalid("input " + Twine(i) + " has " +
                          Twine(operands[i].elements->size()) +
                          " tensors, input 0 has " + Twine(first->size()));
  }
  if (int64_t(first->size()) * body->node_size() > maximumMappedNodes)
    return node.unsupported("more than " + Twine(maximumMappedNodes) +
                            " nodes for all tensors of the sequence");
  SmallVector<SmallVector<ImportedValue>> made(node.numResults());
  for (size_t at = 0; at != first->size(); ++at) {
    SmallVector<ImportedValue> arguments;
    for (const ImportedValue &operand : operands)
      arguments.push_back(operand.kind == ImportedValue::Sequence
                              ? (*operand.elements)[at]
                              : operand);
    auto results = node.importGraph(*body, arguments, node.resultBlock());
    if (failed(results))
      return failure();
    for (auto [all, result] : llvm::zip(made, *results))
      all.push_back(result);
  }
  for (auto [i, all] : llvm::enumerate(made))
    node.setSequence(i, all);
  return success();
}

static LogicalResult importOptional(NodeImporter &node) {
  if (node.hasOperand(0))
    node.setOptional(0, node.importedOperand(0));
  else
    node.setOptional(0, {});
  return success();
}

static LogicalResult importHasElement(NodeImporter &node) {
  bool has = node.hasOperand(0) &&
             node.importedOperand(0).kind != ImportedValue::Nothing;
  auto type = RankedTensorType::get({}, node.b.getI1Type());
  node.setResult(
      0, arith::ConstantOp::create(node.b, DenseElementsAttr::get(type, has)),
      ElementType::Bool);
  return success();
}

static LogicalResult importGetElement(NodeImporter &node) {
  ImportedValue operand = node.importedOperand(0);
  if (operand.kind == ImportedValue::Nothing)
    return node.invalid("the optional (input 0) holds nothing");
  node.setImported(0, operand.kind == ImportedValue::Something
                          ? operand.elements->front()
                          : operand);
  return success();
}

void ashlar::onnx_import::registerSequencesOperators(
    OperatorRegistry &registry) {
  registry.add("ConcatFromSequence", 11, importConcatFromSequence);
  registry.add("Optional", 15, importOptional);
  registry.add("OptionalGetElement", 15, importGetElement);
  registry.add("OptionalHasElement", 15, importHasElement);
  registry.add("SequenceAt", 11, importAt);
  registry.add("SequenceConstruct", 11, importConstruct);
  registry.add("SequenceEmpty", 11, importEmpty);
  registry.add("SequenceErase", 11, importErase);
  registry.add("SequenceInsert", 11, importInsert);
  registry.add("SequenceLength", 11, importLength);
  registry.add("SequenceMap", 17, importMap);
  registry.add("SplitToSequence", 11, importSplitToSequence);
}
