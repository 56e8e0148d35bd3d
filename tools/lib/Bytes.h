// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes as people write them.

#ifndef ASHLAR_TOOLS_LIB_BYTES_H
#define ASHLAR_TOOLS_LIB_BYTES_H

#include <cstdint>
#include <string>

namespace ashlar::tools {

/// "256MiB": B, KiB, MiB, GiB. Throws a Failure of wrong usage.
uint64_t parseBytes(const std::string &text);
/// "1.50 MiB"
std::string formatBytes(uint64_t bytes);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_BYTES_H
