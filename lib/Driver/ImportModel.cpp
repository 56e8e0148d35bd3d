// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ImportModel.h"
#include "ashlar/Import/MLIR/Import.h"
#include "ashlar/Support/InputFile.h"
#include "ashlar/runtime/api.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ashlar;

/// MLIR by its name or, as bytecode, by its first bytes; all else is ONNX.
static bool isMLIR(StringRef path) {
  if (path.ends_with(".mlir") || path.ends_with(".mlirbc"))
    return true;
  auto file = readInputFile(path, /*isText=*/false);
  if (file)
    return (*file)->getBuffer().starts_with("ML\xefR");
  // The importer says why.
  llvm::consumeError(file.takeError());
  return false;
}

/// What no runtime would load.
static LogicalResult checkRanks(ModuleOp module) {
  auto check = [](Type type, DictionaryAttr attributes, StringRef what,
                  Location location) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() <= ASHLAR_MAX_RANK)
      return success();
    if (auto name = attributes ? attributes.getAs<StringAttr>("ashlar.name")
                               : StringAttr())
      location = NameLoc::get(name);
    return emitError(location)
           << what << " has rank " << tensor.getRank() << "; expected at most "
           << ASHLAR_MAX_RANK
           << ", the most that the runtime takes; make one dim of several in "
              "the model";
  };
  for (auto entry : module.getOps<func::FuncOp>()) {
    for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes()))
      if (failed(check(type, entry.getArgAttrDict(i), "input", entry.getLoc())))
        return failure();
    for (auto [i, type] : llvm::enumerate(entry.getResultTypes()))
      if (failed(check(type, entry.getResultAttrDict(i), "output",
                       entry.getLoc())))
        return failure();
  }
  return success();
}

static OwningOpRef<ModuleOp>
importFile(const CompileOptions &options, MLIRContext &context,
           std::vector<UnsupportedNode> &unsupported,
           std::vector<std::string> &dataFiles, ModelMetadata &metadata) {
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
  OwningOpRef<ModuleOp> module = importONNX(
      options.input, importOptions, &context, found, &dataFiles, &metadata);
  unsupported.assign(found.begin(), found.end());
  return module;
}

OwningOpRef<ModuleOp>
ashlar::importModel(const CompileOptions &options, MLIRContext &context,
                    std::vector<UnsupportedNode> &unsupported,
                    std::vector<std::string> &dataFiles,
                    ModelMetadata &metadata) {
  OwningOpRef<ModuleOp> module =
      importFile(options, context, unsupported, dataFiles, metadata);
  if (module && failed(checkRanks(*module)))
    return nullptr;
  return module;
}
