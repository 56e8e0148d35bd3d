// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Budget.h"

#include "CheckedMath.h"
#include "Trace.h"
#include "devices/Device.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

// More than any machine has; sums of so little cannot overflow.
static constexpr uint64_t largestRequest = uint64_t(1) << 56;

/// Which memory a device's bytes are in.
static String placeOf(const ashlar_device_t *device) {
  return device && (device->part || !device->usesHostMemory()) ? device->name
                                                               : "host";
}

Budget::Budget(String name, uint64_t limit, std::shared_ptr<Budget> above)
    : name(std::move(name)), parent(std::move(above)),
      root(parent ? parent->root : this), limit(limit) {
  std::lock_guard<std::mutex> guard(lock());
  makeAccounts(placeOf(nullptr));
  if (parent)
    parent->children.push_back(this);
}

Budget::~Budget() {
  if (!parent)
    return;
  // No charge is left, but bytes may be set aside.
  std::lock_guard<std::mutex> guard(lock());
  for (Account &account : accounts) {
    uint64_t bytes = account.footprint();
    account.reserved = 0;
    countAbove(account.place, 0 - bytes);
  }
  parent->noteChange();
  auto &siblings = parent->children;
  siblings.erase(std::find(siblings.begin(), siblings.end(), this));
}

Charge::~Charge() {
  if (!budget)
    return;
  std::lock_guard<std::mutex> guard(budget->lock());
  budget->count(*line, 0 - line->bytes);
  budget->noteChange();
  budget->lines.erase(line);
}

uint64_t Charge::payBack(uint64_t bytes) {
  if (!budget)
    return 0;
  if (bytes >= line->bytes) {
    bytes = line->bytes;
    *this = Charge();
    return bytes;
  }
  std::lock_guard<std::mutex> guard(budget->lock());
  budget->count(*line, 0 - bytes);
  budget->noteChange();
  line->bytes -= bytes;
  return bytes;
}

void Charge::join(const String &holder) {
  if (!budget)
    return;
  std::lock_guard<std::mutex> guard(budget->lock());
  line->others.push_back(String(holder));
}

void Charge::leave(const String &holder) noexcept {
  if (!budget)
    return;
  std::lock_guard<std::mutex> guard(budget->lock());
  for (String &other : line->others)
    if (other == holder || line->holder == holder) {
      (line->holder == holder ? line->holder : other).swap(line->others.back());
      line->others.pop_back();
      return;
    }
}

const Budget::Account *Budget::findAccount(const String &place) const {
  for (const Account &account : accounts)
    if (account.place == place)
      return &account;
  return nullptr;
}

/// One that makeAccounts has made.
Budget::Account &Budget::account(const String &place) {
  return const_cast<Account &>(*findAccount(place));
}

/// Here and above, so that nothing needs to be allocated later.
void Budget::makeAccounts(const String &place) {
  for (Budget *each = this; each; each = each->parent.get())
    if (!each->findAccount(place)) {
      each->accounts.emplace_back();
      each->accounts.back().place = place;
      each->labelAccount(each->accounts.back(), root->trace);
    }
}

void Budget::count(Account &of, uint64_t bytes) noexcept {
  of.current += bytes;
  if (!of.isPart)
    current += bytes;
}

/// Ancestors count what the footprint of the one below grows by.
void Budget::countAbove(const String &place, uint64_t bytes) noexcept {
  for (Budget *each = parent.get(); each; each = each->parent.get()) {
    Account &of = each->account(place);
    uint64_t before = of.footprint();
    each->count(of, bytes);
    bytes = of.footprint() - before;
  }
}

void Budget::count(const Charge::Line &line, uint64_t bytes) noexcept {
  Account &own = account(line.place);
  uint64_t before = own.footprint();
  count(own, bytes);
  countAbove(line.place, own.footprint() - before);
  for (Budget *each = this; each; each = each->parent.get())
    each->account(line.place).currentOf[line.kind] += bytes;
}

Budget::Excess Budget::findExcess() const {
  for (const Budget *each = this; each; each = each->parent.get()) {
    for (const Account &of : each->accounts)
      if (of.current > of.limit)
        return {each, of.place, of.current - of.limit, of.limit, 0};
    if (each->current > each->limit)
      return {each, "", each->current - each->limit, each->limit, 0};
  }
  return {};
}

void Budget::noteChange() noexcept {
  for (Budget *each = this; each; each = each->parent.get()) {
    each->peak = std::max(each->peak, each->current);
    for (Account &of : each->accounts) {
      of.peak = std::max(of.peak, of.current);
      if (root->trace && of.label && of.traced != of.current)
        root->trace->count(of.label, of.traced = of.current);
    }
  }
}

Status Budget::refuse(const Excess &excess, String asked) {
  const Budget &by = *excess.budget;
  ++by.refusals;
  const Account *of = by.findAccount(excess.place);
  String message = concat(
      "budget '", by.name, "' lacks ", excess.bytes, " bytes",
      excess.place.empty() ? "" : " of ", excess.place, ": ", asked, ", ",
      of ? of->current : by.current, " of ", excess.limit, " are in use");
  Vector<ashlar_holder_t> all = by.sortedHolders(excess.place, &by);
  constexpr size_t named = 8;
  for (size_t i = 0; i < all.size() && i < named; ++i)
    message += concat(i ? ", " : " by ", all[i].name, " (", all[i].bytes, " ",
                      memoryKindName(all[i].kind), ")");
  if (all.size() > named)
    message += concat(" and ", all.size() - named, " more");
  message += whoWouldHaveToGo(all, excess.bytes);
  return failure(ASHLAR_OUT_OF_BUDGET, std::move(message), by.name);
}

Status Budget::charge(const String &holder, const Vector<Request> &requests,
                      bool keep) {
  uint64_t total = 0;
  String asked = concat(holder, " asks for ");
  const char *separator = "";
  List<Charge::Line> added;
  Vector<Budget *> targets;
  for (const Request &request : requests) {
    if (!checkedAdd(total, request.bytes, total) || total > largestRequest)
      return failure(ASHLAR_OUT_OF_BUDGET,
                     concat(holder, " asks for ", request.bytes, " bytes of ",
                            memoryKindName(request.kind),
                            ", more than any machine has"),
                     name);
    if (request.bytes != 0) {
      asked += concat(separator, request.bytes, " bytes of ",
                      memoryKindName(request.kind));
      separator = " and ";
    }
    added.push_back(
        {holder, request.kind, request.bytes, placeOf(request.device)});
    targets.push_back(request.in ? request.in : this);
    if (targets.back()->root != root)
      return invalidArgument(concat("budget '", targets.back()->name,
                                    "' is not of the runtime of '", name, "'"),
                             name);
  }
  // Assigning to a request's charge may pay back what it held, which takes the
  // lock too; so the old ones go last.
  Vector<Charge> receipts(requests.size());
  Status status =
      chargeLocked(added, targets, std::move(asked), keep, receipts);
  if (!status.ok()) {
    root->logger.log(ASHLAR_LOG_WARNING, status.place(), status.message());
    return status;
  }
  for (size_t i = 0; keep && i < requests.size(); ++i)
    *requests[i].out = std::move(receipts[i]);
  return {};
}

Status Budget::chargeLocked(List<Charge::Line> &added,
                            const Vector<Budget *> &targets, String asked,
                            bool keep, Vector<Charge> &receipts) {
  std::lock_guard<std::mutex> guard(lock());
  auto target = targets.begin();
  for (const Charge::Line &line : added)
    (*target++)->makeAccounts(line.place);
  target = targets.begin();
  for (const Charge::Line &line : added)
    (*target++)->count(line, line.bytes);
  Excess excess;
  for (size_t i = 0; i < targets.size() && !excess.budget; ++i)
    excess = targets[i]->findExcess();
  if (excess.budget || !keep) {
    target = targets.begin();
    for (const Charge::Line &line : added)
      (*target++)->count(line, 0 - line.bytes);
    return excess.budget ? refuse(excess, std::move(asked)) : Status();
  }
  noteChange();
  auto line = added.begin();
  for (Charge &receipt : receipts) {
    receipt.line = line++;
    receipt.budget = shared_from_this();
  }
  lines.splice(lines.end(), added);
  return {};
}

static Status tooLow(const String &name, uint64_t limit, uint64_t current) {
  return invalidArgument(concat("budget '", name, "' cannot be limited to ",
                                limit, " bytes: ", current, " are in use"),
                         name);
}

Status Budget::setLimit(uint64_t bytes) {
  std::lock_guard<std::mutex> guard(lock());
  if (bytes < current)
    return tooLow(name, bytes, current);
  limit = bytes;
  return {};
}

Status Budget::setDeviceLimit(const ashlar_device_t *device, uint64_t bytes) {
  std::lock_guard<std::mutex> guard(lock());
  String place = placeOf(device);
  makeAccounts(place);
  Account &of = account(place);
  if (of.isPart)
    return invalidArgument(concat(place, " keeps the ", of.limit,
                                  " bytes that it was created with"),
                           place);
  if (bytes < of.current)
    return tooLow(name, bytes, of.current);
  of.limit = bytes;
  return {};
}

void Budget::addPart(const ashlar_device_t &device, uint64_t bytes) {
  std::lock_guard<std::mutex> guard(lock());
  String place = placeOf(&device);
  makeAccounts(place);
  Account &of = account(place);
  of.limit = bytes;
  of.peak = of.current;
  of.isPart = true;
}

Status Budget::reserve(const ashlar_device_t *device, uint64_t bytes) {
  std::lock_guard<std::mutex> guard(lock());
  String place = placeOf(device);
  makeAccounts(place);
  Account &of = account(place);
  uint64_t most = std::min({limit, of.limit, largestRequest});
  if (bytes > most)
    return invalidArgument(concat("budget '", name, "' cannot set ", bytes,
                                  " bytes aside: its limit is ", most),
                           name);
  uint64_t before = of.footprint(), was = of.reserved;
  of.reserved = bytes;
  countAbove(place, of.footprint() - before);
  Excess excess =
      parent && of.footprint() > before ? parent->findExcess() : Excess();
  if (!excess.budget) {
    noteChange();
    return {};
  }
  countAbove(place, before - of.footprint());
  of.reserved = was;
  return refuse(std::move(excess),
                concat(name, " sets ", bytes, " bytes aside"));
}

void Budget::query(ashlar_budget_statistics_t &out) const {
  std::lock_guard<std::mutex> guard(lock());
  out.limit = limit;
  out.current = current;
  out.peak = peak;
  out.refusals = refusals;
  out.saved = saved;
  for (const Account &of : accounts) {
    for (uint32_t kind = 0; kind < ASHLAR_MEMORY_KINDS; ++kind)
      out.current_of[kind] += of.currentOf[kind];
    out.reserved += of.reserved;
  }
}

void Budget::query(const ashlar_device_t *device,
                   ashlar_budget_statistics_t &out) const {
  std::lock_guard<std::mutex> guard(lock());
  out.limit = ASHLAR_UNLIMITED;
  out.refusals = refusals;
  const Account *of = findAccount(placeOf(device));
  if (!of)
    return;
  out.limit = of->limit;
  out.current = of->current;
  out.peak = of->peak;
  out.reserved = of->reserved;
  std::copy(std::begin(of->currentOf), std::end(of->currentOf), out.current_of);
}

} // namespace ashlar::runtime
