// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphOrder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace mlir;
using namespace ashlar::onnx_import;

std::string ashlar::onnx_import::displayName(const onnx::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return node.op_type() + ":" + output;
  return node.op_type();
}

StringRef ashlar::onnx_import::canonicalDomain(StringRef domain) {
  return domain == "ai.onnx" ? StringRef() : domain;
}

/// Calls `function` with the name of every tensor that the node needs: its
/// inputs, and what the graphs in its attributes read from outside.
void ashlar::onnx_import::forEachRead(
    const onnx::NodeProto &node,
    llvm::function_ref<void(const std::string &name)> function) {
  for (const std::string &input : node.input())
    if (!input.empty())
      function(input);
  auto visit = [&](const onnx::GraphProto &graph) {
    llvm::StringSet<> own;
    for (const onnx::ValueInfoProto &input : graph.input())
      own.insert(input.name());
    for (const onnx::TensorProto &initializer : graph.initializer())
      own.insert(initializer.name());
    for (const onnx::NodeProto &inner : graph.node())
      own.insert(inner.output().begin(), inner.output().end());
    auto outer = [&](const std::string &name) {
      if (!own.contains(name))
        function(name);
    };
    for (const onnx::NodeProto &inner : graph.node())
      forEachRead(inner, outer);
    for (const onnx::ValueInfoProto &output : graph.output())
      outer(output.name());
  };
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      visit(attribute.g());
    for (const onnx::GraphProto &graph : attribute.graphs())
      visit(graph);
  }
}

using ErrorAt = llvm::function_ref<InFlightDiagnostic(const Twine &)>;

/// Notes what is there before any node has run, as made by number -1.
static LogicalResult defineInputs(const onnx::GraphProto &graph, ErrorAt error,
                                  llvm::StringMap<int> &producer) {
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!producer.try_emplace(input.name(), -1).second)
      return error(input.name()) << "two inputs have this name";
  // An initializer may give an input's default, but only once.
  llvm::StringSet<> initialized;
  for (const onnx::TensorProto &initializer : graph.initializer()) {
    producer.try_emplace(initializer.name(), -1);
    if (!initialized.insert(initializer.name()).second)
      return error(initializer.name()) << "two initializers have this name";
  }
  for (const onnx::SparseTensorProto &sparse : graph.sparse_initializer()) {
    const std::string &name = sparse.values().name();
    producer.try_emplace(name, -1);
    if (!initialized.insert(name).second)
      return error(name) << "two initializers have this name";
  }
  return success();
}

FailureOr<SmallVector<const onnx::NodeProto *>> ashlar::onnx_import::orderNodes(
    const onnx::GraphProto &graph,
    llvm::function_ref<bool(StringRef name)> isOutside, ErrorAt error) {
  llvm::StringMap<int> producer;
  SmallVector<const onnx::NodeProto *> sorted;
  if (failed(defineInputs(graph, error, producer)))
    return failure();
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
  bool complete = true;
  for (int i = 0; i != count; ++i)
    forEachRead(graph.node(i), [&](const std::string &name) {
      auto it = producer.find(name);
      if (it == producer.end()) {
        if (isOutside(name))
          return;
        error(displayName(graph.node(i)))
            << "reads tensor '" << name
            << "', which no node, input or initializer defines";
        complete = false;
      } else if (it->second >= 0) {
        readers[it->second].push_back(i);
        ++waitingFor[i];
      }
    });
  if (!complete)
    return failure();
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
  return sorted;
}
