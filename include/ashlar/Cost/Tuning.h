// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choices that were measured, in place of predicted ones. docs/tuning.md
// describes the file.
#ifndef ASHLAR_COST_TUNING_H
#define ASHLAR_COST_TUNING_H

#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Support/Refusal.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace ashlar {

/// What a table says of a contraction's strategy, one number per parallel dim;
/// all else follows from it.
struct StrategyChoice {
  std::vector<int64_t> box;   ///< of sums in registers
  std::vector<int64_t> order; ///< of loops, outermost first; empty: the model's
};

struct TuningEntry {
  std::string contraction; ///< as contractionText() spells it
  StrategyChoice choice;
  /// Of one run of it, and of one with the model's own choice; 0: unknown.
  double microseconds = 0, ownMicroseconds = 0;
};

struct TuningTable {
  std::string version;                ///< of the compiler that it is for
  std::string machine, machineDigest; ///< the model that it was measured with
  std::string digest;                 ///< SHA-256 of the file
  std::map<std::string, TuningEntry> entries; ///< by contraction

  /// Why it says nothing to this compiler about that machine.
  Refusal whyNotFor(llvm::StringRef version, const MachineModel &machine) const;
};

/// The error names the file, the field, what was expected and what was found.
llvm::Expected<TuningTable> readTuningTable(llvm::StringRef path);

/// A contraction with all choices that are worth a measurement.
struct ListedContraction {
  std::string contraction;
  /// For each that there is, its nodes.
  std::vector<std::vector<std::string>> places;
  struct Candidate {
    StrategyChoice choice;
    int64_t cycles; ///< as predicted
  };
  std::vector<Candidate> candidates; ///< the model's own choice first
};

/// What the choice of strategies for one program hears and tells beside the
/// machine model. Safe to use from several threads.
class StrategyTuning {
public:
  /// The table may be null. Where it is ignored, no entry is used.
  StrategyTuning(std::shared_ptr<const TuningTable> table, Refusal whyIgnored,
                 bool lists)
      : whyIgnored(std::move(whyIgnored)), lists(lists),
        table(std::move(table)) {}

  /// Null: the table has none, or is not for this machine.
  const TuningEntry *find(llvm::StringRef contraction) const;
  bool isUsed() const { return table && !whyIgnored; }
  const TuningTable *getTable() const { return table.get(); }

  void list(ListedContraction contraction);
  /// As JSON: the same for the same program.
  void printList(llvm::StringRef version, const MachineModel &machine,
                 llvm::raw_ostream &out) const;

  /// An entry is wrong, and was reported.
  void refuse();
  bool isRefused() const;

  const Refusal whyIgnored;
  const bool lists;

private:
  const std::shared_ptr<const TuningTable> table;
  mutable std::mutex mutex;
  bool refused = false;
  std::map<std::string, ListedContraction> listed;
};

} // namespace ashlar

#endif // ASHLAR_COST_TUNING_H
