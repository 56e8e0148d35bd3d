// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pass alone, every stage by name, upstream's passes too.
#include "ashlar/InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ashlar::registerAllDialects(registry);
  ashlar::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Ashlar optimizer driver\n", registry));
}
