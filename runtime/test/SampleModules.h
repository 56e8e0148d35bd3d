// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_RUNTIME_TEST_SAMPLEMODULES_H
#define ASHLAR_RUNTIME_TEST_SAMPLEMODULES_H

#include "ModuleBuilder.h"

namespace ashlar::test {

constexpr int64_t sampleCount = 256;
constexpr int64_t sampleChunk = 16;
/// The weight's element i is this times i.
constexpr float sampleStep = 0.5f;

/// z = 2 * (x + w) + y on float[256]: three dispatches with barriers, two
/// values in the arena, one weight, scratch.
ModuleBuilder sampleModule();

/// The same on float[N], N from 1 to 256, all sizes symbolic.
ModuleBuilder symbolicModule();

/// The same with a plan of the arena that follows N: two values of N floats.
ModuleBuilder growingModule();

/// As sampleModule, of a w that is made when it is loaded: number 3 of seed 7,
/// of scale 0.0001.
ModuleBuilder randomModule();

/// z = x, refused by the kernel where x[0] is negative.
ModuleBuilder checkingModule();

/// float[256] x and bool[2] c to float[256] z, in 16 rows: z's row is twice x's
/// where c[0], else x's; then as long as c[0], at most twice, the first row
/// moves on to the second. c[1] must be set.
ModuleBuilder controlModule();

/// z = max(0, x w) on float[8, 8] for the systolic device, on a machine with
/// `memoryBytes`, w the weight: its elements are (i + j) % 5 - 2.
ModuleBuilder systolicModule(uint64_t memoryBytes = 1 << 20);

/// z = 2 max(0, x w), the same product on the systolic device and the rest on
/// the processor: one program over both.
ModuleBuilder sharedModule();

/// The same with the systolic device as the program's own and the processor,
/// its companion, as the home of inputs and outputs.
ModuleBuilder awayModule();

/// The same as sharedModule, with orders where one device waits for the other.
ModuleBuilder orderedModule();

/// float[<=256] z is float[256] x as far as int64[1] n says.
ModuleBuilder sizedModule();

/// float[256] x, 16 rows, to float[128] z: twice the first 8 of each row, by a
/// kernel with workgroups and a tensor map.
ModuleBuilder mappedModule();

/// Runs `spins` rounds in one group of a kernel, `groups` times.
ModuleBuilder spinningModule(int64_t spins, int64_t groups);

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_SAMPLEMODULES_H
