// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Little-endian ELF64 by its specification; the section ".nv.info.KERNEL" is a
// list of attributes, each a byte that says its form, a byte that says what it
// is, and two of a value or of the size of the bytes that follow (as `cuobjdump
// --dump-elf` prints them). One of EIATTR_KPARAM_INFO is there for each
// parameter.

#include "CubinImage.h"

#include "../../Status.h"

#include <cstdint>
#include <cstring>

namespace ashlar::runtime::cuda {

namespace {
/// Numbers at places of the image; what lies outside reads as 0.
class Bytes {
public:
  explicit Bytes(std::string_view data) : data(data) {}
  template <typename T> T at(uint64_t offset) const {
    T value = 0;
    if (offset <= data.size() && data.size() - offset >= sizeof(T))
      std::memcpy(&value, data.data() + offset, sizeof(T));
    return value;
  }
  std::string_view part(uint64_t offset, uint64_t size) const {
    if (offset > data.size() || size > data.size() - offset)
      return {};
    return data.substr(size_t(offset), size_t(size));
  }

private:
  std::string_view data;
};

struct Section {
  uint32_t name;
  uint64_t offset, size;
};

class Elf {
public:
  explicit Elf(std::string_view image) : bytes(image) {
    headers = bytes.at<uint64_t>(0x28);
    headerSize = bytes.at<uint16_t>(0x3a);
    count = bytes.at<uint16_t>(0x3c);
    names = section(bytes.at<uint16_t>(0x3e));
  }
  /// Empty: there is no such section.
  std::string_view find(const String &name) const {
    for (uint16_t i = 0; i < count; ++i) {
      Section one = section(i);
      // With the zero that ends it.
      if (bytes.part(names.offset + one.name, name.size() + 1) ==
          std::string_view(name.c_str(), name.size() + 1))
        return bytes.part(one.offset, one.size);
    }
    return {};
  }

private:
  Section section(uint16_t number) const {
    uint64_t at = headers + uint64_t(number) * headerSize;
    return {bytes.at<uint32_t>(at), bytes.at<uint64_t>(at + 0x18),
            bytes.at<uint64_t>(at + 0x20)};
  }

  Bytes bytes;
  uint64_t headers = 0;
  uint16_t headerSize = 0, count = 0;
  Section names = {};
};
} // namespace

bool isCubin(std::string_view image) {
  return image.substr(0, 4) == "\x7f"
                               "ELF";
}

int countCubinParameters(std::string_view image, std::string_view symbol) {
  enum : uint8_t { sized = 4, parameterInfo = 0x17 };
  std::string_view info = Elf(image).find(concat(".nv.info.", symbol));
  if (info.empty())
    return -1;
  Bytes bytes(info);
  int parameters = 0;
  for (uint64_t at = 0; at + 4 <= info.size();) {
    parameters += bytes.at<uint8_t>(at + 1) == parameterInfo;
    at += 4 + (bytes.at<uint8_t>(at) == sized ? bytes.at<uint16_t>(at + 2) : 0);
  }
  return parameters;
}

} // namespace ashlar::runtime::cuda
