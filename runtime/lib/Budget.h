// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A budget counts bytes before they are allocated. A Charge is the receipt:
// it names its holder and pays back when it is destroyed.
//
// Budgets form trees. Bytes are counted at the budget they are charged to and
// at all of its ancestors, by the memory they are in, at once: one lock a tree.
// So no limit is ever passed, at any level, for an instant.

#ifndef ASHLAR_RUNTIME_LIB_BUDGET_H
#define ASHLAR_RUNTIME_LIB_BUDGET_H

#include "Gate.h"
#include "Logger.h"
#include "RunStatistics.h"
#include "Status.h"

#include <memory>
#include <mutex>

namespace ashlar::runtime {

class Budget;
class Trace;
struct ContentBlock;

/// What modules have in common that are charged to one budget: Content.h.
struct SharedContent {
  std::mutex loading;              // one load or check at a time
  std::mutex mutex;                // for what follows, and who uses it
  ContentBlock *buckets[256] = {}; // what may be found
  ContentBlock *&bucket(uint64_t hash) { return buckets[hash % 256]; }
};

class Charge {
public:
  Charge() = default;
  Charge(Charge &&other) noexcept { swap(other); }
  Charge &operator=(Charge &&other) noexcept {
    Charge moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Charge();

  /// At most so many bytes; how many it was. Nothing is left of one that has
  /// paid all.
  uint64_t payBack(uint64_t bytes);
  bool isEmpty() const { return !budget; }

  /// Somebody else who holds the same bytes, and must go as well to free them.
  void join(const String &holder);
  /// One of those who hold them, not the last, has gone.
  void leave(const String &holder) noexcept;

private:
  friend class Budget;
  struct Line {
    String holder;
    ashlar_memory_kind_t kind;
    uint64_t bytes;
    String place;               // of which memory
    Vector<String> others = {}; // who hold the same
    String names() const;
  };
  void swap(Charge &other) noexcept {
    std::swap(budget, other.budget);
    std::swap(line, other.line);
  }

  std::shared_ptr<Budget> budget;
  List<Line>::iterator line;
};

class Budget : public std::enable_shared_from_this<Budget> {
public:
  /// Without a parent, the root of a tree.
  Budget(String name, uint64_t limit, std::shared_ptr<Budget> parent = {});
  ~Budget();
  Budget(const Budget &) = delete;
  Budget &operator=(const Budget &) = delete;

  struct Request {
    ashlar_memory_kind_t kind;
    uint64_t bytes;
    Charge *out; // may be null where nothing is kept
    const ashlar_device_t *device = nullptr; // null: the host's memory
    Budget *in = nullptr; // another of the tree, where nothing is kept
  };
  /// Takes the bytes of all requests or of none, here and at all ancestors;
  /// where nothing is to be kept, says whether they fit now. A refusal names
  /// the budget that lacks them, what is missing, who holds the rest and who
  /// would have to go. Zero bytes always fit.
  Status charge(const String &holder, const Vector<Request> &requests,
                bool keep = true);

  /// Of all memory where `device` is no value. Below what is in use or set
  /// aside it is refused.
  Status setLimit(uint64_t limit);
  Status setDeviceLimit(const ashlar_device_t *device, uint64_t limit);
  /// At the root: the memory of a virtual device, for which a budget below sets
  /// as many bytes aside.
  void addPart(const ashlar_device_t &device, uint64_t bytes);
  /// Sets bytes of a memory aside: ancestors count them as in use, whether they
  /// are or not. Takes the place of what was set aside before.
  Status reserve(const ashlar_device_t *device, uint64_t bytes);

  void query(ashlar_budget_statistics_t &out) const;
  void query(const ashlar_device_t *device,
             ashlar_budget_statistics_t &out) const;
  /// Largest first, those of budgets below included, under their path; charges
  /// of one holder and kind are added up.
  Vector<ashlar_holder_t> holders() const;

  /// Looks at a session's statistics until they are forgotten, which keeps the
  /// sums.
  void watch(const RunStatistics &of);
  void forget(const RunStatistics &of);
  void countFallbacks(uint64_t count);
  /// Bytes that are not charged since they are there already; a negative
  /// number, as unsigned ones have it, takes them away.
  void countSaved(uint64_t bytes) noexcept;
  /// Of sessions charged here and below.
  void query(ashlar_stats_t &out) const;
  /// Of the whole tree below, for Prometheus.
  String prometheus() const;

  /// The budget right below the root that this one is part of, or the root: one
  /// tenant to whom workers are shared out.
  Gate::Tenant &tenant();

  /// At the root: from now on the trace is told what each budget of the tree
  /// has of each memory; null: none is.
  void setTrace(Trace *trace);
  /// "runtime/tenant-a/model"
  String path() const;

  /// What the runtime allocates for itself.
  void setMemory(OwnMemory *memory) { ownMemory = memory; }
  OwnMemory *memory() const { return root->ownMemory; }

  const String name;
  Logger logger; // the root's is used

  SharedContent content;

private:
  friend class Charge;
  /// Of one memory.
  struct Account {
    String place;
    uint64_t limit = ASHLAR_UNLIMITED;
    uint64_t current = 0;
    uint64_t peak = 0;
    uint64_t reserved = 0;
    uint64_t currentOf[ASHLAR_MEMORY_KINDS] = {};
    const char *label = nullptr; // in the trace, where there is one
    uint64_t traced = 0;         // what that was told last
    /// Of a virtual device, at the root: its bytes are set aside in the memory
    /// of the whole, so that the sum of all memory has them already.
    bool isPart = false;
    /// What ancestors count.
    uint64_t footprint() const {
      return current > reserved ? current : reserved;
    }
  };
  /// Whose limit stands in the way, and by how much.
  struct Excess {
    const Budget *budget = nullptr;
    String place; // "": its limit of all memory
    uint64_t bytes = 0;
    uint64_t limit = 0;
    uint64_t current = 0; // without what is refused
  };

  struct Snapshot {
    String label;
    uint64_t limit, peak, refusals, saved;
    Vector<Account> accounts;
    ashlar_stats_t stats;
  };

  ashlar_stats_t ownStats() const;
  void addStats(ashlar_stats_t &out) const;
  void collect(const String &path, Vector<Snapshot> &out) const;
  Status chargeLocked(List<Charge::Line> &added,
                      const Vector<Budget *> &targets, String asked, bool keep,
                      Vector<Charge> &receipts);
  Account &account(const String &place);
  const Account *findAccount(const String &place) const;
  void makeAccounts(const String &place);
  // Bytes taken away are given as a negative number, as unsigned ones have it.
  void count(Account &of, uint64_t bytes) noexcept;
  void countAbove(const String &place, uint64_t bytes) noexcept;
  void count(const Charge::Line &line, uint64_t bytes) noexcept;
  Excess findExcess() const;
  /// Peaks, and what the trace is to know, here and above.
  void noteChange() noexcept;
  void labelAccount(Account &of, Trace *into) const;
  void startTrace(Trace &into);
  static Status refuse(const Excess &excess, String asked);
  /// Of a place; of all, "", without those in accounts of `sum` that its own
  /// sum leaves out, where it is not null.
  void collectHolders(const String &place, const String &path,
                      const Budget *sum, Vector<ashlar_holder_t> &out) const;
  Vector<ashlar_holder_t> sortedHolders(const String &place,
                                        const Budget *sum) const;

  std::mutex &lock() const { return root->mutex; }

  OwnMemory *ownMemory = nullptr; // the root's is the runtime's
  const std::shared_ptr<Budget> parent;
  Budget *const root;
  mutable std::mutex mutex; // the root's guards the tree
  Trace *trace = nullptr;   // the root's
  Vector<Budget *> children;
  uint64_t limit;
  uint64_t current = 0;
  uint64_t peak = 0;
  mutable uint64_t refusals = 0;
  uint64_t saved = 0;
  Vector<Account> accounts;
  List<Charge::Line> lines;
  Vector<const RunStatistics *> watched;
  ashlar_stats_t ended = ASHLAR_STATS_INIT; // of sessions that are gone
  Gate::Tenant ownTenant;
};

const char *memoryKindName(uint32_t kind);
/// Holders whose bytes are enough, as few as can be told quickly: the smallest
/// that is enough alone, else the largest together. Said behind a refusal.
String whoWouldHaveToGo(const Vector<ashlar_holder_t> &holders, uint64_t bytes);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_BUDGET_H
