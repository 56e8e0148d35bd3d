// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage tile: kernels in the form that the runtime calls.
#include "StageChecks.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ashlar;

/// Buffers, then scratch of the size that the kernel says, then the range of
/// groups.
static LogicalResult checkArguments(func::FuncOp kernel, int64_t scratchBytes) {
  auto refuse = [&](StringRef expected, auto found) {
    return kernel.emitError("after the stage tile: expected kernel '")
           << kernel.getName() << "' to take " << expected << ", found "
           << found;
  };
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (types.size() < 3)
    return refuse("buffers, scratch, first and last group",
                  std::to_string(types.size()) + " arguments");
  unsigned parameters = exec::numKernelParameters(kernel);
  if (types.size() < 3 + parameters)
    return refuse("buffers and " + std::to_string(parameters) + " parameters",
                  std::to_string(types.size()) + " arguments");
  for (Type type : types.drop_back(3 + parameters))
    if (!isa<MemRefType>(type))
      return refuse("memrefs", type);
  for (Type type : types.drop_back(3).take_back(parameters))
    if (!type.isIndex())
      return refuse("parameters as index", type);
  Builder b(kernel.getContext());
  Type scratch = MemRefType::get({scratchBytes}, b.getI8Type());
  if (types[types.size() - 3] != scratch)
    return refuse("as many bytes of scratch as its exec.scratch_bytes",
                  types[types.size() - 3]);
  for (Type type : types.take_back(2))
    if (!type.isIndex())
      return refuse("a range of groups as index", type);
  if (kernel.getNumResults() != 0)
    return kernel.emitError("after the stage tile: expected kernel '")
           << kernel.getName() << "' to return nothing, found "
           << kernel.getResultTypes();
  return success();
}

/// An operand whose place may be taken exists and is no result.
static LogicalResult checkAliases(func::FuncOp kernel, int64_t results) {
  Attribute attribute = kernel->getAttr(exec::aliasesAttrName);
  if (!attribute)
    return success();
  int64_t operands = exec::numKernelBindings(kernel) - results;
  auto isOperand = [&](Attribute element) {
    auto number = dyn_cast<IntegerAttr>(element);
    return number && number.getInt() >= 0 && number.getInt() < operands;
  };
  auto numbers = dyn_cast<ArrayAttr>(attribute);
  if (results == 1 && numbers && llvm::all_of(numbers, isOperand))
    return success();
  return kernel.emitError("after the stage tile: expected '")
         << exec::aliasesAttrName << "' to number operands of kernel '"
         << kernel.getName() << "', which has " << operands
         << " and one result, found " << attribute;
}

static LogicalResult checkBody(func::FuncOp kernel) {
  WalkResult walk =
      kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        auto refuse = [&](StringRef expected) {
          op->emitError("after the stage tile: expected ")
              << expected << " in kernel '" << kernel.getName() << "', found '"
              << op->getName() << "'";
          return WalkResult::interrupt();
        };
        if (isa<memref::AllocOp>(op))
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

static LogicalResult checkKernel(func::FuncOp kernel) {
  auto results = kernel->getAttrOfType<IntegerAttr>(exec::resultsAttrName);
  auto scratch = kernel->getAttrOfType<IntegerAttr>(exec::scratchAttrName);
  auto groups = kernel->getAttrOfType<exec::SizeAttr>(exec::groupsAttrName);
  StringRef missing = !results   ? StringRef(exec::resultsAttrName)
                      : !scratch ? StringRef(exec::scratchAttrName)
                      : !groups  ? StringRef(exec::groupsAttrName)
                                 : StringRef();
  if (!missing.empty())
    return kernel.emitError("after the stage tile: expected '")
           << missing << "' on kernel '" << kernel.getName() << "', found none";
  if (failed(checkArguments(kernel, scratch.getInt())))
    return failure();
  int64_t bindings = exec::numKernelBindings(kernel);
  if (results.getInt() < 0 || results.getInt() > bindings)
    return kernel.emitError("after the stage tile: expected at most ")
           << bindings << " results of kernel '" << kernel.getName()
           << "', one per buffer, found " << results.getInt();
  if (failed(checkAliases(kernel, results.getInt())))
    return failure();
  return checkBody(kernel);
}

LogicalResult ashlar::checkKernels(ModuleOp program) {
  for (auto function : program.getOps<func::FuncOp>()) {
    LogicalResult checked =
        function.isPublic()
            ? checkEntryBody(function, exec::InvokeOp::getOperationName())
            : checkKernel(function);
    if (failed(checked))
      return failure();
  }
  return success();
}
