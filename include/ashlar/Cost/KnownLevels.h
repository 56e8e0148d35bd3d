// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_COST_KNOWNLEVELS_H
#define ASHLAR_COST_KNOWNLEVELS_H

#include "ashlar/Cost/ChooseLevels.h"
#include <map>
#include <mutex>
#include <vector>

namespace ashlar {

/// Choices of levels by what they depend on, so that a network's layers of the
/// same sizes are chosen for once. Of one program and its machines, which the
/// ops' devices tell apart; within one context. Any thread may ask.
class KnownLevels {
public:
  /// Null: not known yet. Inside: what chooseLevels() returned.
  std::optional<std::optional<LevelChoice>> find(tile::ContractOp op,
                                                 bool openSizes) const;
  void add(tile::ContractOp op, bool openSizes,
           std::optional<LevelChoice> choice);

  /// What the levels depend on.
  using Key = std::vector<const void *>;
  static Key keyOf(tile::ContractOp op, bool openSizes);

private:
  mutable std::mutex mutex;
  std::map<Key, std::optional<LevelChoice>> choices;
};

} // namespace ashlar

#endif // ASHLAR_COST_KNOWNLEVELS_H
