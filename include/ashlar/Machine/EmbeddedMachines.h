// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine files that are part of the library: ashlar_embed_files.
#ifndef ASHLAR_MACHINE_EMBEDDEDMACHINES_H
#define ASHLAR_MACHINE_EMBEDDEDMACHINES_H

#include "ashlar/Machine/MachineModel.h"
#include "llvm/ADT/ArrayRef.h"

namespace ashlar {

struct EmbeddedMachine {
  const char *name;
  const char *text; ///< JSON
};

/// Ends the program where the file is broken: a test reads them all.
MachineModel parseEmbedded(const EmbeddedMachine &file);
/// The one of that name, which is there.
MachineModel findEmbedded(llvm::ArrayRef<EmbeddedMachine> files,
                          llvm::StringRef name);

} // namespace ashlar

#endif // ASHLAR_MACHINE_EMBEDDEDMACHINES_H
