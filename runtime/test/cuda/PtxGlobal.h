// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch does to global memory that no order allows: blocks know
// nothing of each other, and what ld.global.nc reads must not change while the
// kernel runs. Of each byte it is known which block wrote it, and whether it
// was read so; who only reads before another block writes stays unseen.
// ASHLAR_PTX_ALLOW=blocks is for kernels whose blocks wait for each other.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXGLOBAL_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXGLOBAL_H

#include "PtxMemory.h"
#include "PtxShared.h"

#include <unordered_map>

namespace ashlar::ptx {

/// Of one allocation, during one launch.
class GlobalShadow {
public:
  explicit GlobalShadow(uint64_t size) : size(size) {}
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow &) = delete;
  GlobalShadow &operator=(const GlobalShadow &) = delete;

  /// What is wrong; null: nothing. `other`: the block, where there is one.
  const char *touch(uint64_t offset, unsigned count, Access how, uint32_t block,
                    bool allowsBlocks, uint32_t &other);

private:
  uint64_t size;
  /// Pages that nobody touches are none of the machine's memory.
  uint16_t *writers = nullptr; // block + 1, of each byte
  uint8_t *cached = nullptr;   // a bit of each byte
};

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXGLOBAL_H
