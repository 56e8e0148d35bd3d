// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ImportModel.h"
#include "ashlar/Import/MLIR/Import.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace ashlar;

/// MLIR by its name or, as bytecode, by its first bytes; all else is ONNX.
static bool isMLIR(StringRef path) {
  if (path.ends_with(".mlir") || path.ends_with(".mlirbc"))
    return true;
  auto head = llvm::MemoryBuffer::getFileSlice(path, 4, 0);
  return head && (*head)->getBuffer() == "ML\xefR";
}

OwningOpRef<ModuleOp>
ashlar::importModel(const CompileOptions &options, MLIRContext &context,
                    std::vector<UnsupportedNode> &unsupported,
                    std::vector<std::string> &dataFiles) {
  if (isMLIR(options.input)) {
    if (!options.values.empty()) {
      emitError(NameLoc::get(StringAttr::get(&context, options.input)))
          << "--value is for inputs of ONNX models; write the constant into "
             "the .mlir file";
      return nullptr;
    }
    MLIRImportOptions importOptions;
    for (auto &[name, shape] : options.shapes)
      importOptions.shapes[name].assign(shape.begin(), shape.end());
    return importMLIR(options.input, importOptions, &context);
  }
  ONNXImportOptions importOptions;
  importOptions.values = options.values;
  for (auto &[name, shape] : options.shapes)
    importOptions.shapes[name].assign(shape.begin(), shape.end());
  SmallVector<UnsupportedNode> found;
  OwningOpRef<ModuleOp> module =
      importONNX(options.input, importOptions, &context, found, &dataFiles);
  unsupported.assign(found.begin(), found.end());
  return module;
}
