// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only file that sees xxHash, which is compiled in.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ModuleFile.h"

uint64_t ashlar::runtime::hashBytes(const void *data, size_t size) {
  return XXH3_64bits(data, size);
}
