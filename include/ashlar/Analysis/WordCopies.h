// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_WORDCOPIES_H
#define ASHLAR_ANALYSIS_WORDCOPIES_H

#include <cstdint>

namespace ashlar {

/// Words of a tile that a thread copies one by one, each with an address in
/// registers that stays there from tile to tile. More are a loop, which
/// computes each address again: tiles are chosen that have fewer.
inline constexpr int64_t mostWordsUnrolled = 16;

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_WORDCOPIES_H
