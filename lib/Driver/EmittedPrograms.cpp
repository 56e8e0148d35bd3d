// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EmittedPrograms.h"
#include "HashModel.h"
#include "SigningKey.h"
#include "ashlar/Driver/StageTrace.h"

using namespace ashlar;

/// Reads the key of --sign-key, if there is one.
static bool readKey(const CompileOptions &options, runtime::SigningKey &key,
                    llvm::raw_ostream &log) {
  if (options.signKey.empty())
    return true;
  std::string problem = key.read(options.signKey);
  if (!problem.empty())
    log << "error: --sign-key: '" << options.signKey << "': " << problem
        << "\n";
  return problem.empty();
}

bool ashlar::checkSigningKey(const CompileOptions &options,
                             llvm::raw_ostream &log) {
  runtime::SigningKey key;
  return readKey(options, key, log);
}

bool ashlar::writePrograms(const CompileOptions &options,
                           const ModulePieces &pieces,
                           const std::vector<std::string> &dataFiles,
                           Provenance provenance, llvm::raw_ostream &log) {
  StageTrace::Span span(options.stages, "write");
  runtime::SigningKey key;
  if (!readKey(options, key, log))
    return false;
  const runtime::SigningKey *signer = options.signKey.empty() ? nullptr : &key;
  if (options.outputDescriptor >= 0)
    return mlir::succeeded(
        emitModule(pieces, provenance, options.outputDescriptor, signer));
  // Nobody asks a module without a name what it was made of.
  std::vector<std::string> files = {options.input};
  files.insert(files.end(), dataFiles.begin(), dataFiles.end());
  auto hash = hashFiles(files);
  if (!hash) {
    log << "error: " << llvm::toString(hash.takeError()) << "\n";
    return false;
  }
  provenance.modelSha256 = *hash;
  return mlir::succeeded(
      emitModule(pieces, provenance, options.output, signer));
}
