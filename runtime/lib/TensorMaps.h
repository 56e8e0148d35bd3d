// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels with workgroups are given beyond addresses and numbers, for the
// sizes of one call: the source file holds that part of BoundCall, too.

#ifndef ASHLAR_RUNTIME_LIB_TENSORMAPS_H
#define ASHLAR_RUNTIME_LIB_TENSORMAPS_H

#include "ashlar/runtime/module_generated.h"
#include "devices/Device.h"

namespace ashlar::runtime {

/// False where numbers overflow or contradict each other, or the tensor leaves
/// the `bytes` it lies in. The lists of the map are as long as they should be;
/// `symbols` may be null where nothing reads them.
[[nodiscard]] bool resolveMap(const fb::TensorMap &map, const int64_t *symbols,
                              uint64_t bytes, TensorMap &out);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_TENSORMAPS_H
