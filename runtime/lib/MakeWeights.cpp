// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MakeWeights.h"

#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "RandomWeights.h"
#include "RoundFloats.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

Status verifyRandomWeight(const fb::Weight &weight, String place) {
  const fb::RandomWeight &random = *weight.random();
  uint64_t bytes = weight.type() == fb::ElementType::F32    ? 4
                   : weight.type() == fb::ElementType::F16  ? 2
                   : weight.type() == fb::ElementType::BF16 ? 2
                                                            : 0;
  if (bytes == 0)
    return corrupt("a weight that is made is of f32, f16 or bf16", place);
  if (count(random.numbers()) == 0 ||
      count(random.numbers()) != count(random.scales()) ||
      random.elements() == 0)
    return corrupt("a weight that is made has sources, each of an element or "
                   "more and with a scale",
                   place);
  // The alignment of vectors is not FlatBuffers' verifier's concern.
  auto isAligned = [](const auto *list) {
    return count(list) == 0 ||
           reinterpret_cast<uintptr_t>(list->Data()) % 8 == 0;
  };
  if (!isAligned(random.numbers()) || !isAligned(random.rows()) ||
      !isAligned(random.strides()))
    return corrupt("what a weight is made of is not aligned", place);
  if (random.panel() == 0)
    return {};
  uint64_t all = bytes;
  bool isSound = random.panel() > 0 && random.group() > 0 &&
                 random.clip() >= 0 && count(random.rows()) >= 1 &&
                 count(random.rows()) <= 16 &&
                 count(random.strides()) == count(random.rows()) + 2 &&
                 checkedMultiply(all, uint64_t(random.panel()), all) &&
                 checkedMultiply(all, uint64_t(random.group()), all);
  for (uint32_t d = 0; isSound && d < count(random.rows()); ++d)
    isSound = random.rows()->Get(d) > 0 &&
              checkedMultiply(all, uint64_t(random.rows()->Get(d)), all);
  if (!isSound || all != weight.size())
    return corrupt(concat("panels of a weight that is made do not fit its ",
                          weight.size(), " bytes"),
                   place);
  return {};
}

namespace {
/// Writes elements one behind the other.
class Maker {
public:
  Maker(const fb::Weight &weight, uint8_t *to)
      : weight(weight), random(*weight.random()), to(to) {}

  void run() {
    if (random.panel() != 0)
      return writePanels();
    uint64_t elements =
        weight.size() / (weight.type() == fb::ElementType::F32 ? 4 : 2);
    for (uint64_t i = 0; i < elements; ++i)
      write(valueAt(i));
  }

private:
  /// Places are numbers alone: nothing is read there.
  float valueAt(uint64_t place) const {
    uint64_t source = place / random.elements();
    if (source >= random.numbers()->size())
      return 0;
    return randomElement(random.seed(), random.numbers()->Get(uint32_t(source)),
                         place % random.elements(),
                         random.scales()->Get(uint32_t(source)));
  }

  void write(float value) {
    if (weight.type() == fb::ElementType::F32) {
      std::memcpy(to, &value, sizeof(value));
      to += sizeof(value);
      return;
    }
    uint16_t bits = weight.type() == fb::ElementType::BF16
                        ? roundToBFloat(value)
                        : roundToHalf(value);
    std::memcpy(to, &bits, sizeof(bits));
    to += sizeof(bits);
  }

  void writePanels() {
    uint32_t rank = random.rows()->size();
    auto stride = [&](uint32_t d) {
      return uint64_t(random.strides()->Get(d));
    };
    int64_t at[16] = {};
    do {
      uint64_t place = 0;
      for (uint32_t d = 0; d < rank; ++d)
        place += uint64_t(at[d]) * stride(d);
      uint64_t before = uint64_t(at[0]) * uint64_t(random.panel());
      for (int64_t column = 0; column < random.panel(); ++column)
        for (int64_t term = 0; term < random.group(); ++term)
          write(before + uint64_t(column) < uint64_t(random.clip())
                    ? valueAt(place + uint64_t(column) * stride(rank) +
                              uint64_t(term) * stride(rank + 1))
                    : 0);
    } while (next(at, rank));
  }

  /// The next row, if there is one.
  bool next(int64_t *at, uint32_t rank) const {
    for (uint32_t d = rank; d-- > 0; at[d] = 0)
      if (++at[d] < random.rows()->Get(d))
        return true;
    return false;
  }

  const fb::Weight &weight;
  const fb::RandomWeight &random;
  uint8_t *to;
};
} // namespace

void makeWeight(const fb::Weight &weight, uint8_t *to) {
  Maker(weight, to).run();
}

} // namespace ashlar::runtime
