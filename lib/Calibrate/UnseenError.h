// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_CALIBRATE_UNSEENERROR_H
#define ASHLAR_LIB_CALIBRATE_UNSEENERROR_H

#include <vector>

namespace ashlar {

/// What the errors of all but one in a hundred other inputs stay below, judged
/// from the errors of some, one each; never less than the largest of them.
double unseenError(const std::vector<double> &errors);

} // namespace ashlar

#endif // ASHLAR_LIB_CALIBRATE_UNSEENERROR_H
