// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles of a contraction's results are tried, on any machine: for each
// unit that takes the types, and each way that operands have to it, sizes along
// two dims. What fits, what else there is to choose, and what it takes says the
// kind of machine: a processor (ChooseBoxes), threads or arrays (ChooseLevels).
#ifndef ASHLAR_LIB_COST_TILESEARCH_H
#define ASHLAR_LIB_COST_TILESEARCH_H

#include "ashlar/Machine/MachineModel.h"
#include "llvm/ADT/SmallVector.h"

namespace ashlar {

class TileSearch {
public:
  virtual ~TileSearch() = default;

protected:
  /// One tile after the other, always in the same order: of equals, the first
  /// is chosen.
  void search();

  /// In the order in which they are tried. Null: arithmetic without a unit of
  /// its own in the model.
  virtual llvm::SmallVector<const MultiplyUnit *> units() = 0;
  /// Tries it from now on. How many ways operands have to it; 0: none, or it
  /// cannot have them.
  virtual size_t useUnit(const MultiplyUnit *unit) = 0;
  virtual void useWay(size_t way) = 0;
  /// In whole steps of the unit: sizes along one dim, and with each of them
  /// those along the other.
  virtual llvm::SmallVector<int64_t> outerSizes() = 0;
  virtual llvm::SmallVector<int64_t> innerSizes(int64_t outer) = 0;
  virtual void tryTile(int64_t outer, int64_t inner) = 0;
  /// All tiles of a way have been tried.
  virtual void endWay() = 0;
};

} // namespace ashlar

#endif // ASHLAR_LIB_COST_TILESEARCH_H
