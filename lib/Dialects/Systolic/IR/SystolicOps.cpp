// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How places and queues are spelled, and what a command cannot say at all.
// What depends on the machine is ashlar-verify-streams'.
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/runtime/systolic_isa.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace ashlar::systolicir;

//===-- Places ------------------------------------------------------------===//

/// `scratchpad[5]`, `accumulator[5] add wide`, `none`.
static ParseResult parsePlace(OpAsmParser &parser, IntegerAttr &place) {
  StringRef memory;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&memory))
    return failure();
  uint32_t address = ASHLAR_SYSTOLIC_GARBAGE;
  if (memory != "none") {
    if (memory != "scratchpad" && memory != "accumulator")
      return parser.emitError(location,
                              "expected 'scratchpad', 'accumulator' or 'none'");
    int64_t row = 0;
    location = parser.getCurrentLocation();
    if (parser.parseLSquare() || parser.parseInteger(row) ||
        parser.parseRSquare())
      return failure();
    if (row < 0 || row >= int64_t(ASHLAR_SYSTOLIC_ROW_MASK))
      return parser.emitError(location, "expected a row below ")
             << ASHLAR_SYSTOLIC_ROW_MASK << ", found " << row;
    address = uint32_t(row);
    if (memory == "accumulator")
      address |= ASHLAR_SYSTOLIC_ACCUMULATOR;
    if (succeeded(parser.parseOptionalKeyword("add")))
      address |= ASHLAR_SYSTOLIC_ACCUMULATE;
    if (succeeded(parser.parseOptionalKeyword("wide")))
      address |= ASHLAR_SYSTOLIC_FULL_WIDTH;
  }
  place = parser.getBuilder().getI32IntegerAttr(int32_t(address));
  return success();
}

static void printPlace(OpAsmPrinter &printer, Operation *, IntegerAttr place) {
  auto address = uint32_t(place.getInt());
  if (address == ASHLAR_SYSTOLIC_GARBAGE) {
    printer << "none";
    return;
  }
  printer << (address & ASHLAR_SYSTOLIC_ACCUMULATOR ? "accumulator["
                                                    : "scratchpad[")
          << (address & ASHLAR_SYSTOLIC_ROW_MASK) << "]";
  if (address & ASHLAR_SYSTOLIC_ACCUMULATE)
    printer << " add";
  if (address & ASHLAR_SYSTOLIC_FULL_WIDTH)
    printer << " wide";
}

static ParseResult parseSizes(OpAsmParser &parser, IntegerAttr &rows,
                              IntegerAttr &columns) {
  int32_t r = 0, c = 0;
  if (parser.parseInteger(r) || parser.parseKeyword("x") ||
      parser.parseInteger(c))
    return failure();
  rows = parser.getBuilder().getI32IntegerAttr(r);
  columns = parser.getBuilder().getI32IntegerAttr(c);
  return success();
}

static void printSizes(OpAsmPrinter &printer, Operation *, IntegerAttr rows,
                       IntegerAttr columns) {
  printer << rows.getInt() << " x " << columns.getInt();
}

/// `of LEFT`, `of LEFT, RIGHT` or nothing.
static ParseResult parseOperands(OpAsmParser &parser, IntegerAttr &left,
                                 IntegerAttr &right) {
  left = parser.getBuilder().getI32IntegerAttr(0);
  if (failed(parser.parseOptionalKeyword("of")))
    return success();
  if (parsePlace(parser, left))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  return parsePlace(parser, right);
}

static void printOperands(OpAsmPrinter &printer, Operation *op,
                          IntegerAttr left, IntegerAttr right) {
  if (cast<VectorOp>(op).getFunction() == Function::fill && !left.getInt())
    return;
  printer << "of ";
  printPlace(printer, op, left);
  if (!right)
    return;
  printer << ", ";
  printPlace(printer, op, right);
}

//===-- Queues ------------------------------------------------------------===//

static constexpr uint32_t arrays =
    ASHLAR_SYSTOLIC_ALL_QUEUES & ~((1u << ASHLAR_SYSTOLIC_EXECUTE) - 1);

static const std::pair<StringRef, uint32_t> queues[] = {
    {"all", ASHLAR_SYSTOLIC_ALL_QUEUES},
    {"load", 1u << ASHLAR_SYSTOLIC_LOAD},
    {"store", 1u << ASHLAR_SYSTOLIC_STORE},
    {"vector", 1u << ASHLAR_SYSTOLIC_VECTOR},
    {"execute", arrays},
    {"execute0", 1u << ASHLAR_SYSTOLIC_EXECUTE},
    {"execute1", 2u << ASHLAR_SYSTOLIC_EXECUTE},
    {"execute2", 4u << ASHLAR_SYSTOLIC_EXECUTE},
    {"execute3", 8u << ASHLAR_SYSTOLIC_EXECUTE}};

static ParseResult parseQueues(OpAsmParser &parser, IntegerAttr &mask) {
  uint32_t all = 0;
  auto one = [&]() -> ParseResult {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    const auto *found = llvm::find_if(
        queues, [&](const auto &queue) { return queue.first == name; });
    if (found == std::end(queues))
      return parser.emitError(location, "there is no queue '") << name << "'";
    all |= found->second;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one))
    return failure();
  mask = parser.getBuilder().getI32IntegerAttr(int32_t(all));
  return success();
}

static void printQueues(OpAsmPrinter &printer, Operation *, IntegerAttr mask) {
  auto left = uint32_t(mask.getInt());
  SmallVector<StringRef> names;
  for (const auto &[name, bits] : queues)
    if ((left & bits) == bits) {
      names.push_back(name);
      left &= ~bits;
    }
  printer << "[";
  llvm::interleaveComma(names, printer);
  printer << "]";
}

//===-- Generated ---------------------------------------------------------===//

#include "ashlar/Dialects/Systolic/IR/SystolicDialect.cpp.inc"
#include "ashlar/Dialects/Systolic/IR/SystolicEnums.cpp.inc"
#define GET_OP_CLASSES
#include "ashlar/Dialects/Systolic/IR/SystolicOps.cpp.inc"

void SystolicDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ashlar/Dialects/Systolic/IR/SystolicOps.cpp.inc"
      >();
}

//===-- Verifiers ---------------------------------------------------------===//

namespace {
/// Collects what is wrong with an op's fields, at most one thing.
class Fields {
public:
  explicit Fields(Operation *op) : op(op) {}

  Fields &range(const char *name, int64_t found, int64_t least, int64_t most) {
    if (succeeded(result) && (found < least || found > most))
      result = op->emitOpError(name) << ": expected " << least << " to " << most
                                     << ", found " << found;
    return *this;
  }
  /// Sizes of a matrix that is there; those of none do not matter.
  Fields &matrix(const char *name, int32_t place, int64_t rows,
                 int64_t columns) {
    bool exists = uint32_t(place) != ASHLAR_SYSTOLIC_GARBAGE;
    return range(name, rows, exists, 65535).range(name, columns, exists, 65535);
  }
  Fields &isThere(const char *name, int32_t place) {
    if (succeeded(result) && uint32_t(place) == ASHLAR_SYSTOLIC_GARBAGE)
      result = op->emitOpError(name) << ": expected a place, found none";
    return *this;
  }
  Fields &memory(Value memory, int64_t offset) {
    if (succeeded(result) && memory && !isa<BlockArgument>(memory))
      result =
          ashlar::noteAt(op->emitOpError("memory: expected an argument of the "
                                         "function, found a result"),
                         memory.getLoc(), "computed here");
    return range("offset", offset, 0, (int64_t(1) << 48) - 1);
  }
  LogicalResult get() {
    if (failed(result))
      return result;
    auto advance = op->getAttrOfType<DenseI64ArrayAttr>("advance");
    if (!advance)
      return success();
    int64_t depth = 0;
    for (Operation *up = op->getParentOp(); isa<LoopOp>(up);
         up = up->getParentOp())
      ++depth;
    if (advance.size() % 3)
      return op->emitOpError("advance: expected triples, found ")
             << advance.size() << " numbers";
    for (int64_t i = 0; i < advance.size(); i += 3)
      if (advance[i] < 0 || advance[i] >= depth)
        return op->emitOpError("advance: names loop ")
               << advance[i] << "; there are " << depth << " around it";
    return success();
  }

private:
  Operation *op;
  LogicalResult result = success();
};
} // namespace

LogicalResult ConfigExecuteOp::verify() {
  return Fields(*this)
      .range("a_stride", getAStride(), 0, 65535)
      .range("c_stride", getCStride(), 0, 65535)
      .range("shift", getShift(), 0, 31)
      .get();
}

LogicalResult ConfigLoadOp::verify() {
  return Fields(*this)
      .range("id", getId(), 0, 2)
      .range("stride", getStride(), 0, (int64_t(1) << 40) - 1)
      .range("block_stride", getBlockStride(), 0, 65535)
      .range("pixels", getPixels(), 0, 255)
      .get();
}

LogicalResult ConfigStoreOp::verify() { return Fields(*this).get(); }

LogicalResult ConfigStreamOp::verify() {
  constexpr int64_t most = (int64_t(1) << 40) - 1;
  bool isMemory = uint32_t(getStream()) >= ASHLAR_SYSTOLIC_STREAM_MVIN;
  return Fields(*this)
      .range("level", getLevel(), 0, ASHLAR_SYSTOLIC_LEVELS - 1)
      .range("count", getCount(), getLevel() != 0, 65535)
      .range("bytes", getBytes(), isMemory ? -most : 0, isMemory ? most : 0)
      .get();
}

LogicalResult ConfigColumnsOp::verify() {
  return Fields(*this)
      .range("stream", int64_t(getStream()), ASHLAR_SYSTOLIC_STREAM_MVIN,
             ASHLAR_SYSTOLIC_STREAM_MVOUT)
      .range("first", getFirst(), 0, 65535)
      .range("block_stride", getBlockStride(), 0,
             getStream() == Stream::mvout ? int64_t(1) << 31 : 0)
      .get();
}

LogicalResult ConfigVectorOp::verify() { return Fields(*this).get(); }

LogicalResult MvinOp::verify() {
  return Fields(*this)
      .range("id", getId(), 0, 2)
      .memory(getMemory(), getOffset())
      .isThere("place", getPlace())
      .matrix("sizes", getPlace(), getRows(), getColumns())
      .get();
}

LogicalResult MvoutOp::verify() {
  return Fields(*this)
      .memory(getMemory(), getOffset())
      .isThere("place", getPlace())
      .matrix("sizes", getPlace(), getRows(), getColumns())
      .get();
}

LogicalResult TableOp::verify() {
  return Fields(*this)
      .range("number", getNumber(), 0, ASHLAR_SYSTOLIC_TABLES - 1)
      .memory(getMemory(), getOffset())
      .get();
}

LogicalResult PreloadOp::verify() {
  return Fields(*this)
      .matrix("stationary", getStationary(), getRows(), getColumns())
      .matrix("result", getResult(), getResultRows(), getResultColumns())
      .range("array", getArray(), 0, ASHLAR_SYSTOLIC_MAX_ARRAYS - 1)
      .get();
}

LogicalResult ComputeOp::verify() {
  return Fields(*this)
      .isThere("a", getA())
      .matrix("a", getA(), getRows(), getColumns())
      .matrix("moving", getMoving(), getMovingRows(), getMovingColumns())
      .range("array", getArray(), 0, ASHLAR_SYSTOLIC_MAX_ARRAYS - 1)
      .get();
}

bool VectorOp::isBinary() {
  return getFunction() > Function::copy && getFunction() < Function::fill;
}

bool VectorOp::takesImmediate() {
  return (getFunction() >= Function::fill &&
          getFunction() <= Function::minimum_immediate) ||
         getFunction() == Function::lookup;
}

LogicalResult VectorOp::verify() {
  if (bool(getRightAttr()) != isBinary())
    return emitOpError("right operand: ")
           << (isBinary() ? "expected a place, found none"
                          : "expected none, found a place");
  if (bool(getImmediateAttr()) != takesImmediate())
    return emitOpError("immediate: ")
           << (takesImmediate() ? "expected a number, found none"
                                : "expected none, found a number");
  return Fields(*this)
      .isThere("result", getResult())
      .isThere("left", getLeft())
      .matrix("sizes", getResult(), getRows(), getColumns())
      .get();
}

LogicalResult SyncOp::verify() {
  return Fields(*this)
      .range("from", getFrom(), 0, ASHLAR_SYSTOLIC_ALL_QUEUES)
      .range("to", getTo(), 0, ASHLAR_SYSTOLIC_ALL_QUEUES)
      .get();
}

LogicalResult RegionOp::verify() {
  if (auto loop = dyn_cast<LoopOp>((*this)->getParentOp()))
    return ashlar::noteAt(emitOpError("expected outside of loops"),
                          loop.getLoc(), "the loop is here");
  return Fields(*this)
      .range("multiply_adds", getMultiplyAdds(), 0,
             std::numeric_limits<int64_t>::max())
      .get();
}

LogicalResult LoopOp::verify() {
  int64_t depth = 1;
  for (Operation *up = (*this)->getParentOp(); isa<LoopOp>(up);
       up = up->getParentOp())
    ++depth;
  return Fields(*this)
      .range("count", getCount(), 1, int64_t(1) << 27)
      .range("depth", depth, 1, ASHLAR_SYSTOLIC_MAX_LOOPS)
      .get();
}
