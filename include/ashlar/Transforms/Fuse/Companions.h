// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `fuse` knows of a program's devices beside the first.
#ifndef ASHLAR_TRANSFORMS_FUSE_COMPANIONS_H
#define ASHLAR_TRANSFORMS_FUSE_COMPANIONS_H

#include "ashlar/Machine/MachineModel.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ashlar {

/// A device beside the first of a program.
struct CompanionDevice {
  std::string name; ///< "TARGET:PRESET"
  /// Why it cannot compute an op on tensors; empty: it can.
  std::function<std::string(mlir::Operation *)> whyNot;
  MachineModel machine;
  /// What one takes that it can compute; nothing: what the machine model says.
  std::function<std::optional<double>(mlir::Operation *)> nanoseconds;
  /// Sums become bytes on their way out, and nothing follows that.
  bool endsInBytes = false;
  /// Its kernels are for one size, and not for those that each call chooses.
  bool fixedSizes = false;
  /// Those of sums that stay in an array; 0: as many as there are elsewhere.
  int64_t arraySumBits = 0;
  /// Its contractions get strategies for its machine, as the host's do.
  bool lowersKernels = false;
};

/// What a machine model alone says of a device, without a target: it computes
/// every op on tensors but contractions of types that no unit takes.
CompanionDevice describedCompanion(MachineModel machine);

/// The devices of "TARGET:PRESET+TARGET:PRESET", in order, each once; a file
/// (*.json) in place of one is that machine. The error says what there is.
using CompanionFinder =
    llvm::Expected<std::vector<CompanionDevice>> (*)(llvm::StringRef names);

/// Who knows the targets says how they are found by passes that are run alone,
/// before any is run. Without it, no name is known.
void setCompanionFinder(CompanionFinder find);

/// Reads the option `devices` of a pass into `companions`, which stay as they
/// are where it is empty. Emits the error.
mlir::LogicalResult
readCompanionOption(mlir::MLIRContext *context, llvm::StringRef names,
                    std::vector<CompanionDevice> &companions);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_FUSE_COMPANIONS_H
