// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inputs of a model as it declares them: before it is imported, for what is
// asked in the model's own names.
#include "StrippedModel.h"
#include "ashlar/Import/ONNX/Import.h"
#include "llvm/ADT/StringSet.h"

using namespace ashlar;
using namespace ashlar::onnx_import;

std::vector<ONNXInput> ashlar::readONNXInputs(llvm::StringRef path) {
  std::optional<StrippedModel> read = readStrippedModel(path);
  if (!read)
    return {};
  const onnx::ModelProto &model = read->model;
  // Old models list weights among the inputs.
  llvm::StringSet<> weights;
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    weights.insert(tensor.name());
  std::vector<ONNXInput> inputs;
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    if (weights.contains(input.name()) || !input.type().has_tensor_type() ||
        !input.type().tensor_type().has_shape())
      continue;
    ONNXInput &found = inputs.emplace_back();
    found.name = input.name();
    for (const auto &dim : input.type().tensor_type().shape().dim())
      found.dims.push_back(dim.has_dim_value() ? std::to_string(dim.dim_value())
                                               : dim.dim_param());
  }
  return inputs;
}
