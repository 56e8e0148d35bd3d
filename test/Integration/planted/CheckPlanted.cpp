// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ashlar-check --against=reference with a miscompile in it: in the first kernel
// that computes all these nodes in vectors, one coefficient has the wrong sign.
//
//   check-planted NODE[+NODE...] MODEL --against=reference [as ashlar-check]
#include "AgainstRun.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ashlar;

static bool computes(exec::KernelOp kernel, StringRef nodes) {
  ArrayAttr names = kernel.getNodesAttr();
  return names && llvm::all_of(llvm::split(nodes, '+'), [&](StringRef node) {
           return llvm::is_contained(names.getAsValueRange<StringAttr>(), node);
         });
}

/// Gives the first factor of the body's first product of vectors the other
/// sign.
static bool plant(func::FuncOp body) {
  return body
      ->walk([](Operation *op) {
        if (!isa<arith::MulFOp, math::FmaOp, vector::FMAOp>(op) ||
            !isa<VectorType>(op->getResult(0).getType()))
          return WalkResult::advance();
        OpBuilder b(op);
        op->setOperand(
            0, arith::NegFOp::create(b, op->getLoc(), op->getOperand(0)));
        return WalkResult::interrupt();
      })
      .wasInterrupted();
}

int main(int argc, char **argv) {
  std::string nodes = argc > 1 ? argv[1] : "";
  for (int i = 1; i < argc - 1; ++i)
    argv[i] = argv[i + 1];
  check::Request request;
  if (std::optional<int> code =
          check::parseCommandLine(argc - 1, argv, request))
    return *code;
  request.against.program = "ashlar-check";
  CompileHooks planted;
  planted.afterTile = [&](ModuleOp program) {
    for (auto kernel : program.getOps<exec::KernelOp>())
      if (computes(kernel, nodes) &&
          plant(program.lookupSymbol<func::FuncOp>(*kernel.getBody()))) {
        llvm::errs() << "planted in " << kernel.getSymName() << "\n";
        break;
      }
    return success();
  };
  return check::runAgainst(request, planted);
}
