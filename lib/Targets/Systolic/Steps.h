// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When what is on chip, and where: folds in groups between two rounds of
// syncs, operands loaded one step before they are used, and places in both
// memories that are taken again once nobody can still be at work there.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_STEPS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_STEPS_H

#include "ChipLayout.h"
#include "WrittenRows.h"

#include <map>

namespace ashlar::systolic {

/// Rows of one memory that are given out in turn.
class RowAllocator {
public:
  RowAllocator() = default;
  /// `lastStep`: the last that used any of it for something else; -1: none.
  /// `bankRows`: pieces that follow each other lie in different banks of so
  /// many rows, if they can; 0: wherever.
  RowAllocator(int64_t base, int64_t rows, int lastStep = -1,
               int64_t bankRows = 0)
      : base(base), rows(rows), bankRows(bankRows), head(base) {
    if (lastStep >= 0 && rows > 0)
      pieces[base] = {base, base + rows, lastStep};
  }

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
  /// Nobody gets it before it is given back, last used by `step`.
  void keep(int64_t begin);
  void giveBack(int64_t begin, int step) { pieces.at(begin).lastStep = step; }
  /// Whether what began there and had that length still lies there.
  bool holds(int64_t begin) const { return pieces.count(begin) != 0; }

private:
  int64_t base = 0, rows = 0, bankRows = 0, head = 0;
  int64_t lastBank = -1;            ///< of the newest piece
  std::map<int64_t, int64_t> heads; ///< by bank
  std::map<int64_t, Piece> pieces;  ///< by begin
};

/// What comes on chip for a step.
struct TileLoad {
  enum Kind { A, B, Operand, Bias } kind;
  int64_t chunk, nBlock, tile; ///< those of A, B or the operand's result
  unsigned operand = 0;
  uint32_t place = 0;
  /// The step that finishes the last of it, if this stream computes it; it is
  /// stored two steps later. -1: it is there from the beginning.
  int written = -1;
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

struct StreamStep {
  size_t part = 0; ///< contraction of the stream
  /// Its first: what the epilogue reads all the time is loaded, too.
  bool opensPart = false;
  /// And nothing else is under way: what is there first is used first.
  bool isFresh = false;
  std::vector<TileLoad> loads;
  std::vector<Unit> units;
  std::vector<int64_t> finished; ///< results
  /// Results whose sums are there, where what follows needs all of a row's.
  std::vector<int64_t> summed;
  /// The last step whose folds must have ended before its loads; -1: none. The
  /// step before is the latest.
  int reuses = -1;
  /// Its loads take places that the vector unit has read.
  bool reusesOperands = false;
  /// Its results take places that others have been stored from.
  bool reusesResults = false;
  /// The last step whose results its folds read on chip; -1: none.
  int keptFrom = -1;
  /// Of the arrays, as far as it is known beforehand.
  int64_t start = 0, cycles = 0;
};

/// Rows of the scratchpad and of the accumulator that a contraction has. What
/// stays in its place takes them from the beginning.
struct Areas {
  int64_t begin[2] = {0, 0}, next[2] = {0, 0}, end[2] = {0, 0};

  bool overlap(const Areas &other) const {
    return begin[0] < other.end[0] && other.begin[0] < end[0];
  }
};

struct Steps {
  std::vector<StreamStep> steps;
  std::vector<ResultBlock> results;
  std::string error; ///< why it does not fit
};

std::vector<Transfer> loadsOf(const ChipLayout &layout, const TileLoad &tile);

/// Appends the steps of another contraction. `free`: the last step whose
/// results must have left before it begins, whose areas it may have; -1: none.
/// `written` knows and learns where results lie; null: nobody asks.
void planSteps(const ChipLayout &layout, const Areas &areas, int free,
               WrittenRows *written, Steps &plan);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_STEPS_H
