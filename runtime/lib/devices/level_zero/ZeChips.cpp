// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ZeChips.h"

#include "ashlar/runtime/gpu_abi.h"

#include <cstring>

namespace ashlar::runtime::ze {

namespace {
/// Numbers on the PCI bus, from Linux' include/drm/intel/pciids.h; the last one
/// is in it.
struct Chips {
  const char *name; // ocloc's
  uint16_t first, last;
};
const Chips known[] = {{"pvc", 0x0b69, 0x0b6e},   {"pvc", 0x0bd0, 0x0bdb},
                       {"dg2", 0x4f80, 0x4f88},   {"dg2", 0x5690, 0x56c2},
                       {"bmg", 0xe202, 0xe223},   {"tgllp", 0x9a40, 0x9a49},
                       {"tgllp", 0x9a59, 0x9a78}, {"tgllp", 0x9ac0, 0x9af8}};
constexpr uint32_t intel = 0x8086;

template <typename T> T at(std::string_view image, uint64_t offset) {
  T value = 0;
  if (offset <= image.size() && image.size() - offset >= sizeof(T))
    std::memcpy(&value, image.data() + offset, sizeof(T));
  return value;
}
} // namespace

bool takesCode(uint32_t vendor, uint32_t device, std::string_view format) {
  constexpr std::string_view prefix = ASHLAR_ZEBIN_FORMAT;
  if (vendor != intel || format.substr(0, prefix.size()) != prefix)
    return false;
  for (const Chips &chips : known)
    if (chips.first <= device && device <= chips.last)
      return format.substr(prefix.size()) == chips.name;
  return true;
}

bool isZebin(std::string_view image) {
  constexpr std::string_view magic("\x7f"
                                   "ELF",
                                   4);
  return image.substr(0, magic.size()) == magic;
}

Status verifyZebin(std::string_view image) {
  constexpr uint16_t machine = 205; // EM_INTELGT
  constexpr uint64_t header = 64, sectionHeader = 64;
  constexpr uint32_t noBits = 8; // SHT_NOBITS
  auto refuse = [](const char *why) {
    return corrupt(concat("the code is no zebin: ", why), ASHLAR_ZEBIN_FORMAT);
  };
  // ELF64, little-endian.
  if (image.size() < header || image[4] != 2 || image[5] != 1 ||
      at<uint16_t>(image, 0x12) != machine)
    return refuse("it is no ELF file for Intel's GPUs");
  const uint64_t headers = at<uint64_t>(image, 0x28);
  const uint16_t count = at<uint16_t>(image, 0x3c);
  if (count == 0)
    return {};
  if (at<uint16_t>(image, 0x3a) != sectionHeader || headers > image.size() ||
      image.size() - headers < count * sectionHeader ||
      at<uint16_t>(image, 0x3e) >= count)
    return refuse("it is cut off");
  for (uint16_t i = 0; i < count; ++i) {
    const uint64_t own = headers + i * sectionHeader,
                   offset = at<uint64_t>(image, own + 0x18),
                   size = at<uint64_t>(image, own + 0x20);
    if (at<uint32_t>(image, own + 4) != noBits &&
        (offset > image.size() || size > image.size() - offset))
      return refuse("a section lies outside of it");
  }
  return {};
}

} // namespace ashlar::runtime::ze
