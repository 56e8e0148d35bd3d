// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void ashlar::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
}

void ashlar::registerAllPasses() { mlir::registerAllPasses(); }
