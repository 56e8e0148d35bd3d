// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages place and precision: programs, and the types of what they compute.
#include "StageChecks.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/NoteAt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar;

LogicalResult ashlar::checkPrograms(ModuleOp module) {
  if (module.getBody()->empty())
    return module.emitError(
        "after the stage place: expected a program for every target, found an "
        "empty module");
  for (Operation &op : *module.getBody()) {
    auto program = dyn_cast<ModuleOp>(op);
    if (!program)
      return op.emitError("after the stage place: expected nothing but modules "
                          "of programs, found '")
             << op.getName() << "' outside of them";
    auto target = program->getAttr(exec::targetAttrName);
    if (!isa_and_present<exec::TargetAttr>(target)) {
      InFlightDiagnostic diagnostic =
          program.emitError("after the stage place: expected '")
          << exec::targetAttrName << "' on a program, found ";
      if (target)
        return diagnostic << target;
      return diagnostic << "none";
    }
    for (Operation &inner : *program.getBody())
      if (!isa<func::FuncOp>(inner))
        return noteAt(inner.emitError("after the stage place: expected nothing "
                                      "but functions in a program, found '")
                          << inner.getName() << "'",
                      program.getLoc(), "the program is here");
  }
  return success();
}

/// Roundings that need not happen (`contract`) stand only where a value leaves
/// the body, and never before their own extension.
static LogicalResult checkCasts(Operation *op) {
  auto extension = dyn_cast<arith::ExtFOp>(op);
  if (!extension)
    return success();
  auto rounding = extension.getIn().getDefiningOp<arith::TruncFOp>();
  auto mayGo = [](auto cast) {
    return bitEnumContainsAll(
        cast.getFastmath().value_or(arith::FastMathFlags::none),
        arith::FastMathFlags::contract);
  };
  if (!rounding || !mayGo(rounding) || !mayGo(extension))
    return success();
  InFlightDiagnostic error =
      op->emitError("after the stage precision: expected no rounding that is "
                    "extended at once, found ")
      << rounding.getType() << " between " << rounding.getIn().getType()
      << " and " << extension.getType();
  error.attachNote(rounding.getLoc()) << "rounded here";
  return error;
}

LogicalResult ashlar::checkElementTypes(ModuleOp program) {
  auto check = [](Operation *op, Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getElementType().isIntOrFloat())
      return success();
    return op->emitError("after the stage precision: expected integers or "
                         "floats as elements, found ")
           << type;
  };
  for (auto function : program.getOps<func::FuncOp>()) {
    for (Type type : function.getArgumentTypes())
      if (failed(check(function, type)))
        return failure();
    WalkResult walk =
        function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
          for (Type type : op->getResultTypes())
            if (failed(check(op, type)))
              return WalkResult::interrupt();
          if (failed(checkCasts(op)))
            return WalkResult::interrupt();
          return WalkResult::advance();
        });
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}
