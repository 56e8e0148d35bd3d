// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, branches, and arithmetic on places.
#include "Machine.h"
#include "ashlar/Transforms/Tile/Cluster.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::interpret;

static Cell cellOf(int64_t value) {
  Cell cell;
  cell.number.whole = value;
  return cell;
}

static Outcome runFor(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  int64_t from = fiber.number(step.in[0]).whole,
          to = fiber.number(step.in[1]).whole,
          by = fiber.number(step.in[2]).whole;
  std::vector<Cell> carried;
  for (unsigned place : ArrayRef(step.in).drop_front(3))
    carried.push_back(fiber.cells[place]);
  if (by < 1)
    return machine.fail(step.op,
                        "expected a step of 1 or more, found " + Twine(by));
  if (from >= to) {
    llvm::copy(carried, fiber.cells.begin() + step.out);
    return Outcome::Done;
  }
  carried.insert(carried.begin(), cellOf(from));
  machine.enter(fiber, step, step.op->getRegion(0), carried);
  Frame &frame = fiber.frames.back();
  frame.at = from;
  frame.end = to;
  frame.by = by;
  return Outcome::Done;
}

static Outcome runWhile(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  std::vector<Cell> carried;
  for (unsigned place : step.in)
    carried.push_back(fiber.cells[place]);
  machine.enter(fiber, step, step.op->getRegion(0), carried);
  return Outcome::Done;
}

static Outcome runIf(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  Region &region =
      step.op->getRegion(fiber.number(step.in[0]).whole == 0 ? 1 : 0);
  if (!region.empty())
    machine.enter(fiber, step, region, {});
  return Outcome::Done;
}

/// Whether its workers copy something together: they run side by side then.
static bool sharesCopies(scf::ForallOp loop) {
  return loop
      .walk([&](tile::CopyOp copy) {
        return copy.getMulticast() &&
                       copy->getParentOfType<scf::ForallOp>() == loop
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static Outcome runForall(Machine &machine, Fiber &fiber, const PlacedOp &step) {
  auto loop = cast<scf::ForallOp>(step.op);
  size_t next = 0;
  auto values = [&](ArrayRef<int64_t> mixed) {
    return mixedValues(fiber, step, mixed, next);
  };
  SmallVector<int64_t> from = values(loop.getStaticLowerBound()),
                       to = values(loop.getStaticUpperBound()),
                       by = values(loop.getStaticStep()), counts;
  for (auto [first, last, each] : llvm::zip(from, to, by)) {
    if (each < 1)
      return machine.fail(step.op,
                          "expected steps of 1 or more, found " + Twine(each));
    counts.push_back(
        std::max<int64_t>(0, llvm::divideCeilSigned(last - first, each)));
  }
  std::vector<SmallVector<int64_t>> points;
  double workers = 1;
  for (int64_t count : counts)
    workers *= count;
  if (workers > 1 << 24)
    return machine.fail(step.op, "expected at most 16777216 workers");
  (void)forEachPoint(counts, [&](ArrayRef<int64_t> number) {
    SmallVector<int64_t> &at = points.emplace_back();
    for (size_t d = 0; d != number.size(); ++d)
      at.push_back(from[d] + number[d] * by[d]);
    return Outcome::Done;
  });
  if (points.empty())
    return Outcome::Done;
  if (sharesCopies(loop)) {
    size_t count = points.size();
    if (auto cluster = loop->getAttrOfType<IntegerAttr>(clusterAttrName))
      count = cluster.getInt();
    if (count == 0 || points.size() % count != 0)
      return machine.fail(step.op, "expected whole clusters of workers");
    for (size_t i = 0; i != points.size(); i += count)
      machine.spawn(fiber, *loop.getBody(), ArrayRef(points).slice(i, count));
    return Outcome::Done;
  }
  for (size_t i = points.size(); i > 1; --i)
    std::swap(points[i - 1], points[machine.random() % i]);
  std::vector<Cell> first;
  for (int64_t at : points.back())
    first.push_back(cellOf(at));
  points.pop_back();
  machine.enter(fiber, step, step.op->getRegion(0), first);
  fiber.frames.back().points = std::move(points);
  return Outcome::Done;
}

static Outcome runAffine(Machine &, Fiber &fiber, const PlacedOp &step) {
  SmallVector<int64_t> operands, results;
  for (unsigned place : step.in)
    operands.push_back(fiber.number(place).whole);
  auto [map, isMost] =
      llvm::TypeSwitch<Operation *, std::pair<AffineMap, bool>>(step.op)
          .Case([](affine::AffineApplyOp op) {
            return std::pair(op.getAffineMap(), false);
          })
          .Case([](affine::AffineMinOp op) {
            return std::pair(op.getAffineMap(), false);
          })
          .Default([](Operation *op) {
            return std::pair(cast<affine::AffineMaxOp>(op).getAffineMap(),
                             true);
          });
  apply(map, operands, results);
  fiber.cells[step.out].number.whole =
      isMost ? *llvm::max_element(results) : *llvm::min_element(results);
  return Outcome::Done;
}

static Outcome runDelinearize(Machine &machine, Fiber &fiber,
                              const PlacedOp &step) {
  auto op = cast<affine::AffineDelinearizeIndexOp>(step.op);
  int64_t rest = fiber.number(step.in[0]).whole;
  size_t next = 1;
  SmallVector<int64_t> basis =
      mixedValues(fiber, step, op.getStaticBasis(), next);
  if (llvm::any_of(basis, [](int64_t size) { return size < 1; }))
    return machine.fail(step.op, "expected a basis of 1 or more");
  for (size_t i = op->getNumResults(); i-- != 0;) {
    size_t own = i - (op->getNumResults() - basis.size());
    Number &number = fiber.cells[step.out + i].number;
    // The first result holds what the others leave.
    if (i == 0 || own >= basis.size()) {
      number.whole = rest;
      break;
    }
    number.whole = llvm::mod(rest, basis[own]);
    rest = llvm::divideFloorSigned(rest, basis[own]);
  }
  return Outcome::Done;
}

Handler interpret::controlHandlerOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Handler>(&op)
      .Case([](scf::ForOp) { return runFor; })
      .Case([](scf::WhileOp) { return runWhile; })
      .Case([](scf::IfOp) { return runIf; })
      .Case([](scf::ForallOp loop) -> Handler {
        return loop.getNumResults() == 0 ? runForall : nullptr;
      })
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [](auto) { return runAffine; })
      .Case([](affine::AffineDelinearizeIndexOp) { return runDelinearize; })
      .Default([](Operation *) { return nullptr; });
}
