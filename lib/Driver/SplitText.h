// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_SPLITTEXT_H
#define ASHLAR_LIB_DRIVER_SPLITTEXT_H

#include <algorithm>
#include <string>
#include <vector>

namespace ashlar {

/// The parts of `text` between the characters `at`, empty ones too.
inline std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SPLITTEXT_H
