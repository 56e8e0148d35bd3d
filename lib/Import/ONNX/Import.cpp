// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Import/ONNX/Import.h"
#include "GraphImporter.h"
#include "Metadata.h"
#include "WireScanner.h"
#include "ashlar/Support/InputFile.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

OwningOpRef<ModuleOp> ashlar::importONNX(
    StringRef path, const ONNXImportOptions &options, MLIRContext *context,
    SmallVectorImpl<UnsupportedNode> &unsupported,
    std::vector<std::string> *dataFiles, ModelMetadata *metadata) {
  context->loadDialect<affine::AffineDialect, arith::ArithDialect,
                       cf::ControlFlowDialect, func::FuncDialect,
                       linalg::LinalgDialect, math::MathDialect,
                       scf::SCFDialect, tensor::TensorDialect>();
  auto error = [&]() {
    return emitError(NameLoc::get(StringAttr::get(context, path)));
  };
  auto buffer = readInputFile(path, /*isText=*/false);
  if (!buffer) {
    error() << "cannot be read: " << llvm::toString(buffer.takeError());
    return nullptr;
  }
  std::shared_ptr<llvm::MemoryBuffer> file = std::move(*buffer);
  auto stripped = stripRawData(file->getBuffer());
  if (!stripped) {
    error() << "is not an ONNX model: " << llvm::toString(stripped.takeError());
    return nullptr;
  }
  onnx::ModelProto model;
  if (!model.ParseFromString(*stripped) || !model.has_graph()) {
    error() << "is not an ONNX model: expected a ModelProto with a graph";
    return nullptr;
  }
  std::string().swap(*stripped);
  if (metadata)
    *metadata =
        readMetadata(model, NameLoc::get(StringAttr::get(context, path)));
  TensorData data(context, path, file, model);
  auto module = GraphImporter(model, data, options, unsupported, context).run();
  if (dataFiles)
    *dataFiles = data.externalPaths();
  return module;
}
