// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EmittedPrograms.h"
#include "HashModel.h"

using namespace ashlar;

bool ashlar::writePrograms(const CompileOptions &options,
                           const ModulePieces &pieces,
                           const std::vector<std::string> &dataFiles,
                           Provenance provenance, llvm::raw_ostream &log) {
  if (options.outputDescriptor >= 0)
    return mlir::succeeded(
        emitModule(pieces, provenance, options.outputDescriptor));
  // Nobody asks a module without a name what it was made of.
  std::vector<std::string> files = {options.input};
  files.insert(files.end(), dataFiles.begin(), dataFiles.end());
  auto hash = hashFiles(files);
  if (!hash) {
    log << "error: " << llvm::toString(hash.takeError()) << "\n";
    return false;
  }
  provenance.modelSha256 = *hash;
  return mlir::succeeded(emitModule(pieces, provenance, options.output));
}
