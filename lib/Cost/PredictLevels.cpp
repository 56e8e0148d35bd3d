// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LevelProblem.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Analysis/StoreBox.h"
#include "ashlar/Machine/MainMemory.h"
#include "ashlar/Machine/StoreEngine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

void LevelProblem::predict(LevelCandidate &one) {
  double parts = 1, iterations = 1;
  std::optional<unsigned> across = dimAcross(one);
  for (unsigned d = 0; d != numParallel; ++d) {
    // Neighbours that share copies are there without a part, too.
    uint64_t count = llvm::divideCeil(sizes[d], one.tile[d]);
    parts *= double(across == d ? llvm::alignTo(count, one.across) : count);
  }
  for (unsigned d : k)
    iterations *= double(llvm::divideCeil(sizes[d], one.tile[d]));
  double steps = double(llvm::divideCeil(rowsOf(one.part), unit->m)) *
                 double(llvm::divideCeil(columnsOf(one.part), unit->n)) *
                 double(llvm::divideCeil(termsOf(one), unit->k));
  // A worker's rate is that of all who may issue; few cannot fill it.
  double compute =
      steps * double(machine.groupsOf(*group)) / unit->stepsPerCycle;
  double copy = 0, latency = 0;
  for (const CopyEngine *engine : path) {
    copy = std::max(copy, cyclesOfCopies(one, *engine));
    latency += engine->startCycles;
    if (one.across > 1)
      latency += engine->multicastCycles;
  }
  latency += machine.memories.back().latencyCycles;
  double iteration = std::max(compute, copy);
  double serial = compute + copy; // of who copies, then computes
  // Threads meet in each iteration, and read what is near through its ports.
  if (group->registerBytes && near->banks > 1) {
    // Roles do not meet: each waits for the slots that it needs.
    double reads = cyclesOfReads(one),
           barrier = hasRoles()
                         ? 0.0
                         : machine.costs.barrierNs * machine.clock.hz / 1e9;
    iteration = std::max(iteration, reads) + barrier;
    serial = std::max(compute, reads) + copy + barrier;
  }
  // Steps that go on keep their slots, and what threads copy by themselves is
  // there when they go on.
  double stall = 0; // of an iteration behind the first
  int64_t ahead = one.slots - 1;
  if (unit->fragment)
    ahead -= unit->fragment->inFlight;
  if (group->registerBytes &&
      llvm::none_of(path, [](auto *one) { return one->asynchronous; }))
    // Other parts on the same worker compute meanwhile.
    iteration =
        std::max(iteration, (serial + latency) / double(residents(one)));
  else
    stall =
        std::max(0.0, latency - double(ahead) * iteration) / double(ahead + 1);
  double waves = std::ceil(parts / double(machine.workers.count));
  double all =
      waves * (latency + iterations * iteration + (iterations - 1) * stall) +
      cyclesOfStores(one, waves) +
      machine.costs.launchNs * machine.clock.hz / 1e9;
  double once = double(bytesRead(op.getA())) + double(bytesRead(op.getB())) +
                double(byteSize(op.getInit().getType()));
  one.prediction.compute = waves * iterations * compute;
  one.prediction.nearest = waves * iterations * copy;
  one.prediction.boxes = all;
  one.prediction.main = once / mainBytesPerCycle(machine);
  one.prediction.groups = int64_t(parts);
  one.cycles = one.prediction.cycles();
}

int64_t LevelProblem::bytesForStores(const LevelCandidate &one) {
  const CopyEngine *engine = storeEngineOf(machine);
  auto type = cast<ShapedType>(op.getInit().getType());
  AffineMap map = op.getResultMap();
  unsigned last = numParallel - 1;
  if (!engine || !hasRoles() || !unit->fragment ||
      elementBytes(type.getElementType()) != store_box::elementBytes ||
      type.getRank() > engine->boxes->rank ||
      store_box::columns > engine->boxes->size ||
      !takesRows(*engine, type, map) ||
      map.getResults().back() != getAffineDimExpr(last, op.getContext()) ||
      !store_box::sizesOf(one.part))
    return 0;
  int64_t threads = groupsOf(one) << unit->fragment->lanes.size(),
          groups = threads / machine.countOf("lane");
  int64_t left = near->bytesOfPart() - bytesOfSlots(one) - bytesOfPhases(one) -
                 swizzledAlignment;
  return store_box::slotsIn(left, groups) * groups * store_box::bytes;
}

double LevelProblem::cyclesOfStores(LevelCandidate &one, double waves) {
  const Memory &main = machine.memories.back();
  double results = double(rowsOf(one.tile) * columnsOf(one.tile)) *
                   double(elementBytes(getElementTypeOrSelf(op.getInit())));
  double rate = machine.writeBytesPerCycle(main);
  double byThreads = waves * results / rate;
  one.stores = nullptr;
  double staged = std::min(results, double(bytesForStores(one)));
  if (staged == 0)
    return byThreads;
  // Who computes goes on when it has stored all nearby, of which the engine
  // has taken what has no place there; the rest leaves beside the next part.
  const CopyEngine *engine = storeEngineOf(machine);
  rate = std::min(rate, engine->bytesPerCycle);
  double part = std::max(results / machine.writeBytesPerCycle(*near),
                         (results - staged) / rate);
  double byEngine = waves * part + staged / rate + engine->startCycles;
  if (byEngine >= byThreads)
    return byThreads;
  one.stores = engine;
  return byEngine;
}

double LevelProblem::cyclesOfCopies(const LevelCandidate &one,
                                    const CopyEngine &engine) {
  auto cyclesOf = [&](Value operand, int64_t bytes) {
    int64_t each = elementBytes(getElementTypeOrSelf(operand));
    bool isByThreads = group->registerBytes && engine.minimumBytes < 16;
    double longer =
        isByThreads ? double(std::max(each, engine.minimumBytes)) / each : 1;
    // Zeros around a tensor are written near as well.
    double share =
        hasMargins(operand)
            ? 1
            : double(bytesRead(operand)) / double(byteSize(operand.getType()));
    return double(bytes) * longer * share / engine.bytesPerCycle +
           cyclesOfDecoding(operand, bytes);
  };
  return cyclesOf(op.getA(), one.bytesA) +
         cyclesOf(op.getB(), one.bytesB) / one.across;
}

double LevelProblem::cyclesOfDecoding(Value operand, int64_t bytes) {
  auto decode = operand.getDefiningOp<tile::DecodeOp>();
  if (!decode || hasMargins(operand))
    return 0;
  // An operation takes a lane as long as a step of a unit that has one of each.
  double lanes = 0;
  for (const MultiplyUnit &one : machine.units)
    if (one.m == 1 && one.k == 1)
      lanes = std::max(lanes, one.stepsPerCycle * double(one.n));
  int64_t count = 1; // what is stored
  for (Operation &inner : decode.getBody().front())
    count += isa<arith::ArithDialect>(inner.getDialect()) &&
             !isa<arith::ConstantOp>(inner);
  int64_t elements = bytes / elementBytes(getElementTypeOrSelf(operand));
  return lanes == 0 ? 0 : double(elements) * double(count) / lanes;
}

int64_t LevelProblem::residents(const LevelCandidate &one) {
  constexpr int64_t most = 4;
  int64_t bytes = std::max<int64_t>(1, bytesOfSlots(one));
  return std::clamp<int64_t>(near->bytes / bytes, 1, most);
}

double LevelProblem::cyclesOfReads(const LevelCandidate &one) {
  // What all lanes read at once costs as much as what each reads of its own.
  int64_t ofRow = readsLanes() ? near->banks * near->lineBytes
                               : elementBytes(getElementTypeOrSelf(op.getA()));
  int64_t bytes =
      groupsOf(one) * termsOf(one) *
      (rowsOf(one.part) * ofRow +
       columnsOf(one.part) * elementBytes(getElementTypeOrSelf(op.getB())));
  return double(bytes) / machine.readBytesPerCycle(*near);
}
