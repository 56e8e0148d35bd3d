// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a model is legal but not supported. It is collected, so that all of
// it is said at once: before anything is imported where a name decides, while
// nodes are imported otherwise.
#include "GraphImporter.h"
#include "GraphOrder.h"
#include "Signatures.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;
using llvm::formatv;

/// Of operator sets before 7 this importer reads the operators whose definition
/// still held at 7.
static constexpr int64_t oldestOpset = 1, oldestWholeOpset = 7;

/// Calls inside calls are followed so far for what they lack.
static constexpr unsigned maximumCallDepth = 64;

void GraphImporter::reportUnsupported(const onnx::NodeProto &node,
                                      int64_t opset, const Twine &reason) {
  StringRef domain = canonicalDomain(node.domain());
  std::string op =
      domain.empty() ? node.op_type() : (domain + "." + node.op_type()).str();
  unsupported.push_back({op, opset, displayName(node), reason.str()});
}

void GraphImporter::reportNeeded(const onnx::NodeProto &node, int64_t opset,
                                 ArrayRef<Value> values, const Twine &reason) {
  reportUnsupported(node, opset, reason);
  // The arguments of the function that the values are computed from.
  std::set<unsigned> arguments;
  llvm::SmallSetVector<Value, 16> worklist;
  worklist.insert(values.begin(), values.end());
  for (size_t i = 0; i != worklist.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(worklist[i])) {
      if (argument.getOwner() == &function.getBody().front())
        arguments.insert(argument.getArgNumber());
      continue;
    }
    // What an op's regions read from outside counts as well.
    worklist[i].getDefiningOp()->walk([&](Operation *op) {
      worklist.insert(op->operand_begin(), op->operand_end());
    });
  }
  for (unsigned argument : arguments)
    unsupported.back().inputs.push_back(
        function.getArgAttrOfType<StringAttr>(argument, "ashlar.name").str());
}

void GraphImporter::reportUnsupported(StringRef what, StringRef name,
                                      const Twine &reason) {
  unsupported.push_back({what.str(), opsetOf(""), name.str(), reason.str()});
}

LogicalResult GraphImporter::readOperatorSets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &sets,
    StringRef where) {
  size_t before = unsupported.size();
  for (const onnx::OperatorSetIdProto &set : sets) {
    StringRef domain = canonicalDomain(set.domain());
    if (set.version() < 1)
      return error("opset_import")
             << where << " asks for opset " << set.version() << " of '"
             << (domain.empty() ? "ai.onnx" : domain)
             << "'; operator sets are counted from 1";
    opsets[domain] = set.version();
    if (domain.empty() &&
        (set.version() < oldestOpset || set.version() > newestOpset))
      reportUnsupported("ai.onnx", "opset_import",
                        formatv("opsets {0} to {1} are read; convert the model "
                                "with onnx.version_converter",
                                oldestOpset, newestOpset)
                            .str());
  }
  // What the nodes of another operator set mean is not known here.
  return success(unsupported.size() == before);
}

/// Reports a node whose operator is not known; fails where the model is wrong.
LogicalResult GraphImporter::checkOperator(const onnx::NodeProto &node) {
  if (functions.lookup(node))
    return success();
  const OperatorRegistry &registry = operatorRegistry();
  StringRef domain = canonicalDomain(node.domain());
  if (!opsets.contains(domain))
    return error(displayName(node))
           << "uses domain '" << domain
           << "', for which the model imports no operator set";
  int64_t opset = opsetOf(domain);
  bool isDefined = !domain.empty() || lookupSignature(node.op_type(), opset);
  if (registry.lookup(domain, node.op_type(), opset) &&
      (isDefined || opset >= oldestWholeOpset))
    return success();
  reportUnsupported(node, opset,
                    registry.knows(domain, node.op_type()) ? "not at this opset"
                    : !domain.empty()                      ? "domain not known"
                    : isDefined ? "operator not known"
                    : opset < oldestWholeOpset &&
                            lookupSignature(node.op_type(), newestOpset)
                        ? "not at this opset"
                        : "ai.onnx has no such operator");
  return success();
}

/// Reports what is not known in the graphs that a node holds and in the
/// functions that it calls, for those that will not be imported.
void GraphImporter::reportInside(const onnx::NodeProto &node,
                                 FunctionSet &seen) {
  auto report = [&](const auto &nodes) {
    for (const onnx::NodeProto &inner : nodes) {
      (void)checkOperator(inner);
      reportInside(inner, seen);
    }
  };
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    report(attribute.g().node());
    for (const onnx::GraphProto &graph : attribute.graphs())
      report(graph.node());
  }
  const onnx::FunctionProto *function = functions.lookup(node);
  if (!function || seen.size() == maximumCallDepth ||
      !seen.insert(function).second)
    return;
  llvm::StringMap<int64_t> around = opsets;
  if (succeeded(readOperatorSets(function->opset_import(),
                                 "function " + displayName(*function))))
    report(function->node());
  opsets = std::move(around);
}

void GraphImporter::reportInside(const onnx::NodeProto &node) {
  FunctionSet seen;
  reportInside(node, seen);
}

bool ashlar::onnx_import::isDefinedType(ElementType type) {
  return type != ElementType::Undefined && elementTypeName(type) != "unknown";
}

/// Reports every node whose operator and every weight whose type is unknown,
/// before anything is imported.
LogicalResult
GraphImporter::checkSupport(const onnx::GraphProto &graph,
                            ArrayRef<const onnx::NodeProto *> sorted) {
  size_t before = unsupported.size();
  for (const onnx::NodeProto *node : sorted)
    if (failed(checkOperator(*node)))
      return failure();
  for (const onnx::SparseTensorProto &sparse : graph.sparse_initializer())
    reportUnsupported("initializer", sparse.values().name(), "it is sparse");
  for (const onnx::NodeProto *node : sorted)
    forEachRead(*node, [&](const std::string &name) { used.insert(name); });
  for (const onnx::ValueInfoProto &output : graph.output())
    used.insert(output.name());
  for (const onnx::TensorProto &initializer : graph.initializer()) {
    auto type = static_cast<ElementType>(initializer.data_type());
    if (used.contains(initializer.name()) && isDefinedType(type) &&
        !convertElementType(context, type))
      reportUnsupported("initializer", initializer.name(),
                        "element type " + elementTypeName(type));
  }
  // The graphs inside are looked at when their nodes are imported, since not
  // all of them have to be. Nothing will be imported here.
  if (unsupported.size() != before)
    for (const onnx::NodeProto *node : sorted)
      reportInside(*node);
  return success();
}
