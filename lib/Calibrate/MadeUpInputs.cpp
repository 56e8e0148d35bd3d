// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MadeUpInputs.h"
#include "RoundFloats.h"
#include <cstring>
#include <random>

using namespace ashlar;

void ashlar::makeUp(check::Tensor &tensor, size_t set, int64_t most) {
  // Two inputs, and two sets, differ.
  uint32_t seed = uint32_t(set) * 2654435761u + 1;
  for (char c : tensor.name)
    seed = seed * 31 + static_cast<unsigned char>(c);
  std::mt19937 engine(seed);
  size_t width = ashlar_element_type_size(tensor.type);
  tensor.bytes.assign(tensor.elementCount() * width, 0);
  for (size_t at = 0; at < tensor.bytes.size(); at += width) {
    double uniform = engine() / 4294967296.0;
    float real = float(2 * uniform - 1);
    auto store = [&](auto value) {
      std::memcpy(tensor.bytes.data() + at, &value,
                  std::min(width, sizeof(value)));
    };
    switch (tensor.type) {
    case ASHLAR_TYPE_F32:
      store(real);
      break;
    case ASHLAR_TYPE_F64:
      store(2 * uniform - 1);
      break;
    case ASHLAR_TYPE_F16:
      store(roundToHalf(real));
      break;
    case ASHLAR_TYPE_BF16:
      store(roundToBFloat(real));
      break;
    case ASHLAR_TYPE_BOOL:
      store(uint8_t(uniform < 0.5));
      break;
    default:
      // Little-endian: the low bytes come first.
      store(int64_t(uniform * double(most + 1)));
    }
  }
}
