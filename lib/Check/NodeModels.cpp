// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NodeModels.h"
#include "ashlar/Import/ONNX/NodeName.h"
#include "ashlar/Support/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;

Expected<NodeModels> NodeModels::read(const std::string &path) {
  auto file = readInputFile(path, /*isText=*/false);
  if (!file)
    return llvm::createStringError(
        path + " cannot be read: " + llvm::toString(file.takeError()));
  NodeModels read;
  if (!read.model.ParseFromArray((*file)->getBufferStart(),
                                 (*file)->getBufferSize()))
    return llvm::createStringError(path + " is no ONNX model");
  for (const onnx::TensorProto &weight : read.model.graph().initializer())
    if (weight.data_location() == onnx::TensorProto::EXTERNAL)
      return llvm::createStringError(path + " has its weights in other files");
  return read;
}

std::vector<const onnx::NodeProto *>
NodeModels::find(const std::vector<std::string> &names) const {
  std::vector<const onnx::NodeProto *> nodes;
  for (const onnx::NodeProto &node : model.graph().node())
    if (llvm::is_contained(names, onnx_import::displayName(node)))
      nodes.push_back(&node);
  return nodes;
}

bool NodeModels::isInput(const std::string &value) const {
  return llvm::any_of(model.graph().input(),
                      [&](auto &input) { return input.name() == value; });
}

static const onnx::TensorProto *weight(const onnx::ModelProto &model,
                                       const std::string &name) {
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    if (tensor.name() == name)
      return &tensor;
  return nullptr;
}

std::vector<std::string> NodeModels::valuesAround(
    const std::vector<const onnx::NodeProto *> &nodes) const {
  llvm::SetVector<std::string, std::vector<std::string>, std::set<std::string>>
      values;
  for (const onnx::NodeProto *node : nodes) {
    for (const std::string &name : node->input())
      if (!name.empty() && !weight(model, name))
        values.insert(name);
    for (const std::string &name : node->output())
      if (!name.empty())
        values.insert(name);
  }
  return values.takeVector();
}

std::string
NodeModels::withOutputs(const std::vector<std::string> &values) const {
  onnx::ModelProto changed = model;
  changed.mutable_graph()->clear_output();
  for (const std::string &value : values)
    if (!isInput(value))
      changed.mutable_graph()->add_output()->set_name(value);
  return changed.SerializeAsString();
}

static void declare(onnx::ValueInfoProto &info, const std::string &name,
                    const Tensor &tensor) {
  info.set_name(name);
  auto *type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnxType(tensor.type));
  type->mutable_shape();
  for (int64_t dim : tensor.shape)
    type->mutable_shape()->add_dim()->set_dim_value(dim);
}

/// Axes, shapes and the like that a node must know stay constants.
static bool isKnown(const onnx::GraphProto &graph, const std::string &name,
                    const Tensor &value) {
  constexpr int64_t mostElements = 64;
  if (value.type == ASHLAR_TYPE_I64 && value.elementCount() <= mostElements)
    return true;
  return llvm::any_of(graph.node(), [&](const onnx::NodeProto &node) {
    return node.op_type() == "Constant" && node.output_size() == 1 &&
           node.output(0) == name;
  });
}

NodeModels::Part
NodeModels::extract(const std::vector<const onnx::NodeProto *> &nodes,
                    const std::map<std::string, Tensor> &values) const {
  Part part;
  onnx::ModelProto extracted;
  extracted.set_ir_version(model.ir_version());
  *extracted.mutable_opset_import() = model.opset_import();
  *extracted.mutable_functions() = model.functions();
  onnx::GraphProto &graph = *extracted.mutable_graph();
  graph.set_name("part");
  llvm::StringSet<> made, read, readOutside;
  for (const onnx::NodeProto *node : nodes)
    for (const std::string &name : node->output())
      made.insert(name);
  for (const onnx::NodeProto &node : model.graph().node())
    for (const std::string &name : node.input())
      (llvm::is_contained(nodes, &node) ? read : readOutside).insert(name);
  for (const onnx::ValueInfoProto &output : model.graph().output())
    readOutside.insert(output.name());
  llvm::StringSet<> seen;
  for (const onnx::NodeProto *node : nodes) {
    *graph.add_node() = *node;
    for (const std::string &name : node->input()) {
      if (name.empty() || made.contains(name) || !seen.insert(name).second)
        continue;
      if (const onnx::TensorProto *tensor = weight(model, name)) {
        *graph.add_initializer() = *tensor;
        continue;
      }
      const Tensor &value = values.at(name);
      if (isKnown(model.graph(), name, value)) {
        onnx::TensorProto &constant = *graph.add_initializer();
        constant = toProto(value);
        constant.set_name(name);
        continue;
      }
      declare(*graph.add_input(), name, value);
      part.inputs.push_back(name);
    }
    for (const std::string &name : node->output())
      if (!name.empty() &&
          (readOutside.contains(name) || !read.contains(name)) &&
          values.count(name)) {
        declare(*graph.add_output(), name, values.at(name));
        part.outputs.push_back(name);
      }
  }
  part.model = extracted.SerializeAsString();
  return part;
}

static Error writeFile(const std::string &path, llvm::StringRef contents) {
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &out) {
    out << contents;
    return Error::success();
  });
}

Error ashlar::check::writeTest(const std::string &folder,
                               const NodeModels::Part &part,
                               const std::map<std::string, Tensor> &values) {
  std::string data = folder + "/test_data_set_0";
  if (std::error_code code = llvm::sys::fs::create_directories(data))
    return llvm::createStringError("cannot make the folder " + data + ": " +
                                   code.message());
  if (Error error = writeFile(folder + "/model.onnx", part.model))
    return error;
  auto write = [&](const std::vector<std::string> &names,
                   const std::string &prefix) -> Error {
    for (auto [i, name] : llvm::enumerate(names)) {
      Tensor tensor = values.at(name);
      tensor.name = name;
      if (Error error = writeTensor(
              data + "/" + prefix + "_" + std::to_string(i) + ".pb", tensor))
        return error;
    }
    return Error::success();
  };
  if (Error error = write(part.inputs, "input"))
    return error;
  return write(part.outputs, "output");
}
