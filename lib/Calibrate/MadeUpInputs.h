// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_CALIBRATE_MADEUPINPUTS_H
#define ASHLAR_LIB_CALIBRATE_MADEUPINPUTS_H

#include "ashlar/Check/Tensor.h"

namespace ashlar {

/// Fills a tensor of this name, type and shape: floats are uniform in [-1, 1),
/// integers in [0, most]. The same numbers on every machine.
void makeUp(check::Tensor &tensor, size_t set, int64_t most);

} // namespace ashlar

#endif // ASHLAR_LIB_CALIBRATE_MADEUPINPUTS_H
