// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of an ONNX model as models of their own.
#ifndef ASHLAR_LIB_CHECK_NODEMODELS_H
#define ASHLAR_LIB_CHECK_NODEMODELS_H

#include "ashlar/Check/Tensor.h"
#include "onnx-ml.pb.h"
#include <map>

namespace ashlar::check {

class NodeModels {
public:
  /// Fails for what is no ONNX model in one file.
  static llvm::Expected<NodeModels> read(const std::string &path);

  /// The nodes of these names, in the model's order.
  std::vector<const onnx::NodeProto *>
  find(const std::vector<std::string> &names) const;

  /// Tensors that the nodes take or give, other than weights.
  std::vector<std::string>
  valuesAround(const std::vector<const onnx::NodeProto *> &nodes) const;

  /// The whole model; its outputs are these values, those of them that are no
  /// inputs.
  std::string withOutputs(const std::vector<std::string> &values) const;

  /// A model of these nodes, and what it takes and gives. Weights stay weights;
  /// results that others of the nodes read and nobody else are inner ones.
  struct Part {
    std::string model;
    std::vector<std::string> inputs, outputs;
  };
  Part extract(const std::vector<const onnx::NodeProto *> &nodes,
               const std::map<std::string, Tensor> &values) const;

  bool isInput(const std::string &value) const;

private:
  onnx::ModelProto model;
};

/// Writes a part in the layout of ONNX's tests, with these values.
llvm::Error writeTest(const std::string &folder, const NodeModels::Part &part,
                      const std::map<std::string, Tensor> &values);

} // namespace ashlar::check

#endif // ASHLAR_LIB_CHECK_NODEMODELS_H
