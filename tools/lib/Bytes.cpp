// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bytes.h"

#include "Failure.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ashlar::tools {

uint64_t parseBytes(const std::string &text) {
  static const std::pair<const char *, unsigned> units[] = {
      {"B", 0}, {"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  char *end = nullptr;
  errno = 0;
  unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (end != text.c_str() && errno == 0 && text[0] != '-')
    for (auto [name, shift] : units)
      if (std::strcmp(end, name) == 0 && value <= UINT64_MAX >> shift)
        return uint64_t(value) << shift;
  throw Failure(WrongUsage, "'" + text +
                                "' is not a size such as 512MiB (B, KiB, MiB, "
                                "GiB)");
}

std::string formatBytes(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  unsigned unit = 0;
  while (value >= 1024 && unit < 4)
    value /= 1024, ++unit;
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), unit ? "%.2f %s" : "%.0f %s", value,
                units[unit]);
  return buffer;
}

} // namespace ashlar::tools
