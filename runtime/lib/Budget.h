// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A budget counts bytes before they are allocated. A Charge is the receipt:
// it names its holder and pays back when it is destroyed.

#ifndef ASHLAR_RUNTIME_LIB_BUDGET_H
#define ASHLAR_RUNTIME_LIB_BUDGET_H

#include "Status.h"

#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace ashlar::runtime {

class Budget;

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

private:
  friend class Budget;
  struct Line {
    std::string holder;
    ashlar_memory_kind_t kind;
    uint64_t bytes;
  };
  void swap(Charge &other) noexcept {
    std::swap(budget, other.budget);
    std::swap(line, other.line);
  }

  std::shared_ptr<Budget> budget;
  std::list<Line>::iterator line;
};

class Budget : public std::enable_shared_from_this<Budget> {
public:
  Budget(std::string name, uint64_t limit)
      : name(std::move(name)), limit(limit) {}

  struct Request {
    ashlar_memory_kind_t kind;
    uint64_t bytes;
    Charge &out;
  };
  /// Takes the bytes of all requests or of none; a refusal says what is missing
  /// and who holds the rest. Zero bytes always fit.
  Status charge(const std::string &holder,
                std::initializer_list<Request> requests);

  void query(ashlar_budget_statistics_t &out) const;
  /// Largest first; charges of one holder and kind are added up.
  std::vector<ashlar_holder_t> holders() const;

private:
  friend class Charge;
  Status refuse(const std::string &holder,
                std::initializer_list<Request> requests, uint64_t total) const;
  std::vector<ashlar_holder_t> holdersLocked() const;

  const std::string name;
  const uint64_t limit;
  mutable std::mutex mutex;
  uint64_t current = 0;
  uint64_t peak = 0;
  uint64_t refusals = 0;
  uint64_t currentOf[ASHLAR_MEMORY_KINDS] = {};
  std::list<Charge::Line> lines;
};

const char *memoryKindName(uint32_t kind);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_BUDGET_H
