// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_EMIT_EMITMODULE_H
#define ASHLAR_EMIT_EMITMODULE_H

#include "ashlar/Emit/ModulePieces.h"
#include <string>
#include <vector>

namespace ashlar {
namespace runtime {
class SigningKey;
}

/// Where a module came from. Nothing here depends on the place or the machine
/// of the compile, so that equal input gives equal bytes.
struct Provenance {
  std::string version;
  std::vector<std::string> flags; ///< only those that change the code
  std::string modelSha256;
  /// What was measured of a program of mixed precision, line by line.
  std::vector<std::string> precision;
  /// What the model says of itself: keys and values, each key once.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Writes the programs to `path`, where they appear once the file is whole.
/// Weights stream from where they lie; those of several pieces are there once.
/// Emits a diagnostic when the file cannot be written; nothing is left behind
/// then. With a key, the module ends in its signature.
mlir::LogicalResult emitModule(const ModulePieces &pieces,
                               const Provenance &provenance,
                               llvm::StringRef path,
                               const runtime::SigningKey *signer = nullptr);
/// The same to an open file, which stays the caller's.
mlir::LogicalResult emitModule(const ModulePieces &pieces,
                               const Provenance &provenance, int descriptor,
                               const runtime::SigningKey *signer = nullptr);

} // namespace ashlar

#endif // ASHLAR_EMIT_EMITMODULE_H
