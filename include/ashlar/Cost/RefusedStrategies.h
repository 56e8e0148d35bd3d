// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an assembler says of registers goes back into the choice: strategies
// whose kernels keep in memory what should be in registers are not taken again.
#ifndef ASHLAR_COST_REFUSEDSTRATEGIES_H
#define ASHLAR_COST_REFUSEDSTRATEGIES_H

#include "ashlar/Cost/KnownLevels.h"
#include "mlir/IR/Location.h"
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace ashlar {

/// Of one program. What a strategy is for is known by its nodes of the model,
/// which a later try of the same program has as well. Any thread may ask.
class RefusedStrategies {
public:
  /// What becomes the same code: a contraction's sizes, types and epilogue.
  using Form = KnownLevels::Key;
  static Form formOf(tile::ContractOp op, bool openSizes);

  /// It was taken for an op, by its text. Of a thread, it has so many sums, 0
  /// if that is not what its registers are for.
  void note(mlir::Location op, llvm::StringRef strategy, int64_t sums = 0,
            Form form = {});
  /// A kernel was made of these nodes: what was taken for ops of them, and of
  /// no others, is refused, also for others of the same form, which share that
  /// kernel. Whether there is any that was not before.
  bool refuse(mlir::Location kernel);
  bool isEmpty() const;
  /// Whether it was refused, or has as many sums as one that was, if these are
  /// most of a thread's registers: what lies otherwise needs no fewer.
  bool contains(mlir::Location op, llvm::StringRef strategy, int64_t sums = 0,
                const Form &form = {}) const;

  KnownLevels known; ///< what was chosen in any try of the program

private:
  using Nodes = std::set<std::string>;
  static Nodes nodesOf(mlir::Location location);
  struct Taken {
    int64_t sums = 0;
    std::set<Form> forms;
  };
  using Strategies = std::map<std::string, Taken>; ///< by their texts
  static bool has(const Strategies &all, llvm::StringRef strategy,
                  int64_t sums);

  mutable std::mutex mutex;
  std::map<Nodes, Strategies> taken, refused;
  std::map<Form, Strategies> refusedForms;
};

} // namespace ashlar

#endif // ASHLAR_COST_REFUSEDSTRATEGIES_H
