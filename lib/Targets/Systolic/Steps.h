// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When what is on chip, and where: folds in groups between two rounds of
// syncs, operands loaded one step before they are used, and places in both
// memories that are taken again once nobody can still be at work there.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_STEPS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_STEPS_H

#include "Layout.h"

#include <map>

namespace ashlar::systolic {

/// Rows of one memory that are given out in turn.
class Ring {
public:
  Ring() = default;
  Ring(int64_t base, int64_t rows) : base(base), rows(rows), head(base) {}

  struct Piece {
    int64_t begin, end;
    int lastStep; ///< of its use
  };

  /// A place for `length` rows from `step` on, where everything before was last
  /// used at least `distance` steps ago. -1: there is none. `lastStep` becomes
  /// at least the last step that used any of it.
  int64_t take(int64_t length, int step, int distance, int &lastStep);
  /// The piece that begins there, still in use.
  void use(int64_t begin, int step);
  /// Whether what began there and had that length still lies there.
  bool holds(int64_t begin) const { return pieces.count(begin) != 0; }

private:
  int64_t base = 0, rows = 0, head = 0;
  std::map<int64_t, Piece> pieces; ///< by begin
};

/// What comes on chip for a step.
struct TileLoad {
  enum Kind { A, B, Operand, Bias } kind;
  int64_t chunk, nBlock, tile; ///< those of A, B or the operand's result
  unsigned operand = 0;
  uint32_t place = 0;
};

/// A block of the result.
struct ResultBlock {
  int64_t chunk, nBlock;
  uint32_t place = 0; ///< first row in the accumulator
  uint32_t array = 0;
  std::vector<uint32_t> operands; ///< places of those with a row each
};

/// All folds of one tile into one block of the result.
struct Unit {
  int64_t result; ///< among Steps::results
  int64_t tile;
  uint32_t a, b; ///< places
};

struct Step {
  std::vector<TileLoad> loads;
  std::vector<Unit> units;
  std::vector<int64_t> finished; ///< results
  /// The last step whose folds must have ended before its loads; -1: none. The
  /// step before is the latest.
  int reuses = -1;
  /// Its loads take places that the vector unit has read.
  bool reusesOperands = false;
  /// Its results take places that others have been stored from.
  bool reusesResults = false;
};

/// Which parts of the memories are for what.
struct Areas {
  int64_t fixedRows[2] = {0, 0}; ///< scratchpad, accumulator: given out before
};

struct Steps {
  std::vector<Step> steps;
  std::vector<ResultBlock> results;
  std::string error; ///< why it does not fit
};

Steps planSteps(const Layout &layout, const Areas &areas);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_STEPS_H
