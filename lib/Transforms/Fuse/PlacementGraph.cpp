// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PlacementGraph.h"
#include "OperationTimes.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/CopyTime.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ashlar;

namespace {
/// What is made anew wherever it is read, or there before a call.
bool isEverywhere(Operation *op) {
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return isa_and_nonnull<tensor::EmptyOp>(
        fill.getOutputs()[0].getDefiningOp());
  return isa<tensor::EmptyOp, tile::PackOp>(op) ||
         matchPattern(op, m_Constant());
}

bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.hasStaticShape();
}

/// Whether it computes tensors of known sizes: what can be an operation of a
/// device.
bool isComputation(Operation *op) {
  return !isEverywhere(op) && !isView(op) && !isControlFlow(op) &&
         !servesControlFlow(op) && op->getNumResults() != 0 &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
         llvm::all_of(op->getResultTypes(), isStatic) &&
         llvm::all_of(op->getOperandTypes(), isStatic);
}

/// A value, as somebody reads it: a view of it is copied by itself.
struct Reading {
  unsigned maker;
  llvm::SetVector<unsigned> readers;
};

/// Whether the second may become a part of the first one's kernel where both
/// run: a chain of linalg ops, of which nobody else reads what is between.
bool areFusable(Operation *maker, Operation *reader) {
  return maker && isa<linalg::GenericOp>(maker) &&
         isa<linalg::GenericOp>(reader) && maker->hasOneUse() &&
         maker->getBlock() == reader->getBlock() && !isEverywhere(maker);
}
} // namespace

unsigned PlaceableOperation::firstDevice() const {
  for (auto [i, why] : llvm::enumerate(whyNot))
    if (why.empty())
      return unsigned(i) + 1;
  return 0;
}

std::vector<PlaceableOperation>
ashlar::findPlaceable(func::FuncOp function, const ProgramDevices &devices) {
  std::vector<PlaceableOperation> found;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    bool isInner = op->getParentOp() != function;
    bool isContract = isa<tile::ContractOp>(op);
    if (isInner && !isContract)
      return WalkResult::advance();
    if (isContract || isComputation(op)) {
      PlaceableOperation one = {op, {}, {}};
      for (const CompanionDevice &device : devices.companions)
        one.whyNot.push_back(
            isInner ? "it is part of a condition or loop"
            : devices.openSizes && device.fixedSizes
                ? "each call chooses its sizes, and kernels there have fixed "
                  "ones"
                : device.whyNot(op));
      // Contractions are told about even if they stay.
      if (isContract || one.firstDevice())
        found.push_back(std::move(one));
    }
    return isa<linalg::LinalgOp, tile::ContractOp>(op) ? WalkResult::skip()
                                                       : WalkResult::advance();
  });
  return found;
}

std::vector<unsigned>
ashlar::withFollowers(const std::vector<PlaceableOperation> &operations,
                      ArrayRef<unsigned> placement) {
  std::vector<unsigned> all = {0};
  llvm::append_range(all, placement);
  for (auto [one, device] : llvm::zip_equal(operations, placement))
    for (const Follower &follower : one.followers)
      all.push_back(follower.picoseconds[device] < DeviceChoice::never ? device
                                                                       : 0);
  return all;
}

using Numbers = llvm::DenseMap<Operation *, unsigned>;

/// What crosses between devices where a tensor is made on one of them and read
/// on another.
static void addReadings(func::FuncOp function, const Numbers &numbers,
                        const ProgramDevices &devices, DeviceChoice &choice) {
  unsigned count = unsigned(devices.companions.size()) + 1;
  llvm::MapVector<Value, Reading> readings;
  for (Operation &op : function.getBody().front()) {
    if (isEverywhere(&op) || isView(&op))
      continue;
    llvm::SetVector<Value> values(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), values);
    for (Value value : values) {
      Operation *maker = viewed(value).getDefiningOp();
      if (!isa<RankedTensorType>(value.getType()) ||
          !isStatic(value.getType()) || (maker && isEverywhere(maker)))
        continue;
      Reading &reading = readings[value];
      reading.maker = numbers.lookup(maker);
      reading.readers.insert(numbers.lookup(&op));
    }
  }
  for (auto &[value, reading] : readings) {
    std::vector<unsigned> readers(reading.readers.begin(),
                                  reading.readers.end());
    if (readers == std::vector<unsigned>{reading.maker})
      continue;
    int64_t bytes = byteSize(value.getType());
    for (unsigned device = 1; device != count; ++device) {
      auto copy = [&](bool toHost) {
        return toPicoseconds(
            nanosecondsToCopy(bytes, devices.host,
                              devices.companions[device - 1].machine, toHost));
      };
      choice.addValue(device, reading.maker, readers, copy(true), copy(false));
    }
  }
}

/// What fusing saves, where both may be somewhere else than on the host.
static void addFusions(const std::vector<PlaceableOperation> &operations,
                       const Numbers &numbers, const ProgramDevices &devices,
                       DeviceChoice &choice) {
  unsigned count = unsigned(devices.companions.size()) + 1;
  for (const PlaceableOperation &one : operations)
    for (Value operand : one.op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (!areFusable(maker, one.op) || !numbers.lookup(maker) ||
          !numbers.lookup(one.op))
        continue;
      for (unsigned device = 0; device != count; ++device) {
        const MachineModel &machine =
            device ? devices.companions[device - 1].machine : devices.host;
        auto timeOf = [&](ArrayRef<Operation *> ops) {
          return nanosecondsOf(ops, machine, devices.openSizes);
        };
        double saved = timeOf(maker) + timeOf(one.op) - timeOf({maker, one.op});
        choice.addPair(device, numbers.lookup(maker), numbers.lookup(one.op),
                       toPicoseconds(std::max(saved, 0.0)));
      }
    }
}

DeviceChoice
ashlar::makeChoice(func::FuncOp function,
                   const std::vector<PlaceableOperation> &operations,
                   const ProgramDevices &devices) {
  unsigned count = unsigned(devices.companions.size()) + 1;
  DeviceChoice choice(count);
  std::vector<int64_t> onHost(count, DeviceChoice::never);
  onHost[0] = 0;
  choice.addOperation(onHost);
  // Who is not in it is the host's.
  Numbers numbers;
  for (const PlaceableOperation &one : operations) {
    if (!one.firstDevice()) {
      choice.addOperation(onHost);
      continue;
    }
    std::vector<int64_t> times = one.picoseconds;
    if (devices.hostStandsIn)
      times[0] = DeviceChoice::never;
    numbers[one.op] = choice.addOperation(times);
  }
  for (const PlaceableOperation &one : operations)
    for (const Follower &follower : one.followers) {
      unsigned number = choice.addOperation(follower.picoseconds);
      for (Operation *op : follower.ops)
        numbers[op] = number;
      for (unsigned device = 1; device != count; ++device)
        if (follower.picoseconds[device] < DeviceChoice::never)
          choice.addTie(device, numbers.lookup(one.op), number);
    }
  addReadings(function, numbers, devices, choice);
  addFusions(operations, numbers, devices, choice);
  return choice;
}
