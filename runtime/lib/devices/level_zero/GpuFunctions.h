// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level Zero as the layer for GPUs calls a driver.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_GPUFUNCTIONS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_GPUFUNCTIONS_H

#include "../gpu/GpuApi.h"
#include "ZeDriver.h"

namespace ashlar::runtime::ze {

/// Handles of the layer are objects of this folder: a Gpu is a context, a
/// Stream a stream, a Mark an event, a LoadedModule a module, Commands a graph.
extern const gpu::Functions gpuFunctions;
/// What each asks of the driver, one behind the other, each ended.
extern const char gpuFunctionNames[];
/// gpu::Driver::load
gpu::Code loadModule(const String &image, gpu::Module *out, char *log,
                     size_t logBytes);
/// gpu::Driver::countOf
int countParameters(gpu::Function function);

} // namespace ashlar::runtime::ze

#endif // ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_GPUFUNCTIONS_H
