// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_NAMEDTARGETS_H
#define ASHLAR_LIB_DRIVER_NAMEDTARGETS_H

#include "ashlar/Targets/Target.h"

namespace ashlar {

/// The one program of `name`, as --target would have it; null, having said why,
/// where there is none.
std::shared_ptr<Target> findTarget(llvm::StringRef name, std::string &why);

/// Lets passes that are run alone find machines and devices by name.
void nameTargetsForPasses();

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_NAMEDTARGETS_H
