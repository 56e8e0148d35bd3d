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
  /// Where blocks of that hash begin.
  ContentBlock *&bucket(uint64_t hash) { return buckets[hash % 256]; }
};

/// Moves, is not copied. Any thread may destroy it: the tree's lock is taken.
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
  /// Nothing is charged, or all was paid.
  bool isEmpty() const { return !budget; }

  /// Somebody else who holds the same bytes, and must go as well to free them.
  void join(const String &holder);
  /// One of those who hold them, not the last, has gone.
  void leave(const String &holder) noexcept;

private:
  friend class Budget;
  /// A receipt as the budget keeps it.
  struct Line {
    String holder;              // who has them, for people
    ashlar_memory_kind_t kind;  // what for
    uint64_t bytes;             // not paid back yet
    String place;               // of which memory
    Vector<String> others = {}; // who hold the same
    /// "a, b": the holder and all others.
    String names() const;
  };
  void swap(Charge &other) noexcept {
    std::swap(budget, other.budget);
    std::swap(line, other.line);
  }

  std::shared_ptr<Budget> budget; // null: empty
  List<Line>::iterator line;      // in the budget's list
};

/// Any thread. The tree's one lock is held within a call and never while a
/// device, an allocator or the embedder's log is called.
class Budget : public std::enable_shared_from_this<Budget> {
public:
  /// Without a parent, the root of a tree.
  Budget(String name, uint64_t limit, std::shared_ptr<Budget> parent = {});
  ~Budget();
  Budget(const Budget &) = delete;
  Budget &operator=(const Budget &) = delete;

  /// Bytes of one memory that somebody wants.
  struct Request {
    ashlar_memory_kind_t kind; // what for
    uint64_t bytes;            // 0: nothing is asked
    Charge *out;               // may be null where nothing is kept
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
  /// Of one memory; null is the host's. That of a virtual device stays what it
  /// was created with.
  Status setDeviceLimit(const ashlar_device_t *device, uint64_t limit);
  /// At the root: the memory of a virtual device, for which a budget below sets
  /// as many bytes aside.
  void addPart(const ashlar_device_t &device, uint64_t bytes);
  /// Sets bytes of a memory aside: ancestors count them as in use, whether they
  /// are or not. Takes the place of what was set aside before.
  Status reserve(const ashlar_device_t *device, uint64_t bytes);

  /// Of all memory, budgets below included; all at one moment.
  void query(ashlar_budget_statistics_t &out) const;
  /// Of one memory.
  void query(const ashlar_device_t *device,
             ashlar_budget_statistics_t &out) const;
  /// Largest first, those of budgets below included, under their path; charges
  /// of one holder and kind are added up.
  Vector<ashlar_holder_t> holders() const;

  /// Looks at a session's statistics until they are forgotten, which keeps the
  /// sums.
  void watch(const RunStatistics &of);
  void forget(const RunStatistics &of);
  /// Devices that were asked for and could not serve.
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
  /// The count that its objects are part of; null: none was set.
  OwnMemory *memory() const { return root->ownMemory; }

  const String name; // its own, without the path
  Logger logger;     // the root's is used

  SharedContent content; // of modules that are charged here

private:
  friend class Charge;
  /// Of one memory.
  struct Account {
    String place;                      // "host", or a device's name
    uint64_t limit = ASHLAR_UNLIMITED; // of `current`
    uint64_t current = 0;              // bytes in use, or set aside below
    uint64_t peak = 0;                 // of `current`
    uint64_t reserved = 0;             // set aside for it above
    uint64_t currentOf[ASHLAR_MEMORY_KINDS] = {}; // in use alone, by kind
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
    const Budget *budget = nullptr; // null: nobody's does
    String place;                   // "": its limit of all memory
    uint64_t bytes = 0;             // that are missing
    uint64_t limit = 0;             // that stands in the way
    uint64_t current = 0;           // without what is refused
  };

  /// One budget of the tree, for Prometheus.
  struct Snapshot {
    String label;                          // its path
    uint64_t limit, peak, refusals, saved; // as `query` gives them
    Vector<Account> accounts;              // copies
    ashlar_stats_t stats;                  // of its own sessions
  };

  /// Of sessions charged here, those that ended included. The caller locks,
  /// from here on.
  ashlar_stats_t ownStats() const;
  /// Of sessions here and below.
  void addStats(ashlar_stats_t &out) const;
  void collect(const String &path, Vector<Snapshot> &out) const;
  /// Puts `added` into the list and fills the receipts, or changes nothing;
  /// `targets` has a budget for each of them.
  Status chargeLocked(List<Charge::Line> &added,
                      const Vector<Budget *> &targets, String asked, bool keep,
                      Vector<Charge> &receipts);
  Account &account(const String &place);
  /// Null: there is none.
  const Account *findAccount(const String &place) const;
  void makeAccounts(const String &place);
  // Bytes taken away are given as a negative number, as unsigned ones have it.
  void count(Account &of, uint64_t bytes) noexcept;
  void countAbove(const String &place, uint64_t bytes) noexcept;
  /// Of a receipt: here and above, as far as nothing was set aside for it.
  void count(const Charge::Line &line, uint64_t bytes) noexcept;
  /// Of this budget and its ancestors; none: all is within its limits.
  Excess findExcess() const;
  /// Peaks, and what the trace is to know, here and above.
  void noteChange() noexcept;
  void labelAccount(Account &of, Trace *into) const;
  /// Makes labels here and below.
  void startTrace(Trace &into);
  /// Counts the refusal; the message says who holds what. `asked` is "N asks
  /// for B bytes".
  static Status refuse(const Excess &excess, String asked);
  /// Of a place; of all, "", without those in accounts of `sum` that its own
  /// sum leaves out, where it is not null.
  void collectHolders(const String &place, const String &path,
                      const Budget *sum, Vector<ashlar_holder_t> &out) const;
  /// The largest first, one of each name and kind.
  Vector<ashlar_holder_t> sortedHolders(const String &place,
                                        const Budget *sum) const;

  /// Of the tree.
  std::mutex &lock() const { return root->mutex; }

  OwnMemory *ownMemory = nullptr;           // the root's is the runtime's
  const std::shared_ptr<Budget> parent;     // null: it is the root
  Budget *const root;                       // of the tree, perhaps itself
  mutable std::mutex mutex;                 // the root's guards the tree
  Trace *trace = nullptr;                   // the root's
  Vector<Budget *> children;                // take themselves out
  uint64_t limit;                           // of all memory
  uint64_t current = 0;                     // in all memory, parts' left out
  uint64_t peak = 0;                        // of `current`
  mutable uint64_t refusals = 0;            // by limits of this budget
  uint64_t saved = 0;                       // that were there already
  Vector<Account> accounts;                 // by memory, the host's first
  List<Charge::Line> lines;                 // charged here; iterators stay
  Vector<const RunStatistics *> watched;    // of sessions that live
  ashlar_stats_t ended = ASHLAR_STATS_INIT; // of sessions that are gone
  Gate::Tenant ownTenant;                   // used right below the root
};

/// "arena", for people.
const char *memoryKindName(uint32_t kind);
/// Holders whose bytes are enough, as few as can be told quickly: the smallest
/// that is enough alone, else the largest together. Said behind a refusal.
String whoWouldHaveToGo(const Vector<ashlar_holder_t> &holders, uint64_t bytes);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_BUDGET_H
