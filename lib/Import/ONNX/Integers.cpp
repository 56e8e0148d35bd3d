// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small integers that a model holds: what its sizes may be compared with.
#include "StrippedModel.h"
#include "WireScanner.h"
#include "ashlar/Import/ONNX/Import.h"
#include "llvm/Support/Endian.h"
#include <set>

using namespace ashlar;
using namespace ashlar::onnx_import;

namespace {
class IntegerCollector {
public:
  explicit IntegerCollector(llvm::StringRef file) : file(file) {}

  void add(const onnx::GraphProto &graph) {
    for (const onnx::TensorProto &tensor : graph.initializer())
      add(tensor);
    for (const onnx::NodeProto &node : graph.node())
      for (const onnx::AttributeProto &attribute : node.attribute())
        add(attribute);
  }
  void add(const onnx::AttributeProto &attribute) {
    found.insert(attribute.i());
    found.insert(attribute.ints().begin(), attribute.ints().end());
    if (attribute.has_t())
      add(attribute.t());
    for (const onnx::TensorProto &tensor : attribute.tensors())
      add(tensor);
    if (attribute.has_g())
      add(attribute.g());
    for (const onnx::GraphProto &graph : attribute.graphs())
      add(graph);
  }

  std::set<int64_t> found;

private:
  /// Weights are no sizes: only tensors that could be a shape or an index.
  static constexpr size_t mostElements = 64;

  void add(const onnx::TensorProto &tensor) {
    size_t width = tensor.data_type() == onnx::TensorProto::INT64   ? 8
                   : tensor.data_type() == onnx::TensorProto::INT32 ? 4
                                                                    : 0;
    if (width == 0)
      return;
    if (size_t(tensor.int64_data_size()) <= mostElements)
      found.insert(tensor.int64_data().begin(), tensor.int64_data().end());
    if (size_t(tensor.int32_data_size()) <= mostElements)
      found.insert(tensor.int32_data().begin(), tensor.int32_data().end());
    if (!tensor.has_raw_data())
      return;
    RawDataPlace place = decodePlace(tensor.raw_data());
    if (place.size > mostElements * width || place.offset > file.size() ||
        place.size > file.size() - place.offset)
      return;
    llvm::StringRef bytes = file.substr(place.offset, place.size);
    for (; bytes.size() >= width; bytes = bytes.drop_front(width))
      found.insert(
          width == 8 ? int64_t(llvm::support::endian::read64le(bytes.data()))
                     : int32_t(llvm::support::endian::read32le(bytes.data())));
  }

  llvm::StringRef file;
};
} // namespace

std::vector<int64_t> ashlar::readONNXIntegers(llvm::StringRef path) {
  std::optional<StrippedModel> read = readStrippedModel(path);
  if (!read)
    return {};
  const onnx::ModelProto &model = read->model;
  IntegerCollector collector(read->file->getBuffer());
  collector.add(model.graph());
  for (const onnx::FunctionProto &function : model.functions())
    for (const onnx::NodeProto &node : function.node())
      for (const onnx::AttributeProto &attribute : node.attribute())
        collector.add(attribute);
  return {collector.found.begin(), collector.found.end()};
}
