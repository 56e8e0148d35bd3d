// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_RUNTIME_LIB_JSONTEXT_H
#define ASHLAR_RUNTIME_LIB_JSONTEXT_H

#include <cstdio>
#include <string>
#include <string_view>

namespace ashlar::runtime {

/// The text as a JSON string. Names come from files, so any byte may occur.
inline std::string jsonText(std::string_view text) {
  std::string result = "\"";
  for (char letter : text) {
    auto c = static_cast<unsigned char>(letter);
    char escaped[8];
    if (c == '"' || c == '\\')
      result += '\\';
    if (c >= 0x20 && c < 0x7f) {
      result += letter;
      continue;
    }
    std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
    result += escaped;
  }
  return result + "\"";
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_JSONTEXT_H
