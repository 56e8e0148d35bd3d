// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tools register: the only list of dialects, passes and targets.
#ifndef ASHLAR_INITALL_H
#define ASHLAR_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ashlar {

void registerAllDialects(mlir::DialectRegistry &registry);
void registerAllPasses();

} // namespace ashlar

#endif // ASHLAR_INITALL_H
