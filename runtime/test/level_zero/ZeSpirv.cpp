// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ZeKernels.h"

#include <cstring>

std::map<std::string, std::vector<uint32_t>>
ashlar::ze::readKernels(std::string_view image) {
  enum {
    Header = 5,
    EntryPoint = 15,
    TypeInt = 21,
    TypeFloat = 22,
    TypePointer = 32,
    TypeFunction = 33,
    Function = 54
  };
  std::vector<uint32_t> words(image.size() / 4);
  std::memcpy(words.data(), image.data(), 4 * words.size());
  std::map<uint32_t, uint32_t> sizes;                   // of types
  std::map<uint32_t, std::vector<uint32_t>> parameters; // of types of functions
  std::map<uint32_t, std::string> names;
  std::map<std::string, std::vector<uint32_t>> kernels;
  for (size_t i = Header; i < words.size();) {
    const uint32_t length = words[i] >> 16;
    if (length == 0 || length > words.size() - i)
      return {};
    const uint32_t *word = &words[i];
    switch (word[0] & 0xFFFF) {
    case EntryPoint:
      names[word[2]] = reinterpret_cast<const char *>(word + 3);
      break;
    case TypeInt:
    case TypeFloat:
      sizes[word[1]] = word[2] / 8;
      break;
    case TypePointer:
      sizes[word[1]] = 0;
      break;
    case TypeFunction:
      for (uint32_t j = 3; j < length; ++j)
        parameters[word[1]].push_back(sizes[word[j]]);
      break;
    case Function:
      if (names.count(word[2]))
        kernels[names[word[2]]] = parameters[word[4]];
      break;
    }
    i += length;
  }
  return kernels;
}
