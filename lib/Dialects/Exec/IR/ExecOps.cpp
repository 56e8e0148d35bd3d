// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar::exec;

#include "ashlar/Dialects/Exec/IR/ExecDialect.cpp.inc"
#include "ashlar/Dialects/Exec/IR/ExecEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ashlar/Dialects/Exec/IR/ExecAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "ashlar/Dialects/Exec/IR/ExecOps.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ashlar/Dialects/Exec/IR/ExecAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ashlar/Dialects/Exec/IR/ExecOps.cpp.inc"
      >();
}

SizeAttr SizeAttr::get(MLIRContext *context, int64_t constant) {
  return get(context, AffineMap::getConstantMap(constant, context), constant);
}

SizeAttr SizeAttr::get(AffineExpr formula, unsigned symbols, int64_t largest) {
  MLIRContext *context = formula.getContext();
  if (auto constant = dyn_cast<AffineConstantExpr>(formula))
    return get(context, constant.getValue());
  return get(context, AffineMap::get(0, symbols, formula), largest);
}

Attribute SizeAttr::parse(AsmParser &parser, Type) {
  int64_t constant, largest = 0;
  AffineMap map;
  AffineMapAttr formula;
  if (parser.parseLess())
    return {};
  OptionalParseResult integer = parser.parseOptionalInteger(constant);
  if (integer.has_value()) {
    if (failed(*integer))
      return {};
    map = AffineMap::getConstantMap(constant, parser.getContext());
    largest = constant;
  } else {
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseAttribute(formula))
      return {};
    map = formula.getValue();
    if (map.getNumDims() != 0 || map.getNumResults() != 1) {
      parser.emitError(location)
          << "expected a map without dims and with one result, found "
          << map.getNumDims() << " dims and " << map.getNumResults()
          << " results";
      return {};
    }
    if (map.isSingleConstant())
      largest = map.getSingleConstantResult();
    else if (parser.parseComma() || parser.parseKeyword("largest") ||
             parser.parseEqual() || parser.parseInteger(largest))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), map, largest);
}

void SizeAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (isConstant())
    printer << getConstant();
  else {
    printer.printAttribute(AffineMapAttr::get(getMap()));
    printer << ", largest = " << getLargest();
  }
  printer << ">";
}

unsigned ashlar::exec::numKernelBindings(func::FuncOp kernel) {
  return kernel.getNumArguments() - numKernelParameters(kernel) -
         (kernel->hasAttr(groupsAttrName) ? 3 : 0);
}

unsigned ashlar::exec::numKernelParameters(func::FuncOp kernel) {
  auto parameters = kernel->getAttrOfType<ArrayAttr>(parametersAttrName);
  return parameters ? parameters.size() : 0;
}

unsigned ashlar::exec::deviceOf(func::FuncOp kernel) {
  auto device = kernel->getAttrOfType<IntegerAttr>(deviceAttrName);
  return device ? device.getInt() : 0;
}

SmallVector<func::FuncOp> ashlar::exec::kernelsOf(ModuleOp program,
                                                  unsigned device) {
  auto all = program.getOps<func::FuncOp>();
  SmallVector<func::FuncOp> kernels;
  llvm::copy_if(all, std::back_inserter(kernels), [&](func::FuncOp kernel) {
    return deviceOf(kernel) == device;
  });
  return kernels;
}

SizeList ashlar::exec::sizesOf(Value value) {
  auto element = [](ArrayAttr list, unsigned i) -> SizeList {
    auto sizes = list && i < list.size() ? dyn_cast<ArrayAttr>(list[i]) : list;
    return sizes ? llvm::to_vector(sizes.getAsRange<SizeAttr>()) : SizeList();
  };
  if (auto result = dyn_cast<OpResult>(value))
    return element(result.getOwner()->getAttrOfType<ArrayAttr>(sizesAttrName),
                   result.getResultNumber());
  auto argument = cast<BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto dispatch = dyn_cast_if_present<DispatchOp>(parent))
    return sizesOf(dispatch.getOperand(argument.getArgNumber()));
  if (auto function = dyn_cast_if_present<func::FuncOp>(parent))
    if (auto list = function.getArgAttrOfType<ArrayAttr>(
            argument.getArgNumber(), sizesAttrName))
      return llvm::to_vector(list.getAsRange<SizeAttr>());
  // What a loop carries keeps its sizes; what its condition passes on to the
  // second block is what it results in.
  if (auto loop = dyn_cast_if_present<LoopLikeOpInterface>(parent)) {
    if (OpOperand *init = loop.getTiedLoopInit(argument))
      return sizesOf(init->get());
    if (argument.getOwner()->getParent()->getRegionNumber() == 1)
      return sizesOf(parent->getResult(argument.getArgNumber()));
  }
  return {};
}

YieldOp DispatchOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult DispatchOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getOperands().getTypes())
    return emitOpError("body must take the operands' types, expected ")
           << getOperands().getTypes() << ", found "
           << block.getArgumentTypes();
  if (getYield().getOperands().getTypes() != getOutputs().getTypes())
    return emitOpError("body must yield the results' types, expected ")
           << getOutputs().getTypes() << ", found "
           << getYield().getOperands().getTypes();
  return success();
}

LogicalResult InvokeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("names kernel ")
           << getKernelAttr() << ", which does not exist";
  unsigned expected = getNumOperands() + getNumResults();
  unsigned found = numKernelBindings(kernel);
  if (found != expected) {
    InFlightDiagnostic diagnostic =
        emitOpError("has ")
        << expected << " operands and results, but its kernel takes " << found;
    diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
    return diagnostic;
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("names kernel ")
           << getKernelAttr() << ", which does not exist";
  for (Attribute binding : getBindings())
    if (!isa<BindingAttr>(binding))
      return emitOpError("bindings must be #exec.binding, found ") << binding;
  if (numKernelBindings(kernel) != getBindings().size())
    return emitOpError("gives ")
           << getBindings().size() << " bindings, but its kernel takes "
           << numKernelBindings(kernel);
  return success();
}

LogicalResult TransferOp::verify() {
  if (int64_t(getDevice()) < 0)
    return emitOpError("expected the number of a device, found ")
           << int64_t(getDevice());
  return success();
}

LogicalResult LoopOp::verify() {
  if (!getIterations() && !getCondition())
    return emitOpError("expected a condition or a number of iterations, found "
                       "neither");
  IntegerAttr iterations = getIterationsAttr();
  if (iterations && iterations.getInt() < 0)
    return emitOpError("expected a number of iterations, found ")
           << iterations.getInt();
  return success();
}
