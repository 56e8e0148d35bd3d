// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a graph as a whole, brings its nodes into order and hands each to the
// importer of its operator.
#include "GraphImporter.h"
#include "GraphOrder.h"
#include "RunTimeSizes.h"
#include "Signatures.h"
#include "SizedTensors.h"
#include "SmallTypes.h"
#include "ashlar/Support/ModelNodes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;
using llvm::formatv;

GraphImporter::GraphImporter(const onnx::ModelProto &model, TensorData &data,
                             const ONNXImportOptions &options,
                             SmallVectorImpl<UnsupportedNode> &unsupported,
                             MLIRContext *context)
    : model(model), graph(model.graph()), data(data), options(options),
      unsupported(unsupported), context(context) {}

InFlightDiagnostic GraphImporter::error(const Twine &where) {
  return emitError(NameLoc::get(StringAttr::get(context, where)));
}

const ImportedValue *GraphImporter::lookup(StringRef name) const {
  for (const llvm::StringMap<ImportedValue> &scope : llvm::reverse(scopes))
    if (auto it = scope.find(name); it != scope.end())
      return &it->second;
  return nullptr;
}

void GraphImporter::define(StringRef name, ImportedValue value) {
  scopes.back()[name] = value;
}

int64_t GraphImporter::opsetOf(StringRef domain) const {
  auto it = opsets.find(canonicalDomain(domain));
  return it == opsets.end() ? 0 : it->second;
}

/// Some exporters write -1 for a size that they leave open.
static bool isKnown(const onnx::TensorShapeProto::Dimension &dim) {
  return dim.has_dim_value() && dim.dim_value() != -1;
}

/// "Nx3x?x224" as the model spells it, and "1x3x1x224" as a user might fix it.
static std::pair<std::string, std::string>
spellShape(const onnx::TensorShapeProto &shape) {
  std::string spelled, suggested;
  for (const onnx::TensorShapeProto::Dimension &dim : shape.dim()) {
    bool known = isKnown(dim);
    if (!spelled.empty())
      spelled += "x", suggested += "x";
    spelled += known                     ? std::to_string(dim.dim_value())
               : dim.dim_param().empty() ? "?"
                                         : dim.dim_param();
    suggested += known ? std::to_string(dim.dim_value()) : "1";
  }
  return {spelled, suggested};
}

/// The static shape of an input, from the model and the options. One of rank 1
/// whose number of elements is known has that size.
FailureOr<SmallVector<int64_t>>
GraphImporter::fixShape(const onnx::ValueInfoProto &input,
                        std::optional<int64_t> elements) {
  const onnx::TypeProto::Tensor &tensor = input.type().tensor_type();
  auto [spelled, suggested] = spellShape(tensor.shape());
  SmallVector<int64_t> shape;
  bool isStatic = tensor.has_shape();
  for (const onnx::TensorShapeProto::Dimension &dim : tensor.shape().dim()) {
    bool known = isKnown(dim);
    if (known && dim.dim_value() < 0)
      return error(input.name())
             << "input has a negative dimension, " << dim.dim_value();
    shape.push_back(known ? dim.dim_value() : ShapedType::kDynamic);
    isStatic &= known;
  }
  auto fixed = options.shapes.find(input.name());
  if (fixed != options.shapes.end()) {
    if (tensor.has_shape() && fixed->second.size() != shape.size())
      return error(input.name()) << "--shape gives " << fixed->second.size()
                                 << " dimensions, but the model's input has "
                                 << shape.size() << " (" << spelled << ")";
    for (auto [i, dim] : llvm::enumerate(fixed->second))
      if (i < shape.size() && !ShapedType::isDynamic(shape[i]) &&
          shape[i] != dim)
        return error(input.name())
               << "--shape gives " << dim << " for dimension " << i
               << ", but the model fixes it to " << shape[i];
    return fixed->second;
  }
  if (!isStatic && elements && shape.size() == 1)
    return SmallVector<int64_t>{*elements};
  if (!isStatic)
    return error(input.name())
           << "input has a dynamic shape" << (spelled.empty() ? "" : " (")
           << spelled << (spelled.empty() ? "" : ")")
           << "; fix it with --shape=" << input.name() << "="
           << (suggested.empty() ? "1x3x224x224" : suggested)
           << ", putting your own sizes in";
  return shape;
}

FailureOr<RankedTensorType>
GraphImporter::inputType(const onnx::ValueInfoProto &input, ElementType &type) {
  if (!input.type().has_tensor_type()) {
    StringRef kind = input.type().has_sequence_type()        ? "a sequence"
                     : input.type().has_map_type()           ? "a map"
                     : input.type().has_optional_type()      ? "an optional"
                     : input.type().has_sparse_tensor_type() ? "a sparse tensor"
                                                             : "";
    if (kind.empty())
      return error(input.name()) << "input has no type; expected a tensor";
    reportUnsupported("model input", input.name(), "it is " + kind);
    return failure();
  }
  type = static_cast<ElementType>(input.type().tensor_type().elem_type());
  Type element = convertElementType(context, type);
  if (!isDefinedType(type))
    return error(input.name())
           << "input has element type " << static_cast<int>(type)
           << ", which ONNX does not define";
  if (!element) {
    reportUnsupported("model input", input.name(),
                      "element type " + elementTypeName(type));
    return failure();
  }
  FailureOr<SmallVector<int64_t>> shape = fixShape(input);
  if (failed(shape))
    return failure();
  llvm::Expected<uint64_t> bytes = tensorBytes(element, *shape);
  if (!bytes)
    return error(input.name()) << "input " << llvm::toString(bytes.takeError());
  return RankedTensorType::get(*shape, element);
}

/// Options that are about an input must name one.
LogicalResult GraphImporter::checkOptions() {
  bool good = true;
  auto check = [&](StringRef option, StringRef name) {
    if (llvm::any_of(graph.input(), [&](const onnx::ValueInfoProto &input) {
          return input.name() == name;
        }))
      return;
    InFlightDiagnostic diagnostic = error(name);
    diagnostic << option << " names no input of the model; its inputs are";
    for (const onnx::ValueInfoProto &input : graph.input())
      diagnostic << " '" << input.name() << "'";
    good = false;
  };
  for (auto &[name, shape] : options.shapes)
    check("--shape", name);
  for (auto &[name, value] : options.values)
    check("--value", name);
  return success(good);
}

LogicalResult GraphImporter::importInputs() {
  llvm::StringSet<> initialized;
  for (const onnx::TensorProto &initializer : graph.initializer())
    initialized.insert(initializer.name());
  SmallVector<Type> types;
  SmallVector<std::pair<std::string, ElementType>> named;
  bool failed = false;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    // An input with an initializer has a default, which is what we take.
    if (initialized.contains(input.name()) ||
        options.values.count(input.name()))
      continue;
    ElementType type;
    FailureOr<RankedTensorType> tensorType = inputType(input, type);
    failed |= mlir::failed(tensorType);
    if (mlir::failed(tensorType))
      continue;
    types.push_back(*tensorType);
    named.emplace_back(input.name(), type);
  }
  failed |= mlir::failed(checkOptions());
  // Only now, so that all that is missing is said at once.
  if (failed || !unsupported.empty())
    return failure();
  OpBuilder b(context);
  function.setType(b.getFunctionType(types, {}));
  block = function.addEntryBlock();
  for (auto [argument, input] : llvm::zip(block->getArguments(), named)) {
    argument.setLoc(NameLoc::get(b.getStringAttr(input.first)));
    define(input.first, {argument, input.second});
    function.setArgAttr(argument.getArgNumber(), "ashlar.name",
                        b.getStringAttr(input.first));
    function.setArgAttr(argument.getArgNumber(), "ashlar.type",
                        b.getStringAttr(elementTypeName(input.second)));
  }
  return success();
}

/// An input and the initializer that is its default must agree.
LogicalResult
GraphImporter::checkDefault(const onnx::ValueInfoProto &input,
                            const onnx::TensorProto &initializer) {
  const onnx::TypeProto::Tensor &tensor = input.type().tensor_type();
  auto declared = static_cast<ElementType>(tensor.elem_type());
  auto given = static_cast<ElementType>(initializer.data_type());
  if (declared != ElementType::Undefined && declared != given)
    return error(input.name())
           << "input is declared as " << elementTypeName(declared)
           << ", but its initializer holds " << elementTypeName(given);
  bool agrees = !tensor.has_shape() ||
                tensor.shape().dim_size() == initializer.dims_size();
  for (int i = 0; agrees && i < tensor.shape().dim_size(); ++i)
    agrees = !isKnown(tensor.shape().dim(i)) ||
             tensor.shape().dim(i).dim_value() == initializer.dims(i);
  if (!agrees)
    return error(input.name())
           << "input is declared with shape "
           << spellShape(tensor.shape()).first
           << ", but its initializer has shape "
           << llvm::join(llvm::map_range(
                             initializer.dims(),
                             [](int64_t dim) { return std::to_string(dim); }),
                         "x");
  return success();
}

Value GraphImporter::materialize(ImplicitLocOpBuilder &b,
                                 const onnx::TensorProto &proto,
                                 TypedAttr constant) {
  Value value = arith::ConstantOp::create(b, constant);
  auto type = static_cast<ElementType>(proto.data_type());
  unsigned bits = packedBits(type);
  if (bits == 0 || bits == 8)
    return value;
  SmallVector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  return unpack(b, value, shape, type);
}

LogicalResult GraphImporter::importInitializers(const onnx::GraphProto &graph) {
  OpBuilder b(context);
  b.setInsertionPointToEnd(block);
  llvm::StringMap<const onnx::ValueInfoProto *> inputs;
  for (const onnx::ValueInfoProto &input : graph.input())
    inputs[input.name()] = &input;
  bool failed = false;
  for (const onnx::TensorProto &initializer : graph.initializer()) {
    bool isFixed =
        &graph == &this->graph && options.values.count(initializer.name());
    if (!used.contains(initializer.name()) || isFixed)
      continue;
    auto input = inputs.find(initializer.name());
    if (input != inputs.end() &&
        mlir::failed(checkDefault(*input->second, initializer))) {
      failed = true;
      continue;
    }
    auto attribute = data.convert(initializer, initializer.name());
    if (!attribute) {
      std::string why = llvm::toString(attribute.takeError());
      if (!why.empty())
        error(initializer.name()) << "initializer " << why;
      failed = true;
      continue;
    }
    auto location = NameLoc::get(b.getStringAttr(initializer.name()));
    ImplicitLocOpBuilder located(location, b);
    define(initializer.name(),
           {materialize(located, initializer, *attribute),
            static_cast<ElementType>(initializer.data_type())});
  }
  return failure(failed);
}

LogicalResult GraphImporter::importNode(const onnx::NodeProto &node) {
  StringRef domain = canonicalDomain(node.domain());
  int64_t opset = opsetOf(domain);
  if (const onnx::FunctionProto *function = functions.lookup(node))
    return importCall(node, *function);
  ImplicitLocOpBuilder b(
      NameLoc::get(StringAttr::get(context, displayName(node))), context);
  b.setInsertionPointToEnd(block);

  SmallVector<ElementType> operands;
  for (const std::string &input : node.input())
    operands.push_back(input.empty() ? ElementType::Undefined
                                     : lookup(input)->type);
  while (!operands.empty() && operands.back() == ElementType::Undefined)
    operands.pop_back();
  unsigned results = node.output_size();
  while (results != 0 && node.output(results - 1).empty())
    --results;
  const Signature *signature =
      domain.empty() ? lookupSignature(node.op_type(), opset) : nullptr;
  if (signature) {
    std::string wrong = checkSignature(*signature, operands, results);
    if (!wrong.empty())
      return emitError(b.getLoc()) << node.op_type() << ": " << wrong;
  }

  // Only these know of what is no tensor.
  static const llvm::StringSet<> ofSequences = {
      "ConcatFromSequence", "Identity",           "Loop",
      "Optional",           "OptionalGetElement", "OptionalHasElement",
      "SequenceAt",         "SequenceConstruct",  "SequenceErase",
      "SequenceInsert",     "SequenceLength",     "SequenceMap"};
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand == ElementType::NoTensor &&
        !(domain.empty() && ofSequences.contains(node.op_type()))) {
      reportUnsupported(node, opset,
                        "input " + Twine(i) +
                            " is a sequence or an optional without a tensor");
      return success();
    }

  NodeImporter importer(*this, node, opset, b);
  size_t before = unsupported.size();
  SmallVector<Value> sizes;
  if (failed(inferSizes(importer, domain, sizes)))
    return success(unsupported.size() != before);
  LogicalResult done =
      (*operatorRegistry().lookup(domain, node.op_type(), opset))(importer);
  if (importer.hasMalformedAttribute())
    return failure();
  if (failed(done))
    return success(unsupported.size() != before);
  if (!sizes.empty())
    for (unsigned i = 0; i != (sharesSizes(node.op_type()) ? results : 1); ++i)
      if (!node.output(i).empty() && lookup(node.output(i)))
        setSizes(node.output(i), sizes);
  for (unsigned i = 0; i != results; ++i)
    if (!node.output(i).empty() && !lookup(node.output(i)))
      reportUnsupported(node, opset,
                        "output " + Twine(i) + " ('" + node.output(i) +
                            "') is not computed");
  return success();
}

/// A size is at most what there is room for.
void GraphImporter::noteSizes(const ImportedValue &value) {
  if (value.range)
    ranges.note(value.value, value.range->first, value.range->second);
  if (value.sizes.empty())
    return;
  auto type = cast<RankedTensorType>(value.value.getType());
  for (auto [size, dim] : llvm::zip(value.sizes, type.getShape())) {
    if (!size)
      continue;
    int64_t low = 0, high = dim;
    if (ArrayRef<ElementRange> known = ranges.evaluate(size); !known.empty()) {
      low = std::max(low, known[0].integer.smin().getSExtValue());
      high = std::min(high, known[0].integer.smax().getSExtValue());
    }
    ranges.note(size, std::min(low, high), high);
  }
}

void GraphImporter::setSizes(StringRef name, ArrayRef<Value> sizes) {
  ImportedValue &value = scopes.back()[name];
  value.sizes.assign(sizes.begin(), sizes.end());
  noteSizes(value);
}

void GraphImporter::forgetConstants() {
  evaluator = ConstantEvaluator();
  // Blocks that go away are in no function yet.
  sizeArgumentList.remove_if([&](Value value) {
    for (Region *region = value.getParentRegion(); region;) {
      if (region == &function.getBody())
        return false;
      Operation *around = region->getParentOp();
      region = around ? around->getParentRegion() : nullptr;
    }
    return true;
  });
  // What is still seen goes on being known.
  ranges.forget();
  for (const llvm::StringMap<ImportedValue> &scope : scopes)
    for (const auto &entry : scope)
      noteSizes(entry.second);
}

/// Stops at the first node that is wrong, but goes on after those that are not
/// supported.
LogicalResult
GraphImporter::importNodes(ArrayRef<const onnx::NodeProto *> sorted) {
  size_t before = unsupported.size();
  for (const onnx::NodeProto *node : sorted) {
    // What an unsupported node should have made is missing; so is the rest.
    bool complete = true;
    forEachRead(*node, [&](const std::string &name) {
      complete &= lookup(name) != nullptr;
    });
    if (!complete)
      reportInside(*node);
    else if (failed(importNode(*node)))
      return failure();
  }
  return success(unsupported.size() == before);
}

/// What the model says of an output's shape should hold, as far as the sizes
/// are the model's own. Exporters are known to err, and nobody reads it.
void GraphImporter::checkDeclaredShape(const onnx::ValueInfoProto &output,
                                       const ImportedValue &value) {
  const onnx::TypeProto::Tensor &tensor = output.type().tensor_type();
  if (!tensor.has_shape() || !options.shapes.empty())
    return;
  auto type = cast<RankedTensorType>(value.value.getType());
  bool agrees = tensor.shape().dim_size() == type.getRank();
  for (int i = 0; agrees && i != tensor.shape().dim_size(); ++i) {
    const auto &dim = tensor.shape().dim(i);
    bool dependsOnData = !value.sizes.empty() && value.sizes[i];
    agrees = dependsOnData ||
             dim.value_case() != onnx::TensorShapeProto::Dimension::kDimValue ||
             dim.dim_value() < 0 || dim.dim_value() == type.getDimSize(i);
  }
  if (agrees)
    return;
  InFlightDiagnostic diagnostic =
      emitWarning(NameLoc::get(StringAttr::get(context, output.name())));
  diagnostic << "output is declared as a tensor of shape ";
  for (int i = 0; i != tensor.shape().dim_size(); ++i)
    diagnostic << (i ? "x" : "") << tensor.shape().dim(i).dim_value();
  diagnostic << ", but its node makes " << type;
}

/// Outputs whose sizes depend on data leave as a dense tensor of what is used,
/// and the sizes as further results of the function.
void GraphImporter::importOutputSizes(SmallVectorImpl<Value> &results,
                                      SmallVectorImpl<Attribute> &attributes,
                                      ArrayRef<ImportedValue> outputs) {
  for (auto [i, output] : llvm::enumerate(outputs)) {
    if (output.sizes.empty())
      continue;
    auto name =
        cast<DictionaryAttr>(attributes[i]).getAs<StringAttr>("ashlar.name");
    ImplicitLocOpBuilder b(NameLoc::get(name), context);
    b.setInsertionPointToEnd(block);
    results[i] = makeDense(b, output);
    for (auto [dimension, size] : llvm::enumerate(output.sizes)) {
      if (!size)
        continue;
      results.push_back(copyOfSize(b, size));
      attributes.push_back(b.getDictionaryAttr(
          {b.getNamedAttr(
               "ashlar.name",
               b.getStringAttr(name.getValue() + ":size:" + Twine(dimension))),
           b.getNamedAttr("ashlar.type", b.getStringAttr("int64")),
           b.getNamedAttr(
               "exec.size_of",
               b.getI64ArrayAttr({int64_t(i), int64_t(dimension)}))}));
    }
  }
}

LogicalResult GraphImporter::importOutputs() {
  OpBuilder b = OpBuilder::atBlockEnd(block);
  if (graph.output().empty())
    return error("graph") << "the model has no outputs";
  SmallVector<Value> results;
  SmallVector<Attribute> attributes;
  SmallVector<ImportedValue> outputs;
  llvm::StringSet<> names;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    const ImportedValue *value = lookup(output.name());
    if (value && value->kind != ImportedValue::Tensor) {
      reportUnsupported("model output", output.name(),
                        "it is a sequence or an optional");
      return failure();
    }
    if (!value || !value->value)
      return error(output.name()) << "output is a tensor that no node defines";
    if (!names.insert(output.name()).second)
      return error(output.name()) << "two outputs have this name";
    results.push_back(value->value);
    outputs.push_back(*value);
    auto declared =
        static_cast<ElementType>(output.type().tensor_type().elem_type());
    if (declared != ElementType::Undefined && declared != value->type)
      return error(output.name())
             << "output is declared as " << elementTypeName(declared)
             << ", but its node makes " << elementTypeName(value->type);
    checkDeclaredShape(output, *value);
    attributes.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("ashlar.name", b.getStringAttr(output.name())),
         b.getNamedAttr("ashlar.type",
                        b.getStringAttr(elementTypeName(value->type)))}));
  }
  importOutputSizes(results, attributes, outputs);
  b.setInsertionPointToEnd(block);
  func::ReturnOp::create(b, function.getLoc(), results);
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
  return success();
}

/// One that a node holds in an attribute, or a function's body: its nodes
/// become ops at the end of `into`, where they see what is defined around them.
FailureOr<SmallVector<ImportedValue>>
GraphImporter::importGraph(const onnx::GraphProto &inner,
                           ArrayRef<ImportedValue> arguments, Block *into) {
  scopes.emplace_back();
  Block *around = std::exchange(block, into);
  bool isInPlace = around == into;
  graphsAround += !isInPlace;
  auto leave = llvm::make_scope_exit([&] {
    scopes.pop_back();
    block = around;
    graphsAround -= !isInPlace;
  });
  for (auto [input, argument] : llvm::zip(inner.input(), arguments)) {
    define(input.name(), argument);
    noteSizes(argument);
  }
  auto sorted = orderNodes(
      inner, [&](StringRef name) { return lookup(name) != nullptr; },
      [&](const Twine &where) { return error(where); });
  size_t before = unsupported.size();
  if (failed(sorted) || failed(checkSupport(inner, *sorted)) ||
      unsupported.size() != before || failed(importInitializers(inner)) ||
      failed(importNodes(*sorted)))
    return failure();
  SmallVector<ImportedValue> results;
  for (const onnx::ValueInfoProto &output : inner.output()) {
    const ImportedValue *value = lookup(output.name());
    if (!value || (!value->value && value->kind == ImportedValue::Tensor))
      return error(output.name()) << "output is a tensor that no node defines";
    results.push_back(*value);
  }
  if (unsupported.size() != before)
    return failure();
  return results;
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  auto errorAt = [&](const Twine &where) { return error(where); };
  if (model.opset_import().empty()) {
    error("opset_import")
        << "the model names no operator set; expected an opset_import for "
           "ai.onnx";
    return nullptr;
  }
  if (failed(readOperatorSets(model.opset_import(), "the model")) ||
      failed(functions.read(model, errorAt)))
    return nullptr;
  auto sorted = orderNodes(graph, [](StringRef) { return false; }, errorAt);
  if (failed(sorted) || failed(checkSupport(graph, *sorted)))
    return nullptr;
  std::string name = graph.name().empty() ? "model" : graph.name();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(NameLoc::get(StringAttr::get(context, name)));
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  function = func::FuncOp::create(b, module->getLoc(), "main",
                                  b.getFunctionType({}, {}));
  if (failed(importInputs()) || failed(importFixedInputs()) ||
      failed(importInitializers(graph)) || failed(importNodes(*sorted)) ||
      failed(importOutputs()))
    return nullptr;
  // Every node, so that what has become of each can be told.
  llvm::MapVector<Attribute, Attribute> operators;
  std::function<void(const onnx::GraphProto &)> visit =
      [&](const onnx::GraphProto &part) {
        for (const onnx::NodeProto &node : part.node()) {
          operators.insert({b.getStringAttr(displayName(node)),
                            b.getStringAttr(node.op_type())});
          for (const onnx::AttributeProto &attribute : node.attribute())
            if (attribute.has_g())
              visit(attribute.g());
        }
      };
  visit(graph);
  SmallVector<Attribute> names, types;
  for (auto [name, type] : operators) {
    names.push_back(name);
    types.push_back(type);
  }
  module->getOperation()->setAttr(modelNodesAttrName, b.getArrayAttr(names));
  module->getOperation()->setAttr(nodeOperatorsAttrName, b.getArrayAttr(types));
  return module;
}
