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
  /// It was taken for an op, by its text.
  void note(mlir::Location op, llvm::StringRef strategy);
  /// A kernel was made of these nodes: what was taken for ops of them, and of
  /// no others, is refused. Whether there is any that was not before.
  bool refuse(mlir::Location kernel);
  bool isEmpty() const;
  bool contains(mlir::Location op, llvm::StringRef strategy) const;

  KnownLevels known; ///< what was chosen in any try of the program

private:
  using Nodes = std::set<std::string>;
  static Nodes nodesOf(mlir::Location location);

  mutable std::mutex mutex;
  std::map<Nodes, std::set<std::string>> taken, refused;
};

} // namespace ashlar

#endif // ASHLAR_COST_REFUSEDSTRATEGIES_H
