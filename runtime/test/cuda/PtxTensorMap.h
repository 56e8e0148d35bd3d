// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor in global memory and a box of it, as cuTensorMapEncodeTiled writes
// them into 128 bytes and cp.async.bulk.tensor takes them from there. What the
// bytes are is a driver's own business.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXTENSORMAP_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXTENSORMAP_H

#include <cstdint>
#include <string>

namespace ashlar::ptx {

/// What cuTensorMapEncodeTiled is given; the innermost dimension first.
struct TensorMapOptions {
  int type = 0; // CUtensorMapDataType, and so are the others
  uint32_t rank = 0;
  uint64_t address = 0;
  uint64_t dims[5] = {};
  uint64_t strides[4] = {}; // bytes, from the second dimension on
  uint32_t box[5] = {}, elementStrides[5] = {};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

struct TensorMap {
  uint64_t mark = 0;
  uint64_t address = 0; // where a launch looks for what it uses
  uint64_t strides[4] = {};
  uint32_t last[5] = {}; // of each dimension its size less one
  uint16_t box[5] = {};
  uint8_t elementStrides[5] = {};
  uint8_t rank = 0, type = 0, interleave = 0, swizzle = 0, fill = 0;
  uint8_t spare[32] = {};
  uint64_t sum = 0; // of all before

  /// What the manual forbids of it; empty: nothing.
  static std::string make(const TensorMapOptions &of, TensorMap &into);
  /// Whether make() wrote it, and nobody changed it since.
  bool isWhole() const;

  unsigned elementBytes() const;
  /// Bytes that are copied together, all within the box.
  unsigned rowBytes() const { return box[0] * elementBytes(); }
  uint64_t boxBytes() const;
  /// How many rows lie along a dimension.
  unsigned rowsOf(unsigned dimension) const {
    return unsigned(box[dimension] + elementStrides[dimension] - 1) /
           elementStrides[dimension];
  }
  /// 16-byte units within which a swizzle exchanges; 1: none.
  unsigned swizzleUnits() const { return 1u << swizzle; }

private:
  uint64_t sumOf() const;
};
static_assert(sizeof(TensorMap) == 128);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXTENSORMAP_H
