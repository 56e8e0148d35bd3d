// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of a module: a tensor of the size that there is, in a place that has
// room for the largest.
#ifndef ASHLAR_TOOLS_LIB_STATEPLACE_H
#define ASHLAR_TOOLS_LIB_STATEPLACE_H

#include "Tensor.h"

namespace ashlar::tools {

/// Puts all elements where they lie in the place, or throws a Failure that
/// names the input where it is larger.
void fillPlace(const std::string &name, const Tensor &from, Tensor &place);

/// What of the place has this shape.
Tensor readPlace(const Tensor &place, std::vector<int64_t> shape);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_STATEPLACE_H
