// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_NAMEDTARGETS_H
#define ASHLAR_LIB_DRIVER_NAMEDTARGETS_H

namespace ashlar {

/// Lets passes that are run alone find machines and devices by name.
void nameTargetsForPasses();

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_NAMEDTARGETS_H
