// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Functions.h"
#include "GraphOrder.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// No name holds a line's end.
static std::string keyOf(StringRef domain, StringRef name, StringRef overload) {
  return (canonicalDomain(domain) + "\n" + name + "\n" + overload).str();
}

std::string
ashlar::onnx_import::displayName(const onnx::FunctionProto &function) {
  std::string name = function.domain().empty()
                         ? function.name()
                         : function.domain() + "." + function.name();
  return function.overload().empty() ? name : name + ":" + function.overload();
}

LogicalResult FunctionTable::read(const onnx::ModelProto &model,
                                  ErrorAt error) {
  for (const onnx::FunctionProto &function : model.functions()) {
    std::string key =
        keyOf(function.domain(), function.name(), function.overload());
    if (!functions.try_emplace(key, &function).second)
      return error(displayName(function))
             << "two functions of the model have this name";
  }
  return success();
}

const onnx::FunctionProto *
FunctionTable::lookup(const onnx::NodeProto &node) const {
  if (functions.empty())
    return nullptr;
  return functions.lookup(
      keyOf(node.domain(), node.op_type(), node.overload()));
}

namespace {
/// Writes a function's nodes for one call.
class Instance {
public:
  Instance(const onnx::FunctionProto &function, const onnx::NodeProto &call,
           FunctionTable::ErrorAt error)
      : function(function), call(call), error(error) {}

  LogicalResult checkCounts();
  void bind();
  LogicalResult write(onnx::NodeProto &node);

private:
  LogicalResult writeAttributes(onnx::NodeProto &node);
  LogicalResult writeGraph(onnx::GraphProto &graph);

  const onnx::FunctionProto &function;
  const onnx::NodeProto &call;
  FunctionTable::ErrorAt error;
  llvm::StringMap<const onnx::AttributeProto *> values;
  llvm::StringSet<> absent; ///< inputs that the call leaves out
};
} // namespace

LogicalResult Instance::checkCounts() {
  for (auto [what, given, most] :
       {std::tuple("inputs", call.input_size(), function.input_size()),
        std::tuple("outputs", call.output_size(), function.output_size())})
    if (given > most)
      return error(displayName(call))
             << "has " << given << " " << what << ", but function "
             << displayName(function) << " has " << most;
  return success();
}

void Instance::bind() {
  for (const onnx::AttributeProto &attribute : function.attribute_proto())
    values[attribute.name()] = &attribute;
  for (const onnx::AttributeProto &attribute : call.attribute())
    values[attribute.name()] = &attribute;
  for (int i = 0; i != function.input_size(); ++i)
    if (i >= call.input_size() || call.input(i).empty())
      absent.insert(function.input(i));
}

LogicalResult Instance::writeAttributes(onnx::NodeProto &node) {
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> written;
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.ref_attr_name().empty()) {
      written.Add(std::move(attribute));
      continue;
    }
    // One that neither the call nor the function gives is not there; the
    // operator has its own default.
    const onnx::AttributeProto *value =
        values.lookup(attribute.ref_attr_name());
    if (!value)
      continue;
    if (attribute.type() != onnx::AttributeProto::UNDEFINED &&
        value->type() != onnx::AttributeProto::UNDEFINED &&
        attribute.type() != value->type())
      return error(displayName(node))
             << "attribute '" << attribute.name() << "' is the function's '"
             << attribute.ref_attr_name() << "', which has another type";
    onnx::AttributeProto *copy = written.Add();
    *copy = *value;
    copy->set_name(attribute.name());
  }
  node.mutable_attribute()->Swap(&written);
  return success();
}

LogicalResult Instance::writeGraph(onnx::GraphProto &graph) {
  for (onnx::NodeProto &node : *graph.mutable_node())
    if (failed(write(node)))
      return failure();
  return success();
}

LogicalResult Instance::write(onnx::NodeProto &node) {
  node.set_name(displayName(call) + "/" + displayName(node));
  for (std::string &input : *node.mutable_input())
    if (absent.contains(input))
      input.clear();
  // Before the values of the call come in, which are not the function's.
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_g() && failed(writeGraph(*attribute.mutable_g())))
      return failure();
    for (onnx::GraphProto &graph : *attribute.mutable_graphs())
      if (failed(writeGraph(graph)))
        return failure();
  }
  return writeAttributes(node);
}

FailureOr<onnx::GraphProto>
ashlar::onnx_import::instantiate(const onnx::FunctionProto &function,
                                 const onnx::NodeProto &call,
                                 FunctionTable::ErrorAt error) {
  Instance instance(function, call, error);
  if (failed(instance.checkCounts()))
    return failure();
  instance.bind();
  onnx::GraphProto body;
  body.set_name(displayName(function));
  *body.mutable_node() = function.node();
  for (onnx::NodeProto &node : *body.mutable_node())
    if (failed(instance.write(node)))
      return failure();
  for (int i = 0; i != call.input_size(); ++i)
    if (!call.input(i).empty())
      body.add_input()->set_name(function.input(i));
  for (const std::string &output : function.output())
    body.add_output()->set_name(output);
  return body;
}
