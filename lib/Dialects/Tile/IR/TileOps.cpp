// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Printing, parsing and verifying of the types, attributes and ops of `tile`
// that no other file of this folder has: contractions, accumulators and bodies.
// Strategies are CheckStrategy.cpp's, rings Rings.cpp's, attention
// Attention.cpp's.
#include "CheckMap.h"
#include "LevelText.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "ashlar/Dialects/Tile/IR/ThreadStores.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar::tile;

static ParseResult parseMatrixShape(AsmParser &parser, int64_t &rows,
                                    int64_t &columns, Type &element) {
  SmallVector<int64_t> shape;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(location, "expected rows and columns, found ")
           << shape.size() << " sizes";
  rows = shape[0];
  columns = shape[1];
  return success();
}

static void printMatrixShape(AsmPrinter &printer, int64_t rows, int64_t columns,
                             Type element) {
  printer << rows << "x" << columns << "x" << element;
}

#include "ashlar/Dialects/Tile/IR/TileDialect.cpp.inc"
#include "ashlar/Dialects/Tile/IR/TileEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ashlar/Dialects/Tile/IR/TileTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ashlar/Dialects/Tile/IR/TileAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "ashlar/Dialects/Tile/IR/TileOps.cpp.inc"
#define GET_OP_CLASSES
#include "ashlar/Dialects/Tile/IR/ThreadStores.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ashlar/Dialects/Tile/IR/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ashlar/Dialects/Tile/IR/TileAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ashlar/Dialects/Tile/IR/TileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ashlar/Dialects/Tile/IR/Decode.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ashlar/Dialects/Tile/IR/ThreadStores.cpp.inc"
      >();
  // Bodies of `tile.decode` compute with places.
  getContext()->getOrLoadDialect<affine::AffineDialect>();
}

Type AccType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, registers;
  SmallVector<LevelAttr> groups;
  FragmentAttr fragment;
  Type element;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("fragment"))) {
      if (parser.parseEqual() || parser.parseAttribute(fragment))
        return {};
      continue;
    }
    bool areGroups = succeeded(parser.parseOptionalKeyword("groups"));
    if ((!areGroups && parser.parseKeyword("registers")) ||
        parser.parseEqual() ||
        parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Square, [&]() -> ParseResult {
              if (!areGroups)
                return parser.parseInteger(registers.emplace_back());
              return success(groups.emplace_back(parseLevel(parser)) !=
                             nullptr);
            }))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<AccType>(location, parser.getContext(), shape,
                                    element, registers, groups, fragment);
}

void AccType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType();
  if (!getRegisters().empty())
    printer << ", registers = [" << getRegisters() << "]";
  if (!getGroups().empty()) {
    printer << ", groups = [";
    llvm::interleaveComma(getGroups(), printer,
                          [&](LevelAttr group) { printLevel(printer, group); });
    printer << "]";
  }
  if (getFragment())
    printer << ", fragment = " << getFragment();
  printer << ">";
}

static SmallVector<int64_t> partOf(ArrayRef<int64_t> shape,
                                   ArrayRef<LevelAttr> groups) {
  SmallVector<int64_t> part(shape);
  if (!groups.empty())
    for (auto [size, own] : llvm::zip(part, groups.back().getParallel()))
      size = own == 0 ? size : own;
  return part;
}

SmallVector<int64_t> AccType::getPart() const {
  return partOf(getShape(), getGroups());
}

AccType AccType::getRowsAlone() const {
  auto alone = [](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> rows(sizes);
    rows.back() = 1;
    return rows;
  };
  SmallVector<LevelAttr> groups;
  for (LevelAttr group : getGroups())
    groups.push_back(LevelAttr::get(getContext(), group.getKind(),
                                    group.getScope(),
                                    alone(group.getParallel()),
                                    /*reduced=*/{}, /*order=*/{}));
  return get(getContext(), alone(getShape()), getElementType(),
             /*registers=*/{}, groups, getFragment().getRowsAlone());
}

LogicalResult
AccType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                ArrayRef<int64_t> shape, Type elementType,
                ArrayRef<int64_t> registers, ArrayRef<LevelAttr> groups,
                FragmentAttr fragment) {
  auto isEmpty = [](int64_t size) { return size < 1; };
  if (shape.empty() || llvm::any_of(shape, isEmpty))
    return emitError() << "expected at least one dim, each of size 1 or more, "
                          "found "
                       << shape.size() << " dims";
  if (!elementType.isIntOrFloat())
    return emitError() << "expected numbers in an accumulator, found "
                       << elementType;
  double elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (elements > 1 << 24)
    return emitError() << "expected at most 16777216 numbers in an "
                          "accumulator, found "
                       << shape.size() << " dims of more";
  if (!registers.empty() &&
      (registers.size() != 2 || llvm::any_of(registers, isEmpty)))
    return emitError() << "expected rows and columns of a register, found ["
                       << registers << "]";
  for (LevelAttr group : groups)
    if (group.getKind() != LevelKind::Group ||
        group.getParallel().size() != shape.size() ||
        !group.getReduced().empty() || !group.getOrder().empty() ||
        llvm::any_of(group.getParallel(), isEmpty))
      return emitError() << "expected groups with a part of 1 or more for each "
                            "of "
                         << shape.size() << " dims, found " << group;
  if (!fragment)
    return success();
  SmallVector<int64_t> part = partOf(shape, groups);
  int64_t rows = ShapedType::getNumElements(ArrayRef(part).drop_back());
  if (rows % fragment.getRows() != 0 ||
      part.back() % fragment.getColumns() != 0 ||
      llvm::any_of(llvm::zip(shape, part), [](auto pair) {
        return std::get<0>(pair) % std::get<1>(pair) != 0;
      }))
    return emitError() << "expected parts of whole fragments of "
                       << fragment.getRows() << "x" << fragment.getColumns()
                       << ", found " << rows << "x" << part.back();
  return success();
}

LogicalResult
MatrixType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   int64_t rows, int64_t columns, Type elementType) {
  if (rows < 1 || columns < 1 || !elementType.isIntOrFloat())
    return emitError() << "expected rows and columns of numbers, found " << rows
                       << "x" << columns << "x" << elementType;
  return success();
}

LogicalResult
StackedAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    ArrayRef<TypedAttr> sources, ShapedType type) {
  if (sources.empty())
    return emitError() << "expected at least one source";
  auto first = dyn_cast<RankedTensorType>(sources.front().getType());
  for (TypedAttr source : sources)
    if (!first || source.getType() != first ||
        isa<RoundedAttr>(source) != isa<RoundedAttr>(sources.front()))
      return emitError() << "expected sources of one tensor type, all or none "
                            "of them rounded, found "
                         << source.getType() << " beside "
                         << sources.front().getType();
  SmallVector<int64_t> shape = {int64_t(sources.size())};
  llvm::append_range(shape, first.getShape());
  if (type != RankedTensorType::get(shape, first.getElementType()))
    return emitError() << sources.size() << " constants of " << first
                       << " one behind the other are no " << type;
  return success();
}

LogicalResult ashlar::tile::checkMap(Operation *op, StringRef name,
                                     AffineMap map, int64_t dims,
                                     Value operand) {
  if (map.getNumSymbols() != 0 || int64_t(map.getNumDims()) != dims)
    return op->emitOpError("expected the map of ")
           << name << " over " << dims << " dims and no symbols, found "
           << AffineMapAttr::get(map);
  if (int64_t(map.getNumResults()) != rankOf(operand))
    return noteAt(op->emitOpError("expected ")
                      << rankOf(operand) << " results in the map of " << name
                      << ", one per dim of " << operand.getType() << ", found "
                      << AffineMapAttr::get(map),
                  operand.getLoc(), "the operand is here");
  return success();
}

LogicalResult ashlar::tile::checkBody(Operation *op, Block &body,
                                      Type accumulator, ValueRange epilogue,
                                      Type target) {
  SmallVector<Type> expected = {accumulator};
  for (Value operand : epilogue)
    expected.push_back(elementOf(operand));
  return checkElements(op, body, expected, target);
}

LogicalResult ashlar::tile::checkElements(Operation *op, Block &body,
                                          ArrayRef<Type> expected,
                                          Type result) {
  if (body.getArgumentTypes() != TypeRange(expected))
    return op->emitOpError("expected a body over ")
           << TypeRange(expected) << ", found " << body.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (yield && yield.getValue().getType() == result)
    return success();
  InFlightDiagnostic error = op->emitOpError("expected the body to yield ")
                             << result << ", an element of the result";
  error.attachNote(body.back().getLoc()) << "the body ends here";
  return error;
}

/// One of `maps` over `dims` dims for each operand of the epilogue and for the
/// target, behind those of a and b, if there are any.
static LogicalResult checkEpilogue(Operation *op, ArrayAttr maps,
                                   unsigned first, int64_t dims,
                                   ValueRange epilogue, Value target,
                                   StringRef targetName) {
  if (maps.size() != first + epilogue.size() + 1)
    return op->emitOpError("expected a map for ")
           << (first != 0 ? "a, b, " : "")
           << "each operand of the epilogue and " << targetName << ", "
           << first + epilogue.size() + 1 << " in all, found " << maps.size();
  auto map = [&](size_t i) {
    return cast<AffineMapAttr>(maps[first + i]).getValue();
  };
  for (auto [i, operand] : llvm::enumerate(epilogue))
    if (failed(checkMap(op, "epilogue operand " + std::to_string(i), map(i),
                        dims, operand)))
      return failure();
  return checkMap(op, targetName, map(epilogue.size()), dims, target);
}

/// A result of the destination's type where that is a tensor.
static LogicalResult checkDestinations(Operation *op, ValueRange outputs,
                                       ValueRange inits) {
  SmallVector<Type> expected;
  for (Type type : inits.getTypes())
    if (isa<RankedTensorType>(type))
      expected.push_back(type);
  if (outputs.getTypes() != TypeRange(expected))
    return op->emitOpError("expected a result of the type of a tensor "
                           "destination, none for a memref");
  return success();
}

/// A row's values are combined over parallel dims of the contraction.
static LogicalResult checkRowDims(Operation *op, ArrayRef<int64_t> dims) {
  auto contract = op->getParentOfType<ContractOp>();
  int64_t parallel = contract.getParallel().size();
  if (dims.empty())
    return op->emitOpError("expected at least one dim");
  for (int64_t d : dims)
    if (d < 0 || d >= parallel || llvm::count(dims, d) != 1)
      return noteAt(op->emitOpError("expected different dims below ")
                        << parallel << ", the parallel ones, found " << d,
                    contract.getLoc(), "the contraction is here");
  return success();
}

LogicalResult RowSumOp::verify() { return checkRowDims(*this, getDims()); }
LogicalResult RowMaximumOp::verify() { return checkRowDims(*this, getDims()); }

YieldOp ContractOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult ContractOp::verify() {
  size_t parallel = getParallel().size(), reduced = getReduced().size();
  for (ArrayRef<int64_t> sizes : {getParallel(), getReduced()})
    for (int64_t size : sizes)
      if (size < 0)
        return emitOpError("expected sizes of 0 or more, found ") << size;
  if (parallel == 0)
    return emitOpError("expected at least one parallel dim");
  if (failed(checkEpilogue(*this, getMaps(), /*first=*/2, parallel,
                           getEpilogue(), getInit(), "the result")) ||
      failed(checkMap(*this, "a", getAMap(), parallel + reduced, getA())) ||
      failed(checkMap(*this, "b", getBMap(), parallel + reduced, getB())) ||
      failed(checkDestinations(*this, getOutputs(), getDpsInits())))
    return failure();
  if (getPad() && getPad()->getType() != elementOf(getInit()))
    return emitOpError("expected a pad of type ")
           << elementOf(getInit()) << ", found " << *getPad();
  return getStrategyAttr() ? verifyStrategy() : success();
}

LogicalResult ContractOp::verifyRegions() {
  if (getBody().getNumArguments() == 0)
    return emitOpError("expected a body over the accumulator");
  for (Value operand : {getA(), getB()})
    if (isa<FloatType>(elementOf(operand)) !=
        isa<FloatType>(getAccumulatorType()))
      return noteAt(emitOpError("expected factors of the sums' kind, ")
                        << getAccumulatorType() << ", found "
                        << operand.getType(),
                    operand.getLoc(), "the factor is here");
  if (failed(checkBody(*this, getBody().front(), getAccumulatorType(),
                       getEpilogue(), elementOf(getInit()))))
    return failure();
  if (!getUnrounded())
    return success();
  auto whole = cast<ShapedType>(getUnrounded().getType());
  auto rounding = getYield().getValue().getDefiningOp<arith::TruncFOp>();
  if (!rounding || rounding.getIn().getType() != whole.getElementType() ||
      whole.getShape() != cast<ShapedType>(getInit().getType()).getShape())
    return noteAt(emitOpError("expected unrounded to have the result's shape, "
                              "and the type that the body rounds from, found ")
                      << whole,
                  getYield().getLoc(), "the body yields here");
  return success();
}

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Of memrefs: the destination is written, all else is read.
static void addEffects(DestinationStyleOpInterface op, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

void ContractOp::getEffects(Effects &effects) { addEffects(*this, effects); }

void AttentionOp::getEffects(Effects &effects) { addEffects(*this, effects); }

Speculation::Speculatability AttentionOp::getSpeculatability() {
  return isa<MemRefType>(getInit().getType()) ? Speculation::NotSpeculatable
                                              : Speculation::Speculatable;
}

LogicalResult ContractOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return memref::foldMemRefCast(*this);
}

Speculation::Speculatability ContractOp::getSpeculatability() {
  return isa<MemRefType>(getInit().getType()) ? Speculation::NotSpeculatable
                                              : Speculation::Speculatable;
}

LogicalResult WinogradOp::verify() {
  auto a = cast<ShapedType>(getA().getType());
  auto b = cast<ShapedType>(getB().getType());
  int64_t size = getOutputSize(), places = (size + 2) * (size + 2);
  if (size != 2 && size != 4)
    return emitOpError("expected boxes of 2 or 4 results, found ") << size;
  if (getParallel().size() != 4 || a.getRank() != 4 || b.getRank() != 4)
    return emitOpError("expected four parallel dims and operands of rank 4");
  ArrayRef<int64_t> n = getParallel();
  int64_t expected[] = {n[0], n[1] + 2, n[2] + 2};
  auto fits = [](int64_t found, int64_t wanted) {
    return found == wanted || ShapedType::isDynamic(found);
  };
  if (!llvm::all_of_zip(a.getShape().take_front(3), expected, fits))
    return noteAt(emitOpError("expected an input of ")
                      << n[0] << "x" << n[1] + 2 << "x" << n[2] + 2
                      << " and its channels, found " << a,
                  getA().getLoc(), "the input is here");
  if (b.getDimSize(1) != places || b.getDimSize(2) != a.getDimSize(3) ||
      b.getDimSize(0) != int64_t(llvm::divideCeil(n[3], b.getDimSize(3))))
    return noteAt(emitOpError("expected weights for ")
                      << places << " places, " << a.getDimSize(3)
                      << " channels and " << n[3]
                      << " columns in panels, found " << b,
                  getB().getLoc(), "the weights are here");
  if (failed(checkEpilogue(*this, getMaps(), /*first=*/0, /*dims=*/4,
                           getEpilogue(), getInit(), "the result")) ||
      failed(checkDestinations(*this, getOutputs(), getInit())))
    return failure();
  StrategyAttr strategy = getStrategy();
  if (strategy.getNumParallel() != 3 || strategy.getNumDims() != 4 ||
      strategy.hasGrid() || !strategy.getHops().empty())
    return emitOpError("expected a strategy over (place, box, column | "
                       "channel) of one worker's products, found ")
           << strategy;
  ArrayRef<int64_t> perWorker = getPerWorker();
  if (perWorker.size() != 2 || perWorker[0] < 1 || perWorker[1] < 0)
    return emitOpError("expected how many rows of boxes a worker takes and how "
                       "many boxes of each, found ")
           << perWorker;
  return checkBody(*this, getBody().front(), a.getElementType(), getEpilogue(),
                   elementOf(getInit()));
}

void WinogradOp::getEffects(Effects &effects) { addEffects(*this, effects); }

LogicalResult WinogradOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return memref::foldMemRefCast(*this);
}

Speculation::Speculatability WinogradOp::getSpeculatability() {
  return isa<MemRefType>(getInit().getType()) ? Speculation::NotSpeculatable
                                              : Speculation::Speculatable;
}

LogicalResult PackOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  int64_t columns = getColumns(), rank = source.getRank();
  SmallVector<int64_t> dims(getOrder());
  dims.push_back(columns);
  llvm::sort(dims);
  bool isPermutation = int64_t(dims.size()) == rank;
  for (int64_t i = 0; isPermutation && i != rank; ++i)
    isPermutation = dims[i] == i;
  if (!isPermutation)
    return emitOpError("expected each of the source's ")
           << rank << " dims once in columns and order";
  int64_t group = getGroup().value_or(1);
  if (group < 1 ||
      (getGroup() && (getOrder().empty() ||
                      source.getDimSize(getOrder().back()) % group != 0)))
    return emitOpError("expected a group that divides the last dim of order, "
                       "found ")
           << group;
  SmallVector<int64_t> shape;
  int64_t tail = getGroup() ? 2 : 1;
  int64_t panel =
      result.getRank() < tail ? 0 : result.getDimSize(result.getRank() - tail);
  if (panel > 0) {
    shape.push_back(llvm::divideCeil(source.getDimSize(columns), panel));
    for (int64_t dim : getOrder())
      shape.push_back(source.getDimSize(dim));
    if (getGroup())
      shape.back() /= group;
    shape.push_back(panel);
    if (getGroup())
      shape.push_back(group);
  }
  if (result.getShape() != ArrayRef(shape) ||
      result.getElementType() != source.getElementType())
    return emitOpError("expected panels of ")
           << source << " to be of shape " << shape << ", found " << result;
  return success();
}

PackedAttr PackOp::getPacked(TypedAttr source) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t d = type.getRank() - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * type.getDimSize(d + 1);
  auto result = cast<RankedTensorType>(getResult().getType());
  int64_t group = getGroup().value_or(1), columns = getColumns();
  int64_t panel = result.getDimSize(result.getRank() - (getGroup() ? 2 : 1));
  SmallVector<int64_t> packed = {strides[columns] * panel};
  for (int64_t dim : getOrder())
    packed.push_back(strides[dim]);
  if (getGroup())
    packed.back() *= group;
  packed.push_back(strides[columns]);
  if (getGroup())
    packed.push_back(strides[getOrder().back()]);
  return PackedAttr::get(getContext(), source, result, packed, panel,
                         type.getDimSize(columns), group);
}

LogicalResult InitOp::verify() {
  if (getValue().getType() != getAcc().getType().getElementType())
    return noteAt(emitOpError("expected a value of type ")
                      << getAcc().getType().getElementType() << ", found "
                      << getValue().getType(),
                  getValue().getLoc(), "the value is here");
  return success();
}

LogicalResult ashlar::tile::checkOffsets(Operation *op, Value operand,
                                         ValueRange offsets) {
  size_t most = isa<SlotType>(operand.getType()) ? rankOf(operand) : 0;
  if (!offsets.empty() && offsets.size() != most)
    return noteAt(op->emitOpError("expected offsets in slots alone, one for "
                                  "each dim, found ")
                      << offsets.size() << " for " << operand.getType(),
                  operand.getLoc(), "the operand is here");
  return success();
}

LogicalResult LoadOp::verify() {
  auto acc = getAcc().getType();
  if (elementOf(getMemory()) != acc.getElementType())
    return noteAt(emitOpError("expected elements of type ")
                      << acc.getElementType() << ", found "
                      << getMemory().getType(),
                  getMemory().getLoc(), "the memory is here");
  return checkMap(*this, "the memory", getMap(), acc.getShape().size(),
                  getMemory());
}

void LoadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getMemoryMutable());
}

void StepOp::build(OpBuilder &builder, OperationState &state, Value acc,
                   Value a, Value b, ArrayRef<int64_t> reduced, int64_t unroll,
                   AffineMap aMap, AffineMap bMap, bool aUnsigned,
                   bool bUnsigned, bool grouped, int64_t ahead) {
  build(builder, state, acc.getType(), /*token=*/Type(), acc, a, ValueRange(),
        b, ValueRange(), reduced, unroll, aMap, bMap, aUnsigned, bUnsigned,
        grouped, ahead);
}

/// An accumulator is an operand where each thread has of its rows what it has
/// of those of the sums: the columns are the terms.
static LogicalResult checkHeld(StepOp op, AccType held) {
  AccType sums = op.getAcc().getType();
  SmallVector<int64_t> shape(sums.getShape()), part(sums.getPart());
  if (op.getReduced().size() == 1)
    shape.back() = part.back() = op.getReduced().front();
  AffineMap map = op.getAMap();
  SmallVector<unsigned> rowsAndTerm;
  for (unsigned d = 0; d + 1 != shape.size(); ++d)
    rowsAndTerm.push_back(d);
  rowsAndTerm.push_back(shape.size());
  if (op.getReduced().size() != 1 || !op.getAOffsets().empty() ||
      ArrayRef(shape) != held.getShape() || part != held.getPart() ||
      held.getFragment() != sums.getFragment() ||
      map != AffineMap::getMultiDimMapWithTargets(shape.size() + 1, rowsAndTerm,
                                                  op.getContext()))
    return noteAt(op.emitOpError("expected an accumulator of the sums' rows "
                                 "and of the terms, with the sums' fragment "
                                 "and groups, as a, found ")
                      << held << " at " << op.getAMapAttr() << " for " << sums,
                  op.getA().getLoc(), "a is here");
  return success();
}

LogicalResult StepOp::verify() {
  int64_t dims = getAcc().getType().getShape().size() + getReduced().size();
  if (llvm::any_of(getReduced(), [](int64_t size) { return size < 1; }) ||
      int64_t(getUnroll()) < 1 || int64_t(getAhead()) < 0)
    return emitOpError("expected reduced sizes and unrolling of 1 or more and "
                       "terms ahead of 0 or more");
  if (getGrouped() && getReduced().empty())
    return emitOpError("expected a reduced dim that is the group, found none");
  if (!getAcc().getType().getRegisters().empty() &&
      (!getGrouped() || getReduced().size() < 2 || getAhead() != 0))
    return emitOpError("expected terms in groups, of a dim of them, and none "
                       "asked for ahead, for a matrix unit");
  if (holdsA()) {
    if (failed(checkHeld(*this, cast<AccType>(getA().getType()))))
      return failure();
  } else if (failed(checkMap(*this, "a", getAMap(), dims, getA()))) {
    return failure();
  }
  if (failed(checkMap(*this, "b", getBMap(), dims, getB())))
    return failure();
  if ((!holdsA() && failed(checkOffsets(*this, getA(), getAOffsets()))) ||
      failed(checkOffsets(*this, getB(), getBOffsets())))
    return failure();
  return success();
}

LogicalResult DotOp::verify() {
  VectorType acc = getAcc().getType(), factors = getA().getType();
  if (acc.getRank() != 1 || factors.getRank() != 1 || acc.isScalable() ||
      factors.isScalable() || factors.getDimSize(0) % acc.getDimSize(0) != 0 ||
      isa<FloatType>(acc.getElementType()) !=
          isa<FloatType>(factors.getElementType()))
    return emitOpError("expected factors of the accumulator's kind with a "
                       "multiple of its lanes, found ")
           << factors << " for " << acc;
  return success();
}

LogicalResult MatrixMultiplyOp::verify() {
  MatrixType acc = getAcc().getType(), a = getA().getType(),
             b = getB().getType();
  if (a.getRows() != acc.getRows() || b.getColumns() % acc.getColumns() != 0 ||
      a.getColumns() != b.getRows() * getGroup())
    return emitOpError("expected rows of a, and groups of b for columns, as "
                       "the sums have them, found ")
           << a << " times " << b << " for " << acc;
  return success();
}

void StepOp::getEffects(Effects &effects) {
  for (OpOperand *operand : {&getAMutable(), &getBMutable()})
    if (!isa<AccType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand);
}

YieldOp DrainOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult DrainOp::verify() {
  if (failed(checkEpilogue(*this, getMaps(), /*first=*/0,
                           getAcc().getType().getShape().size(), getEpilogue(),
                           getTarget(), "the target")))
    return failure();
  return checkBody(*this, getBody().front(),
                   getAcc().getType().getElementType(), getEpilogue(),
                   elementOf(getTarget()));
}

void DrainOp::getEffects(Effects &effects) {
  for (OpOperand &operand : getEpilogueMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  effects.emplace_back(MemoryEffects::Write::get(), &getTargetMutable());
}
