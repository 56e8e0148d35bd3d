// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a graph as a whole, brings its nodes into order and hands each to the
// importer of its operator.
#include "GraphImporter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;
using llvm::formatv;

/// The operator sets this importer was written for.
static constexpr int64_t oldestOpset = 7, newestOpset = 28;

/// ai.onnx is the name of the empty domain.
static StringRef canonicalDomain(StringRef domain) {
  return domain == "ai.onnx" ? StringRef() : domain;
}

std::string ashlar::onnx_import::displayName(const onnx::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return node.op_type() + ":" + output;
  return node.op_type();
}

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
  auto it = values.find(name);
  return it == values.end() ? nullptr : &it->second;
}

void GraphImporter::define(StringRef name, ImportedValue value) {
  values[name] = value;
}

int64_t GraphImporter::opsetOf(StringRef domain) const {
  auto it = opsets.find(canonicalDomain(domain));
  return it == opsets.end() ? 0 : it->second;
}

void GraphImporter::reportUnsupported(const onnx::NodeProto &node,
                                      int64_t opset, const Twine &reason) {
  StringRef domain = canonicalDomain(node.domain());
  std::string op =
      domain.empty() ? node.op_type() : (domain + "." + node.op_type()).str();
  unsupported.push_back({op, opset, displayName(node), reason.str()});
}

LogicalResult GraphImporter::checkOperatorSets() {
  for (const onnx::OperatorSetIdProto &set : model.opset_import()) {
    StringRef domain = canonicalDomain(set.domain());
    if (domain.empty() &&
        (set.version() < oldestOpset || set.version() > newestOpset))
      return error("opset_import")
             << "the model asks for opset " << set.version()
             << " of ai.onnx; expected " << oldestOpset << " to "
             << newestOpset << ": convert it with onnx.version_converter";
    opsets[domain] = set.version();
  }
  if (model.opset_import().empty())
    return error("opset_import")
           << "the model names no operator set; expected an opset_import for "
              "ai.onnx";
  return success();
}

/// Stable topological order, for files whose nodes are not in order.
LogicalResult GraphImporter::sortNodes() {
  llvm::StringMap<int> producer; // -1: an input or initializer
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!producer.try_emplace(input.name(), -1).second)
      return error(input.name()) << "two inputs have this name";
  for (const onnx::TensorProto &initializer : graph.initializer()) {
    auto [it, isNew] = producer.try_emplace(initializer.name(), -1);
    // An initializer may give an input's default, but only once.
    if (!isNew && lookup(initializer.name()))
      return error(initializer.name()) << "two initializers have this name";
    define(initializer.name(), {});
  }
  values.clear();
  for (int i = 0, e = graph.node_size(); i != e; ++i)
    for (const std::string &output : graph.node(i).output())
      if (!output.empty() && !producer.try_emplace(output, i).second)
        return error(displayName(graph.node(i)))
               << "defines tensor '" << output
               << "', which is defined already; every tensor needs exactly "
                  "one producer";

  int count = graph.node_size();
  SmallVector<SmallVector<int>> readers(count);
  SmallVector<int> waitingFor(count, 0);
  for (int i = 0; i != count; ++i)
    for (const std::string &input : graph.node(i).input()) {
      if (input.empty())
        continue;
      auto it = producer.find(input);
      if (it == producer.end())
        return error(displayName(graph.node(i)))
               << "reads tensor '" << input
               << "', which no node, input or initializer defines";
      if (it->second >= 0) {
        readers[it->second].push_back(i);
        ++waitingFor[i];
      }
    }
  std::set<int> ready;
  for (int i = 0; i != count; ++i)
    if (waitingFor[i] == 0)
      ready.insert(i);
  while (!ready.empty()) {
    int i = *ready.begin();
    ready.erase(ready.begin());
    sorted.push_back(&graph.node(i));
    for (int reader : readers[i])
      if (--waitingFor[reader] == 0)
        ready.insert(reader);
  }
  for (int i = 0; i != count; ++i)
    if (waitingFor[i] != 0)
      return error(displayName(graph.node(i)))
             << "is part of a cycle of nodes that wait for each other's "
                "results; an ONNX graph has none";
  return success();
}

/// Reports every node whose operator is unknown, before anything is imported.
LogicalResult GraphImporter::checkSupport() {
  const OperatorRegistry &registry = operatorRegistry();
  for (const onnx::NodeProto *node : sorted) {
    StringRef domain = canonicalDomain(node->domain());
    if (!opsets.contains(domain))
      return error(displayName(*node))
             << "uses domain '" << domain
             << "', for which the model imports no operator set";
    int64_t opset = opsetOf(domain);
    if (registry.lookup(domain, node->op_type(), opset))
      continue;
    bool isLocal = llvm::any_of(model.functions(), [&](auto &function) {
      return canonicalDomain(function.domain()) == domain &&
             function.name() == node->op_type();
    });
    reportUnsupported(*node, opset,
                      isLocal ? "functions defined in the model are not "
                                "imported yet"
                      : registry.knows(domain, node->op_type())
                          ? "not at this opset"
                      : domain.empty() ? "operator not known"
                                       : "domain not known");
  }
  return success(unsupported.empty());
}

FailureOr<RankedTensorType>
GraphImporter::inputType(const onnx::ValueInfoProto &input, ElementType &type) {
  if (!input.type().has_tensor_type())
    return error(input.name()) << "input is not a tensor; sequences, maps and "
                                  "optionals are not supported as inputs";
  const onnx::TypeProto::Tensor &tensor = input.type().tensor_type();
  type = static_cast<ElementType>(tensor.elem_type());
  Type element = convertElementType(context, type);
  if (!element)
    return error(input.name()) << "input has element type "
                               << elementTypeName(type)
                               << ", which is not supported";
  SmallVector<int64_t> shape;
  std::string spelled, suggested;
  bool isStatic = tensor.has_shape();
  for (const onnx::TensorShapeProto::Dimension &dim : tensor.shape().dim()) {
    // Some exporters write -1 for a size that they leave open.
    bool known =
        dim.value_case() == onnx::TensorShapeProto::Dimension::kDimValue &&
        dim.dim_value() != -1;
    if (known && dim.dim_value() < 0)
      return error(input.name())
             << "input has a negative dimension, " << dim.dim_value();
    shape.push_back(known ? dim.dim_value() : ShapedType::kDynamic);
    isStatic &= known;
    if (!spelled.empty())
      spelled += "x", suggested += "x";
    spelled += known ? std::to_string(dim.dim_value())
               : dim.dim_param().empty() ? "?"
                                         : dim.dim_param();
    suggested += known ? std::to_string(dim.dim_value()) : "1";
  }
  auto fixed = options.shapes.find(input.name());
  if (fixed != options.shapes.end()) {
    if (tensor.has_shape() && fixed->second.size() != shape.size())
      return error(input.name())
             << "--shape gives " << fixed->second.size()
             << " dimensions, but the model's input has " << shape.size()
             << " (" << spelled << ")";
    for (auto [i, dim] : llvm::enumerate(fixed->second))
      if (i < shape.size() && !ShapedType::isDynamic(shape[i]) &&
          shape[i] != dim)
        return error(input.name())
               << "--shape gives " << dim << " for dimension " << i
               << ", but the model fixes it to " << shape[i];
    shape = fixed->second;
    isStatic = true;
  }
  if (!isStatic)
    return error(input.name())
           << "input has a dynamic shape" << (spelled.empty() ? "" : " (")
           << spelled << (spelled.empty() ? "" : ")")
           << "; fix it with --shape=" << input.name() << "="
           << (suggested.empty() ? "1x3x224x224" : suggested)
           << ", putting your own sizes in";
  uint64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(bytes, uint64_t(dim), &bytes) || bytes >> 47)
      return error(input.name())
             << "input of shape " << spelled
             << " is larger than memory can address";
  return RankedTensorType::get(shape, element);
}

LogicalResult GraphImporter::importInputs() {
  llvm::StringSet<> initialized;
  for (const onnx::TensorProto &initializer : graph.initializer())
    initialized.insert(initializer.name());
  SmallVector<Type> types;
  SmallVector<std::pair<std::string, ElementType>> named;
  llvm::StringSet<> names;
  bool failed = false;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    names.insert(input.name());
    // An input with an initializer has a default, which is what we take.
    if (initialized.contains(input.name()))
      continue;
    ElementType type;
    FailureOr<RankedTensorType> tensorType = inputType(input, type);
    failed |= mlir::failed(tensorType);
    if (mlir::failed(tensorType))
      continue;
    types.push_back(*tensorType);
    named.emplace_back(input.name(), type);
  }
  for (auto &[name, shape] : options.shapes)
    if (!names.contains(name)) {
      InFlightDiagnostic diagnostic = error(name);
      diagnostic << "--shape names no input of the model; its inputs are";
      for (const onnx::ValueInfoProto &input : graph.input())
        diagnostic << " '" << input.name() << "'";
      failed = true;
    }
  if (failed)
    return failure();
  OpBuilder b(context);
  function.setType(b.getFunctionType(types, {}));
  Block *block = function.addEntryBlock();
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

LogicalResult GraphImporter::importInitializers() {
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  llvm::StringSet<> used;
  for (const onnx::NodeProto *node : sorted)
    for (const std::string &input : node->input())
      used.insert(input);
  for (const onnx::ValueInfoProto &output : graph.output())
    used.insert(output.name());
  for (const onnx::TensorProto &initializer : graph.initializer()) {
    if (!used.contains(initializer.name()))
      continue;
    auto attribute = data.convert(initializer, initializer.name());
    if (!attribute)
      return error(initializer.name())
             << "initializer " << llvm::toString(attribute.takeError());
    auto location = NameLoc::get(b.getStringAttr(initializer.name()));
    Value constant = arith::ConstantOp::create(b, location, *attribute);
    define(initializer.name(),
           {constant, static_cast<ElementType>(initializer.data_type())});
  }
  return success();
}

LogicalResult GraphImporter::importNodes() {
  const OperatorRegistry &registry = operatorRegistry();
  for (const onnx::NodeProto *node : sorted) {
    // What an unsupported node should have made is missing; so is the rest.
    bool complete = llvm::all_of(node->input(), [&](const std::string &input) {
      return input.empty() || lookup(input);
    });
    if (!complete)
      continue;
    StringRef domain = canonicalDomain(node->domain());
    ImplicitLocOpBuilder b(
        NameLoc::get(StringAttr::get(context, displayName(*node))), context);
    b.setInsertionPointToEnd(&function.getBody().front());
    int64_t opset = opsetOf(domain);
    NodeImporter importer(*this, *node, opset, b);
    size_t before = unsupported.size();
    if (failed((*registry.lookup(domain, node->op_type(), opset))(importer)) &&
        unsupported.size() == before)
      return failure();
  }
  return success(unsupported.empty());
}

LogicalResult GraphImporter::importOutputs() {
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  if (graph.output().empty())
    return error("graph") << "the model has no outputs";
  SmallVector<Value> results;
  SmallVector<Attribute> attributes;
  llvm::StringSet<> names;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    const ImportedValue *value = lookup(output.name());
    if (!value || !value->value)
      return error(output.name())
             << "output is a tensor that no node defines";
    if (!names.insert(output.name()).second)
      return error(output.name()) << "two outputs have this name";
    results.push_back(value->value);
    auto declared = static_cast<ElementType>(
        output.type().tensor_type().elem_type());
    if (declared != ElementType::Undefined && declared != value->type)
      return error(output.name())
             << "output is declared as " << elementTypeName(declared)
             << ", but its node makes " << elementTypeName(value->type);
    attributes.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("ashlar.name", b.getStringAttr(output.name())),
         b.getNamedAttr("ashlar.type",
                        b.getStringAttr(elementTypeName(value->type)))}));
  }
  func::ReturnOp::create(b, function.getLoc(), results);
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
  return success();
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  if (failed(checkOperatorSets()) || failed(sortNodes()) ||
      failed(checkSupport()))
    return nullptr;
  std::string name = graph.name().empty() ? "model" : graph.name();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(NameLoc::get(StringAttr::get(context, name)));
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  function = func::FuncOp::create(b, module->getLoc(), "main",
                                  b.getFunctionType({}, {}));
  if (failed(importInputs()) || failed(importInitializers()) ||
      failed(importNodes()) || failed(importOutputs()))
    return nullptr;
  return module;
}
