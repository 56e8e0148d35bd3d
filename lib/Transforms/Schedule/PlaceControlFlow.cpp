// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of BufferPlan that gives places to what conditions and loops pass
// in and out of their blocks.
#include "BufferPlan.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ashlar;
using exec::Storage;

Carried ashlar::carriedBy(Operation *loop) {
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    return {counted.getBody(), llvm::to_vector(counted.getInitArgs()),
            llvm::to_vector_of<Value>(counted.getRegionIterArgs())};
  auto conditional = cast<scf::WhileOp>(loop);
  return {conditional.getAfterBody(), llvm::to_vector(conditional.getInits()),
          llvm::to_vector_of<Value>(conditional.getBeforeArguments())};
}

exec::SizeAttr ashlar::openSteps(Operation *loop) {
  auto all = loop->getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
  auto end = all ? all.getAs<ArrayAttr>(upperBoundName) : ArrayAttr();
  if (!end)
    return {};
  auto counted = cast<scf::ForOp>(loop);
  auto formula = cast<exec::SizeAttr>(end[0]);
  int64_t begin = *getConstantIntValue(counted.getLowerBound()),
          step = *getConstantIntValue(counted.getStep());
  return exec::SizeAttr::get((formula.getFormula() - begin).ceilDiv(step),
                             formula.getMap().getNumSymbols(),
                             counted.getStaticTripCount()->getSExtValue());
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
        addRange(op->getBlock(), command, byteFormula(result)), 0, {}};
    keepAlive(places[result].buffer, result, command);
  }
  // A branch computes there what it yields, if it computes it at all.
  for (Region &region : op->getRegions())
    for (OpOperand &yielded : region.front().getTerminator()->getOpOperands()) {
      Value source = viewed(yielded.get());
      Value result = op.getResult(yielded.getOperandNumber());
      if (source.getDefiningOp<exec::InvokeOp>() &&
          source.getParentBlock() == &region.front() &&
          byteFormula(source) == byteFormula(result) && !places.count(source))
        places[source] = places.lookup(result);
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
    // An initial value that nobody needs afterwards is where it should be.
    Place place = places.lookup(initial);
    const ValueBuffer &buffer = buffers[place.buffer];
    bool dies = buffer.storage == Storage::Arena &&
                buffer.scope == loop->getBlock() &&
                lastUse.lookup(viewed(initial)) == command &&
                buffer.size == byteFormula(initial) &&
                llvm::count_if(read, [&](Value other) {
                  return isa<RankedTensorType>(other.getType()) &&
                         places.count(other) &&
                         places.lookup(other).buffer == place.buffer;
                }) == 1;
    places[argument] =
        dies ? place
             : Place{addRange(loop->getBlock(), command, byteFormula(argument)),
                     0,
                     {}};
    keepAlive(places[argument].buffer, argument, command);
  }
  auto conditional = dyn_cast<scf::WhileOp>(loop);
  if (conditional &&
      !conditional.getBeforeBody()->getOps<exec::InvokeOp>().empty()) {
    InFlightDiagnostic error =
        loop->emitError("cannot be scheduled: expected its condition to be "
                        "computed by the iteration before, found kernels in "
                        "the block that decides");
    exec::InvokeOp first =
        *conditional.getBeforeBody()->getOps<exec::InvokeOp>().begin();
    error.attachNote(first.getLoc()) << "the first of them is here";
    return error;
  }
  ValueRange results = loop->getResults();
  for (auto [i, result] : llvm::enumerate(results)) {
    Value source = conditional ? conditional.getConditionOp().getArgs()[i]
                               : carried.arguments[i];
    if (!llvm::is_contained(carried.arguments, source)) {
      InFlightDiagnostic error =
          loop->emitError("cannot be scheduled: expected its condition to pass "
                          "on what the loop carries, found ")
          << source;
      error.attachNote(source.getLoc()) << "computed here";
      return error;
    }
    if (conditional)
      places[conditional.getAfterArguments()[i]] = places.lookup(source);
    places[result] = places.lookup(source);
    keepAlive(places[result].buffer, result, command);
  }
  return planInner(loop);
}

/// A row that a step takes gets a place of its own; one that it puts goes into
/// what the loop carries.
LogicalResult BufferPlan::placeRow(Operation *slice) {
  int64_t command = commands.lookup(slice);
  auto insert = dyn_cast<tensor::InsertSliceOp>(slice);
  Value row = insert ? Value(insert.getSource()) : slice->getResult(0);
  if (!exec::sizesOf(row).empty())
    return slice->emitError(exec::openSizesRefusal)
           << "expected a loop to take and put rows of a constant size, found "
           << row.getType()
           << " at the largest sizes; fix the sizes of a row with --shape";
  if (!insert) {
    places[row] = {
        addRange(slice->getBlock(), command, byteFormula(row)), 0, {}};
    keepAlive(places[row].buffer, row, command);
    return success();
  }
  auto rows = dyn_cast<BlockArgument>(insert.getDest());
  auto loop = cast<scf::ForOp>(slice->getParentOp());
  bool isInPlace =
      rows && rows.getOwner() == loop.getBody() && rows.hasOneUse() &&
      insert->hasOneUse() &&
      loop.getTiedLoopYieldedValue(rows)->get() == insert.getResult();
  if (!isInPlace) {
    InFlightDiagnostic error =
        slice->emitError("cannot be scheduled: expected rows to be put into a "
                         "tensor that the loop carries for this alone");
    error.attachNote(insert.getDest().getLoc()) << "the tensor comes from here";
    return error;
  }
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
                                 byteFormula(argument));
  }
}
