// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What it takes to read and write memory once where threads take turns: what
// memory can, or what few workgroups ask for at a time.
#ifndef ASHLAR_COST_STREAMTIME_H
#define ASHLAR_COST_STREAMTIME_H

#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

/// Of a workgroup of a machine with lanes.
int64_t threadsOfGroup(const MachineModel &machine);

/// Bytes that ops of a workgroup's rows may pass on to each other: the rest of
/// its memory is for what its threads exchange.
int64_t mostPassedByRows(const MachineModel &machine);

/// Workgroups of such a kernel that a worker has at a time, each with so many
/// bytes of the memory that programs place data in.
int64_t residentGroups(const MachineModel &machine, int64_t nearBytes = 0);

/// Cycles in which `groups` workgroups move so many bytes, none of which are
/// asked for twice. A machine without lanes has no such workgroups.
double streamCycles(const MachineModel &machine, double bytes, int64_t groups,
                    int64_t nearBytes = 0);

} // namespace ashlar

#endif // ASHLAR_COST_STREAMTIME_H
