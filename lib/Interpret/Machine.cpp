// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Machine.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::interpret;

void Task::giveBack() {
  // Of a long chain each lets the next one go.
  for (TaskRef earlier = std::move(before); earlier;
       earlier = std::move(earlier->before))
    earlier->unmark();
  unmark();
}

void Task::unmark() {
  isWaited = true;
  for (const Place &at : places) {
    if (at.buffer->generation != at.generation)
      continue;
    if (!at.isWritten)
      --at.buffer->readers[at.place];
    else if (at.buffer->writers[at.place] == this)
      at.buffer->writers[at.place] = nullptr;
  }
  places.clear();
}

Task::~Task() {
  while (before && before.use_count() == 1)
    before = std::move(TaskRef(std::move(before))->before);
}

void Buffer::mark(const TaskRef &task, const std::shared_ptr<Buffer> &self,
                  int64_t place, bool writes) {
  task->places.push_back({self, place, generation, writes});
  if (writes) {
    writers.resize(elements.size());
    writers[place] = task.get();
    return;
  }
  readers.resize(elements.size());
  ++readers[place];
  if (reading.empty() || reading.back() != task)
    reading.push_back(task);
}

void interpret::apply(AffineMap map, ArrayRef<int64_t> operands,
                      SmallVectorImpl<int64_t> &results) {
  std::function<int64_t(AffineExpr)> value = [&](AffineExpr expr) -> int64_t {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue();
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return operands[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return operands[map.getNumDims() + symbol.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    int64_t x = value(binary.getLHS()), y = value(binary.getRHS());
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return x + y;
    case AffineExprKind::Mul:
      return x * y;
    case AffineExprKind::Mod:
      return y > 0 ? llvm::mod(x, y) : 0;
    case AffineExprKind::FloorDiv:
      return y > 0 ? llvm::divideFloorSigned(x, y) : 0;
    default:
      return y > 0 ? llvm::divideCeilSigned(x, y) : 0;
    }
  };
  results.clear();
  for (AffineExpr expr : map.getResults())
    results.push_back(value(expr));
}

bool interpret::advance(MutableArrayRef<int64_t> point,
                        ArrayRef<int64_t> sizes) {
  for (size_t d = point.size(); d-- != 0; point[d] = 0)
    if (++point[d] < sizes[d])
      return true;
  return false;
}

SmallVector<int64_t> interpret::mixedValues(const Fiber &fiber,
                                            const PlacedOp &step,
                                            ArrayRef<int64_t> mixed,
                                            size_t &next) {
  SmallVector<int64_t> all;
  for (int64_t value : mixed)
    all.push_back(ShapedType::isDynamic(value)
                      ? fiber.number(step.in[next++]).whole
                      : value);
  return all;
}

Handler interpret::handlerOf(Operation &op) {
  for (auto find : {memoryHandlerOf, controlHandlerOf, structuredHandlerOf,
                    tileHandlerOf, accumulatorHandlerOf})
    if (Handler handler = find(op))
      return handler;
  return nullptr;
}

bool interpret::isKnown(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>())
    return isa<func::ReturnOp, scf::YieldOp, scf::ConditionOp,
               scf::InParallelOp, linalg::YieldOp, tile::DecodedOp,
               tile::HandOverOp, tile::YieldOp>(op);
  return scalarRuleOf(op) || handlerOf(op);
}

LogicalResult Machine::prepare() {
  llvm::DenseMap<Value, unsigned> places;
  auto number = [&](ValueRange values) {
    unsigned first = numCells;
    for (Value value : values)
      places[value] = numCells++;
    return first;
  };
  kernel.walk<WalkOrder::PreOrder>([&](Block *block) {
    codes[block].arguments = number(block->getArguments());
    for (Operation &op : *block)
      number(op.getResults());
  });
  WalkResult result = kernel.walk([&](Block *block) {
    Code &code = codes[block];
    for (Operation &op : *block) {
      PlacedOp step;
      step.op = &op;
      for (Value operand : op.getOperands())
        step.in.push_back(places.at(operand));
      if (op.hasTrait<OpTrait::IsTerminator>()) {
        code.terminator = &op;
        code.yielded = step.in;
        continue;
      }
      if (op.getNumResults() != 0)
        step.out = places.at(op.getResult(0));
      step.rule = scalarRuleOf(op);
      if (!step.rule)
        step.run = handlerOf(op);
      if (!step.rule && !step.run) {
        op.emitOpError("is nothing that can be interpreted");
        return WalkResult::interrupt();
      }
      code.steps.push_back(std::move(step));
    }
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}

TaskRef Machine::begin(Operation *op, TaskRef before) {
  auto task = std::make_shared<Task>();
  task->op = op;
  if (before && !before->isWaited)
    task->before = std::move(before);
  tasks.push_back(task);
  begun.push_back(task);
  return task;
}

void Machine::finish(Task &task) {
  std::vector<Task *> chain;
  for (Task *next = &task; next && !next->isDone; next = next->before.get())
    chain.push_back(next);
  for (Task *next : llvm::reverse(chain)) {
    next->effect();
    next->effect = nullptr;
    next->isDone = true;
  }
  llvm::erase_if(tasks, [](const TaskRef &other) { return other->isDone; });
}

void Machine::unblock() {
  for (const auto &fiber : fibers)
    fiber->isBlocked = false;
}

bool Machine::finishOne() {
  std::vector<TaskRef> ready;
  for (const TaskRef &task : tasks)
    if (!task->mayEnd || task->mayEnd())
      ready.push_back(task);
  if (ready.empty())
    return false;
  finish(*ready[below(ready.size())]);
  unblock();
  return true;
}

void Machine::enter(Fiber &fiber, const PlacedOp &step, Region &region,
                    ArrayRef<Cell> arguments) {
  Block &block = region.front();
  llvm::copy(arguments, fiber.cells.begin() + codeOf(block).arguments);
  Frame frame;
  frame.block = &block;
  frame.step = &step;
  fiber.frames.push_back(std::move(frame));
}

Fiber &Machine::addChild(Fiber &fiber, Block &body) {
  auto child = std::make_unique<Fiber>();
  child->cells = fiber.cells;
  child->parent = &fiber;
  child->cluster = fiber.cluster;
  child->rank = fiber.rank;
  child->role = fiber.role;
  Frame frame;
  frame.block = &body;
  child->frames.push_back(std::move(frame));
  ++fiber.children;
  fibers.push_back(std::move(child));
  return *fibers.back();
}

void Machine::spawn(Fiber &fiber, tile::RoleOp role) {
  Fiber &child = addChild(fiber, role.getBody().front());
  child.role = role.getName().str();
  if (child.cluster)
    child.role += " of worker " + std::to_string(child.rank);
}

void Machine::spawn(Fiber &fiber, Block &body,
                    ArrayRef<SmallVector<int64_t>> points) {
  auto cluster = std::make_shared<Cluster>();
  cluster->count = points.size();
  for (auto [rank, point] : llvm::enumerate(points)) {
    Fiber &child = addChild(fiber, body);
    child.cluster = cluster;
    child.rank = rank;
    child.role = "worker " + std::to_string(rank);
    for (auto [i, at] : llvm::enumerate(point))
      child.cells[codeOf(body).arguments + i].number.whole = at;
  }
}

Outcome Machine::evaluate(Fiber &fiber, Block &block,
                          ArrayRef<Cell> arguments) {
  llvm::copy(arguments, fiber.cells.begin() + codeOf(block).arguments);
  Frame frame;
  frame.block = &block;
  fiber.frames.push_back(std::move(frame));
  size_t depth = fiber.frames.size();
  while (fiber.frames.size() >= depth)
    switch (stepOnce(fiber)) {
    case Outcome::Done:
      break;
    case Outcome::Blocked:
      return fail(block.getParentOp(), "waits in a body for single elements");
    case Outcome::Failed:
      return Outcome::Failed;
    }
  return Outcome::Done;
}

Outcome Machine::stepOnce(Fiber &fiber) {
  Frame &frame = fiber.frames.back();
  const Code &code = codeOf(*frame.block);
  if (++executed > mostExecuted)
    return fail(code.terminator, "is reached too often: more than " +
                                     Twine(mostExecuted) + " ops were run");
  if (frame.next == code.steps.size())
    return endOf(fiber);
  const PlacedOp &step = code.steps[frame.next];
  if (step.rule) {
    Number in[8];
    for (auto [i, place] : llvm::enumerate(step.in))
      in[i] = fiber.cells[place].number;
    fiber.cells[step.out].number = step.rule(ArrayRef(in, step.in.size()));
    ++frame.next;
    return Outcome::Done;
  }
  // A handler may push frames, which moves this one.
  size_t depth = fiber.frames.size() - 1;
  Outcome outcome = step.run(*this, fiber, step);
  if (outcome == Outcome::Done)
    ++fiber.frames[depth].next;
  return outcome;
}

/// What a block has yielded, by the kind of op that it belongs to.
Outcome Machine::endOf(Fiber &fiber) {
  const Code &code = codeOf(*fiber.frames.back().block);
  const PlacedOp *step = fiber.frames.back().step;
  if (step && isa<LoopLikeOpInterface>(step->op))
    return endOfLoop(fiber, code);
  std::vector<Cell> yielded;
  for (unsigned place : code.yielded)
    yielded.push_back(fiber.cells[place]);
  fiber.frames.pop_back();
  if (step)
    llvm::copy(yielded, fiber.cells.begin() + step->out);
  fiber.yielded = std::move(yielded);
  return Outcome::Done;
}

Outcome Machine::endOfLoop(Fiber &fiber, const Code &code) {
  Frame &frame = fiber.frames.back();
  const PlacedOp &step = *frame.step;
  std::vector<Cell> yielded;
  for (unsigned place : code.yielded)
    yielded.push_back(fiber.cells[place]);
  auto leave = [&](ArrayRef<Cell> results) {
    llvm::copy(results, fiber.cells.begin() + step.out);
    fiber.frames.pop_back();
    return Outcome::Done;
  };
  if (isa<scf::ForOp>(step.op)) {
    if (frame.end - frame.at <= frame.by)
      return leave(yielded);
    frame.at += frame.by;
    fiber.cells[code.arguments].number.whole = frame.at;
    llvm::copy(yielded, fiber.cells.begin() + code.arguments + 1);
    frame.next = 0;
    return Outcome::Done;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(step.op)) {
    bool isBefore = frame.block == loop.getBeforeBody();
    ArrayRef<Cell> values = yielded;
    if (isBefore && values.front().number.whole == 0)
      return leave(values.drop_front());
    Block *other = isBefore ? loop.getAfterBody() : loop.getBeforeBody();
    llvm::copy(values.drop_front(isBefore),
               fiber.cells.begin() + codeOf(*other).arguments);
    frame.block = other;
    frame.next = 0;
    return Outcome::Done;
  }
  // An scf.forall, whose workers come in any order.
  if (frame.points.empty())
    return leave({});
  for (auto [i, at] : llvm::enumerate(frame.points.back()))
    fiber.cells[code.arguments + i].number.whole = at;
  frame.points.pop_back();
  frame.next = 0;
  return Outcome::Done;
}

LogicalResult Machine::reportDeadlock() {
  InFlightDiagnostic error = emitError(kernel.getLoc())
                             << "'" << kernel.getName()
                             << "': all roles wait for each other";
  for (const auto &fiber : fibers) {
    if (fiber->children != 0)
      continue;
    const Frame &frame = fiber->frames.back();
    Operation *op = codeOf(*frame.block).steps[frame.next].op;
    error.attachNote(op->getLoc())
        << (fiber->role.empty() ? "this" : "'" + fiber->role + "'")
        << " waits here";
  }
  return error;
}

LogicalResult Machine::run(std::vector<Numbers> &arguments) {
  if (failed(prepare()))
    return failure();
  auto main = std::make_unique<Fiber>();
  main->cells.resize(numCells);
  Block &body = kernel.getBody().front();
  std::vector<std::shared_ptr<View>> views;
  for (auto [argument, numbers] : llvm::zip(body.getArguments(), arguments)) {
    Cell &cell = main->cells[codeOf(body).arguments + argument.getArgNumber()];
    auto view = std::make_shared<View>();
    views.push_back(view);
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      view->buffer = std::make_shared<Buffer>(0);
      view->buffer->elements = numbers;
      view->sizes = SmallVector<int64_t>(type.getShape());
      [[maybe_unused]] LogicalResult isStrided =
          type.getStridesAndOffset(view->strides, view->offset);
      assert(succeeded(isStrided) && "kernels of other arguments are left out");
      cell.object = view;
    } else {
      cell.number = numbers.front();
    }
  }
  Frame frame;
  frame.block = &body;
  main->frames.push_back(std::move(frame));
  fibers.push_back(std::move(main));
  while (!fibers.empty()) {
    // Something that was begun ends, now and then.
    if (!tasks.empty() && below(4) == 0)
      finishOne();
    std::vector<Fiber *> ready;
    for (const auto &fiber : fibers)
      if (!fiber->isBlocked && fiber->children == 0)
        ready.push_back(fiber.get());
    if (ready.empty()) {
      if (!finishOne())
        return reportDeadlock();
      continue;
    }
    Fiber &fiber = *ready[below(ready.size())];
    size_t budget = tasks.empty() && fibers.size() == 1 ? 4096 : 1 + below(8);
    while (budget-- != 0 && !fiber.frames.empty() && fiber.children == 0 &&
           !fiber.isBlocked)
      switch (stepOnce(fiber)) {
      case Outcome::Done:
        // What it did may be what others wait for.
        unblock();
        if (!tasks.empty())
          budget = std::min<size_t>(budget, 4);
        break;
      case Outcome::Blocked:
        fiber.isBlocked = true;
        break;
      case Outcome::Failed:
        return failure();
      }
    if (!fiber.frames.empty())
      continue;
    if (fiber.parent)
      --fiber.parent->children;
    llvm::erase_if(fibers, [&](const std::unique_ptr<Fiber> &other) {
      return other.get() == &fiber;
    });
  }
  for (const TaskRef &task : begun)
    if (!task->isWaited && isa<tile::CopyOp>(task->op))
      return task->op->emitOpError("is waited for by nobody until the end");
  for (auto [view, numbers] : llvm::zip(views, arguments))
    if (view->buffer)
      numbers = view->buffer->elements;
  return success();
}

LogicalResult interpret::run(func::FuncOp kernel,
                             std::vector<Numbers> &arguments, uint64_t seed) {
  return Machine(kernel, seed).run(arguments);
}
