// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long reductions of few results are shared out among workgroups, where that is
// predicted to take less than the launches it costs, and rows too long to stay
// near are computed again by all who read them.
#include "ReductionParts.h"
#include "RowGroup.h"
#include "ashlar/Analysis/BoxReach.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Cost/StreamTime.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// Points that the threads of a workgroup have at a time.
int64_t pointsAtOnce(const MachineModel &machine) {
  return 8 * threadsOfGroup(machine);
}

/// Results that a workgroup makes together, since they lie side by side in what
/// is read.
int64_t resultsOfGroup(linalg::GenericOp op) {
  constexpr int64_t lineBytes = 128;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  if (map.getNumResults() == 0)
    return 1;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (auto [d, kind] : llvm::enumerate(kinds))
    if (kind == utils::IteratorType::parallel &&
        stepAlong(map.getResults().back(), d) == 1)
      return std::max<int64_t>(
          1, std::min(op.getStaticLoopRanges()[d],
                      lineBytes /
                          elementBytes(getElementTypeOrSelf(op.getResult(0)))));
  return 1;
}

/// One way to compute a group, and what it is predicted to take.
struct Way {
  int64_t parts = 1;       ///< of each reduction
  bool recomputes = false; ///< what would be passed on by rows
  double cycles = 0;
};

class Chooser {
public:
  Chooser(const RowGroup &group, const MachineModel &machine)
      : group(group), machine(machine), sums(group.reductions()),
        launch(machine.costs.launchNs * machine.clock.hz / 1e9) {
    ofRows = llvm::any_of(group.ops, [&](linalg::GenericOp op) {
      return op != sums.front() && group.pointsOfRow(op) > 1;
    });
    results = ofRows ? group.rows()
                     : cast<ShapedType>(sums[0]->getResult(0).getType())
                           .getNumElements();
    perGroup = ofRows ? 1 : resultsOfGroup(sums[0]);
    // Once for each op that goes through rows.
    for (linalg::GenericOp op : group.ops)
      passes += group.pointsOfRow(op) > 1;
  }

  Way choose() {
    int64_t passed = group.bytesPassed();
    const Way one = inOne(passed > mostPassedByRows(machine));
    if (!llvm::all_of(sums, hasParts))
      return one;
    Way best = one;
    // Of ways that take about as long the one with more workgroups, which do
    // not all begin and end together.
    int64_t enough = 4 * machine.workers.count;
    int64_t points = 0;
    for (linalg::GenericOp sum : sums)
      points = std::max(points, group.pointsOfRow(sum) * group.rows());
    int64_t most = machine.workers.count * residentGroups(machine);
    for (int64_t parts = 2;
         groups() * parts <= 2 * most &&
         points / (groups() * parts) >= pointsAtOnce(machine);
         parts *= 2)
      if (Way way = shared(parts);
          way.cycles < 0.95 * one.cycles &&
          way.cycles < (groups() * parts <= enough ? 1.02 : 0.95) * best.cycles)
        best = way;
    return best;
  }
  bool isOfRows() const { return ofRows; }
  Way inOne(bool recomputes) {
    int64_t read = group.bytesRead();
    if (recomputes)
      read *= std::max<int64_t>(1, passes);
    return {1, recomputes,
            launch + stream(read + group.bytesWritten(), groups(),
                            recomputes ? 0 : group.bytesPassed())};
  }

private:
  int64_t groups() const { return llvm::divideCeil(results, perGroup); }
  double stream(int64_t bytes, int64_t groups, int64_t nearBytes = 0) const {
    return streamCycles(machine, double(bytes), groups, nearBytes);
  }
  /// A kernel for each reduction, and one that combines what the last came to
  /// and does what is left.
  Way shared(int64_t parts) const {
    Way way{parts, ofRows, 0};
    int64_t bytes = group.bytesRead(), many = groups() * parts;
    way.cycles = double(sums.size()) * (launch + stream(bytes, many)) + launch;
    linalg::GenericOp root = group.root();
    if (ofRows && root.getNumReductionLoops() == 0)
      way.cycles += stream(bytes + group.bytesWritten(), many);
    else
      way.cycles += stream(
          results * (parts + 1) *
              elementBytes(getElementTypeOrSelf(sums.back()->getResult(0))),
          groups());
    return way;
  }

  const RowGroup &group;
  const MachineModel &machine;
  SmallVector<linalg::GenericOp> sums;
  double launch;
  bool ofRows; ///< the first reduction is not all that goes through rows
  int64_t results, perGroup, passes = 0;
};

struct SplitReductions
    : ashlar::impl::SplitReductionsPassBase<SplitReductions> {
  using SplitReductionsPassBase::SplitReductionsPassBase;
  explicit SplitReductions(const MachineModel &machine) : machine(machine) {}

  LogicalResult initialize(MLIRContext *context) override {
    return readMachineOption(context, machineName, machine);
  }

  void runOnOperation() override {
    if (machine.countOf("lane") < 2)
      return;
    // What is part of a condition or loop stays.
    Block &block = getOperation().getBody().front();
    SmallVector<linalg::GenericOp> ops(block.getOps<linalg::GenericOp>());
    llvm::SmallPtrSet<Operation *, 32> seen;
    for (linalg::GenericOp op : llvm::reverse(ops)) {
      if (seen.contains(op))
        continue;
      RowGroup group = RowGroup::behind(op);
      if (group.ops.empty() || group.reductions().empty())
        continue;
      for (linalg::GenericOp each : group.ops)
        seen.insert(each);
      share(group);
    }
  }

private:
  void share(RowGroup &group) {
    if (group.ops.size() == 1)
      if (linalg::GenericOp joined = joinDims(group.root()))
        group = RowGroup(joined, 0);
    Chooser chooser(group, machine);
    Way way = chooser.choose();
    if (way.parts == 1 && !way.recomputes)
      return;
    if (way.recomputes && group.bytesPassed() != 0 && !recomputeRows(group))
      return;
    if (way.parts == 1)
      return;
    SmallVector<linalg::GenericOp> sums = group.reductions();
    // None, or all of them.
    SmallVector<ReductionParts> parts;
    for (linalg::GenericOp sum : sums) {
      std::optional<ReductionParts> found =
          partsOf(sum, way.parts, chooser.isOfRows() ? way.parts : 1);
      if (!found || !hasParts(sum))
        return;
      parts.push_back(*found);
    }
    remark::passed(group.root().getLoc(),
                   about(group.root(), "Reductions", "fusion"))
        << "is shared out among " << remark::metric("Parts", parts[0].count)
        << " parts of each result: predicted are "
        << remark::metric("Microseconds", microseconds(way)) << " us, by one "
        << "kernel "
        << remark::metric("MicrosecondsInOne",
                          microseconds(chooser.inOne(
                              group.bytesPassed() > mostPassedByRows(machine))))
        << " us";
    // From the last on: each reader that there is in the end combines for
    // itself.
    for (linalg::GenericOp op : llvm::reverse(group.ops))
      if (auto found = llvm::find(sums, op); found != sums.end())
        split(op, parts[found - sums.begin()]);
      else if (op != group.root())
        copyForReaders(op);
  }

  std::string microseconds(const Way &way) const {
    return llvm::formatv("{0:f1}", way.cycles * 1e6 / machine.clock.hz).str();
  }

  /// Along the outermost dim in memory that has so many parts; so many
  /// workgroups read what is left over.
  std::optional<ReductionParts> partsOf(linalg::GenericOp op, int64_t wanted,
                                        int64_t readers) {
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    std::optional<ReductionParts> best;
    for (auto [d, kind] : llvm::enumerate(kinds)) {
      if (kind != utils::IteratorType::reduction)
        continue;
      std::optional<ReductionParts> found =
          chooseParts(op, d, std::min(wanted, op.getStaticLoopRanges()[d]),
                      pointsAtOnce(machine), readers);
      if (found && (!best || found->count > 2 * best->count))
        best = found;
    }
    return best;
  }

  void split(linalg::GenericOp op, const ReductionParts &parts) {
    PartsWriter writer(op, parts);
    SmallVector<Operation *> readers;
    for (Operation *user : op->getUsers())
      if (!llvm::is_contained(readers, user))
        readers.push_back(user);
    // Who is no op of rows reads what a kernel of its own makes.
    Value common;
    for (Operation *reader : readers) {
      bool isOfRows = isa<linalg::GenericOp>(reader);
      Value own = isOfRows || !common ? writer.combine() : common;
      if (!isOfRows)
        common = own;
      op->getResult(0).replaceUsesWithIf(
          own, [&](OpOperand &use) { return use.getOwner() == reader; });
    }
    op.erase();
  }

  MachineModel machine = MachineModel::generic();
};
} // namespace

std::unique_ptr<Pass>
ashlar::createSplitReductionsPass(const MachineModel &machine) {
  return std::make_unique<SplitReductions>(machine);
}
