// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OperationTimes.h"
#include "ChooseStrategy.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Cost/ChooseLevels.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

/// How many workers make sense for so many operations of what is no
/// contraction: each has its share of what it takes to start it.
static int64_t workersFor(double operations, const MachineModel &machine) {
  // Threads that take turns share what a worker starts with.
  double least = machine.countOf("lane") > 1 ? 4096 : 64 * 1024;
  return std::clamp(int64_t(operations / least), int64_t(1),
                    machine.workers.count);
}

/// What `workers` together read of a memory, beside one of them alone.
static double gainOf(const Memory &memory, int64_t workers,
                     const MachineModel &machine) {
  return double(workers) * machine.sharedReadBytesPerCycle(memory, workers) /
         machine.readBytesPerCycle(memory);
}

/// A contraction's; by the strategy that the machine would choose.
static double nanosecondsOf(tile::ContractOp op, const MachineModel &machine,
                            bool openSizes) {
  double perCycle = 1e9 / machine.clock.hz;
  if (!machine.scopes.empty()) {
    std::optional<LevelChoice> choice = chooseLevels(op, machine);
    return choice ? choice->prediction.cycles() * perCycle : 0;
  }
  Prediction one = predictStrategy(op, machine, openSizes);
  int64_t workers = std::min(one.groups, machine.workers.count);
  double inside = std::max(one.boxes, one.farther) / double(workers);
  double main = one.main / gainOf(machine.memories.back(), workers, machine);
  return std::max(inside, main) * perCycle;
}

/// Of the body, for each point.
static double countOperations(Operation *op) {
  auto generic = dyn_cast<linalg::LinalgOp>(op);
  if (!generic)
    return 0;
  int64_t perPoint = 0;
  for (Operation &inner : generic.getBlock()->without_terminator())
    perPoint += !matchPattern(&inner, m_Constant());
  double points = 1;
  for (int64_t range : generic.getStaticLoopRanges())
    points *= double(range);
  return points * double(perPoint);
}

/// Reads of a value that has to be in memory for it: bytes; 0 for constants,
/// which are a part of the program, and for what is written only.
static bool isMoved(Value value) {
  Operation *maker = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() &&
         !isa_and_nonnull<tensor::EmptyOp>(maker) &&
         !isa_and_nonnull<linalg::FillOp>(maker);
}

/// What bodies take from tensors an element at a time, none of them more than
/// once.
static int64_t bytesTaken(Operation *op, bool ofConstants) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return 0;
  int64_t points = 1, bytes = 0;
  for (int64_t range : generic.getStaticLoopRanges())
    points *= ShapedType::isDynamic(range) ? 0 : range;
  generic.walk([&](tensor::ExtractOp take) {
    auto type = take.getTensor().getType();
    if (!type.hasStaticShape() ||
        generic->isAncestor(take.getTensor().getParentBlock()->getParentOp()) ||
        (!ofConstants && matchPattern(take.getTensor(), m_Constant())))
      return;
    int64_t count = std::min(points, type.getNumElements());
    bytes += byteSize(RankedTensorType::get({count}, type.getElementType()));
  });
  return bytes;
}

int64_t ashlar::bytesMoved(Operation *op) {
  int64_t bytes = bytesTaken(op, /*ofConstants=*/false);
  llvm::SmallPtrSet<Value, 8> seen;
  for (Value operand : op->getOperands())
    if (isMoved(operand) && !matchPattern(operand, m_Constant()) &&
        seen.insert(operand).second)
      bytes += byteSize(operand.getType());
  for (Value result : op->getResults())
    if (isMoved(result))
      bytes += byteSize(result.getType());
  return bytes;
}

/// What is no contraction: bytes beside operations.
static double nanosecondsOfRest(ArrayRef<Operation *> ops,
                                const MachineModel &machine) {
  double operations = 0;
  int64_t bytes = 0, elementSize = 1;
  for (Operation *op : ops) {
    operations += countOperations(op);
    bytes += bytesTaken(op, /*ofConstants=*/true);
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                             SmallVector<Value>(op->getResults()))) {
      if (!isMoved(value))
        continue;
      elementSize =
          std::max(elementSize, elementBytes(getElementTypeOrSelf(value)));
      // What passes between them is not in memory.
      bool isInner = llvm::is_contained(ops, value.getDefiningOp()) &&
                     llvm::all_of(value.getUsers(), [&](Operation *user) {
                       return llvm::is_contained(ops, user);
                     });
      if (!isInner)
        bytes += byteSize(value.getType());
    }
  }
  int64_t workers = workersFor(std::max(operations, double(bytes)), machine);
  const Memory *near = &machine.memories.back();
  bool hasThreads = machine.countOf("lane") > 1;
  for (const Memory &memory : llvm::reverse(machine.memories))
    if (!(hasThreads && memory.managed) && memory.bytes &&
        bytes <=
            memory.bytes * int64_t(llvm::divideCeil(workers, memory.sharedBy)))
      near = &memory;
  double perCycle =
      machine.readBytesPerCycle(*near) * gainOf(*near, workers, machine);
  double lanes = machine.lanesFor(elementSize);
  double cycles = std::max(double(bytes) / perCycle,
                           operations / (lanes * double(workers)));
  return cycles * 1e9 / machine.clock.hz;
}

double ashlar::nanosecondsOf(ArrayRef<Operation *> ops,
                             const MachineModel &machine, bool openSizes) {
  if (ops.size() == 1)
    if (auto contract = dyn_cast<tile::ContractOp>(ops.front()))
      return ::nanosecondsOf(contract, machine, openSizes) +
             machine.costs.launchNs;
  return nanosecondsOfRest(ops, machine) + machine.costs.launchNs;
}
