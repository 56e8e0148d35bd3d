// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compile has made, before it is written.
#ifndef ASHLAR_LIB_DRIVER_EMITTEDPROGRAMS_H
#define ASHLAR_LIB_DRIVER_EMITTEDPROGRAMS_H

#include "ashlar/Driver/CompileOptions.h"
#include "ashlar/Emit/EmitModule.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace ashlar {

struct EmittedPrograms {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module; // after what it lives in
  std::vector<ProgramBinary> binaries;
  Provenance provenance;              ///< without the model's hash
  std::vector<std::string> dataFiles; ///< beside the model, with its weights
};

/// Whether the key that the options name, if any, can sign; `log` says why not.
bool checkSigningKey(const CompileOptions &options, llvm::raw_ostream &log);

/// Writes the options' output. False: it could not be, and `log` says why,
/// unless a handler of diagnostics does.
bool writePrograms(const CompileOptions &options, const ModulePieces &pieces,
                   const std::vector<std::string> &dataFiles,
                   Provenance provenance, llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_EMITTEDPROGRAMS_H
