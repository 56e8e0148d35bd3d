// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who holds a budget's bytes.

#include "Budget.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

const char *memoryKindName(uint32_t kind) {
  static const char *const names[] = {"weights", "code",    "arena",
                                      "outputs", "staging", "scratch"};
  return kind < ASHLAR_MEMORY_KINDS        ? names[kind]
         : kind == ASHLAR_MEMORY_SET_ASIDE ? "set aside"
                                           : "unknown";
}

static void note(std::vector<ashlar_holder_t> &out, const std::string &name,
                 uint32_t kind, uint64_t bytes) {
  if (bytes == 0)
    return;
  ashlar_holder_t holder = {};
  name.copy(holder.name, sizeof(holder.name) - 1);
  holder.kind = kind;
  holder.bytes = bytes;
  for (ashlar_holder_t &other : out)
    if (other.kind == kind && std::strcmp(other.name, holder.name) == 0) {
      other.bytes += bytes;
      return;
    }
  out.push_back(holder);
}

void Budget::collectHolders(const std::string &place, const std::string &path,
                            std::vector<ashlar_holder_t> &out) const {
  for (const Charge::Line &line : lines)
    if (place.empty() || line.place == place)
      note(out, path + line.holder, line.kind, line.bytes);
  for (const Budget *child : children) {
    child->collectHolders(place, concat(path, child->name, "/"), out);
    for (const Account &of : child->accounts)
      if (place.empty() || of.place == place)
        note(out, path + child->name, ASHLAR_MEMORY_SET_ASIDE,
             of.footprint() - of.current);
  }
}

std::vector<ashlar_holder_t>
Budget::sortedHolders(const std::string &place) const {
  std::vector<ashlar_holder_t> result;
  collectHolders(place, "", result);
  std::sort(result.begin(), result.end(), [](const auto &a, const auto &b) {
    if (a.bytes != b.bytes)
      return a.bytes > b.bytes;
    int order = std::strcmp(a.name, b.name);
    return order != 0 ? order < 0 : a.kind < b.kind;
  });
  return result;
}

std::vector<ashlar_holder_t> Budget::holders() const {
  std::lock_guard<std::mutex> guard(lock());
  return sortedHolders("");
}

} // namespace ashlar::runtime
