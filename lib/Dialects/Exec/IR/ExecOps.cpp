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

/// In brackets; constants stand there as numbers.
static ParseResult parseSizes(AsmParser &parser,
                              SmallVectorImpl<SizeAttr> &sizes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        int64_t constant;
        OptionalParseResult number = parser.parseOptionalInteger(constant);
        if (number.has_value() && failed(*number))
          return failure();
        sizes.push_back(number.has_value()
                            ? SizeAttr::get(parser.getContext(), constant)
                            : dyn_cast_if_present<SizeAttr>(
                                  SizeAttr::parse(parser, Type())));
        return success(sizes.back() != nullptr);
      });
}

static void printSizes(AsmPrinter &printer, ArrayRef<SizeAttr> sizes) {
  printer << "[";
  llvm::interleaveComma(sizes, printer, [&](SizeAttr size) {
    if (size.isConstant())
      printer << size.getConstant();
    else
      size.print(printer);
  });
  printer << "]";
}

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

LogicalResult
TensorMapAttr::verify(llvm::function_ref<InFlightDiagnostic()> error,
                      unsigned binding, Type type, ArrayRef<SizeAttr> sizes,
                      ArrayRef<SizeAttr> strides, ArrayRef<int64_t> box,
                      ArrayRef<int64_t> steps, int64_t swizzle) {
  constexpr size_t mostRank = 5; // as the module has it
  if (sizes.empty() || sizes.size() > mostRank ||
      strides.size() != sizes.size() || box.size() != sizes.size())
    return error() << "expected sizes, strides and a box of one to five dims";
  auto isStep = [](int64_t step) { return step >= 1 && step <= 8; };
  if (!steps.empty() &&
      (steps.size() != sizes.size() || !llvm::all_of(steps, isStep)))
    return error() << "expected a step of 1 to 8 for each dim, or none";
  if (!type.isIntOrFloat() ||
      8 * strides.front().getLargest() != int64_t(type.getIntOrFloatBitWidth()))
    return error() << "expected elements of " << type
                   << " side by side, found a stride of "
                   << strides.front().getLargest() << " bytes";
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return error() << "expected a swizzle of 0, 32, 64 or 128 bytes, found "
                   << swizzle;
  return success();
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

std::pair<KernelOp, func::FuncOp>
ashlar::exec::addKernel(SymbolTable &symbols, Location location, StringRef name,
                        FunctionType bindings, TypeRange others) {
  OpBuilder b(location.getContext());
  auto kernel = KernelOp::create(b, location, name, bindings);
  Block::iterator end = cast<ModuleOp>(symbols.getOp()).getBody()->end();
  symbols.insert(kernel, end);
  SmallVector<Type> types(bindings.getInputs());
  llvm::append_range(types, bindings.getResults());
  llvm::append_range(types, others);
  auto body =
      func::FuncOp::create(b, location, (kernel.getSymName() + "_body").str(),
                           b.getFunctionType(types, {}));
  body.setPrivate();
  kernel.setBody(symbols.insert(body, end).getValue());
  body.addEntryBlock();
  return {kernel, body};
}

SmallVector<KernelOp> ashlar::exec::kernelsOf(ModuleOp program,
                                              unsigned device) {
  SmallVector<KernelOp> kernels;
  for (auto kernel : program.getOps<KernelOp>())
    if (kernel.getDevice() == device)
      kernels.push_back(kernel);
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
  if (getYield().getOperands().getTypes() == getOutputs().getTypes())
    return success();
  InFlightDiagnostic error =
      emitOpError("body must yield the results' types, expected ")
      << getOutputs().getTypes() << ", found "
      << getYield().getOperands().getTypes();
  error.attachNote(getYield().getLoc()) << "yielded here";
  return error;
}

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     FunctionType bindings) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getBindingsAttrName(state.name), TypeAttr::get(bindings));
}

SizeAttr KernelOp::getGroups() {
  ArrayAttr grid = getGridAttr();
  if (!grid || grid.size() == 1)
    return grid ? cast<SizeAttr>(grid[0]) : SizeAttr();
  AffineExpr formula = getAffineConstantExpr(1, getContext());
  int64_t most = 1;
  unsigned symbols = 0;
  for (auto size : grid.getAsRange<SizeAttr>()) {
    formula = formula * size.getFormula();
    most *= size.getLargest();
    symbols = std::max(symbols, size.getMap().getNumSymbols());
  }
  return SizeAttr::get(formula, symbols, most);
}

LogicalResult KernelOp::verify() {
  if (getDevice() > UINT32_MAX)
    return emitOpError("expected the number of a device, found ")
           << int64_t(getDevice());
  for (unsigned i = 0; i != getNumBindings(); ++i)
    if (!isa<MemRefType>(getBindingType(i)))
      return emitOpError("expected memrefs as bindings, found ")
             << getBindingType(i);
  if (ArrayAttr grid = getGridAttr(); grid && (grid.empty() || grid.size() > 3))
    return emitOpError("expected a grid of one to three sizes, found ")
           << grid.size();
  if (getScratchBytes().value_or(0) > INT64_MAX)
    return emitOpError("expected bytes of scratch, found ")
           << int64_t(*getScratchBytes());
  if (getCyclesAttr() && !getBoundAttr())
    return emitOpError("expected 'bound' beside 'cycles', found none");
  if (getAliases() && getNumResults() != 1)
    return emitOpError("expected one result beside 'aliases', found ")
           << getNumResults();
  for (int64_t operand : getAliases().value_or(ArrayRef<int64_t>()))
    if (operand < 0 || operand >= int64_t(getNumOperands()))
      return emitOpError("expected 'aliases' to number some of its ")
             << getNumOperands() << " operands, found operand " << operand;
  if (ArrayAttr maps = getTensorMapsAttr())
    for (auto map : maps.getAsRange<TensorMapAttr>())
      if (map.getBinding() >= getNumBindings())
        return emitOpError("expected tensor maps of its ")
               << getNumBindings() << " bindings, found one of binding "
               << map.getBinding();
  return success();
}

/// Where it is still a function: buffers, then parameters.
LogicalResult KernelOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (!getBodyAttr())
    return success();
  Operation *symbol = symbolTable.lookupNearestSymbolFrom(*this, getBodyAttr());
  if (!symbol)
    return emitOpError("calls ") << getBodyAttr() << ", which does not exist";
  auto function = dyn_cast<func::FuncOp>(symbol);
  if (!function)
    return success();
  auto refuse = [&] {
    InFlightDiagnostic diagnostic = emitOpError("expected its body to take ");
    diagnostic.attachNote(function.getLoc()) << "the body is here";
    return diagnostic;
  };
  ArrayRef<Type> types = function.getArgumentTypes();
  if (types.size() < getNumBindings() + getNumParameters())
    return refuse() << getNumBindings() << " buffers and " << getNumParameters()
                    << " parameters, found " << types.size() << " arguments";
  for (unsigned i = 0; i != getNumBindings(); ++i)
    if (types[i] != getBindingType(i))
      return refuse() << getBindingType(i) << " as buffer " << i << ", found "
                      << types[i];
  for (unsigned i = 0; i != getNumParameters(); ++i) {
    unsigned argument = getNumBindings() + i;
    if (!types[argument].isIndex())
      return refuse() << "parameters as index, found " << types[argument];
    Attribute size = function.getArgAttr(argument, sizeAttrName);
    if (size != (*getParameters())[i])
      return refuse() << "parameters with '" << sizeAttrName
                      << "' as in the kernel, found " << size;
  }
  return success();
}

static KernelOp findKernel(Operation *op, FlatSymbolRefAttr name,
                           SymbolTableCollection &symbolTable) {
  auto kernel = symbolTable.lookupNearestSymbolFrom<KernelOp>(op, name);
  if (!kernel)
    op->emitOpError("names kernel ") << name << ", which does not exist";
  return kernel;
}

LogicalResult InvokeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  KernelOp kernel = findKernel(*this, getKernelAttr(), symbolTable);
  if (!kernel)
    return failure();
  if (getNumOperands() == kernel.getNumOperands() &&
      getNumResults() == kernel.getNumResults())
    return success();
  InFlightDiagnostic diagnostic = emitOpError("has ")
                                  << getNumOperands() << " operands and "
                                  << getNumResults()
                                  << " results, but its kernel takes "
                                  << kernel.getNumOperands() << " and has "
                                  << kernel.getNumResults();
  diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
  return diagnostic;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  KernelOp kernel = findKernel(*this, getKernelAttr(), symbolTable);
  if (!kernel)
    return failure();
  for (Attribute binding : getBindings())
    if (!isa<BindingAttr>(binding))
      return emitOpError("bindings must be #exec.binding, found ") << binding;
  if (kernel.getNumBindings() == getBindings().size())
    return success();
  InFlightDiagnostic error = emitOpError("gives ")
                             << getBindings().size()
                             << " bindings, but its kernel takes "
                             << kernel.getNumBindings();
  error.attachNote(kernel.getLoc()) << "the kernel is here";
  return error;
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
