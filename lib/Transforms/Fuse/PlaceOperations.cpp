// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation gets the device on which the whole program takes least, by
// predicted times. Only now are types and epilogues known, and strategies,
// which are the host's, come next.
#include "OperationTimes.h"
#include "PlacementGraph.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_PLACEOPERATIONSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
struct PlaceOperations
    : ashlar::impl::PlaceOperationsPassBase<PlaceOperations> {
  using PlaceOperationsPassBase::PlaceOperationsPassBase;
  PlaceOperations(ProgramDevices devices, std::shared_ptr<FirstChoices> choices)
      : devices(std::move(devices)), choices(std::move(choices)) {}

  LogicalResult initialize(MLIRContext *context) override {
    devices.hostStandsIn |= standsIn;
    devices.absorbsRows &= absorbsRows;
    return success(
        succeeded(readMachineOption(context, machineName, devices.host)) &&
        succeeded(
            readCompanionOption(context, deviceNames, devices.companions)));
  }

  void runOnOperation() override {
    ConstantEvaluator constants;
    ElementRanges ranges(constants);
    std::vector<PlaceableOperation> operations =
        findPlaceable(getOperation(), devices);
    std::vector<unsigned> placement;
    for (const PlaceableOperation &one : operations)
      placement.push_back(one.firstDevice());
    // One device, and what it can compute is its own.
    bool isForced = devices.hostStandsIn && devices.companions.size() == 1;
    if (!isForced || wantsRemarks(getOperation()))
      setTimes(operations, devices, ranges);
    if (!isForced)
      choose(operations, placement);
    for (auto [one, device] : llvm::zip_equal(operations, placement)) {
      place(one.op, device, ranges);
      if (wantsRemarks(one.op))
        explain(one, device);
    }
  }

private:
  /// With other sizes, as before where that is possible.
  bool choseBefore(ArrayRef<PlaceableOperation> operations,
                   std::vector<unsigned> &placement) {
    std::vector<int64_t> known;
    if (choices)
      known = choices->find(getOperation(), FirstChoices::Kind::Devices);
    if (known.empty() || known.size() != operations.size())
      return false;
    for (auto [one, device] : llvm::zip_equal(operations, known))
      if (size_t(device) > one.whyNot.size() ||
          (device && !one.whyNot[device - 1].empty()))
        return false;
    placement.assign(known.begin(), known.end());
    return true;
  }

  void choose(ArrayRef<PlaceableOperation> operations,
              std::vector<unsigned> &placement) {
    if (choseBefore(operations, placement))
      return;
    DeviceChoice choice = makeChoice(getOperation(), operations, devices);
    // Number 0 is the rest, on the host.
    std::vector<unsigned> before = withFollowers(operations, placement);
    std::vector<unsigned> chosen = choice.choose(before);
    llvm::copy(ArrayRef(chosen).slice(1, placement.size()), placement.begin());
    if (choices)
      choices->note(getOperation(), FirstChoices::Kind::Devices,
                    std::vector<int64_t>(placement.begin(), placement.end()));
    if (wantsRemarks(getOperation()))
      summarize(choice, placement, before, chosen);
  }

  void place(Operation *op, unsigned device, ElementRanges &ranges) {
    if (!device)
      return;
    if (auto contract = dyn_cast<tile::ContractOp>(op)) {
      contract.setDevice(device);
      const CompanionDevice &companion = devices.companions[device - 1];
      if (doSumsFit(op, companion, ranges))
        noteSumsFit(op, companion);
      return;
    }
    op->setAttr(exec::deviceAttrName,
                Builder(op).getI64IntegerAttr(int64_t(device)));
  }

  static std::string microseconds(int64_t picoseconds) {
    return llvm::formatv("{0:f2}", double(picoseconds) * 1e-6).str();
  }
  const std::string &nameOf(unsigned device) const {
    static const std::string host = "the host";
    return device ? devices.companions[device - 1].name : host;
  }

  /// The times of an operation, those of the device that has it first.
  std::string timesOf(const PlaceableOperation &one, unsigned device) {
    std::string text = microseconds(one.picoseconds[device]) +
                       (device ? " us there" : " us here");
    for (auto [other, time] : llvm::enumerate(one.picoseconds))
      if (other != device && time < DeviceChoice::never)
        text += ", " + microseconds(time) + " us on " + nameOf(unsigned(other));
    return text;
  }

  void explain(const PlaceableOperation &one, unsigned device) {
    std::string reasons;
    for (auto [why, companion] :
         llvm::zip_equal(one.whyNot, devices.companions))
      if (!why.empty())
        reasons += (reasons.empty() ? "" : "; ") + companion.name + ": " + why;
    auto identity = about(one.op, "Placed", "place");
    Location at = one.op->getLoc();
    if (!one.firstDevice()) {
      remark::missed(at, identity)
          << "stays on the host: " << remark::metric("Reason", reasons);
      return;
    }
    auto line =
        device ? remark::passed(at, identity) : remark::missed(at, identity);
    if (device)
      line << "runs on " << remark::metric("Target", nameOf(device)) << ": ";
    else
      line << "stays on the host, where all takes least: ";
    line << remark::metric("Times", timesOf(one, device)) << ", with "
         << remark::metric("Bytes", bytesMoved(one.op))
         << " bytes to read and write";
    if (!reasons.empty())
      line << "; refused by " << remark::metric("Reason", reasons);
  }

  /// What the choice gained, of the operations that might run elsewhere and of
  /// all that crosses.
  void summarize(const DeviceChoice &choice, ArrayRef<unsigned> placement,
                 const std::vector<unsigned> &before,
                 const std::vector<unsigned> &chosen) {
    auto line = remark::analysis(getOperation().getLoc(),
                                 about(getOperation(), "Placement", "place"));
    line << remark::metric(
                "Moved", int64_t(placement.size() - llvm::count(placement, 0u)))
         << " of " << remark::metric("Operations", int64_t(placement.size()))
         << " operations run beside the host: "
         << remark::metric("Microseconds", microseconds(choice.time(chosen)))
         << " us with what crosses, instead of "
         << remark::metric("GreedyMicroseconds",
                           microseconds(choice.time(before)))
         << " us by the first device that can";
    std::vector<unsigned> host(chosen.size(), 0);
    if (int64_t time = choice.time(host); time < DeviceChoice::never)
      line << " and " << remark::metric("HostMicroseconds", microseconds(time))
           << " us on the host alone";
  }

  ProgramDevices devices;
  std::shared_ptr<FirstChoices> choices;
};
} // namespace

std::unique_ptr<Pass> ashlar::createPlaceOperationsPass(
    const MachineModel &host, std::vector<CompanionDevice> companions,
    bool hostStandsIn, bool openSizes, bool absorbsRows,
    std::shared_ptr<FirstChoices> choices) {
  return std::make_unique<PlaceOperations>(
      ProgramDevices{host, std::move(companions), hostStandsIn, openSizes,
                     absorbsRows},
      std::move(choices));
}
