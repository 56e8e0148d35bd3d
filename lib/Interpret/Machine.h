// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who goes on next: fibers, which each run ops in order, and tasks, which ops
// have begun.
#ifndef ASHLAR_LIB_INTERPRET_MACHINE_H
#define ASHLAR_LIB_INTERPRET_MACHINE_H

#include "Number.h"
#include "Objects.h"

#include <random>

namespace ashlar::interpret {

class Machine;
struct Fiber;
struct PlacedOp;

/// What a value holds.
struct Cell {
  Number number = {0};
  std::shared_ptr<Object> object;
};

enum class Outcome { Done, Blocked, Failed };
using Handler = Outcome (*)(Machine &, Fiber &, const PlacedOp &);

/// An op with the places of its values among a fiber's cells.
struct PlacedOp {
  mlir::Operation *op;
  Handler run = nullptr;
  ScalarRule rule; ///< in place of `run`
  llvm::SmallVector<unsigned, 4> in;
  unsigned out = 0; ///< the first of its results
};

/// A block.
struct Code {
  std::vector<PlacedOp> steps;
  unsigned arguments = 0; ///< the first of them
  mlir::Operation *terminator;
  llvm::SmallVector<unsigned, 4> yielded;
};

/// A block at work.
struct Frame {
  mlir::Block *block;
  size_t next = 0;
  const PlacedOp *step =
      nullptr; ///< whose region it is; null: a function, a body
  int64_t at = 0, end = 0, by = 0;                ///< of a loop
  std::vector<llvm::SmallVector<int64_t>> points; ///< of an scf.forall
};

struct Fiber {
  std::vector<Cell> cells;
  std::vector<Frame> frames;
  std::vector<Cell> yielded; ///< by the last body that ended
  std::vector<llvm::SmallVector<int64_t>> points; ///< of linalg's ops at work
  Fiber *parent = nullptr;
  unsigned children = 0; ///< that have not ended
  std::string role;
  std::shared_ptr<Cluster> cluster; ///< that its worker is in; null: none
  unsigned rank = 0;                ///< of the worker in it
  bool isBlocked = false;

  Number number(unsigned place) const { return cells[place].number; }
  template <typename T> std::shared_ptr<T> get(unsigned place) const {
    return std::static_pointer_cast<T>(cells[place].object);
  }
};

class Machine {
public:
  Machine(mlir::func::FuncOp kernel, uint64_t seed)
      : random(seed), kernel(kernel) {}

  llvm::LogicalResult run(std::vector<Numbers> &arguments);

  /// For handlers: fails with an error where the op stands.
  Outcome fail(mlir::Operation *op, const llvm::Twine &why) {
    op->emitOpError(why);
    return Outcome::Failed;
  }
  /// Begins what may be done at any later time.
  TaskRef begin(mlir::Operation *op, TaskRef before);
  /// Ends what a task has begun, and what it follows.
  void finish(Task &task);
  /// Runs a block that waits for nothing; what it yields is `fiber.yielded`.
  Outcome evaluate(Fiber &fiber, mlir::Block &block,
                   llvm::ArrayRef<Cell> arguments);
  /// Goes on in a region, at `next` of the frame.
  void enter(Fiber &fiber, const PlacedOp &step, mlir::Region &region,
             llvm::ArrayRef<Cell> arguments);
  void spawn(Fiber &fiber, tile::RoleOp role);
  /// The workers of a loop, side by side, at these points.
  void spawn(Fiber &fiber, mlir::Block &body,
             llvm::ArrayRef<llvm::SmallVector<int64_t>> points);
  const Code &codeOf(mlir::Block &block) { return codes.at(&block); }

  std::mt19937_64 random;

private:
  llvm::LogicalResult prepare();
  Outcome stepOnce(Fiber &fiber);
  Outcome endOf(Fiber &fiber);
  Outcome endOfLoop(Fiber &fiber, const Code &code);
  /// One of the tasks; false: there is none.
  bool finishOne();
  Fiber &addChild(Fiber &fiber, mlir::Block &body);
  void unblock();
  llvm::LogicalResult reportDeadlock();
  size_t below(size_t count) { return random() % count; }

  mlir::func::FuncOp kernel;
  llvm::DenseMap<mlir::Block *, Code> codes;
  unsigned numCells = 0;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<TaskRef> tasks; ///< not done
  std::vector<TaskRef> begun; ///< all of them
  uint64_t executed = 0;
  /// What ends loops that do not end.
  static constexpr uint64_t mostExecuted = 500'000'000;
};

/// Of sizes or places that are known or operands, those from `next` on, which
/// moves.
llvm::SmallVector<int64_t> mixedValues(const Fiber &fiber, const PlacedOp &step,
                                       llvm::ArrayRef<int64_t> mixed,
                                       size_t &next);
/// Whether an op that ends no block can be run.
bool isKnown(mlir::Operation &op);
/// The handler of an op, or null.
Handler handlerOf(mlir::Operation &op);
Handler memoryHandlerOf(mlir::Operation &op);
Handler controlHandlerOf(mlir::Operation &op);
Handler structuredHandlerOf(mlir::Operation &op);
Handler tileHandlerOf(mlir::Operation &op);
Handler accumulatorHandlerOf(mlir::Operation &op);

/// What an affine map makes of a point.
void apply(mlir::AffineMap map, llvm::ArrayRef<int64_t> operands,
           llvm::SmallVectorImpl<int64_t> &results);
/// The next of the points of a box, row by row; false: there is none.
bool advance(llvm::MutableArrayRef<int64_t> point,
             llvm::ArrayRef<int64_t> sizes);
/// Calls `body` for each point of a box, row by row, until one is not done.
template <typename Body>
Outcome forEachPoint(llvm::ArrayRef<int64_t> sizes, Body body) {
  if (llvm::is_contained(sizes, 0))
    return Outcome::Done;
  llvm::SmallVector<int64_t> point(sizes.size(), 0);
  do
    if (Outcome outcome = body(point); outcome != Outcome::Done)
      return outcome;
  while (advance(point, sizes));
  return Outcome::Done;
}
/// Of memory of one kind or another, 8 bytes each: more is refused.
constexpr int64_t mostElements = 1 << 26;

} // namespace ashlar::interpret

#endif // ASHLAR_LIB_INTERPRET_MACHINE_H
