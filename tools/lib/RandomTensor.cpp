// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RoundFloats.h"
#include "TensorFile.h"

#include <cstring>

namespace ashlar::tools {

// Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014.
static uint64_t splitMix(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

template <typename T> static void put(Tensor &tensor, int64_t index, T value) {
  std::memcpy(tensor.data() + uint64_t(index) * sizeof(T), &value, sizeof(T));
}

static void putRandom(Tensor &tensor, int64_t index, uint64_t bits) {
  // 24 bits: exact in f32, so no machine rounds differently.
  float real = float(int32_t(bits >> 40) - (1 << 23)) / float(1 << 23);
  auto small = uint8_t((bits >> 32) % 10);
  switch (tensor.type()) {
  case ASHLAR_TYPE_BOOL:
    return put<uint8_t>(tensor, index, small & 1);
  case ASHLAR_TYPE_F16:
    return put(tensor, index, roundToHalf(real));
  case ASHLAR_TYPE_BF16:
    return put(tensor, index, roundToBFloat(real));
  case ASHLAR_TYPE_F32:
    return put(tensor, index, real);
  case ASHLAR_TYPE_F64:
    return put(tensor, index, double(real));
  default:
    // Little endian: the other bytes are zero already.
    tensor.data()[uint64_t(index) * ashlar_element_type_size(tensor.type())] =
        char(small);
  }
}

Tensor randomTensor(const std::string &name, uint64_t seed, uint32_t type,
                    std::vector<int64_t> shape) {
  Tensor tensor(type, std::move(shape));
  // FNV-1a of the name.
  uint64_t state = 0xcbf29ce484222325u;
  for (char c : name)
    state = (state ^ uint8_t(c)) * 0x100000001b3u;
  state += seed * 0xd1342543de82ef95u;
  for (int64_t i = 0; i < tensor.count(); ++i)
    putRandom(tensor, i, splitMix(state));
  return tensor;
}

} // namespace ashlar::tools
