// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_TENSORMAPS_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_TENSORMAPS_H

#include "ashlar/Transforms/Tile/TensorBox.h"

namespace ashlar::simt {

/// The number of the tensor map that says the box, among `maps`, to which it is
/// added if it is none of them.
int64_t tensorMapOf(const TensorBox &box,
                    llvm::SmallVectorImpl<mlir::Attribute> &maps);

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_TENSORMAPS_H
