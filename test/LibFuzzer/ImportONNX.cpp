// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as an ONNX model: imported, or refused with a diagnostic or a list
// of what is not supported. What is imported is sound IR.
#include "Require.h"
#include "ashlar/Import/ONNX/Import.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace ashlar;
using ashlar::fuzz::require;

/// A name under which the importer finds the bytes.
static std::string fileOf(const uint8_t *data, size_t size) {
  static const int file = memfd_create("model.onnx", MFD_CLOEXEC);
  require(file >= 0 && ftruncate(file, 0) == 0 &&
          pwrite(file, data, size, 0) == ssize_t(size));
  return "/proc/self/fd/" + std::to_string(file);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string path = fileOf(data, size);
  // A node may become a loop nest with its names and types; a context with all
  // dialects takes some megabytes.
  ashlar::fuzz::MemoryBound bound(size, 4096, int64_t(64) << 20);
  // Types and attributes stay as long as a context.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    require(!diagnostic.str().empty());
  });
  SmallVector<UnsupportedNode> unsupported;
  std::vector<std::string> files;
  ModelMetadata metadata;
  OwningOpRef<ModuleOp> module =
      importONNX(path, {}, &context, unsupported, &files, &metadata);
  require(module || errors || !unsupported.empty());
  if (module)
    require(succeeded(verify(*module)));
  (void)readONNXIntegers(path);
  (void)readONNXInputs(path);
  return 0;
}
