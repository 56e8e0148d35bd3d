// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dispatches of a program after the stage `fuse`, made visible: what each
// computes becomes an output, and what it reads an input.
#ifndef ASHLAR_CHECK_DISPATCHES_H
#define ASHLAR_CHECK_DISPATCHES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace ashlar::check {

/// One result of a dispatch at the top of a program.
struct DispatchResult {
  unsigned dispatch = 0; ///< in the program's order
  /// The model's nodes that the dispatch computes, in the model's order.
  std::vector<std::string> nodes;
  std::string type; ///< as MLIR spells it, to see that two programs agree
};

/// Returns the results of all dispatches behind the entry's own. Dispatches in
/// the blocks of control flow are part of what is around them.
std::vector<DispatchResult> exposeDispatches(mlir::ModuleOp program);

/// Lets every dispatch read what others compute from new inputs, behind the
/// entry's own and in the order of the results, which are the only outputs.
std::vector<DispatchResult> isolateDispatches(mlir::ModuleOp program);

} // namespace ashlar::check

#endif // ASHLAR_CHECK_DISPATCHES_H
