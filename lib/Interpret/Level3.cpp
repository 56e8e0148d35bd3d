// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings, copies, steps and roles. Until a token has been waited for, what it
// stands for owns the bytes that it reads and writes.
#include "Accesses.h"
#include "Accumulators.h"
#include "LinearMap.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::interpret;

static Outcome runAlloc(Machine &, Fiber &fiber, const PlacedOp &step) {
  auto ring = std::make_shared<Ring>();
  ring->type = cast<tile::AllocOp>(step.op).getRing().getType();
  int64_t size = ring->type.getSlotType().getSize();
  for (int64_t i = 0; i != ring->type.getSlots(); ++i) {
    ring->slots.emplace_back();
    ring->slots.back().buffer = std::make_shared<Buffer>(size);
  }
  if (fiber.cluster) {
    ring->cluster = fiber.cluster;
    ring->op = step.op;
    auto &all = fiber.cluster->rings[step.op];
    all.resize(fiber.cluster->count);
    all[fiber.rank] = ring;
  }
  fiber.cells[step.out].object = ring;
  return Outcome::Done;
}

/// Of the workers of a cluster, those of `op`; null: not made yet.
static ArrayRef<std::shared_ptr<Ring>>
sharersOf(const std::weak_ptr<Cluster> &cluster, Operation *op) {
  return cluster.lock()->rings[op];
}

static std::shared_ptr<Slot> slotOf(const std::shared_ptr<Ring> &ring,
                                    unsigned number) {
  auto slot = std::make_shared<Slot>();
  slot->ring = ring;
  slot->number = number;
  slot->buffer = ring->slots[number].buffer;
  slot->generation = slot->buffer->generation;
  slot->sizes = SmallVector<int64_t>(ring->type.getShape());
  slot->layout = ring->type.getLayout();
  slot->strides = computeStrides(slot->sizes);
  return slot;
}

static bool isFree(const Ring::Slot &slot) {
  return !slot.isTaken || (slot.buffer->isReleased &&
                           llvm::all_of(slot.until, [](const TaskRef &task) {
                             return task->isDone;
                           }));
}

/// Whether all that share copies of a ring are ready for its next one: it has a
/// free slot, or they have begun that copy already.
static bool areReady(const Ring &ring) {
  size_t next = ring.copies.size();
  return llvm::all_of(sharersOf(ring.cluster, ring.op), [&](const auto &other) {
    return other && (other->copies.size() > next ||
                     (other->copies.size() == next &&
                      isFree(other->slots[next % other->slots.size()])));
  });
}

/// Whether the ring's next slot is free; then nobody may still read it.
static Outcome freeSlot(Machine &machine, Operation *op, Ring::Slot &slot) {
  Buffer &buffer = *slot.buffer;
  if (slot.isTaken) {
    if (!isFree(slot))
      return Outcome::Blocked;
    if (!llvm::all_of(buffer.reading,
                      [](const TaskRef &task) { return task->isDone; }))
      return machine.fail(op, "takes a slot that is still being read, since "
                              "its release does not wait for all readers");
  }
  slot.isTaken = true;
  slot.until.clear();
  buffer.reading.clear();
  buffer.writers.clear();
  buffer.readers.clear();
  buffer.isReleased = false;
  ++buffer.generation;
  buffer.elements = Buffer(buffer.elements.size()).elements;
  return Outcome::Done;
}

/// Some of the operands, which are numbers.
static SmallVector<int64_t> numbers(Fiber &fiber, const PlacedOp &step,
                                    size_t first, size_t count) {
  SmallVector<int64_t> all;
  for (unsigned place : ArrayRef(step.in).slice(first, count))
    all.push_back(fiber.number(place).whole);
  return all;
}

using Moves = std::vector<std::pair<int64_t, int64_t>>;

/// Of a copy that several share: all of them must read the same, and none has
/// what it copies before all have begun to.
static Outcome shareCopy(Machine &machine, tile::CopyOp op,
                         const std::shared_ptr<Ring> &ring, const Moves &places,
                         const View &source, Task &task) {
  auto first = llvm::find_if(places, [](auto move) { return move.first >= 0; });
  ring->sources.push_back(
      {source.buffer.get(), first == places.end() ? -1 : first->first});
  size_t number = ring->sources.size() - 1;
  for (const auto &other : sharersOf(ring->cluster, ring->op))
    if (other->sources.size() > number &&
        other->sources[number] != ring->sources[number])
      return machine.fail(op, "reads something else than another worker that "
                              "shares the copy");
  task.mayEnd = [number, cluster = ring->cluster, made = ring->op] {
    return llvm::all_of(sharersOf(cluster, made), [&](const auto &other) {
      return other->sources.size() > number;
    });
  };
  return Outcome::Done;
}

static Outcome runCopy(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<tile::CopyOp>(step.op);
  size_t numOffsets = op.getOffsets().size();
  auto ring = fiber.get<Ring>(step.in[1 + numOffsets]);
  unsigned number = ring->copies.size() % ring->slots.size();
  bool isShared = op.getMulticast() && ring->op;
  if (isShared && !areReady(*ring))
    return Outcome::Blocked;
  Outcome outcome = freeSlot(machine, op, ring->slots[number]);
  if (outcome != Outcome::Done)
    return outcome;
  auto slot = slotOf(ring, number);
  auto source = fiber.get<View>(step.in[0]);
  TaskRef task = machine.begin(op, nullptr);
  auto places = std::make_shared<Moves>();
  LinearMap map(op.getMap(), numbers(fiber, step, 1, numOffsets));
  outcome = forEachPoint(slot->sizes, [&](ArrayRef<int64_t> at) {
    ArrayRef<int64_t> from = map(at);
    if (op.getPadded() && !source->holds(from)) {
      places->emplace_back(-1, slot->placeOf(at));
      return Outcome::Done;
    }
    Outcome allowed = mayRead(machine, op, *source, from);
    if (allowed == Outcome::Done)
      places->emplace_back(source->placeOf(from), slot->placeOf(at));
    return allowed;
  });
  if (outcome != Outcome::Done)
    return outcome;
  for (auto [from, to] : *places) {
    if (from >= 0)
      source->buffer->mark(task, source->buffer, from, /*writes=*/false);
    slot->buffer->mark(task, slot->buffer, to, /*writes=*/true);
  }
  task->effect = [places, from = source->buffer, to = slot->buffer] {
    for (auto [read, written] : *places)
      to->elements[written] = read < 0 ? Number{0} : from->elements[read];
  };
  if (isShared &&
      shareCopy(machine, op, ring, *places, *source, *task) != Outcome::Done)
    return Outcome::Failed;
  auto token = std::make_shared<Token>();
  token->task = task;
  ring->copies.emplace_back(number, task);
  fiber.cells[step.out].object = slot;
  fiber.cells[step.out + 1].object = token;
  return Outcome::Done;
}

static Outcome runTake(Machine &, Fiber &fiber, const PlacedOp &step) {
  auto ring = fiber.get<Ring>(step.in[0]);
  if (ring->numTaken == ring->copies.size())
    return Outcome::Blocked;
  auto [number, task] = ring->copies[ring->numTaken];
  if (!task->isDone)
    return Outcome::Blocked;
  task->giveBack();
  ++ring->numTaken;
  fiber.cells[step.out].object = slotOf(ring, number);
  return Outcome::Done;
}

static Outcome runView(Machine &, Fiber &fiber, const PlacedOp &step) {
  auto view = std::make_shared<View>(*fiber.get<Slot>(step.in[0]));
  if (view->layout)
    view->strides = view->layout.getStrides(view->sizes);
  view->layout = nullptr;
  fiber.cells[step.out].object = view;
  return Outcome::Done;
}

static Outcome runWait(Machine &, Fiber &fiber, const PlacedOp &step) {
  for (unsigned place : step.in)
    if (!fiber.get<Token>(place)->task->isDone)
      return Outcome::Blocked;
  for (unsigned place : step.in)
    fiber.get<Token>(place)->task->giveBack();
  return Outcome::Done;
}

static Outcome runRelease(Machine &machine, Fiber &fiber,
                          const PlacedOp &step) {
  auto slot = fiber.get<Slot>(step.in[0]);
  if (slot->isStale())
    return machine.fail(step.op, "gives back a slot that has been released");
  Ring::Slot &own = slot->ring->slots[slot->number];
  for (const auto &[number, task] : llvm::reverse(slot->ring->copies))
    if (number == slot->number) {
      if (!task->isWaited)
        return machine.fail(step.op,
                            "gives back a slot whose copy has not been "
                            "waited for");
      break;
    }
  slot->buffer->isReleased = true;
  for (unsigned place : ArrayRef(step.in).drop_front())
    own.until.push_back(fiber.get<Token>(place)->task);
  if (step.in.size() == 1)
    own.until = slot->buffer->reading;
  return Outcome::Done;
}

static tile::RoleOp concurrentRole(Operation *op) {
  auto role = dyn_cast_if_present<tile::RoleOp>(op);
  return role && role.getConcurrent() ? role : tile::RoleOp();
}

static Outcome runRole(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  tile::RoleOp role = concurrentRole(step.op);
  if (!role) {
    machine.enter(fiber, step, step.op->getRegion(0), {});
    return Outcome::Done;
  }
  // The first of them begins all.
  if (concurrentRole(step.op->getPrevNode()))
    return Outcome::Done;
  for (; role; role = concurrentRole(role->getNextNode()))
    machine.spawn(fiber, role);
  return Outcome::Done;
}

namespace {
/// The products of one step, and the elements that they read.
class Products {
public:
  Products(tile::StepOp op, Fiber &fiber, const PlacedOp &step)
      : op(op), a(op.holdsA() ? nullptr : fiber.get<View>(step.in[1])),
        held(op.holdsA() ? fiber.get<Accumulator>(step.in[1]) : nullptr),
        b(fiber.get<View>(step.in[2 + op.getAOffsets().size()])),
        shape(op.getAcc().getType().getShape()), reduced(op.getReduced()),
        aMap(op.getAMap(), numbers(fiber, step, 2, op.getAOffsets().size())),
        bMap(op.getBMap(), numbers(fiber, step, 3 + op.getAOffsets().size(),
                                   op.getBOffsets().size())) {}

  Outcome check(Machine &machine) {
    return forEach([&](ArrayRef<int64_t> point) {
      return (held || mayRead(machine, op, *a, aMap(point)) == Outcome::Done) &&
                     mayRead(machine, op, *b, bMap(point)) == Outcome::Done
                 ? Outcome::Done
                 : Outcome::Failed;
    });
  }

  void mark(const TaskRef &task) {
    (void)forEach([&](ArrayRef<int64_t> point) {
      if (a)
        a->buffer->mark(task, a->buffer, a->placeOf(aMap(point)), false);
      b->buffer->mark(task, b->buffer, b->placeOf(bMap(point)), false);
      return Outcome::Done;
    });
  }

  /// Each product is added in the sum's type, in the order of the terms.
  void add(std::vector<Number> &sums) {
    Type type = op.getAcc().getType().getElementType();
    Type aType = held ? held->element
                      : cast<ShapedType>(op.getA().getType()).getElementType(),
         bType = cast<ShapedType>(op.getB().getType()).getElementType();
    size_t last = 0, terms = computeProduct(reduced);
    (void)forEach([&](ArrayRef<int64_t> point) {
      Number &sum = sums[last++ / terms];
      Number x = held ? heldAt(aMap(point))
                      : a->buffer->elements[a->placeOf(aMap(point))],
             y = b->buffer->elements[b->placeOf(bMap(point))];
      if (isa<FloatType>(type))
        sum.real = roundTo(type, sum.real + x.real * y.real);
      else
        sum.whole =
            wrapTo(type, sum.whole + extended(aType, op.getAUnsigned(), x) *
                                         extended(bType, op.getBUnsigned(), y));
      return Outcome::Done;
    });
  }

private:
  Outcome forEach(llvm::function_ref<Outcome(ArrayRef<int64_t>)> body) {
    SmallVector<int64_t> sizes(shape);
    llvm::append_range(sizes, reduced);
    return forEachPoint(sizes, body);
  }

  /// Row by row, as accumulators are.
  Number heldAt(ArrayRef<int64_t> place) {
    int64_t number = 0;
    for (auto [at, size] : llvm::zip_equal(place, held->shape))
      number = number * size + at;
    return held->values[number];
  }

  tile::StepOp op;
  std::shared_ptr<View> a;
  std::shared_ptr<Accumulator> held; ///< a, where that is one
  std::shared_ptr<View> b;
  ArrayRef<int64_t> shape, reduced;
  LinearMap aMap, bMap;
};
} // namespace

static Outcome runStep(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<tile::StepOp>(step.op);
  auto from = fiber.get<Accumulator>(step.in[0]);
  TaskRef before = from->pending;
  // One without a token is done with its sums before anything follows.
  if (!op.getToken() && before && !before->isDone)
    return Outcome::Blocked;
  auto products = std::make_shared<Products>(op, fiber, step);
  if (products->check(machine) != Outcome::Done)
    return Outcome::Failed;
  // What an earlier step still adds to is no operand.
  if (op.holdsA())
    if (TaskRef task = fiber.get<Accumulator>(step.in[1])->pending;
        task && !task->isDone)
      return machine.fail(op, "reads sums that have not been waited for");
  auto acc = newAccumulator(op.getAcc().getType());
  if (!op.getToken()) {
    if (before)
      before->giveBack();
    acc->values = from->values;
    products->add(acc->values);
  } else {
    TaskRef task = machine.begin(op, before);
    products->mark(task);
    task->effect = [products, from, acc] {
      acc->values = from->values;
      products->add(acc->values);
    };
    acc->pending = task;
    auto token = std::make_shared<Token>();
    token->task = task;
    fiber.cells[step.out + 1].object = token;
  }
  fiber.cells[step.out].object = acc;
  return Outcome::Done;
}

/// All groups of a role are one fiber.
static Outcome runTurn(Machine &, Fiber &, const PlacedOp &) {
  return Outcome::Done;
}

Handler interpret::tileHandlerOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Handler>(&op)
      .Case([](tile::AllocOp) { return runAlloc; })
      .Case([](tile::CopyOp) { return runCopy; })
      .Case([](tile::TakeOp) { return runTake; })
      .Case([](tile::ViewOp) { return runView; })
      .Case([](tile::WaitOp) { return runWait; })
      .Case([](tile::ReleaseOp) { return runRelease; })
      .Case([](tile::RoleOp) { return runRole; })
      .Case([](tile::StepOp) { return runStep; })
      .Case<tile::TakeTurnOp, tile::PassTurnOp>([](auto) { return runTurn; })
      .Default([](Operation *) { return nullptr; });
}
