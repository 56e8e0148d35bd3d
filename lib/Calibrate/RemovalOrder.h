// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_CALIBRATE_REMOVALORDER_H
#define ASHLAR_LIB_CALIBRATE_REMOVALORDER_H

#include "ashlar/Transforms/Precision/PrecisionPlan.h"

namespace ashlar {

/// In which order nodes become f32 again: first those that take away most error
/// for the least time. `errors`: of each site alone. Errors of several sites
/// are taken to add up like independent ones, by their squares. Nodes without
/// sites are not in it: whatever their type, nothing changes.
std::vector<unsigned> removalOrder(const PrecisionDecisions &decisions,
                                   const std::vector<double> &errors);

/// How far a node's roundings alone move an output: of its sites together.
double errorOfNode(const PrecisionDecisions &decisions,
                   const std::vector<double> &errors, unsigned node);

} // namespace ashlar

#endif // ASHLAR_LIB_CALIBRATE_REMOVALORDER_H
