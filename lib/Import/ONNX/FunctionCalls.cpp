// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of functions that the model defines: the function's nodes are imported
// in the place of the call. They see what the call gives them and nothing that
// is around it, and mean what the function's own operator sets say.
#include "GraphImporter.h"
#include "GraphOrder.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// Calls in calls, and nodes that all calls of a model make: what a small file
/// may ask for must end.
static constexpr size_t maximumDepth = 64;
static constexpr int64_t maximumNodes = 1 << 17;

LogicalResult GraphImporter::checkCall(const onnx::NodeProto &node,
                                       const onnx::FunctionProto &function) {
  auto *outermost = llvm::find(calls, &function);
  if (outermost != calls.end()) {
    InFlightDiagnostic diagnostic = error(displayName(node));
    diagnostic << "calls function " << displayName(function)
               << ", which is being called (";
    for (const onnx::FunctionProto *call : llvm::make_range(
             outermost, const_cast<decltype(outermost)>(calls.end())))
      diagnostic << displayName(*call) << " calls ";
    return diagnostic << displayName(function)
                      << "); a model's functions cannot be recursive";
  }
  size_t before = unsupported.size();
  int64_t opset = opsetOf(node.domain());
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.has_g() || attribute.graphs_size() != 0)
      reportUnsupported(node, opset,
                        "a function gets a graph in attribute '" +
                            attribute.name() + "'");
  nodesOfCalls += function.node_size();
  if (calls.size() == maximumDepth)
    reportUnsupported(node, opset,
                      "calls of functions in functions, deeper than " +
                          Twine(maximumDepth));
  else if (nodesOfCalls > maximumNodes)
    reportUnsupported(node, opset,
                      "the model's calls of functions make more than " +
                          Twine(maximumNodes) + " nodes");
  return success(unsupported.size() == before);
}

FailureOr<SmallVector<ImportedValue>>
GraphImporter::importApart(const onnx::GraphProto &body,
                           ArrayRef<ImportedValue> arguments,
                           const onnx::FunctionProto *function) {
  auto scopesAround =
      std::exchange(scopes, std::vector<llvm::StringMap<ImportedValue>>(1));
  llvm::StringMap<int64_t> opsetsAround = opsets;
  FailureOr<SmallVector<ImportedValue>> results = failure();
  LogicalResult canRead = success();
  if (function)
    canRead = readOperatorSets(function->opset_import(),
                               "function " + displayName(*function));
  else
    opsets[""] = newestOpset;
  if (succeeded(canRead))
    results = importGraph(body, arguments, block);
  opsets = std::move(opsetsAround);
  scopes = std::move(scopesAround);
  return results;
}

LogicalResult GraphImporter::importCall(const onnx::NodeProto &node,
                                        const onnx::FunctionProto &function) {
  size_t before = unsupported.size();
  // What is not supported has been said; the other nodes go on.
  auto done = [&] { return success(unsupported.size() != before); };
  if (failed(checkCall(node, function)))
    return done();
  auto body = instantiate(function, node,
                          [&](const Twine &where) { return error(where); });
  if (failed(body))
    return failure();
  SmallVector<ImportedValue> arguments;
  for (const std::string &input : node.input())
    if (!input.empty())
      arguments.push_back(*lookup(input));
  calls.push_back(&function);
  auto results = importApart(*body, arguments, &function);
  calls.pop_back();
  if (failed(results))
    return done();
  for (auto [i, output] : llvm::enumerate(node.output()))
    if (!output.empty())
      define(output, (*results)[i]);
  return success();
}
