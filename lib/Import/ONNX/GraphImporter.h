// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
#define ASHLAR_LIB_IMPORT_ONNX_GRAPHIMPORTER_H

#include "NodeImporter.h"
#include "TensorData.h"
#include "ashlar/Analysis/EvaluateConstant.h"
#include "ashlar/Import/ONNX/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace ashlar::onnx_import {

/// A tensor of the graph as it has been imported.
struct ImportedValue {
  mlir::Value value;
  ElementType type = ElementType::Undefined;
};

/// Imports the main graph of one model into one function.
class GraphImporter {
public:
  GraphImporter(const onnx::ModelProto &model, TensorData &data,
                const ONNXImportOptions &options,
                llvm::SmallVectorImpl<UnsupportedNode> &unsupported,
                mlir::MLIRContext *context);

  mlir::OwningOpRef<mlir::ModuleOp> run();

  // For NodeImporter.
  const ImportedValue *lookup(llvm::StringRef name) const;
  void define(llvm::StringRef name, ImportedValue value);
  TensorData &tensorData() { return data; }
  /// The tensor of `proto`, whose bytes are `constant`.
  mlir::Value materialize(mlir::ImplicitLocOpBuilder &b,
                          const onnx::TensorProto &proto,
                          mlir::TypedAttr constant);
  mlir::DenseElementsAttr evaluate(mlir::Value value) {
    return evaluator.evaluate(value);
  }
  void reportUnsupported(const onnx::NodeProto &node, int64_t opset,
                         const llvm::Twine &reason);
  /// The same where `value`, which depends on inputs of the model, would have
  /// to be known.
  void reportNeeded(const onnx::NodeProto &node, int64_t opset,
                    mlir::Value value, const llvm::Twine &reason);

private:
  /// Something other than a node that is legal but not supported: `what` is
  /// "model input", `name` its name in the model.
  void reportUnsupported(llvm::StringRef what, llvm::StringRef name,
                         const llvm::Twine &reason);
  mlir::LogicalResult checkOperatorSets();
  mlir::LogicalResult sortNodes();
  mlir::LogicalResult checkSupport();
  mlir::LogicalResult defineInputs(llvm::StringMap<int> &producer);
  mlir::FailureOr<mlir::RankedTensorType>
  inputType(const onnx::ValueInfoProto &input, ElementType &type);
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  fixShape(const onnx::ValueInfoProto &input,
           std::optional<int64_t> elements = std::nullopt);
  mlir::LogicalResult importInputs();
  mlir::LogicalResult checkOptions();
  mlir::LogicalResult importFixedInputs();
  mlir::LogicalResult checkDefault(const onnx::ValueInfoProto &input,
                                   const onnx::TensorProto &initializer);
  mlir::LogicalResult importInitializers();
  mlir::LogicalResult importNode(const onnx::NodeProto &node);
  mlir::LogicalResult importNodes();
  mlir::LogicalResult checkDeclaredShape(const onnx::ValueInfoProto &output,
                                         const ImportedValue &value);
  mlir::LogicalResult importOutputs();
  mlir::InFlightDiagnostic error(const llvm::Twine &where);
  int64_t opsetOf(llvm::StringRef domain) const;

  const onnx::ModelProto &model;
  const onnx::GraphProto &graph;
  TensorData &data;
  const ONNXImportOptions &options;
  llvm::SmallVectorImpl<UnsupportedNode> &unsupported;
  mlir::MLIRContext *context;

  llvm::StringMap<int64_t> opsets;
  llvm::SmallVector<const onnx::NodeProto *> sorted;
  llvm::StringSet<> used; ///< tensors that a node or an output needs
  llvm::StringMap<ImportedValue> values;
  ConstantEvaluator evaluator;
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Attribute> argumentAttributes;
};

/// The name errors and locations give to a node: its own, or its operator and
/// first output where it has none.
std::string displayName(const onnx::NodeProto &node);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
