// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What choosing levels knows of a contraction and of the unit that is tried,
// what it asks of a choice of tiles, and the strategy that the choice becomes.
#ifndef ASHLAR_LIB_COST_LEVELPROBLEM_H
#define ASHLAR_LIB_COST_LEVELPROBLEM_H

#include "ashlar/Cost/ChooseLevels.h"
#include "ashlar/Cost/UnitOperands.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/IR/TypeUtilities.h"

namespace ashlar {

/// All that is chosen; sizes by dim of the contraction.
struct LevelCandidate {
  mlir::SmallVector<int64_t, 8> tile,
      part;                       ///< of an accumulator; of one of its group
  int64_t bytesA = 0, bytesB = 0; ///< of a slot, as measureSlots() finds them
  int64_t across = 1; ///< parts of the grid side by side that share b's copies
  int64_t slots = 2;
  const CopyEngine *stores = nullptr; ///< results leave by it; null: threads do
  double cycles = 0;
  Prediction prediction;
};

/// Bytes that are read of an operand: of what `tile.decode` makes it of, else
/// its own.
int64_t bytesRead(mlir::Value operand);

/// The contraction on a machine, and the unit that is tried.
class LevelProblem {
public:
  LevelProblem(tile::ContractOp op, const MachineModel &machine,
               bool openSizes);

  /// Those whose threads hold fragments, and the fastest other one for the
  /// types; else for those of the sum.
  mlir::SmallVector<const MultiplyUnit *> findUnits();

  /// Tries this unit from now on. False: it cannot have the operands.
  bool use(const MultiplyUnit &one);
  /// How many ways operands have to it, and tries one of them from now on.
  size_t countPaths() const { return paths.size(); }
  void usePath(size_t number) { path = paths[number]; }

  /// Waves of parts, each of which takes its slowest resource's time for each
  /// tile of terms, and what of the copies' latency stays visible.
  void predict(LevelCandidate &one);

  tile::StrategyAttr strategyOf(const LevelCandidate &one);

protected:
  int64_t rowsOf(mlir::ArrayRef<int64_t> tile);
  int64_t columnsOf(mlir::ArrayRef<int64_t> tile) {
    return tile[numParallel - 1];
  }
  int64_t termsOf(const LevelCandidate &one);
  /// What a slot of each operand takes, which depends on the tile alone.
  void measureSlots(LevelCandidate &one);
  static int64_t bytesOfSlots(const LevelCandidate &one) {
    return one.slots * (one.bytesA + one.bytesB);
  }
  /// Of two words for each slot of both rings, each ring where it may begin.
  int64_t bytesOfPhases(const LevelCandidate &one);
  int64_t groupsOf(const LevelCandidate &one); ///< that share a tile
  /// Whether threads that copy words have few enough of them in a tile.
  bool hasFewWords(const LevelCandidate &one);
  /// More would wait for no copy any later: tiles whose copies go on, the one
  /// that is computed, and steps that keep theirs.
  int64_t mostSlots();
  /// Elements of an operand that a tile has along its last dim.
  int64_t rowOf(mlir::AffineMap map, const LevelCandidate &one);
  /// The outermost row dim with several parts, which read the same b.
  std::optional<unsigned> dimAcross(const LevelCandidate &one);
  /// Where elements of a slot lie, so that its readers do not meet in banks.
  tile::LayoutAttr layoutOf(mlir::Value operand, int64_t rowElements);
  /// Whether threads multiply element by element.
  bool readsLanes() { return unit->m == 1 && unit->k == 1; }
  /// What copies an operand where others come by `engine`: threads themselves,
  /// if they compute it on the way; null: none does.
  const CopyEngine *engineOf(mlir::Value operand, const CopyEngine &engine);
  /// Whether it is a tensor with zeros around it, which no memory has.
  bool hasMargins(mlir::Value operand) {
    return llvm::is_contained(surrounded, operand);
  }
  /// Whether threads compute an operand where they copy it.
  bool isComputed(mlir::Value operand) {
    return operand.getDefiningOp<tile::DecodeOp>() && !hasMargins(operand);
  }
  /// Whether copies have a role of their own, beside those that multiply.
  bool hasRoles() { return path.size() == 1 && path.front()->boxes; }
  /// Whether the engine takes each tile at once, or in rows of a swizzle.
  bool fitsBoxes(const LevelCandidate &one);
  bool isGridded() { return machine.workers.count > 1; }

  tile::ContractOp op;
  const MachineModel &machine;
  bool openSizes; ///< which dims a caller chooses is not known here: any
  unsigned numParallel;
  mlir::SmallVector<int64_t> sizes; ///< of all dims
  mlir::SmallVector<unsigned> m, n, k, lanes;
  mlir::SmallVector<mlir::Value, 1> surrounded; ///< operands with margins
  const MultiplyUnit *unit = nullptr;
  const Scope *group = nullptr;
  const Scope *inner = nullptr, *outer = nullptr; ///< the innermost grids
  const Memory *near = nullptr, *sums = nullptr;
  using Path = std::vector<const CopyEngine *>;
  std::vector<Path> paths; ///< those that are shortest
  Path path;               ///< that is tried, far to near

private:
  bool findGroup();
  /// A unit with fragments reads terms, or rows and columns, side by side.
  bool takesOperands();
  bool isLeftOut(mlir::AffineMap map, mlir::AffineExpr expr, unsigned dim);
  /// Whether an engine's pieces lie where it can copy them.
  bool takes(const CopyEngine &engine, mlir::Value operand,
             mlir::AffineMap map);
  /// Whether an engine of boxes takes the operand: all of a tensor.
  bool takesBoxes(const CopyEngine &engine, mlir::ShapedType type,
                  mlir::AffineMap map);
  /// The engines from the farthest memory to where the unit reads operands.
  bool findPaths();

  /// A thread copies element by element, each as long as the least there is.
  double cyclesOfCopies(const LevelCandidate &one, const CopyEngine &engine);
  /// What threads take to compute so many bytes of an operand; 0: they do not.
  double cyclesOfDecoding(mlir::Value operand, int64_t bytes);
  /// What storing the results of `waves` of parts adds, by threads or by the
  /// engine for them, whichever is faster: `stores` says which.
  double cyclesOfStores(LevelCandidate &one, double waves);
  /// Bytes of the nearest memory that results may pass through on their way to
  /// an engine, besides the operands' slots; 0: they cannot.
  int64_t bytesForStores(const LevelCandidate &one);
  /// Parts that one worker has at a time, as far as the nearest memory lets it.
  int64_t residents(const LevelCandidate &one);
  /// What all groups read of the nearest memory for one tile of terms.
  double cyclesOfReads(const LevelCandidate &one);

  mlir::DictionaryAttr hints(const LevelCandidate &one);
};

} // namespace ashlar

#endif // ASHLAR_LIB_COST_LEVELPROBLEM_H
