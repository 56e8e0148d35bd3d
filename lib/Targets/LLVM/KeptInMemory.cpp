// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeptInMemory.h"
#include "ashlar/Support/Remarks.h"

using namespace mlir;
using namespace ashlar;

LogicalResult ashlar::sayKeptInMemory(ModuleOp kernel, StringRef who,
                                      StringRef found, bool isHot,
                                      const EmitOptions &options) {
  if (!isHot) {
    remark::missed(kernel.getLoc(), about(kernel, "MachineCode", "code"))
        << who << ": " << found;
    return success();
  }
  if (options.triesAgain && options.triesAgain(kernel))
    return success();
  if (!options.strict) {
    emitWarning(kernel.getLoc()) << who << ": " << found;
    return success();
  }
  if (options.refused)
    *options.refused = true;
  return emitError(kernel.getLoc())
         << who << ": expected none with --strict, found that " << found
         << "; another strategy (--tuning) or type (--precision-plan) may do";
}
