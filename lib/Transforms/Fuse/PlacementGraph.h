// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of a function that devices beside the host may compute, with
// all that decides where: times, and what crosses between devices.
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_PLACEMENTGRAPH_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_PLACEMENTGRAPH_H

#include "ashlar/Analysis/SumBounds.h"
#include "ashlar/Cost/ChooseDevices.h"
#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Transforms/Fuse/Companions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace ashlar {

/// What the program runs on: device 0 and the others.
struct ProgramDevices {
  MachineModel host = MachineModel::generic();
  std::vector<CompanionDevice> companions;
  /// Nobody asked for the host: it computes only what no companion can.
  bool hostStandsIn = false;
  bool openSizes = false; ///< sizes are the largest of ranges
  /// Devices compute rows with the contraction before them where they can:
  /// AbsorbRows comes later.
  bool absorbsRows = true;
};

/// Ops behind a contraction that run with it, or else on the host.
struct Follower {
  llvm::SmallVector<mlir::Operation *> ops;
  /// By device, beside what the contraction takes by itself;
  /// DeviceChoice::never where they are no part of it.
  std::vector<int64_t> picoseconds;
};

/// An operation, and who may compute it.
struct PlaceableOperation {
  mlir::Operation *op;
  std::vector<std::string> whyNot; ///< by companion; empty: it can
  /// By device, 0 the host; DeviceChoice::never where it cannot. As it is, even
  /// where the host only stands in.
  std::vector<int64_t> picoseconds;
  std::vector<Follower> followers; ///< of a contraction, in order
  /// Of the greedy placement: the first companion that can, or the host.
  unsigned firstDevice() const;
};

/// The operations that might run elsewhere, contractions first asked for; those
/// that no companion takes have firstDevice() 0.
std::vector<PlaceableOperation> findPlaceable(mlir::func::FuncOp function,
                                              const ProgramDevices &devices);

/// Sets picoseconds and followers of those that some companion can compute.
void setTimes(std::vector<PlaceableOperation> &operations,
              const ProgramDevices &devices, ElementRanges &ranges);

int64_t toPicoseconds(double nanoseconds);

/// Whether an operation is a contraction whose sums fit the device's array.
bool doSumsFit(mlir::Operation *op, const CompanionDevice &device,
               ElementRanges &ranges);
/// Says so on it.
void noteSumsFit(mlir::Operation *op, const CompanionDevice &device);

/// A device for each number of makeChoice, by those of operations: followers go
/// along where they can.
std::vector<unsigned>
withFollowers(const std::vector<PlaceableOperation> &operations,
              llvm::ArrayRef<unsigned> placement);

/// Of operations with times. Number 0 of the choice is all that the host
/// computes in any case, on it; operation i has number i + 1. Followers come
/// behind all operations.
DeviceChoice makeChoice(mlir::func::FuncOp function,
                        const std::vector<PlaceableOperation> &operations,
                        const ProgramDevices &devices);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_PLACEMENTGRAPH_H
