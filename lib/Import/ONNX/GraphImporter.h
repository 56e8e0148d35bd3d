// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
#define ASHLAR_LIB_IMPORT_ONNX_GRAPHIMPORTER_H

#include "Functions.h"
#include "NodeImporter.h"
#include "TensorData.h"
#include "ashlar/Analysis/ElementRanges.h"
#include "ashlar/Import/ONNX/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

namespace ashlar::onnx_import {

/// The newest operator set of ai.onnx that is read.
constexpr int64_t newestOpset = 28;

/// Whether ONNX defines this number, be it supported or not.
bool isDefinedType(ElementType type);

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
  void setSizes(llvm::StringRef name, llvm::ArrayRef<mlir::Value> sizes);
  TensorData &tensorData() { return data; }
  /// The tensor of `proto`, whose bytes are `constant`.
  mlir::Value materialize(mlir::ImplicitLocOpBuilder &b,
                          const onnx::TensorProto &proto,
                          mlir::TypedAttr constant);
  mlir::DenseElementsAttr evaluate(mlir::Value value) {
    return evaluator.evaluate(value);
  }
  llvm::ArrayRef<ElementRange> elementRanges(mlir::Value value) {
    return ranges.evaluate(value);
  }
  void reportUnsupported(const onnx::NodeProto &node, int64_t opset,
                         const llvm::Twine &reason);
  /// The same where `values`, which depend on inputs of the model, would have
  /// to be known.
  void reportNeeded(const onnx::NodeProto &node, int64_t opset,
                    llvm::ArrayRef<mlir::Value> values,
                    const llvm::Twine &reason);
  /// What decides about sizes and is read at run time.
  void noteSizeArgument(mlir::Value value) { sizeArgumentList.insert(value); }
  llvm::ArrayRef<mlir::Value> sizeArguments() const {
    return sizeArgumentList.getArrayRef();
  }
  mlir::FailureOr<llvm::SmallVector<ImportedValue>>
  importGraph(const onnx::GraphProto &inner,
              llvm::ArrayRef<ImportedValue> arguments, mlir::Block *into);
  /// The same in the current block, where nothing around is seen. The nodes are
  /// of the operator sets of `function`, if there is one, otherwise of the
  /// newest of ai.onnx.
  mlir::FailureOr<llvm::SmallVector<ImportedValue>>
  importApart(const onnx::GraphProto &body,
              llvm::ArrayRef<ImportedValue> arguments,
              const onnx::FunctionProto *function = nullptr);
  void forgetConstants();
  mlir::Block *currentBlock() const { return block; }
  /// How many graphs with blocks of their own are around the nodes that are
  /// imported now.
  size_t nesting() const { return graphsAround; }
  /// Counts nodes of graphs in attributes, which several attempts to import a
  /// loop may meet again and again.
  int64_t addInnerNodes(int64_t count) { return innerNodes += count; }
  /// Forgets what was reported since there were `count` reports.
  size_t countUnsupported() const { return unsupported.size(); }
  void forgetUnsupported(size_t count) { unsupported.truncate(count); }

private:
  void noteSizes(const ImportedValue &value);
  /// Something other than a node that is legal but not supported: `what` is
  /// "model input", `name` its name in the model.
  void reportUnsupported(llvm::StringRef what, llvm::StringRef name,
                         const llvm::Twine &reason);
  /// What a model or a function, named by `where`, imports.
  mlir::LogicalResult readOperatorSets(
      const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &sets,
      llvm::StringRef where);
  mlir::LogicalResult checkOperator(const onnx::NodeProto &node);
  using FunctionSet = llvm::SmallPtrSet<const onnx::FunctionProto *, 8>;
  void reportInside(const onnx::NodeProto &node);
  void reportInside(const onnx::NodeProto &node, FunctionSet &seen);
  mlir::LogicalResult
  checkSupport(const onnx::GraphProto &graph,
               llvm::ArrayRef<const onnx::NodeProto *> sorted);
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
  mlir::LogicalResult importInitializers(const onnx::GraphProto &graph);
  mlir::LogicalResult importNode(const onnx::NodeProto &node);
  mlir::LogicalResult checkCall(const onnx::NodeProto &node,
                                const onnx::FunctionProto &function);
  mlir::LogicalResult importCall(const onnx::NodeProto &node,
                                 const onnx::FunctionProto &function);
  mlir::LogicalResult
  importNodes(llvm::ArrayRef<const onnx::NodeProto *> sorted);
  void checkDeclaredShape(const onnx::ValueInfoProto &output,
                          const ImportedValue &value);
  mlir::LogicalResult importOutputs();
  void importOutputSizes(llvm::SmallVectorImpl<mlir::Value> &results,
                         llvm::SmallVectorImpl<mlir::Attribute> &attributes,
                         llvm::ArrayRef<ImportedValue> outputs);
  mlir::InFlightDiagnostic error(const llvm::Twine &where);
  int64_t opsetOf(llvm::StringRef domain) const;

  const onnx::ModelProto &model;
  const onnx::GraphProto &graph;
  TensorData &data;
  const ONNXImportOptions &options;
  llvm::SmallVectorImpl<UnsupportedNode> &unsupported;
  mlir::MLIRContext *context;

  FunctionTable functions;
  llvm::SmallVector<const onnx::FunctionProto *> calls; ///< outermost first
  int64_t nodesOfCalls = 0;
  size_t graphsAround = 0;
  int64_t innerNodes = 0;
  llvm::StringMap<int64_t> opsets; ///< of the model, or of the function
  llvm::StringSet<> used;          ///< tensors that a node or an output needs
  std::vector<llvm::StringMap<ImportedValue>> scopes{1}; ///< innermost last
  mlir::Block *block = nullptr; ///< where ops are added, at the end
  llvm::SetVector<mlir::Value> sizeArgumentList;
  ConstantEvaluator evaluator;
  ElementRanges ranges{evaluator};
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Attribute> argumentAttributes;
};

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
