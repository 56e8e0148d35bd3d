// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ONNXFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace ashlar::test;

TemporaryFolder::TemporaryFolder() {
  if (llvm::sys::fs::createUniqueDirectory("ashlar-test", path))
    llvm::report_fatal_error("no temporary folder");
}

TemporaryFolder::~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }

std::string TemporaryFolder::write(llvm::StringRef name,
                                   llvm::StringRef bytes) const {
  llvm::SmallString<128> file(path);
  llvm::sys::path::append(file, name);
  std::error_code error;
  llvm::raw_fd_ostream out(file, error);
  out << bytes;
  return file.str().str();
}

static void setType(onnx::ValueInfoProto &value, const char *name,
                    std::initializer_list<int64_t> shape) {
  value.set_name(name);
  auto &tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  for (int64_t dim : shape)
    tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

static void addNode(onnx::GraphProto &graph, const char *op, const char *a,
                    const char *b, const char *result) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(std::string("make ") + result);
  node.add_input(a);
  node.add_input(b);
  node.add_output(result);
}

/// Elements 0, 1, 2...
static void addRawWeight(onnx::GraphProto &graph, const char *name,
                         int64_t count) {
  onnx::TensorProto &weight = *graph.add_initializer();
  weight.set_name(name);
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(count);
  std::vector<float> values;
  for (int64_t i = 0; i != count; ++i)
    values.push_back(float(i));
  weight.set_raw_data(values.data(), values.size() * sizeof(float));
}

onnx::ModelProto ashlar::test::exampleModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("example");
  setType(*graph.add_input(), "x", {400});
  setType(*graph.add_output(), "y", {400});
  addRawWeight(graph, "w", 400);
  onnx::TensorProto &scalar = *graph.add_initializer();
  scalar.set_name("s");
  scalar.set_data_type(onnx::TensorProto::FLOAT);
  scalar.add_float_data(2.5f);
  addNode(graph, "Mul", "x", "w", "a");
  addNode(graph, "Add", "a", "s", "y");

  onnx::GraphProto *outer = &graph;
  for (const char *name : {"outer", "inner"}) {
    onnx::NodeProto &choice = *outer->add_node();
    choice.set_op_type("If");
    choice.set_name(name);
    choice.add_output(std::string(name) + " result");
    onnx::AttributeProto &branch = *choice.add_attribute();
    branch.set_name("then_branch");
    branch.set_type(onnx::AttributeProto::GRAPH);
    outer = branch.mutable_g();
    addRawWeight(*outer, name, 5);
  }
  return model;
}
