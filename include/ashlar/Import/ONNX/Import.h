// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_IMPORT_ONNX_IMPORT_H
#define ASHLAR_IMPORT_ONNX_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace ashlar {

struct ONNXImportOptions {
  /// Shapes that fix or replace those of the model's inputs, by input name.
  std::map<std::string, llvm::SmallVector<int64_t>> shapes;
  /// Inputs that are constants of the compiled model: their elements as
  /// numbers, by input name.
  std::map<std::string, std::vector<std::string>> values;
};

/// What a model says of itself: keys and values, each key once.
using ModelMetadata = std::vector<std::pair<std::string, std::string>>;

/// A node that this compiler cannot import, and why.
struct UnsupportedNode {
  std::string op;   ///< with its domain unless that is ai.onnx
  int64_t opset;    ///< version of its domain that the model asks for
  std::string node; ///< the model's own name for it
  std::string reason;
  /// The model's inputs whose values would have to be known, if that is the
  /// reason.
  std::vector<std::string> inputs = {};
};

/// Prints a line for each operator that is imported, sorted: its domain and
/// name, the versions of the operator set with a definition of their own, the
/// element types of its operands, parted by tabs.
void listOperators(llvm::raw_ostream &out);

/// Reads the ONNX model at `path` into a module with one func.func "main" on
/// tensors. Locations are the model's node names. Initializers of more than a
/// kilobyte become dense_resource constants that point into the mapped file,
/// which lives as long as the context.
///
/// Everything wrong with the model is emitted as diagnostics and gives null.
/// Nodes that are well formed but not supported are collected in
/// `unsupported`, all of them at once; the result is null then, too.
/// `dataFiles` receives the paths of the files beside the model that hold its
/// weights, in the order of their names in the model. `metadata` receives its
/// metadata_props and, by keys that begin with "onnx.", what else it says; what
/// a module cannot hold is left out with a warning.
mlir::OwningOpRef<mlir::ModuleOp>
importONNX(llvm::StringRef path, const ONNXImportOptions &options,
           mlir::MLIRContext *context,
           llvm::SmallVectorImpl<UnsupportedNode> &unsupported,
           std::vector<std::string> *dataFiles = nullptr,
           ModelMetadata *metadata = nullptr);

/// The integers in attributes and small constants of the model at `path`, each
/// once, in order: sizes at which it may decide something. None where the file
/// is no ONNX model.
std::vector<int64_t> readONNXIntegers(llvm::StringRef path);

/// An input of a model as it is declared.
struct ONNXInput {
  std::string name;
  /// A number, or what the model calls the dim; empty where it has no name.
  std::vector<std::string> dims;
};

/// The inputs of the model at `path` that are tensors of a known rank and no
/// weights. None where the file is no ONNX model.
std::vector<ONNXInput> readONNXInputs(llvm::StringRef path);

} // namespace ashlar

#endif // ASHLAR_IMPORT_ONNX_IMPORT_H
