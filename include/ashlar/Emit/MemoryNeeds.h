// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_EMIT_MEMORYNEEDS_H
#define ASHLAR_EMIT_MEMORYNEEDS_H

#include "ashlar/Emit/ModulePieces.h"
#include <string>
#include <vector>

namespace ashlar {

/// The figures of a program's memory contract; docs/memory-contract.md.
struct MemoryNeeds {
  uint64_t weights = 0, code = 0, arena = 0, arenaLowerBound = 0, outputs = 0,
           staging = 0, scratch = 0;
  uint64_t state = 0; ///< in the caller's memory, beside the peak
  /// Of a further device, which the figures above leave out.
  struct Companion {
    uint64_t weights = 0, code = 0, arena = 0, arenaLowerBound = 0;
  };
  std::vector<Companion> companions;
  uint64_t peak() const {
    uint64_t bytes = weights + code + arena + outputs + staging + scratch;
    for (const Companion &other : companions)
      bytes += other.weights + other.code + other.arena;
    return bytes;
  }
  /// What is in the arena at its peak, largest first.
  struct Holder {
    std::string node;
    uint64_t bytes;
  };
  std::vector<Holder> holders;
};

/// Of each program, which have passed the stage `schedule`, in order.
std::vector<MemoryNeeds> measureMemory(mlir::ModuleOp module,
                                       llvm::ArrayRef<ProgramBinary> binaries);
/// The same before kernels are binaries, with no bytes of code: the least that
/// the programs will need.
std::vector<MemoryNeeds> measureWithoutCode(mlir::ModuleOp module);
/// Of several pieces, each program with the weights and the code of all, and
/// the most of everything else; without holders.
std::vector<MemoryNeeds> measureMemory(const ModulePieces &pieces);

} // namespace ashlar

#endif // ASHLAR_EMIT_MEMORYNEEDS_H
