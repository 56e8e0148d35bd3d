// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What accumulators are filled with, and what becomes of their elements.
#include "Accumulators.h"
#include "Epilogue.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::interpret;

std::shared_ptr<Accumulator> interpret::newAccumulator(Type type) {
  auto own = cast<tile::AccType>(type);
  auto acc = std::make_shared<Accumulator>();
  acc->element = own.getElementType();
  acc->shape = SmallVector<int64_t>(own.getShape());
  acc->values.resize(computeProduct(acc->shape));
  return acc;
}

Outcome interpret::mayUse(Machine &machine, Operation *op,
                          const Accumulator &acc) {
  if (acc.pending && !acc.pending->isWaited)
    return machine.fail(op, "uses sums of a step that has not been waited "
                            "for");
  return Outcome::Done;
}

static Outcome runInit(Machine &, Fiber &fiber, const PlacedOp &step) {
  auto acc = newAccumulator(step.op->getResult(0).getType());
  llvm::fill(acc->values, fiber.number(step.in[0]));
  fiber.cells[step.out].object = acc;
  return Outcome::Done;
}

static Outcome runLoad(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<tile::LoadOp>(step.op);
  auto acc = newAccumulator(op.getAcc().getType());
  auto memory = fiber.get<View>(step.in[0]);
  LinearMap map(op.getMap());
  Number *next = acc->values.data();
  fiber.cells[step.out].object = acc;
  return forEachPoint(acc->shape, [&](ArrayRef<int64_t> at) {
    Number &number = *next++ = Number{0};
    ArrayRef<int64_t> place = map(at);
    return op.getPadded() && !memory->holds(place)
               ? Outcome::Done
               : load(machine, op, *memory, place, number);
  });
}

static Outcome runAdd(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto total = fiber.get<Accumulator>(step.in[0]),
       part = fiber.get<Accumulator>(step.in[1]);
  if (mayUse(machine, step.op, *total) != Outcome::Done ||
      mayUse(machine, step.op, *part) != Outcome::Done)
    return Outcome::Failed;
  auto sum = newAccumulator(step.op->getResult(0).getType());
  Type type = sum->element;
  for (size_t i = 0; i != sum->values.size(); ++i)
    if (isa<FloatType>(type))
      sum->values[i].real =
          roundTo(type, total->values[i].real + part->values[i].real);
    else
      sum->values[i].whole =
          wrapTo(type, total->values[i].whole + part->values[i].whole);
  fiber.cells[step.out].object = sum;
  return Outcome::Done;
}

static const Number &elementOf(const Accumulator &acc, ArrayRef<int64_t> at) {
  int64_t place = 0;
  for (auto [index, size] : llvm::zip(at, acc.shape))
    place = place * size + index;
  return acc.values[place];
}

static Outcome runMap(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<tile::MapOp>(step.op);
  std::vector<LinearMap> maps;
  for (auto [i, place] : llvm::enumerate(step.in)) {
    maps.emplace_back(op.getMap(i));
    if (isa<tile::AccType>(op.getInputs()[i].getType()) &&
        mayUse(machine, op, *fiber.get<Accumulator>(place)) != Outcome::Done)
      return Outcome::Failed;
  }
  auto acc = newAccumulator(op.getAcc().getType());
  std::vector<Cell> arguments(step.in.size());
  Number *next = acc->values.data();
  fiber.points.emplace_back();
  size_t depth = fiber.points.size() - 1;
  Outcome outcome = forEachPoint(acc->shape, [&](ArrayRef<int64_t> at) {
    fiber.points[depth].assign(at.begin(), at.end());
    for (auto [i, place] : llvm::enumerate(step.in)) {
      Number &number = arguments[i].number;
      ArrayRef<int64_t> from = maps[i](at);
      if (isa<tile::AccType>(op.getInputs()[i].getType())) {
        number = elementOf(*fiber.get<Accumulator>(place), from);
        continue;
      }
      const View &memory = *fiber.get<View>(place);
      if (op.getPadded() && !memory.holds(from))
        number = Number{0};
      else if (load(machine, op, memory, from, number) != Outcome::Done)
        return Outcome::Failed;
    }
    if (machine.evaluate(fiber, op.getBody().front(), arguments) !=
        Outcome::Done)
      return Outcome::Failed;
    *next++ = fiber.yielded.front().number;
    return Outcome::Done;
  });
  fiber.points.pop_back();
  fiber.cells[step.out].object = acc;
  return outcome;
}

static Outcome runIndex(Machine &, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<tile::IndexOp>(step.op);
  fiber.cells[step.out].number.whole = fiber.points.back()[op.getDim()];
  return Outcome::Done;
}

/// In random order, since which one a machine takes is its choice.
static Outcome runReduce(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<tile::ReduceOp>(step.op);
  auto from = fiber.get<Accumulator>(step.in[0]);
  if (mayUse(machine, op, *from) != Outcome::Done)
    return Outcome::Failed;
  auto acc = newAccumulator(op.getResult().getType());
  SmallVector<int64_t> row(from->shape.size(), 1);
  for (int64_t d : op.getDims())
    row[d] = from->shape[d];
  Number *next = acc->values.data();
  fiber.cells[step.out].object = acc;
  return forEachPoint(acc->shape, [&](ArrayRef<int64_t> at) {
    std::vector<Number> left;
    (void)forEachPoint(row, [&](ArrayRef<int64_t> along) {
      SmallVector<int64_t> point(at);
      for (auto [index, step] : llvm::zip(point, along))
        index += step;
      left.push_back(elementOf(*from, point));
      return Outcome::Done;
    });
    while (left.size() > 1) {
      std::swap(left[machine.random() % (left.size() - 1)],
                left[left.size() - 2]);
      Cell pair[2];
      pair[0].number = left[left.size() - 2];
      pair[1].number = left.back();
      if (machine.evaluate(fiber, op.getBody().front(), pair) != Outcome::Done)
        return Outcome::Failed;
      left.pop_back();
      left.back() = fiber.yielded.front().number;
    }
    *next++ = left.front();
    return Outcome::Done;
  });
}

static Outcome runDrain(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<tile::DrainOp>(step.op);
  auto acc = fiber.get<Accumulator>(step.in[0]);
  if (mayUse(machine, op, *acc) != Outcome::Done)
    return Outcome::Failed;
  Epilogue epilogue(machine, fiber, op, op.getBody().front(),
                    ArrayRef(step.in).drop_front(), op.getMaps().getValue(),
                    op.getClipped());
  const Number *next = acc->values.data();
  return forEachPoint(acc->shape, [&](ArrayRef<int64_t> at) {
    return epilogue.store(*next++, at);
  });
}

Handler interpret::accumulatorHandlerOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Handler>(&op)
      .Case([](tile::InitOp) { return runInit; })
      .Case([](tile::LoadOp) { return runLoad; })
      .Case([](tile::AddOp) { return runAdd; })
      .Case([](tile::MapOp) { return runMap; })
      .Case([](tile::IndexOp) { return runIndex; })
      .Case([](tile::ReduceOp) { return runReduce; })
      .Case([](tile::DrainOp) { return runDrain; })
      .Default([](Operation *) { return nullptr; });
}
