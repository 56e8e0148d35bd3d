// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_EMIT_MEMORYNEEDS_H
#define ASHLAR_EMIT_MEMORYNEEDS_H

#include "ashlar/Targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace ashlar {

/// The figures of a program's memory contract; docs/memory-contract.md.
struct MemoryNeeds {
  uint64_t weights = 0, code = 0, arena = 0, arenaLowerBound = 0, outputs = 0,
           staging = 0, scratch = 0;
  uint64_t peak() const {
    return weights + code + arena + outputs + staging + scratch;
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

} // namespace ashlar

#endif // ASHLAR_EMIT_MEMORYNEEDS_H
