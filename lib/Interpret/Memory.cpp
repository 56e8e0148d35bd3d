// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory in parts, and single elements of it.
#include "Accesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::interpret;

static Outcome runAlloc(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto type = cast<MemRefType>(step.op->getResult(0).getType());
  auto view = std::make_shared<View>();
  size_t next = 0;
  view->sizes = mixedValues(fiber, step, type.getShape(), next);
  double elements = 1;
  for (int64_t size : view->sizes)
    elements *= size;
  if (llvm::any_of(view->sizes, [](int64_t size) { return size < 0; }) ||
      elements > mostElements)
    return machine.fail(step.op, "expected at most 67108864 elements, of sizes "
                                 "of 0 or more");
  view->strides = computeStrides(view->sizes);
  view->buffer = std::make_shared<Buffer>(computeProduct(view->sizes));
  fiber.cells[step.out].object = view;
  return Outcome::Done;
}

static Outcome runDealloc(Machine &, Fiber &, const PlacedOp &) {
  return Outcome::Done;
}

static Outcome runCast(Machine &, Fiber &fiber, const PlacedOp &step) {
  fiber.cells[step.out].object = fiber.cells[step.in[0]].object;
  return Outcome::Done;
}

static Outcome runDim(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto view = fiber.get<View>(step.in[0]);
  int64_t dim = fiber.number(step.in[1]).whole;
  if (dim < 0 || dim >= int64_t(view->sizes.size()))
    return machine.fail(step.op,
                        "expected a dim that there is, found " + Twine(dim));
  fiber.cells[step.out].number.whole = view->sizes[dim];
  return Outcome::Done;
}

static Outcome runSubview(Machine &machine, Fiber &fiber,
                          const PlacedOp &step) {
  auto op = cast<memref::SubViewOp>(step.op);
  auto source = fiber.get<View>(step.in[0]);
  size_t next = 1;
  auto values = [&](ArrayRef<int64_t> mixed) {
    return mixedValues(fiber, step, mixed, next);
  };
  SmallVector<int64_t> offsets = values(op.getStaticOffsets()),
                       sizes = values(op.getStaticSizes()),
                       strides = values(op.getStaticStrides());
  auto view = std::make_shared<View>(*source);
  view->sizes.clear();
  view->strides.clear();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (size_t d = 0; d != offsets.size(); ++d) {
    // Wide enough for any of them.
    __int128 last = offsets[d] + __int128(sizes[d] - 1) * strides[d];
    if (sizes[d] < 0)
      return machine.fail(step.op, "expected sizes of 0 or more");
    if (sizes[d] > 0 &&
        (std::min<__int128>(offsets[d], last) < 0 ||
         std::max<__int128>(offsets[d], last) >= source->sizes[d]))
      return machine.fail(step.op, "reaches " + Twine(offsets[d]) + " to " +
                                       Twine(int64_t(last)) + " of the " +
                                       Twine(source->sizes[d]) + " of dim " +
                                       Twine(d));
    view->offset += offsets[d] * source->strides[d];
    if (dropped[d])
      continue;
    view->sizes.push_back(sizes[d]);
    view->strides.push_back(strides[d] * source->strides[d]);
  }
  fiber.cells[step.out].object = view;
  return Outcome::Done;
}

/// Views whose result is the same line of elements in other dims.
static Outcome runReshape(Machine &machine, Fiber &fiber,
                          const PlacedOp &step) {
  auto source = fiber.get<View>(step.in[0]);
  auto type = cast<MemRefType>(step.op->getResult(0).getType());
  auto view = std::make_shared<View>(*source);
  int64_t offset;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(view->strides, offset)) ||
      llvm::is_contained(view->strides, ShapedType::kDynamic))
    return machine.fail(step.op, "is interpreted for sizes that are known");
  view->sizes = SmallVector<int64_t>(type.getShape());
  fiber.cells[step.out].object = view;
  return Outcome::Done;
}

static Outcome runLoad(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  SmallVector<int64_t> index;
  for (unsigned place : ArrayRef(step.in).drop_front())
    index.push_back(fiber.number(place).whole);
  return load(machine, step.op, *fiber.get<View>(step.in[0]), index,
              fiber.cells[step.out].number);
}

static Outcome runStore(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  SmallVector<int64_t> index;
  for (unsigned place : ArrayRef(step.in).drop_front(2))
    index.push_back(fiber.number(place).whole);
  return store(machine, step.op, *fiber.get<View>(step.in[1]), index,
               fiber.number(step.in[0]));
}

static Outcome runCopy(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto from = fiber.get<View>(step.in[0]), to = fiber.get<View>(step.in[1]);
  if (from->sizes != to->sizes)
    return machine.fail(step.op, "expected source and target of one shape");
  return forEachPoint(to->sizes, [&](ArrayRef<int64_t> at) {
    Number number;
    Outcome outcome = load(machine, step.op, *from, at, number);
    return outcome == Outcome::Done ? store(machine, step.op, *to, at, number)
                                    : outcome;
  });
}

Handler interpret::memoryHandlerOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Handler>(&op)
      .Case<memref::AllocOp, memref::AllocaOp>([](auto op) -> Handler {
        MemRefType type = op.getType();
        return type.getLayout().isIdentity() &&
                       type.getElementType().isIntOrIndexOrFloat()
                   ? runAlloc
                   : nullptr;
      })
      .Case([](memref::DeallocOp) { return runDealloc; })
      .Case([](memref::CastOp) { return runCast; })
      .Case([](memref::DimOp) { return runDim; })
      .Case([](memref::SubViewOp) { return runSubview; })
      .Case<memref::CollapseShapeOp, memref::ExpandShapeOp>(
          [](auto op) -> Handler {
            return op.getResultType().hasStaticShape() ? runReshape : nullptr;
          })
      .Case([](memref::LoadOp) { return runLoad; })
      .Case([](memref::StoreOp) { return runStore; })
      .Case([](memref::CopyOp) { return runCopy; })
      .Default([](Operation *) { return nullptr; });
}

static Outcome check(Machine &machine, Operation *op, const View &view,
                     ArrayRef<int64_t> index, bool writes) {
  std::string at;
  llvm::raw_string_ostream text(at);
  llvm::interleaveComma(index, text);
  if (view.isStale())
    return machine.fail(op, "uses a slot that has been released");
  if (!view.holds(index))
    return machine.fail(op, "reaches [" + at + "], outside of its memory");
  StringRef why = view.buffer->whyNot(view.placeOf(index), writes);
  if (!why.empty())
    return machine.fail(op, Twine(writes ? "writes " : "reads ") + why +
                                ", at [" + at + "]");
  return Outcome::Done;
}

/// Whether an access needs no further look.
static bool isPlain(const View &view, ArrayRef<int64_t> index) {
  return !view.isStale() && view.buffer->writers.empty() &&
         view.buffer->readers.empty() && view.holds(index);
}

Outcome interpret::mayRead(Machine &machine, Operation *op, const View &view,
                           ArrayRef<int64_t> index) {
  return isPlain(view, index)
             ? Outcome::Done
             : check(machine, op, view, index, /*writes=*/false);
}

Outcome interpret::load(Machine &machine, Operation *op, const View &view,
                        ArrayRef<int64_t> index, Number &number) {
  Outcome outcome = mayRead(machine, op, view, index);
  if (outcome == Outcome::Done)
    number = view.buffer->elements[view.placeOf(index)];
  return outcome;
}

Outcome interpret::store(Machine &machine, Operation *op, const View &view,
                         ArrayRef<int64_t> index, Number number) {
  if (!isPlain(view, index) &&
      check(machine, op, view, index, /*writes=*/true) != Outcome::Done)
    return Outcome::Failed;
  view.buffer->elements[view.placeOf(index)] = number;
  return Outcome::Done;
}
