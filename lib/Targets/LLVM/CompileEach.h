// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of a program's kernels, several at a time.
#ifndef ASHLAR_LIB_TARGETS_LLVM_COMPILEEACH_H
#define ASHLAR_LIB_TARGETS_LLVM_COMPILEEACH_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ashlar {

/// In the order of `kernels`; what `compile` fails for leaves its error in the
/// same place of `errors`, where all others are empty.
template <typename Code, typename Kernel, typename Compile>
std::vector<Code> compileSideBySide(mlir::MLIRContext *context,
                                    const std::vector<Kernel> &kernels,
                                    std::vector<std::string> &errors,
                                    Compile compile) {
  std::vector<Code> all(kernels.size());
  errors.assign(kernels.size(), "");
  mlir::parallelFor(context, 0, kernels.size(), [&](size_t i) {
    llvm::Expected<Code> code = compile(kernels[i]);
    if (code)
      all[i] = std::move(*code);
    else
      errors[i] = llvm::toString(code.takeError());
  });
  return all;
}

/// In the order of `kernels`, whose `module` says where they are. Of those that
/// `compile` fails for, the first is an error, and `refused`, where it is not
/// null, becomes true.
template <typename Code, typename Kernel, typename Compile>
mlir::FailureOr<std::vector<Code>>
compileEach(mlir::MLIRContext *context, const std::vector<Kernel> &kernels,
            bool *refused, Compile compile) {
  std::vector<std::string> errors;
  std::vector<Code> all =
      compileSideBySide<Code>(context, kernels, errors, compile);
  for (auto [kernel, error] : llvm::zip_equal(kernels, errors)) {
    if (error.empty())
      continue;
    if (refused)
      *refused = true;
    mlir::ModuleOp module = kernel.module;
    return mlir::emitError(module.getLoc()) << error;
  }
  return all;
}

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_COMPILEEACH_H
