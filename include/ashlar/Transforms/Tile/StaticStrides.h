// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_TILE_STATICSTRIDES_H
#define ASHLAR_TRANSFORMS_TILE_STATICSTRIDES_H

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace ashlar {

/// Lets `op` work on copies of those memrefs whose strides are not known when
/// compiling, as loops may carry them: what reads vectors counts in elements.
void giveStaticStrides(mlir::DestinationStyleOpInterface op);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_STATICSTRIDES_H
