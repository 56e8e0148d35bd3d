// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs kernels op by op, as the tile dialect says they mean: copies and steps
// that have been begun are done at a random later time, roles go on in random
// order, rings have their true slots. What no schedule may do is an error.
#ifndef ASHLAR_INTERPRET_INTERPRET_H
#define ASHLAR_INTERPRET_INTERPRET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ashlar {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ashlar/Interpret/Passes.h.inc"

namespace interpret {

/// An element: `real` of a float type, else `whole`, sign-extended.
union Number {
  int64_t whole;
  double real;
};

/// What an argument holds: the elements of a memref of static sizes and strides
/// from its first to its last; the one number of an index.
using Numbers = std::vector<Number>;

/// Runs a function of memrefs that begin where their memory does, and of
/// indices, on `arguments`, which it changes. `seed` decides what runs when.
/// Accesses outside of memory, reads of what has not been waited for, writes to
/// what is still being read, slots used after their release, roles that wait
/// for each other and ops that are not known are errors, emitted where they
/// stand.
llvm::LogicalResult run(mlir::func::FuncOp kernel,
                        std::vector<Numbers> &arguments, uint64_t seed);

/// What became of a function of ashlar-interpret-kernels.
struct KernelOutcome {
  llvm::StringRef name;
  std::string leftOut;   ///< why it was not run; empty: it was
  std::string wrong;     ///< what is wrong with it; empty: nothing
  double difference = 0; ///< the largest, relative to its buffer's largest
};
using TellOutcome = std::function<void(const KernelOutcome &)>;

/// The pass ashlar-interpret-kernels, which says what it found to `tell`, in
/// place of diagnostics, and does not fail.
std::unique_ptr<mlir::Pass>
createInterpretKernelsPass(InterpretKernelsPassOptions options,
                           TellOutcome tell);

} // namespace interpret
} // namespace ashlar

#endif // ASHLAR_INTERPRET_INTERPRET_H
