// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Exec/Utils/Aliases.h"

using namespace mlir;

void ashlar::removeReadAliases(exec::KernelOp kernel, func::FuncOp body) {
  SmallVector<int64_t> unread;
  for (int64_t operand : kernel.getAliases().value_or(ArrayRef<int64_t>()))
    if (body.getArgument(operand).use_empty())
      unread.push_back(operand);
  if (unread.empty())
    kernel.removeAliasesAttr();
  else
    kernel.setAliases(unread);
}
