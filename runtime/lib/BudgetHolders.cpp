// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who holds a budget's bytes.

#include "Budget.h"

#include "SortPlain.h"

#include <cstring>

namespace ashlar::runtime {

const char *memoryKindName(uint32_t kind) {
  static const char *const names[] = {"weights", "code",    "arena",
                                      "outputs", "staging", "scratch"};
  return kind < ASHLAR_MEMORY_KINDS        ? names[kind]
         : kind == ASHLAR_MEMORY_SET_ASIDE ? "set aside"
                                           : "unknown";
}

static void note(Vector<ashlar_holder_t> &out, const String &name,
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

/// All who hold it, or as many as an ashlar_holder_t has room for.
String Charge::Line::names() const {
  constexpr size_t enough = 32;
  String text = holder;
  size_t i = 0;
  for (; i < others.size() && text.size() < enough; ++i)
    text += concat(", ", others[i]);
  if (i < others.size())
    text += concat(" and ", others.size() - i, " more");
  return text;
}

void Budget::collectHolders(const String &place, const String &path,
                            const Budget *sum,
                            Vector<ashlar_holder_t> &out) const {
  auto counts = [&](const String &of) {
    return place.empty() ? !sum || !sum->findAccount(of)->isPart : of == place;
  };
  for (const Charge::Line &line : lines)
    if (counts(line.place))
      note(out, path + line.names(), line.kind, line.bytes);
  for (const Budget *child : children) {
    child->collectHolders(place, concat(path, child->name, "/"), sum, out);
    for (const Account &of : child->accounts)
      if (counts(of.place))
        note(out, path + child->name, ASHLAR_MEMORY_SET_ASIDE,
             of.footprint() - of.current);
  }
}

static int largestFirst(const ashlar_holder_t &a, const ashlar_holder_t &b) {
  int order = compare(b.bytes, a.bytes);
  if (order == 0)
    order = std::strcmp(a.name, b.name);
  return order ? order : compare(a.kind, b.kind);
}

String whoWouldHaveToGo(const Vector<ashlar_holder_t> &holders,
                        uint64_t bytes) {
  Vector<ashlar_holder_t> byName;
  for (const ashlar_holder_t &holder : holders)
    note(byName, holder.name, 0, holder.bytes);
  sortPlain(byName, largestFirst);
  String names;
  uint64_t sum = 0;
  for (size_t i = 0; i < byName.size() && sum < bytes; ++i) {
    // The smallest that is enough alone.
    if (byName[i].bytes >= bytes && i + 1 < byName.size() &&
        byName[i + 1].bytes >= bytes)
      continue;
    names += concat(names.empty() ? "" : ", ", byName[i].name);
    sum += byName[i].bytes;
  }
  if (sum < bytes)
    return concat("; even empty it would lack ", bytes - sum);
  return concat("; it would fit without ", names);
}

Vector<ashlar_holder_t> Budget::sortedHolders(const String &place,
                                              const Budget *sum) const {
  Vector<ashlar_holder_t> result;
  collectHolders(place, "", sum, result);
  sortPlain(result, largestFirst);
  return result;
}

Vector<ashlar_holder_t> Budget::holders() const {
  std::lock_guard<std::mutex> guard(lock());
  return sortedHolders("", nullptr);
}

} // namespace ashlar::runtime
