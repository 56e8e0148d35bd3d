// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BufferPlan.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Fuse/ControlFlow.h"
#include "ashlar/Transforms/Fuse/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ashlar;
using exec::Storage;

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

Carried ashlar::carriedBy(Operation *loop) {
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    return {counted.getBody(), llvm::to_vector(counted.getInitArgs()),
            llvm::to_vector_of<Value>(counted.getRegionIterArgs())};
  auto conditional = cast<scf::WhileOp>(loop);
  return {conditional.getAfterBody(), llvm::to_vector(conditional.getInits()),
          llvm::to_vector_of<Value>(conditional.getBeforeArguments())};
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
  Buffer buffer;
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
      }
      if (isControlFlow(&op))
        for (Region &region : op.getRegions())
          number(region.front());
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

/// The dying operand whose place the result of `invoke` can take over.
std::optional<Place> BufferPlan::placeToTakeOver(exec::InvokeOp invoke,
                                                 int64_t command) {
  auto kernel = module.lookupSymbol<func::FuncOp>(invoke.getKernel());
  auto aliases = kernel->getAttrOfType<ArrayAttr>(exec::aliasesAttrName);
  if (!aliases)
    return std::nullopt;
  for (Attribute number : aliases) {
    Value operand = invoke.getOperand(cast<IntegerAttr>(number).getInt());
    Place place = places.lookup(operand);
    const Buffer &buffer = buffers[place.buffer];
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
  unsigned device = exec::deviceOf(
      ModuleOp(module).lookupSymbol<func::FuncOp>(invoke.getKernel()));
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

/// The blocks of `op`, and the buffer that they share.
LogicalResult BufferPlan::planInner(Operation *op) {
  int64_t bytes = 0, lowerBound = 0;
  for (Region &region : op->getRegions()) {
    if (failed(placeValues(region.front())))
      return failure();
    arena = planArena(&region.front(), 0);
    bytes = std::max(bytes, arena.bytes);
    lowerBound = std::max(lowerBound, arena.lowerBound);
  }
  unsigned inner = addRange(op->getBlock(), commands.lookup(op), bytes);
  innerArenas[op] = inner;
  innerLowerBounds[inner] = lowerBound;
  return success();
}

LogicalResult BufferPlan::placeIf(scf::IfOp op) {
  int64_t command = commands.lookup(op);
  for (Value result : op.getResults()) {
    places[result] = {
        addRange(op->getBlock(), command, byteSize(result.getType())), 0, {}};
    keepAlive(places[result].buffer, result, command);
  }
  // A branch computes there what it yields, if it computes it at all.
  for (Region &region : op->getRegions())
    for (OpOperand &yielded : region.front().getTerminator()->getOpOperands()) {
      Value source = viewed(yielded.get());
      Value result = op.getResult(yielded.getOperandNumber());
      if (source.getDefiningOp<exec::InvokeOp>() &&
          source.getParentBlock() == &region.front() &&
          byteSize(source.getType()) == byteSize(result.getType()) &&
          !places.count(source))
        places[source] = places[result];
    }
  return planInner(op);
}

LogicalResult BufferPlan::placeLoop(Operation *loop) {
  int64_t command = commands.lookup(loop);
  Carried carried = carriedBy(loop);
  SmallVector<Value> read(loop->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop->getRegions(), captured);
  llvm::append_range(read, captured);
  for (auto [initial, argument] :
       llvm::zip(carried.initial, carried.arguments)) {
    if (!isTensor(argument))
      return loop->emitError("cannot be scheduled: expected it to carry "
                             "tensors, found ")
             << argument.getType();
    // An initial value that nobody needs afterwards is where it should be.
    Place place = places.lookup(initial);
    const Buffer &buffer = buffers[place.buffer];
    bool dies = buffer.storage == Storage::Arena &&
                buffer.scope == loop->getBlock() &&
                lastUse.lookup(viewed(initial)) == command &&
                buffer.bytes == byteSize(initial.getType()) &&
                llvm::count_if(read, [&](Value other) {
                  return isTensor(other) && places.count(other) &&
                         places.lookup(other).buffer == place.buffer;
                }) == 1;
    places[argument] = dies ? place
                            : Place{addRange(loop->getBlock(), command,
                                             byteSize(argument.getType())),
                                    0,
                                    {}};
    keepAlive(places[argument].buffer, argument, command);
  }
  auto conditional = dyn_cast<scf::WhileOp>(loop);
  if (conditional &&
      !conditional.getBeforeBody()->getOps<exec::InvokeOp>().empty())
    return loop->emitError("cannot be scheduled: expected its condition to be "
                           "computed by the step before, found kernels in the "
                           "block that decides");
  ValueRange results = loop->getResults();
  for (auto [i, result] : llvm::enumerate(results)) {
    Value source = conditional ? conditional.getConditionOp().getArgs()[i]
                               : carried.arguments[i];
    if (!llvm::is_contained(carried.arguments, source))
      return loop->emitError("cannot be scheduled: expected its condition to "
                             "pass on what the loop carries, found ")
             << source;
    if (conditional)
      places[conditional.getAfterArguments()[i]] = places[source];
    places[result] = places[source];
    keepAlive(places[result].buffer, result, command);
  }
  return planInner(loop);
}

/// A row that a step takes gets a place of its own; one that it puts goes into
/// what the loop carries.
LogicalResult BufferPlan::placeRow(Operation *slice) {
  int64_t command = commands.lookup(slice);
  auto insert = dyn_cast<tensor::InsertSliceOp>(slice);
  if (!insert) {
    Value row = slice->getResult(0);
    places[row] = {
        addRange(slice->getBlock(), command, byteSize(row.getType())), 0, {}};
    keepAlive(places[row].buffer, row, command);
    return success();
  }
  auto rows = dyn_cast<BlockArgument>(insert.getDest());
  auto loop = cast<scf::ForOp>(slice->getParentOp());
  bool isInPlace =
      rows && rows.getOwner() == loop.getBody() && rows.hasOneUse() &&
      insert->hasOneUse() &&
      loop.getTiedLoopYieldedValue(rows)->get() == insert.getResult();
  if (!isInPlace)
    return slice->emitError("cannot be scheduled: expected rows to be put into "
                            "a tensor that the loop carries for this alone");
  places[insert.getResult()] = places.lookup(rows);
  return success();
}

/// What one step yields must not overwrite what another value is copied from.
void BufferPlan::placeYielded(const Carried &carried) {
  Operation *terminator = carried.body->getTerminator();
  llvm::SmallDenseSet<unsigned> kept;
  for (Value argument : carried.arguments)
    kept.insert(places.lookup(argument).buffer);
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value argument = carried.arguments[operand.getOperandNumber()];
    if (samePlace(operand.get(), argument) ||
        !kept.contains(places.lookup(operand.get()).buffer))
      continue;
    waiting[&operand] = addRange(carried.body, commands.lookup(terminator),
                                 byteSize(argument.getType()));
  }
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
    if (offset.getLargestKnownDivisor() % 64 != 0 && offset != 0)
      return op.emitError("sizes that a caller chooses: expected a slice that "
                          "begins at a multiple of 64 bytes at all sizes, "
                          "found ")
             << exec::SizeAttr::get(offset, symbols, place.offset)
             << "; fix the sizes with --shape";
    if (place.open)
      offset = offset + place.open.getFormula();
    place.open = exec::SizeAttr::get(offset, symbols, place.offset);
  }
  places[op.getResult(0)] = place;
  return success();
}

/// Blocks of control flow hold sizes that are constant.
static bool hasOpenSizes(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return inner->hasAttr(exec::sizesAttrName) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
      })
      .wasInterrupted();
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
      return pack.emitError("expected a constant to pack");
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
    if (hasOpenSizes(&op))
      return op.emitError("sizes that a caller chooses: expected none inside "
                          "conditions and loops; fix them with --shape");
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
    const Buffer &buffer = buffers[number];
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
  for (BlockArgument argument : function.getArguments())
    places[argument] = {addBuffer(Storage::Input, argument.getArgNumber(),
                                  byteFormula(argument)),
                        0,
                        {}};
  findLastUses();
  assignOutputs();
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
  return success();
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
  const Buffer &buffer = buffers[place.buffer];
  MLIRContext *context = length.getContext();
  auto offset = exec::SizeAttr::get(context, buffer.offset + place.offset);
  if (place.open)
    offset = exec::SizeAttr::get(place.open.getFormula() + buffer.offset,
                                 place.open.getMap().getNumSymbols(),
                                 buffer.offset + place.offset);
  return exec::BindingAttr::get(context, buffer.storage, buffer.index, offset,
                                length, written);
}

exec::BindingAttr BufferPlan::bindingAt(Place place, int64_t length,
                                        bool written) const {
  MLIRContext *context = ModuleOp(module).getContext();
  return bindingAt(place, exec::SizeAttr::get(context, length), written);
}

exec::BindingAttr BufferPlan::binding(Value value, bool written) const {
  return bindingAt(placeOf(value), byteFormula(value), written);
}

std::vector<Buffer> BufferPlan::arenaBuffers() const {
  std::vector<Buffer> found;
  if (!innerArenas.empty())
    return found;
  for (const Buffer &buffer : buffers)
    if (buffer.storage == Storage::Arena)
      found.push_back(buffer);
  return found;
}

int64_t BufferPlan::number(Value value) const {
  unsigned at = places.lookup(value).buffer;
  if (buffers[at].storage != Storage::Arena || !innerArenas.empty())
    return -1;
  return llvm::count_if(
      ArrayRef(buffers).take_front(at),
      [](const Buffer &buffer) { return buffer.storage == Storage::Arena; });
}
