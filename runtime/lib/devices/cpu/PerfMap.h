// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With ASHLAR_PERF_MAP=1 in the environment, names of kernels for Linux' perf,
// which cannot read code that has no file: /tmp/perf-PID.map.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_PERFMAP_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_PERFMAP_H

namespace ashlar::runtime {

/// Adds a function; does nothing unless asked for. Failures are ignored.
void recordForPerf(const void *function, const char *name);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_PERFMAP_H
