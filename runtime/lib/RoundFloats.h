// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From f32 to 16 bits: to nearest, ties to even; what is too large becomes
// infinite, denormals are numbers, NaN stays NaN. For constants and the data of
// tools: kernels have instructions.
#ifndef ASHLAR_RUNTIME_LIB_ROUNDFLOATS_H
#define ASHLAR_RUNTIME_LIB_ROUNDFLOATS_H

#include <cstdint>

namespace ashlar {

uint16_t roundToBFloat(float value);
uint16_t roundToHalf(float value);

} // namespace ashlar

#endif // ASHLAR_RUNTIME_LIB_ROUNDFLOATS_H
