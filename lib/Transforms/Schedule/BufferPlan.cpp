// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BufferPlan.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/NoteAt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;
using exec::Storage;

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

exec::SizeAttr ashlar::byteFormula(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  AffineExpr bytes = getAffineConstantExpr(elementBytes(type.getElementType()),
                                           value.getContext());
  unsigned symbols = 0;
  exec::SizeList sizes = exec::sizesOf(value);
  if (sizes.empty())
    return exec::SizeAttr::get(value.getContext(), byteSize(type));
  for (exec::SizeAttr size : sizes) {
    bytes = bytes * size.getFormula();
    symbols = std::max(symbols, size.getMap().getNumSymbols());
  }
  return exec::SizeAttr::get(bytes, symbols, byteSize(type));
}

unsigned BufferPlan::addBuffer(Storage storage, unsigned index,
                               exec::SizeAttr size) {
  ValueBuffer buffer;
  buffer.storage = storage;
  buffer.index = index;
  buffer.bytes = size.getLargest();
  buffer.size = size;
  buffers.push_back(buffer);
  return buffers.size() - 1;
}

unsigned BufferPlan::addBuffer(Storage storage, unsigned index, int64_t bytes) {
  return addBuffer(storage, index,
                   exec::SizeAttr::get(function.getContext(), bytes));
}

unsigned BufferPlan::addRange(Block *scope, int64_t command, int64_t bytes) {
  return addRange(scope, command,
                  exec::SizeAttr::get(function.getContext(), bytes));
}

unsigned BufferPlan::addRange(Block *scope, int64_t command,
                              exec::SizeAttr size, unsigned device) {
  unsigned number = addBuffer(Storage::Arena, device, size);
  buffers[number].scope = scope;
  buffers[number].firstUse = buffers[number].lastUse = command;
  ranges[scope].push_back(number);
  return number;
}

/// A buffer lives from its first writer to its last reader. Those in an outer
/// block live there.
void BufferPlan::keepAlive(unsigned buffer, Value value, int64_t command) {
  buffers[buffer].lastUse = std::max(buffers[buffer].lastUse,
                                     std::max(lastUse.lookup(value), command));
}

/// Numbers the commands of each block and finds, for each value, the last one
/// of its own block that reads it, be it inside an op with blocks.
void BufferPlan::findLastUses() {
  SmallVector<Operation *> readers;
  int64_t clock = 0;
  std::function<void(Block &)> number = [&](Block &block) {
    int64_t command = 0;
    for (Operation &op : block) {
      bool isCommand = isa<exec::InvokeOp, exec::TransferOp>(op) ||
                       isControlFlow(&op) || isLoopSlice(&op) ||
                       isa<cf::AssertOp>(op) ||
                       op.hasTrait<OpTrait::IsTerminator>();
      if (isCommand) {
        commands[&op] = ++command;
        readers.push_back(&op);
        ++clock;
        spans[{&block, command}] = {clock, clock};
      }
      if (!isControlFlow(&op))
        continue;
      for (Region &region : op.getRegions())
        number(region.front());
      spans[{&block, command}].second = ++clock;
    }
  };
  number(function.getBody().front());
  auto note = [&](Value value, Operation *reader) {
    Value root = viewed(value);
    Operation *ancestor = root.getParentBlock()->findAncestorOpInBlock(*reader);
    int64_t &last = lastUse[root];
    last = std::max(last, commands.lookup(ancestor));
  };
  for (Operation *reader : readers)
    for (Value operand : reader->getOperands()) {
      note(operand, reader);
      // A condition is read where it is used.
      if (Value condition = conditionTensor(operand))
        note(condition, reader);
    }
}

/// Results that the caller takes out are computed in its own memory.
void BufferPlan::assignOutputs() {
  Operation *ret = function.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    if (function.getResultAttr(operand.getOperandNumber(),
                               exec::sizeOfAttrName))
      continue;
    Value source = viewed(operand.get());
    bool whole = byteFormula(source) == byteFormula(operand.get());
    Operation *writer = source.getDefiningOp();
    if (isa_and_nonnull<exec::InvokeOp, exec::TransferOp>(writer) && whole &&
        source.getParentBlock() == ret->getBlock() && !places.count(source))
      places[source] = {addBuffer(Storage::Output, operand.getOperandNumber(),
                                  byteFormula(source)),
                        0,
                        {}};
  }
}

/// What becomes of a state is the state, or what changes it in place.
LogicalResult BufferPlan::checkStates() {
  Operation *ret = function.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    auto state = function.getResultAttrOfType<IntegerAttr>(
        operand.getOperandNumber(), stateAttrName);
    if (!state)
      continue;
    Value place = function.getArgument(state.getInt());
    auto invoke = operand.get().getDefiningOp<exec::InvokeOp>();
    if (operand.get() != place &&
        !(invoke && llvm::is_contained(invoke.getOperands(), place) &&
          places.count(operand.get()))) {
      InFlightDiagnostic error =
          ret->emitError("expected result ")
          << operand.getOperandNumber()
          << " to be a state that a kernel changes in place";
      error.attachNote(operand.get().getLoc()) << "the result is made here";
      return error;
    }
  }
  return success();
}

/// The dying operand whose place the result of `invoke` can take over.
std::optional<Place> BufferPlan::placeToTakeOver(exec::InvokeOp invoke,
                                                 int64_t command) {
  auto kernel = symbols.lookup<exec::KernelOp>(invoke.getKernel());
  for (int64_t number : kernel.getAliases().value_or(ArrayRef<int64_t>())) {
    Value operand = invoke.getOperand(number);
    Place place = places.lookup(operand);
    const ValueBuffer &buffer = buffers[place.buffer];
    // The buffer may hold more than this value, and others may look at it.
    bool dies = buffer.storage == Storage::Arena &&
                buffer.scope == invoke->getBlock() &&
                lastUse.lookup(viewed(operand)) == command &&
                buffer.size == byteFormula(operand) &&
                llvm::count_if(invoke.getOperands(), [&](Value other) {
                  return places.lookup(other).buffer == place.buffer;
                }) == 1;
    if (dies)
      return place;
  }
  return std::nullopt;
}

void BufferPlan::placeResults(exec::InvokeOp invoke) {
  int64_t command = commands.lookup(invoke);
  unsigned device =
      symbols.lookup<exec::KernelOp>(invoke.getKernel()).getDevice();
  for (Value result : invoke.getResults()) {
    if (!places.count(result)) {
      if (std::optional<Place> place = placeToTakeOver(invoke, command))
        places[result] = *place;
      else
        places[result] = {
            addRange(invoke->getBlock(), command, byteFormula(result), device),
            0,
            {}};
    }
    if (buffers[places[result].buffer].scope == invoke->getBlock())
      keepAlive(places[result].buffer, result, command);
  }
}

void BufferPlan::placeTransfer(exec::TransferOp transfer) {
  Value result = transfer.getResult();
  if (places.count(result))
    return;
  int64_t command = commands.lookup(transfer);
  places[result] = {addRange(transfer->getBlock(), command, byteFormula(result),
                             transfer.getDevice()),
                    0,
                    {}};
  keepAlive(places[result].buffer, result, command);
}

void BufferPlan::placeWeight(Value value, Attribute elements) {
  auto [it, isNew] = weightNumbers.try_emplace(elements, weightValues.size());
  if (isNew)
    weightValues.push_back(elements);
  places[value] = {
      addBuffer(Storage::Weights, it->second, byteSize(value.getType())),
      0,
      {}};
}

/// What divides `formula` at all sizes of the ranges.
static int64_t divisorOf(AffineExpr formula, ModuleOp module) {
  auto symbols = module->getAttrOfType<ArrayAttr>(exec::symbolsAttrName);
  if (!symbols)
    return formula.getLargestKnownDivisor();
  SmallVector<AffineExpr> multiples;
  for (auto symbol : symbols.getAsRange<DictionaryAttr>())
    multiples.push_back(
        getAffineSymbolExpr(multiples.size(), module.getContext()) *
        symbol.getAs<IntegerAttr>("step").getInt());
  return simplifyAffineExpr(formula.replaceSymbols(multiples), 0,
                            multiples.size())
      .getLargestKnownDivisor();
}

/// A place inside that of what is looked at.
LogicalResult BufferPlan::placeView(Operation &op) {
  Place place = places.lookup(op.getOperand(0));
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  int64_t width = elementBytes(type.getElementType());
  place.offset += viewOffset(&op) * width;
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  exec::SizeList dims = exec::sizesOf(op.getOperand(0));
  if (slice && (!dims.empty() || op.hasAttr(exec::attributeSizesAttrName))) {
    MLIRContext *context = op.getContext();
    auto all = op.getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
    auto starts = all ? all.getAs<ArrayAttr>(slice.getStaticOffsetsAttrName())
                      : ArrayAttr();
    AffineExpr offset = getAffineConstantExpr(0, context);
    unsigned symbols = 0;
    auto formula = [&](exec::SizeAttr open, int64_t fixed) {
      if (!open)
        return getAffineConstantExpr(fixed, context);
      symbols = std::max(symbols, open.getMap().getNumSymbols());
      return open.getFormula();
    };
    for (int64_t d = 0; d != slice.getSourceType().getRank(); ++d)
      offset =
          offset * formula(dims.empty() ? exec::SizeAttr() : dims[d],
                           slice.getSourceType().getDimSize(d)) +
          formula(starts ? cast<exec::SizeAttr>(starts[d]) : exec::SizeAttr(),
                  slice.getStaticOffsets()[d]);
    offset = offset * width;
    if (offset != 0 && divisorOf(offset, ModuleOp(module)) % 64 != 0)
      return op.emitError(exec::openSizesRefusal)
             << "expected a slice that begins at a multiple of 64 bytes at all "
                "sizes, found "
             << exec::SizeAttr::get(offset, symbols, place.offset)
             << "; fix the sizes with --shape";
    if (place.open)
      offset = offset + place.open.getFormula();
    place.open = exec::SizeAttr::get(offset, symbols, place.offset);
  }
  places[op.getResult(0)] = place;
  return success();
}

LogicalResult BufferPlan::placeOp(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (!isTensor(constant))
      return success(); // the bounds of a loop
    // What is only read packed is stored only so.
    auto isPack = [](Operation *user) { return isa<tile::PackOp>(user); };
    if (!llvm::all_of(constant->getUsers(), isPack))
      placeWeight(constant, constant.getValue());
    return success();
  }
  if (auto pack = dyn_cast<tile::PackOp>(op)) {
    auto constant = pack.getSource().getDefiningOp<arith::ConstantOp>();
    if (!constant)
      return noteAt(pack.emitError("expected a constant to pack"),
                    pack.getSource().getLoc(), "the source is here");
    placeWeight(pack, pack.getPacked(constant.getValue()));
    return success();
  }
  if (isView(&op))
    return placeView(op);
  if (auto invoke = dyn_cast<exec::InvokeOp>(op)) {
    placeResults(invoke);
    return success();
  }
  if (auto transfer = dyn_cast<exec::TransferOp>(op)) {
    placeTransfer(transfer);
    return success();
  }
  if (isControlFlow(&op)) {
    auto branches = dyn_cast<scf::IfOp>(op);
    return branches ? placeIf(branches) : placeLoop(&op);
  }
  if (isLoopSlice(&op))
    return placeRow(&op);
  if (servesControlFlow(&op))
    return success();
  return op.emitError("cannot be scheduled: expected kernels, views, constants "
                      "and control flow after the stage tile");
}

LogicalResult BufferPlan::placeValues(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(placeOp(op)))
      return failure();
  if (isa<scf::YieldOp>(block.getTerminator()) &&
      !isa<scf::IfOp>(block.getParentOp()))
    placeYielded(carriedBy(block.getParentOp()));
  return success();
}

/// Offsets from the start of the block's own arena on a device.
ArenaPlan BufferPlan::planArena(Block *block, unsigned device) {
  SmallVector<ArenaRequest> requests, smallest;
  SmallVector<unsigned> own;
  for (unsigned number : ranges[block]) {
    const ValueBuffer &buffer = buffers[number];
    if (buffer.index != device)
      continue;
    own.push_back(number);
    requests.push_back({buffer.firstUse, buffer.lastUse + 1, buffer.bytes});
    smallest.push_back(requests.back());
    auto inner = innerLowerBounds.find(number);
    if (inner != innerLowerBounds.end())
      smallest.back().bytes = inner->second;
  }
  ArenaPlan plan = ashlar::planArena(requests);
  for (auto [number, offset] : llvm::zip(own, plan.offsets))
    buffers[number].offset = offset;
  // What blocks inside need at least is less than what their plans take.
  plan.lowerBound = ashlar::planArena(smallest).lowerBound;
  return plan;
}

/// From offsets in each block's own arena to offsets in the one arena.
void BufferPlan::moveTo(Block *block, int64_t base) {
  for (unsigned number : ranges[block])
    buffers[number].offset += base;
  for (Operation &op : *block) {
    auto inner = innerArenas.find(&op);
    if (inner == innerArenas.end())
      continue;
    for (Region &region : op.getRegions())
      moveTo(&region.front(), buffers[inner->second].offset);
  }
}

LogicalResult BufferPlan::run() {
  for (BlockArgument argument : function.getArguments()) {
    // A state is where the output will be.
    std::optional<unsigned> result =
        stateResult(function, argument.getArgNumber());
    places[argument] = {addBuffer(result ? Storage::Output : Storage::Input,
                                  result.value_or(argument.getArgNumber()),
                                  byteFormula(argument)),
                        0,
                        {}};
  }
  findLastUses();
  assignOutputs();
  if (failed(checkStates()))
    return failure();
  Block &block = function.getBody().front();
  if (failed(placeValues(block)))
    return failure();
  arena = planArena(&block, 0);
  auto others =
      ModuleOp(module)->getAttrOfType<ArrayAttr>(exec::companionsAttrName);
  for (unsigned i = 0; others && i != others.size(); ++i) {
    ArenaPlan plan = planArena(&block, i + 1);
    llvm::append_values(companions, plan.bytes, plan.lowerBound);
  }
  moveTo(&block, 0);
  numberBuffers();
  return success();
}

/// Where sizes are a caller's, sessions ask for the values of the arena.
void BufferPlan::numberBuffers() {
  if (!ModuleOp(module)->hasAttr(exec::symbolsAttrName))
    return;
  unsigned count = 0;
  for (unsigned i = 0; i != buffers.size(); ++i)
    numbers.push_back(isListed(i) ? int64_t(count++) : -1);
}

bool BufferPlan::samePlace(Value x, Value y) const {
  Place a = places.lookup(x), b = places.lookup(y);
  return a.buffer == b.buffer && a.offset == b.offset;
}

std::optional<Place> BufferPlan::waitingPlace(OpOperand &yielded) const {
  auto it = waiting.find(&yielded);
  return it == waiting.end() ? std::nullopt
                             : std::optional<Place>(Place{it->second, 0, {}});
}

exec::BindingAttr BufferPlan::bindingAt(Place place, exec::SizeAttr length,
                                        bool written) const {
  const ValueBuffer &buffer = buffers[place.buffer];
  MLIRContext *context = length.getContext();
  auto offset = exec::SizeAttr::get(context, buffer.offset + place.offset);
  if (place.open)
    offset = exec::SizeAttr::get(place.open.getFormula() + buffer.offset,
                                 place.open.getMap().getNumSymbols(),
                                 buffer.offset + place.offset);
  return exec::BindingAttr::get(
      context, buffer.storage, buffer.index, offset, length, written,
      numbers.empty() ? int64_t(-1) : numbers[place.buffer]);
}

exec::BindingAttr BufferPlan::bindingAt(Place place, int64_t length,
                                        bool written) const {
  MLIRContext *context = ModuleOp(module).getContext();
  return bindingAt(place, exec::SizeAttr::get(context, length), written);
}

exec::BindingAttr BufferPlan::binding(Value value, bool written) const {
  return bindingAt(placeOf(value), byteFormula(value), written);
}

std::vector<ValueBuffer> BufferPlan::arenaBuffers() const {
  std::vector<ValueBuffer> found;
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (isListed(number))
      found.push_back(buffer);
  return found;
}

std::pair<int64_t, int64_t>
BufferPlan::lifeOf(const ValueBuffer &buffer) const {
  return {spans.lookup({buffer.scope, buffer.firstUse}).first,
          spans.lookup({buffer.scope, buffer.lastUse}).second};
}

/// A block's arena holds values, and is none itself.
bool BufferPlan::isListed(unsigned buffer) const {
  return buffers[buffer].storage == Storage::Arena &&
         buffers[buffer].index == 0 && !innerLowerBounds.contains(buffer);
}
