// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage tile: kernels in the form that the runtime calls.
#include "StageChecks.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/NoteAt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ashlar;

/// What a kernel's buffers and parameters are, its verifier knows. Behind them
/// come scratch of the size that it says, then the range of groups.
static LogicalResult checkArguments(exec::KernelOp kernel, func::FuncOp body) {
  auto refuse = [&](StringRef expected, auto found) {
    InFlightDiagnostic error =
        body.emitError("after the stage tile: expected kernel '")
        << kernel.getName() << "' to " << expected << ", found " << found;
    error.attachNote(kernel.getLoc()) << "the kernel is here";
    return error;
  };
  ArrayRef<Type> types = body.getArgumentTypes().drop_front(
      kernel.getNumBindings() + kernel.getNumParameters());
  if (types.size() != 3)
    return refuse("take buffers, parameters, scratch, first and last group",
                  std::to_string(types.size()) +
                      " arguments behind the parameters");
  Builder b(kernel.getContext());
  Type scratch =
      MemRefType::get({int64_t(*kernel.getScratchBytes())}, b.getI8Type());
  if (types[0] != scratch)
    return refuse("take as many bytes of scratch as it says, " +
                      std::to_string(*kernel.getScratchBytes()),
                  types[0]);
  for (Type type : types.take_back(2))
    if (!type.isIndex())
      return refuse("take a range of groups as index", type);
  if (body.getNumResults() != 0)
    return refuse("return nothing", body.getResultTypes());
  return success();
}

static LogicalResult checkBody(exec::KernelOp kernel, func::FuncOp body) {
  WalkResult walk =
      body.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        auto refuse = [&](StringRef expected) {
          InFlightDiagnostic error =
              op->emitError("after the stage tile: expected ")
              << expected << " in kernel '" << kernel.getName() << "', found '"
              << op->getName() << "'";
          error.attachNote(kernel.getLoc()) << "the kernel is here";
          return WalkResult::interrupt();
        };
        auto alloc = dyn_cast<memref::AllocOp>(op);
        if (alloc && !alloc.getType().getMemorySpace())
          return refuse("scratch instead of allocations");
        if (isa<linalg::LinalgDialect>(op->getDialect()))
          return refuse("loops instead of linalg ops");
        auto isTensor = [](Type type) { return isa<TensorType>(type); };
        if (llvm::any_of(op->getResultTypes(), isTensor) ||
            llvm::any_of(op->getOperandTypes(), isTensor))
          return refuse("no tensors");
        return WalkResult::advance();
      });
  return failure(walk.wasInterrupted());
}

static LogicalResult checkKernel(exec::KernelOp kernel,
                                 const SymbolTable &symbols) {
  StringRef missing = !kernel.getBody()           ? "a body"
                      : !kernel.getScratchBytes() ? "scratch"
                      : !kernel.getGrid()         ? "a grid"
                                                  : "";
  if (!missing.empty())
    return kernel.emitError("after the stage tile: expected ")
           << missing << " of kernel '" << kernel.getName() << "', found none";
  auto body = symbols.lookup<func::FuncOp>(*kernel.getBody());
  if (!body || body.isDeclaration() || body.isPublic()) {
    InFlightDiagnostic error =
        kernel.emitError("after the stage tile: expected kernel '")
        << kernel.getName() << "' to call a private function with a body";
    if (body)
      error.attachNote(body.getLoc()) << "the function is here";
    return error;
  }
  auto program = kernel->getParentOfType<ModuleOp>();
  auto others = program->getAttrOfType<ArrayAttr>(exec::companionsAttrName);
  if (size_t devices = 1 + (others ? others.size() : 0);
      kernel.getDevice() >= devices)
    return noteAt(kernel.emitError("after the stage tile: expected kernel '")
                      << kernel.getName() << "' on one of the program's "
                      << devices << " devices, found device "
                      << kernel.getDevice(),
                  program.getLoc(), "the program is here");
  if (failed(checkArguments(kernel, body)))
    return failure();
  return checkBody(kernel, body);
}

LogicalResult ashlar::checkKernels(ModuleOp program) {
  SymbolTable symbols(program);
  llvm::DenseMap<StringRef, exec::KernelOp> bodies;
  for (auto kernel : program.getOps<exec::KernelOp>()) {
    if (failed(checkKernel(kernel, symbols)))
      return failure();
    auto [other, isNew] = bodies.try_emplace(*kernel.getBody(), kernel);
    if (isNew)
      continue;
    InFlightDiagnostic error =
        kernel.emitError("after the stage tile: expected kernel '")
        << kernel.getName() << "' to call a function of its own";
    error.attachNote(other->second.getLoc()) << "this kernel calls it, too";
    return error;
  }
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isPublic()) {
      if (failed(checkEntryBody(function, exec::InvokeOp::getOperationName())))
        return failure();
    } else if (!bodies.contains(function.getName())) {
      return function.emitError("after the stage tile: expected an exec.kernel "
                                "that calls '")
             << function.getName() << "', found none";
    }
  }
  return success();
}
