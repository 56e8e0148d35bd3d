// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxGlobal.h"

#include <cstdlib>
#include <new>

using namespace ashlar::ptx;

GlobalShadow::~GlobalShadow() {
  std::free(writers);
  std::free(cached);
}

template <class T> static void make(T *&table, uint64_t count) {
  if (!table)
    table = static_cast<T *>(std::calloc(count, sizeof(T)));
  if (!table)
    throw std::bad_alloc();
}

const char *GlobalShadow::touch(uint64_t offset, unsigned count, Access how,
                                uint32_t block, bool allowsBlocks,
                                uint32_t &other) {
  // So many that two of one number are far from each other.
  uint16_t self = uint16_t(block % 65535 + 1);
  switch (how) {
  case Access::CachedRead:
    make(cached, size / 8 + 1);
    for (uint64_t at = offset; at < offset + count; ++at) {
      if (writers && writers[at])
        return "a read by ld.global.nc of a byte that this launch wrote";
      cached[at / 8] |= uint8_t(1u << at % 8);
    }
    return nullptr;
  case Access::Read:
    if (!writers || allowsBlocks)
      return nullptr;
    for (uint64_t at = offset; at < offset + count; ++at)
      if (writers[at] && writers[at] != self) {
        other = writers[at] - 1u;
        return "a read of a byte that another block of this launch wrote";
      }
    return nullptr;
  case Access::Write:
    make(writers, size);
    for (uint64_t at = offset; at < offset + count; ++at) {
      if (cached && (cached[at / 8] >> at % 8 & 1))
        return "a write of a byte that this launch read by ld.global.nc";
      if (writers[at] && writers[at] != self && !allowsBlocks) {
        other = writers[at] - 1u;
        return "a write of a byte that another block of this launch wrote";
      }
      writers[at] = self;
    }
    return nullptr;
  default:
    return nullptr;
  }
}
