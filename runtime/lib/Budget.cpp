// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Budget.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

const char *memoryKindName(uint32_t kind) {
  static const char *const names[] = {"weights", "code",    "arena",
                                      "outputs", "staging", "scratch"};
  return kind < ASHLAR_MEMORY_KINDS ? names[kind] : "unknown";
}

Charge::~Charge() {
  if (!budget)
    return;
  std::lock_guard<std::mutex> lock(budget->mutex);
  budget->current -= line->bytes;
  budget->currentOf[line->kind] -= line->bytes;
  budget->lines.erase(line);
}

Status Budget::charge(const std::string &holder, ashlar_memory_kind_t kind,
                      uint64_t bytes, Charge &out) {
  // Assigning to `out` may pay back what it held, which takes the lock too.
  Charge receipt;
  {
    std::lock_guard<std::mutex> lock(mutex);
    uint64_t available = limit - current;
    if (bytes > available) {
      ++refusals;
      std::string message = concat(
          "budget '", name, "' lacks ", bytes - available, " bytes: ", holder,
          " asks for ", bytes, " bytes of ", memoryKindName(kind), ", ",
          current, " of ", limit, " are in use");
      const char *separator = " by ";
      for (const ashlar_holder_t &other : holdersLocked()) {
        message += concat(separator, other.name, " (", other.bytes, " ",
                          memoryKindName(other.kind), ")");
        separator = ", ";
      }
      return Status(ASHLAR_OUT_OF_BUDGET, std::move(message), name);
    }
    lines.push_back({holder, kind, bytes});
    receipt.line = std::prev(lines.end());
    receipt.budget = shared_from_this();
    current += bytes;
    currentOf[kind] += bytes;
    peak = std::max(peak, current);
  }
  out = std::move(receipt);
  return {};
}

void Budget::query(ashlar_budget_statistics_t &out) const {
  std::lock_guard<std::mutex> lock(mutex);
  out.limit = limit;
  out.current = current;
  out.peak = peak;
  std::copy(std::begin(currentOf), std::end(currentOf), out.current_of);
  out.refusals = refusals;
}

std::vector<ashlar_holder_t> Budget::holders() const {
  std::lock_guard<std::mutex> lock(mutex);
  return holdersLocked();
}

std::vector<ashlar_holder_t> Budget::holdersLocked() const {
  std::vector<ashlar_holder_t> result;
  for (const Charge::Line &line : lines) {
    if (line.bytes == 0)
      continue;
    ashlar_holder_t holder = {};
    line.holder.copy(holder.name, sizeof(holder.name) - 1);
    holder.kind = line.kind;
    holder.bytes = line.bytes;
    auto same = std::find_if(result.begin(), result.end(), [&](auto &other) {
      return other.kind == holder.kind &&
             std::strcmp(other.name, holder.name) == 0;
    });
    if (same != result.end())
      same->bytes += holder.bytes;
    else
      result.push_back(holder);
  }
  std::stable_sort(
      result.begin(), result.end(),
      [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  return result;
}

} // namespace ashlar::runtime
