// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Budget.h"

#include "CheckedMath.h"

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

Status Budget::refuse(const std::string &holder,
                      std::initializer_list<Request> requests,
                      uint64_t total) const {
  std::string message =
      concat("budget '", name, "' lacks ", total - (limit - current),
             " bytes: ", holder, " asks for ");
  const char *separator = "";
  for (const Request &request : requests) {
    if (request.bytes == 0)
      continue;
    message += concat(separator, request.bytes, " bytes of ",
                      memoryKindName(request.kind));
    separator = " and ";
  }
  message += concat(", ", current, " of ", limit, " are in use");
  separator = " by ";
  for (const ashlar_holder_t &other : holdersLocked()) {
    message += concat(separator, other.name, " (", other.bytes, " ",
                      memoryKindName(other.kind), ")");
    separator = ", ";
  }
  return Status(ASHLAR_OUT_OF_BUDGET, std::move(message), name);
}

Status Budget::charge(const std::string &holder,
                      std::initializer_list<Request> requests) {
  // Assigning to a request's charge may pay back what it held, which takes the
  // lock too; so the old ones go last.
  std::vector<Charge> receipts(requests.size());
  {
    std::lock_guard<std::mutex> lock(mutex);
    uint64_t total = 0;
    for (const Request &request : requests)
      if (!checkedAdd(total, request.bytes, total))
        total = UINT64_MAX;
    if (total > limit - current) {
      ++refusals;
      return refuse(holder, requests, total);
    }
    std::list<Charge::Line> added;
    for (const Request &request : requests)
      added.push_back({holder, request.kind, request.bytes});
    // Nothing below throws.
    auto line = added.begin();
    for (Charge &receipt : receipts) {
      receipt.line = line;
      receipt.budget = shared_from_this();
      currentOf[line->kind] += line->bytes;
      ++line;
    }
    lines.splice(lines.end(), added);
    current += total;
    peak = std::max(peak, current);
  }
  size_t next = 0;
  for (const Request &request : requests)
    request.out = std::move(receipts[next++]);
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
  std::sort(result.begin(), result.end(), [](const auto &a, const auto &b) {
    if (a.bytes != b.bytes)
      return a.bytes > b.bytes;
    int order = std::strcmp(a.name, b.name);
    return order != 0 ? order < 0 : a.kind < b.kind;
  });
  return result;
}

} // namespace ashlar::runtime
