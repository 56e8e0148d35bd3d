// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LongerContract.h"
#include "OperationTimes.h"
#include "PlacementGraph.h"
#include "RowsBehind.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace ashlar;

namespace {
/// Equal operations take as long, whoever passes what to them.
bool areEqual(Operation *first, Operation *second) {
  auto isConstant = [](Value value) {
    return matchPattern(viewed(value), m_Constant());
  };
  llvm::DenseMap<Value, Value> inside;
  return OperationEquivalence::isEquivalentTo(
      first, second,
      [&](Value x, Value y) {
        bool isInside = first->isAncestor(x.getParentBlock()->getParentOp());
        return success(isInside ? inside.lookup(x) == y
                                : isConstant(x) == isConstant(y));
      },
      [&](Value x, Value y) { inside[x] = y; },
      OperationEquivalence::IgnoreLocations);
}

/// What operations take on one device.
class DeviceTimes {
public:
  /// `companion`: null for the host.
  DeviceTimes(const ProgramDevices &devices, const CompanionDevice *companion)
      : devices(devices), companion(companion) {}

  /// Picoseconds. `sumsFit`: those of a contraction fit the device's array.
  int64_t of(Operation *op, bool sumsFit) {
    for (const Known &one : known)
      if (one.sumsFit == sumsFit && areEqual(one.op, op))
        return one.time;
    if (sumsFit)
      noteSumsFit(op, *companion);
    std::optional<double> own;
    if (companion && companion->nanoseconds)
      own = companion->nanoseconds(op);
    int64_t time = own ? toPicoseconds(*own) : ofKernel(op);
    op->removeAttr(sumBitsAttrName);
    known.push_back({op, sumsFit, time});
    return time;
  }
  int64_t ofKernel(ArrayRef<Operation *> ops) const {
    return toPicoseconds(nanosecondsOf(
        ops, companion ? companion->machine : devices.host, devices.openSizes));
  }

private:
  struct Known {
    Operation *op;
    bool sumsFit;
    int64_t time;
  };
  const ProgramDevices &devices;
  const CompanionDevice *companion;
  std::vector<Known> known;
};

/// Contractions with more behind them, which are there until devices were
/// asked.
class LongerTrials {
public:
  LongerTrials() = default;
  LongerTrials(const LongerTrials &) = delete;
  LongerTrials &operator=(const LongerTrials &) = delete;
  ~LongerTrials() {
    for (Operation *op : llvm::reverse(made))
      erase(op);
  }
  /// Of `contract`, whose result is read as `known`; null: there is none.
  Operation *make(Operation *contract, Value known, ArrayRef<Operation *> part,
                  bool withUnrounded) {
    LongerContract making(contract, known, part.back());
    for (Operation *op : part)
      if (!making.append(op))
        return nullptr;
    Operation *longer = making.create(withUnrounded);
    if (longer)
      made.push_back(longer);
    return longer;
  }

private:
  static void erase(Operation *op) {
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (auto empty = operand.getDefiningOp<tensor::EmptyOp>();
          empty && empty->use_empty())
        empty.erase();
  }
  std::vector<Operation *> made;
};
} // namespace

int64_t ashlar::toPicoseconds(double nanoseconds) {
  return int64_t(
      std::min(std::round(nanoseconds * 1000), double(DeviceChoice::longest)));
}

bool ashlar::doSumsFit(Operation *op, const CompanionDevice &device,
                       ElementRanges &ranges) {
  auto contract = dyn_cast<tile::ContractOp>(op);
  int64_t bits = device.arraySumBits;
  return contract && bits && boundSums(contract, ranges).fit(bits);
}

void ashlar::noteSumsFit(Operation *op, const CompanionDevice &device) {
  op->setAttr(sumBitsAttrName,
              Builder(op).getI64IntegerAttr(device.arraySumBits));
}

namespace {
/// Sets times: of operations, and of what devices take along with them.
class TimeSetter {
public:
  TimeSetter(const ProgramDevices &devices) : devices(devices) {
    times.emplace_back(devices, nullptr);
    for (const CompanionDevice &companion : devices.companions)
      times.emplace_back(devices, &companion);
  }

  void setTimes(PlaceableOperation &one, ElementRanges &ranges) {
    one.picoseconds.assign(times.size(), DeviceChoice::never);
    if (!one.firstDevice())
      return;
    one.picoseconds[0] = times[0].of(one.op, /*sumsFit=*/false);
    for (auto [i, companion] : llvm::enumerate(devices.companions))
      if (one.whyNot[i].empty())
        one.picoseconds[i + 1] =
            times[i + 1].of(one.op, doSumsFit(one.op, companion, ranges));
  }

  /// What reads a contraction's result and can be part of it on some devices:
  /// rows, and the rounding of what is there then. Nothing of `taken`, which
  /// has places of its own.
  void findFollowers(PlaceableOperation &one,
                     const llvm::SmallPtrSetImpl<Operation *> &taken) {
    auto isTaken = [&](Operation *op) { return taken.contains(op); };
    SmallVector<Operation *> rows = rowsBehind(one.op);
    if (llvm::any_of(rows, isTaken))
      return;
    for (auto [i, companion] : llvm::enumerate(devices.companions)) {
      // What lowers its own kernels has those of a contraction alone.
      if (!one.whyNot[i].empty() || companion.lowersKernels)
        continue;
      Trial now = {one.op, one.op->getResult(0), one.picoseconds[i + 1]};
      if (!rows.empty())
        follow(one, unsigned(i) + 1, now, rows);
      Operation *rounding = roundingOf(now.known);
      if (rounding && !isTaken(rounding))
        follow(one, unsigned(i) + 1, now, {rounding});
    }
  }

private:
  /// A contraction, whose result others read as `known`, and its time.
  struct Trial {
    Operation *contract;
    Value known;
    int64_t time;
  };

  /// If the device computes `part` with it, that is the contraction now.
  void follow(PlaceableOperation &one, unsigned device, Trial &now,
              ArrayRef<Operation *> part) {
    bool isElsewhere = llvm::any_of(now.known.getUsers(), [&](Operation *user) {
      return !llvm::is_contained(part, user);
    });
    Operation *longer =
        contractOf(now.contract)
            ? trials.make(now.contract, now.known, part, isElsewhere)
            : nullptr;
    if (!longer || !devices.companions[device - 1].whyNot(longer).empty())
      return;
    int64_t time = times[device].of(longer, /*sumsFit=*/false);
    auto found = llvm::find_if(one.followers, [&](const Follower &other) {
      return ArrayRef(other.ops) == part;
    });
    if (found == one.followers.end()) {
      SmallVector<Operation *> kernel;
      for (Operation *op : part)
        if (!isView(op))
          kernel.push_back(op);
      one.followers.push_back(
          {SmallVector<Operation *>(part),
           std::vector<int64_t>(times.size(), DeviceChoice::never)});
      found = std::prev(one.followers.end());
      found->picoseconds[0] = times[0].ofKernel(kernel);
    }
    found->picoseconds[device] = std::max<int64_t>(0, time - now.time);
    now = {longer, part.back()->getResult(0), time};
  }

  const ProgramDevices &devices;
  std::vector<DeviceTimes> times;
  LongerTrials trials;
};
} // namespace

void ashlar::setTimes(std::vector<PlaceableOperation> &operations,
                      const ProgramDevices &devices, ElementRanges &ranges) {
  TimeSetter setter(devices);
  llvm::SmallPtrSet<Operation *, 32> taken;
  for (PlaceableOperation &one : operations) {
    setter.setTimes(one, ranges);
    if (one.firstDevice())
      taken.insert(one.op);
  }
  if (!devices.absorbsRows)
    return;
  for (PlaceableOperation &one : operations) {
    if (!one.firstDevice() || !contractOf(one.op))
      continue;
    setter.findFollowers(one, taken);
    for (const Follower &follower : one.followers)
      taken.insert(follower.ops.begin(), follower.ops.end());
  }
}
