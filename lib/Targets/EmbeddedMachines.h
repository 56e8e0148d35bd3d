// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine files that are part of the library: ashlar_embed_files.
#ifndef ASHLAR_LIB_TARGETS_EMBEDDEDMACHINES_H
#define ASHLAR_LIB_TARGETS_EMBEDDEDMACHINES_H

#include "ashlar/Targets/MachineModel.h"

namespace ashlar {

struct EmbeddedMachine {
  const char *name;
  const char *text; ///< JSON
};

/// Ends the program where the file is broken: a test reads them all.
MachineModel parseEmbedded(const EmbeddedMachine &file);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_EMBEDDEDMACHINES_H
