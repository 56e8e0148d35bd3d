// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the loops of a contraction's strategy. It chooses nothing.
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_CONTRACTEXPANDER_H
#define ASHLAR_LIB_TRANSFORMS_TILE_CONTRACTEXPANDER_H

#include "BoxView.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

class ContractExpander {
public:
  explicit ContractExpander(tile::ContractOp op);

  llvm::LogicalResult run();

private:
  using Value = mlir::Value;
  using Loop = tile::StrategyAttr::Loop;
  template <typename T> using SmallVector = llvm::SmallVector<T>;
  template <typename T> using ArrayRef = llvm::ArrayRef<T>;

  /// A slot, and where the box stood that it was filled for.
  struct Near {
    tile::HopAttr hop;
    Value slot;
    SmallVector<mlir::OpFoldResult> at;
    SmallVector<int64_t> extents, steps;
  };

  //===-- Loops, in ExpandContracts.cpp -----------------------------------===//
  void findEnds();
  Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, value);
  }
  Value valueOf(mlir::OpFoldResult place);
  Value extent(unsigned d) { return open[d] ? open[d] : index(sizes[d]); }
  mlir::OpFoldResult extentOf(unsigned d) {
    return open[d] ? mlir::OpFoldResult(open[d]) : b.getIndexAttr(sizes[d]);
  }
  /// The accumulator's tile, or how many terms come at a time.
  int64_t chunk(unsigned d) {
    int64_t tile = strategy.getTile(d);
    return tile ? tile : sizes[d];
  }
  bool hasTerms() { return !llvm::is_contained(op.getReduced(), 0); }
  bool hasOpenTerms() {
    return llvm::any_of(ArrayRef<Value>(open).drop_front(numParallel),
                        [](Value size) { return size != nullptr; });
  }
  bool isCut(unsigned d);
  bool hasOpenSteps(Value memory, mlir::AffineMap map, unsigned d);
  bool hasOpenSteps(unsigned d);
  bool isWalked(unsigned d);
  /// Whether a box may reach beyond the end of a masked dim.
  bool hasEdge(unsigned d);
  /// Calls `emit` for the parts of all workers of this program.
  void emitWorkers(llvm::function_ref<void()> emit);
  void emitGrid(tile::LevelAttr level);
  /// Other places for the same tiles of a grid, in which neighbours share both
  /// operands.
  void raster(mlir::scf::ForallOp grid, llvm::SmallVectorImpl<Value> &places);
  void emitPad();
  /// Inside of `depth` of the loops.
  void emitLoops(unsigned depth);
  void emitLoop(unsigned depth);
  void emitMaskedLoop(unsigned depth);
  void emitOpenLoops(unsigned depth);
  SmallVector<int64_t> openSteps(unsigned d);
  Value endOfSteps(Value from, Value to, int64_t step);
  int64_t rowsAtOnce(unsigned d);
  bool isOverRowsOfRows(unsigned depth);
  void emitRowsOfRows(unsigned depth);
  /// The end of the box that `d` stands in, and of the dim, where it is masked.
  Value endOfBox(unsigned d);

  //===-- Operands, in ExpandHops.cpp -------------------------------------===//
  /// The part of `memory` that a box touches whose dims are `dims` with the
  /// extents `extents`, all other dims standing still. Where a dim is masked,
  /// what exists of it.
  BoxView view(Value memory, mlir::AffineMap map, ArrayRef<unsigned> dims,
               ArrayRef<int64_t> extents);
  /// How many of the points of the present box exist along a masked dim.
  mlir::OpFoldResult countIn(unsigned d);
  /// The same of an operand, which may end in front of its dims.
  mlir::OpFoldResult countIn(tile::OperandKind operand, unsigned d);
  /// Whether some of it may not exist.
  bool reachesBeyond(mlir::AffineMap map, ArrayRef<unsigned> dims);
  bool endsBefore(tile::OperandKind operand);
  /// A copy of b has a size that is known.
  bool packs() {
    return strategy.getPack() != nullptr && !hasOpenTerms() && hasTerms();
  }
  BoxView packB();
  BoxView viewOfPacked(ArrayRef<unsigned> dims, ArrayRef<int64_t> extents);
  bool hasRing(tile::HopAttr hop);
  Value memoryOf(tile::OperandKind operand) {
    return operand == tile::OperandKind::A ? op.getA() : op.getB();
  }
  mlir::AffineMap mapOf(tile::OperandKind operand) {
    return operand == tile::OperandKind::A ? op.getAMap() : op.getBMap();
  }
  /// Copies what has its place inside of `depth` loops; gives how many slots
  /// are to be released at the end of what is there.
  unsigned bring(unsigned depth);
  void copy(tile::HopAttr hop);
  void release(unsigned count);
  /// What a copy of the present tile reads: along dims that are not summed up
  /// to the end of memory, whose elements nobody uses beyond the dim's own.
  BoxView viewToCopy(tile::OperandKind operand, ArrayRef<unsigned> dims,
                     ArrayRef<int64_t> extents);
  const Near *nearestOf(tile::OperandKind operand);
  /// How far the present box stands behind where it stood when a slot was
  /// filled, by the dims of the operand; none: nowhere.
  SmallVector<Value> offsetsIn(const Near &own);
  BoxView operandOf(tile::OperandKind operand, ArrayRef<unsigned> dims,
                    ArrayRef<int64_t> extents, SmallVector<Value> &offsets);

  //===-- Sums, in ExpandSums.cpp -----------------------------------------===//
  /// Whether groups of terms lie side by side in b: where it should be copied
  /// so and is not, terms are summed one by one.
  bool isGrouped() {
    return strategy.isGrouped() && (strategy.getPack() != nullptr) == packs();
  }
  /// Those that one accumulator is longer than one along, and the lanes.
  SmallVector<unsigned> accumulatorDims();
  tile::AccType accumulatorOf(ArrayRef<unsigned> dims);
  Value zeros(tile::AccType type);
  void emitBox();
  void drain(Value sums, ArrayRef<unsigned> dims);
  Value emitTerms(unsigned depth, ArrayRef<unsigned> dims, Value sums);
  Value emitTermLoop(unsigned depth, ArrayRef<unsigned> dims, Value sums);
  Value emitChunk(unsigned depth, ArrayRef<unsigned> dims, Value sums);
  Value emitSteps(unsigned d, ArrayRef<unsigned> dims, Value sums);
  Value emitStep(ArrayRef<unsigned> dims, Value sums);
  /// Of sums of parts: the memory for them, and the sum of all.
  void makePartials();
  mlir::AffineMap mapOfPartials();
  Value addPartials(ArrayRef<unsigned> dims, Value sums);

  tile::ContractOp op;
  mlir::ImplicitLocOpBuilder b;
  tile::StrategyAttr strategy;
  SmallVector<Loop> loops; ///< those over terms last
  unsigned numParallel, numOutside = 0;
  SmallVector<int64_t> sizes; ///< of all dims
  SmallVector<Value> open;    ///< sizes that are values, by dim
  /// Of a and of b, by dim: where they end, while the dim does not; null: where
  /// it does.
  SmallVector<SmallVector<Value>> ends;
  SmallVector<int64_t> box;     ///< of the present tile; 0: a value
  SmallVector<int64_t> largest; ///< accumulator and chunk that there is
  SmallVector<int64_t> whole;   ///< of a part's terms
  SmallVector<mlir::OpFoldResult> at;
  SmallVector<Value> high;     ///< ends of the worker's box
  SmallVector<char> isEntered; ///< by a loop
  SmallVector<Value> workers;  ///< numbers of the present part
  bool hasEmptyBoxes = false;  ///< behind the end of a dim
  BoxView packed;
  Value slot; ///< that b is packed into
  SmallVector<Near> near;
  mlir::Operation *front = nullptr; ///< rings stand behind it; null: in worker
  mlir::Block *worker = nullptr;
  Value zero;
  Value partials;              ///< memory of sums of parts; null: none
  SmallVector<unsigned> split; ///< terms that are shared out
  bool isJoining = false;      ///< the sums of parts are there
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_CONTRACTEXPANDER_H
