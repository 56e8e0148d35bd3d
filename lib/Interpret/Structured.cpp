// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole contractions, summed in f64 in plain loops whatever their strategy
// says; linalg's ops, and what is computed where it is read, point by point.
#include "Epilogue.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::interpret;

static Outcome runLinalg(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<linalg::LinalgOp>(step.op);
  SmallVector<int64_t> shapes, sizes;
  std::vector<LinearMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    maps.emplace_back(op.getMatchingIndexingMap(&operand));
    if (isa<MemRefType>(operand.get().getType()))
      llvm::append_range(
          shapes, fiber.get<View>(step.in[operand.getOperandNumber()])->sizes);
  }
  apply(op.getShapesToLoopsMap(), shapes, sizes);
  size_t numInputs = op.getNumDpsInputs();
  std::vector<Cell> arguments(step.in.size());
  fiber.points.emplace_back();
  size_t depth = fiber.points.size() - 1;
  Outcome outcome = forEachPoint(sizes, [&](ArrayRef<int64_t> at) {
    fiber.points[depth].assign(at.begin(), at.end());
    for (auto [i, place] : llvm::enumerate(step.in))
      if (!fiber.cells[place].object)
        arguments[i].number = fiber.number(place);
      else if (load(machine, op, *fiber.get<View>(place), maps[i](at),
                    arguments[i].number) != Outcome::Done)
        return Outcome::Failed;
    if (machine.evaluate(fiber, *op.getBlock(), arguments) != Outcome::Done)
      return Outcome::Failed;
    for (size_t i = numInputs; i != step.in.size(); ++i)
      if (store(machine, op, *fiber.get<View>(step.in[i]), maps[i](at),
                fiber.yielded[i - numInputs].number) != Outcome::Done)
        return Outcome::Failed;
    return Outcome::Done;
  });
  fiber.points.pop_back();
  return outcome;
}

static Outcome runIndex(Machine &, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<linalg::IndexOp>(step.op);
  fiber.cells[step.out].number.whole = fiber.points.back()[op.getDim()];
  return Outcome::Done;
}

/// All that is computed where it is read, as memory from here on.
static Outcome runDecode(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto op = cast<tile::DecodeOp>(step.op);
  auto view = std::make_shared<View>();
  llvm::append_range(view->sizes,
                     cast<ShapedType>(op.getResult().getType()).getShape());
  view->strides = computeStrides(view->sizes);
  view->buffer = std::make_shared<Buffer>(computeProduct(view->sizes));
  std::vector<LinearMap> maps;
  for (AffineMap map : op.getMaps().getAsValueRange<AffineMapAttr>())
    maps.emplace_back(map);
  std::vector<Cell> arguments(step.in.size() + view->sizes.size());
  fiber.cells[step.out].object = view;
  return forEachPoint(view->sizes, [&](ArrayRef<int64_t> at) {
    bool isInside = true;
    if (op.getPadded())
      for (auto [i, place] : llvm::enumerate(step.in))
        for (auto [one, size] :
             llvm::zip(maps[i](at), fiber.get<View>(place)->sizes))
          isInside &= one >= 0 && one < size;
    if (!isInside)
      return store(machine, op, *view, at, Number());
    for (auto [i, place] : llvm::enumerate(step.in))
      if (load(machine, op, *fiber.get<View>(place), maps[i](at),
               arguments[i].number) != Outcome::Done)
        return Outcome::Failed;
    for (auto [i, place] : llvm::enumerate(at))
      arguments[step.in.size() + i].number.whole = place;
    if (machine.evaluate(fiber, op.getBody().front(), arguments) !=
        Outcome::Done)
      return Outcome::Failed;
    return store(machine, op, *view, at, fiber.yielded[0].number);
  });
}

namespace {
/// Operands of a contraction, by their places among the step's.
struct Contract {
  Contract(tile::ContractOp op, Machine &machine, Fiber &fiber,
           const PlacedOp &step)
      : op(op), machine(machine), fiber(fiber), step(step) {}

  Outcome run() {
    ArrayRef<unsigned> places = ArrayRef(step.in).drop_front(2);
    if (op.getPadAttr() &&
        fill(*fiber.get<View>(places.back())) != Outcome::Done)
      return Outcome::Failed;
    Epilogue epilogue(machine, fiber, op, op.getBody().front(), places,
                      op.getMaps().getValue().drop_front(2));
    return forEachPoint(op.getParallel(), [&](ArrayRef<int64_t> at) {
      Number total;
      Outcome outcome = sum(at, total);
      return outcome == Outcome::Done ? epilogue.store(total, at) : outcome;
    });
  }

private:
  Outcome fill(const View &target) {
    Number pad = numberOf(*op.getPad());
    return forEachPoint(target.sizes, [&](ArrayRef<int64_t> at) {
      return store(machine, op, target, at, pad);
    });
  }

  Outcome sum(ArrayRef<int64_t> at, Number &total) {
    Type type = op.getAccumulatorType();
    bool isReal = isa<FloatType>(type);
    const View &a = *fiber.get<View>(step.in[0]),
               &b = *fiber.get<View>(step.in[1]);
    Type aType = cast<ShapedType>(op.getA().getType()).getElementType(),
         bType = cast<ShapedType>(op.getB().getType()).getElementType();
    SmallVector<int64_t> point(at);
    point.resize(at.size() + op.getReduced().size());
    double real = 0;
    int64_t whole = 0;
    Outcome outcome =
        forEachPoint(op.getReduced(), [&](ArrayRef<int64_t> term) {
          llvm::copy(term, point.begin() + at.size());
          Number x, y;
          if (load(machine, op, a, aMap(point), x) != Outcome::Done ||
              load(machine, op, b, bMap(point), y) != Outcome::Done)
            return Outcome::Failed;
          if (isReal)
            real += x.real * y.real;
          else
            whole += extended(aType, op.getAUnsigned(), x) *
                     extended(bType, op.getBUnsigned(), y);
          return Outcome::Done;
        });
    if (outcome != Outcome::Done)
      return outcome;
    if (isReal)
      total.real = roundTo(type, real);
    else
      total.whole = wrapTo(type, whole);
    return Outcome::Done;
  }

  tile::ContractOp op;
  Machine &machine;
  Fiber &fiber;
  const PlacedOp &step;
  LinearMap aMap{op.getAMap()}, bMap{op.getBMap()};
};
} // namespace

static Outcome runContract(Machine &machine, Fiber &fiber,
                           const PlacedOp &step) {
  return Contract(cast<tile::ContractOp>(step.op), machine, fiber, step).run();
}

Handler interpret::structuredHandlerOf(Operation &op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.hasPureBufferSemantics() ? runLinalg : nullptr;
  return llvm::TypeSwitch<Operation *, Handler>(&op)
      .Case([](linalg::IndexOp) { return runIndex; })
      .Case([](tile::DecodeOp decode) -> Handler {
        return isa<MemRefType>(decode.getResult().getType()) ? runDecode
                                                             : nullptr;
      })
      .Case([](tile::ContractOp contract) -> Handler {
        return isa<MemRefType>(contract.getInit().getType()) &&
                       !contract.getUnrounded()
                   ? runContract
                   : nullptr;
      })
      .Default([](Operation *) { return nullptr; });
}
