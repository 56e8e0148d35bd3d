// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What targets share whose kernels are those of one thread of many.
#ifndef ASHLAR_LIB_TARGETS_LLVM_THREADCODE_H
#define ASHLAR_LIB_TARGETS_LLVM_THREADCODE_H

#include "mlir/IR/Operation.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar {

/// The first function in an op that no instruction computes to the last bit and
/// ashlar-approximate-math does not write, by its name; empty: there is none.
std::string functionWithoutCode(mlir::Operation *op);

/// An error where a function of the kind is left in a module: `who` has none,
/// and `target` may be what a processor stands beside.
llvm::Error checkCalls(const llvm::Module &module, llvm::StringRef who,
                       llvm::StringRef target);

/// Loops of a few loads are written out, so that several are under way. Loads
/// and stores of neighbours the back end joins where it sees that their
/// addresses differ by numbers and how the first of them is aligned.
extern const char *const joiningPasses;

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_THREADCODE_H
