// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program's targets say to the shared stages.
#ifndef ASHLAR_LIB_DRIVER_TARGETOPTIONS_H
#define ASHLAR_LIB_DRIVER_TARGETOPTIONS_H

#include "ashlar/Targets/Target.h"
#include "ashlar/Transforms/Pipelines/Pipelines.h"
#include <memory>

namespace ashlar {

/// Of the program's first target alone.
PrecisionOptions precisionOptionsOf(const Target &target);
TileOptions tileOptionsOf(const Target &target);

/// A target as those see it who place operations; it lives on in that.
CompanionDevice companionOf(std::shared_ptr<const Target> target);

/// The numbers of programs whose host only stands in.
std::vector<unsigned>
standIns(llvm::ArrayRef<std::unique_ptr<Target>> programs);

/// What its companions add.
void addCompanions(const Target &target, PrecisionOptions &options);
void addCompanions(const Target &target, TileOptions &options);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_TARGETOPTIONS_H
