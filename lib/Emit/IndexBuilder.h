// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_EMIT_INDEXBUILDER_H
#define ASHLAR_LIB_EMIT_INDEXBUILDER_H

#include "WeightTable.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Emit/EmitModule.h"
#include "ashlar/Emit/MemoryNeeds.h"
#include "llvm/ADT/SmallVector.h"

namespace ashlar {

struct SectionPlace {
  enum class Kind { Weights, Code, Random } kind; ///< as the file has them
  uint64_t offset, size, hash;
};

/// Collects the weights that the programs read, in the order of their
/// commands' binding numbers.
void collectWeights(mlir::ModuleOp module, WeightTable &weights);

/// The contract of one program, without its holders.
MemoryNeeds memoryNeedsOf(exec::ProgramOp program, const ProgramBinary &binary,
                          const WeightTable &weights);

/// The FlatBuffer of runtime/schema/module.fbs. Sections: the weights, then
/// one per binary, of each program those of its pieces, then random weights, if
/// there are any. Its size does not depend on the sections' numbers.
llvm::SmallVector<char, 0> buildIndex(const ModulePieces &pieces,
                                      const WeightTable &weights,
                                      llvm::ArrayRef<SectionPlace> sections,
                                      const Provenance &provenance);

} // namespace ashlar

#endif // ASHLAR_LIB_EMIT_INDEXBUILDER_H
