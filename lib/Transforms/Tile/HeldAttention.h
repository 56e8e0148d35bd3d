// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention whose groups hold scores and sums from one tile of keys to the
// next: Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018; that weights are the second product's operand where they are: Dao,
// "FlashAttention-2", 2023.
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_HELDATTENTION_H
#define ASHLAR_LIB_TRANSFORMS_TILE_HELDATTENTION_H

#include "BoxView.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// Writes the level 3 of such an op, on memrefs, in its place.
class HeldAttention {
public:
  explicit HeldAttention(tile::AttentionOp op);
  /// Fails, with the op as it was, where a dim that is not cut is open.
  mlir::LogicalResult write();

private:
  using Body = llvm::function_ref<mlir::Value(mlir::ValueRange)>;

  /// The dims of one product, where the present box begins and how long it is.
  struct Box {
    llvm::SmallVector<mlir::OpFoldResult> at;
    llvm::SmallVector<int64_t> extents, sizes; ///< of open dims the largest
    llvm::SmallVector<mlir::Value> open; ///< sizes a caller chooses, or null
    /// What lies on the unit's m, n and k.
    unsigned row, column, term;

    bool hasEdge(unsigned d) const {
      return open[d] ? extents[d] != 1 : sizes[d] % extents[d] != 0;
    }
  };
  /// What is copied of an operand, through its ring.
  struct Operand {
    mlir::Value memory;
    mlir::AffineMap map;
    tile::HopAttr hop;
    mlir::Value ring;
    mlir::Value slot, begun; ///< of the tile that is copied, or multiplied
  };
  /// Tiles of keys of which some have a weight for a row of the present part.
  struct Span {
    mlir::OpFoldResult from, to;
    bool isSeen = false; ///< each row sees all of them
  };

  // Where boxes begin and end, in HeldAttentionBoxes.cpp.
  mlir::LogicalResult makeBoxes();
  /// Dims that a caller chooses: what is not cut is not one of them.
  mlir::LogicalResult findOpen();
  mlir::LogicalResult refuse(const std::string &what);
  /// The size of a dim in an affine map: a number, or the next symbol, which is
  /// what is appended.
  mlir::AffineExpr sizeOf(const Box &box, unsigned d,
                          llvm::SmallVectorImpl<mlir::Value> &symbols);
  /// One of `exprs`, over `dims` and `symbols`.
  mlir::OpFoldResult apply(mlir::AffineExpr expr,
                           llvm::ArrayRef<mlir::OpFoldResult> dims,
                           mlir::ValueRange symbols = {});
  mlir::OpFoldResult least(llvm::ArrayRef<mlir::AffineExpr> exprs,
                           llvm::ArrayRef<mlir::OpFoldResult> dims,
                           mlir::ValueRange symbols = {});
  mlir::OpFoldResult most(llvm::ArrayRef<mlir::AffineExpr> exprs,
                          llvm::ArrayRef<mlir::OpFoldResult> dims,
                          mlir::ValueRange symbols = {});
  /// `padded` becomes true where the box may reach beyond an end.
  BoxView view(mlir::Value memory, mlir::AffineMap map, const Box &box,
               llvm::ArrayRef<unsigned> dims, bool &padded);

  // How operands come.
  void makeOperands();
  void emitGrid();
  llvm::StringRef scope();
  void makeRing(Operand &operand, const Box &box);
  void copy(Operand &operand, const Box &box);
  void wait(llvm::ArrayRef<Operand *> operands);
  /// Gives back a slot that nothing reads any more.
  void release(Operand &operand);

  // Loops over tiles of keys, in HeldAttentionLoops.cpp.
  /// Sums, largest scores and sums of weights behind all tiles, from those in
  /// front of the first one.
  llvm::SmallVector<mlir::Value> loopOverKeys(mlir::ValueRange start);
  /// Of all, or of those that the part has.
  mlir::OpFoldResult firstKey();
  /// One behind the other.
  llvm::SmallVector<Span, 2> spansOfKeys();
  /// From there on, keys and values are those of the tile.
  void moveTo(mlir::Value key);
  void copyTile();
  llvm::SmallVector<mlir::Value> loop(const Span &span, mlir::ValueRange start);
  /// Where it is not known how many tiles there are, and threads copy by
  /// themselves: each tile begins to copy the next one, or, at the end, one
  /// that nobody uses.
  llvm::SmallVector<mlir::Value> loopAhead(llvm::ArrayRef<Span> spans,
                                           mlir::ValueRange start);
  /// Where steps go on while others begin: those of a tile's scores begin in
  /// front of those of the values before it, which go on while its weights are
  /// computed.
  llvm::SmallVector<mlir::Value> loopBehind(llvm::ArrayRef<Span> spans,
                                            mlir::ValueRange start);
  /// One tile of it: from sums, largest scores, sums of weights and the weights
  /// of the tile before, to those of the tile.
  llvm::SmallVector<mlir::Value> stepBehind(mlir::Value key,
                                            mlir::ValueRange before);
  bool goesBehind();
  /// Groups that issue one after the other.
  int64_t groupsInTurn();
  void takeTurn();
  void passTurn();
  /// The first that a row sees, or any where none does.
  mlir::OpFoldResult firstTile(mlir::OpFoldResult from, mlir::OpFoldResult to);

  // Accumulators.
  tile::AccType typeOf(const Box &box, mlir::Type element,
                       tile::StrategyAttr strategy);
  void fill(mlir::Region &region, llvm::ArrayRef<mlir::Type> types, Body body);
  mlir::Value map(tile::AccType result, mlir::ValueRange inputs,
                  llvm::ArrayRef<mlir::AffineMap> maps, bool padded, Body body);
  /// Each element with its row's number.
  mlir::Value mapRows(mlir::Value all, mlir::Value rows, Body body);
  mlir::Value mapBoth(mlir::Value x, mlir::Value y, Body body);
  /// Of each row.
  mlir::Value reduce(mlir::Value all, Body body);
  /// `aMap` is null where a is an accumulator. With `begun`, the step goes on
  /// until that token has been waited for.
  mlir::Value multiply(mlir::Value sums, mlir::Value a, mlir::AffineMap aMap,
                       Operand &right, const Box &box,
                       mlir::Value *begun = nullptr);

  // One tile of keys, and what becomes of all of them.
  mlir::Value inlined(mlir::Region &region, mlir::ValueRange arguments);
  /// Of a score, in a body.
  mlir::Value placeOf(unsigned d);
  mlir::Value multiplyKeys(mlir::Value *begun = nullptr);
  /// Of products of queries and keys: what the model makes of them.
  mlir::Value makeScores(mlir::Value products);
  /// Of the distance to the largest score; that to none is to zero.
  mlir::Value power(mlir::Value score, mlir::Value largest);
  /// What the scores of a tile make of the largest before and of the sum of
  /// weights before.
  struct Weights {
    mlir::Value largest, total;
    mlir::Value weights; ///< of the tile
    mlir::Value scale;   ///< of sums so far
  };
  Weights weigh(mlir::Value all, mlir::Value largest, mlir::Value total);
  mlir::Value rescale(mlir::Value sums, mlir::Value scale);
  /// With a tile that is there, or whose values are still waited for.
  llvm::SmallVector<mlir::Value> step(mlir::ValueRange before,
                                      bool waitsForValues);
  void finish(mlir::Value sums, mlir::Value total);
  /// Of a part of the keys: for somebody else to merge.
  void storePart(mlir::ValueRange all);
  /// Stores what an accumulator holds at places of `map`, over the dims of the
  /// values.
  void store(mlir::Value acc, mlir::AffineMap map);

  mlir::Value number(const llvm::APFloat &value);
  mlir::Value index(int64_t value);
  mlir::Value valueOf(mlir::OpFoldResult place);

  tile::AttentionOp op;
  mlir::ImplicitLocOpBuilder b;
  mlir::FloatType type; ///< of scores and sums
  unsigned rank;        ///< of scores
  mlir::AffineMap columns, rowsAlone;
  Box scores, values;
  Operand queries, keys, weighed;
  llvm::SmallVector<mlir::Value> begins; ///< of the present tile of scores
  bool isSeen = false; ///< no score of the present tile is hidden
  /// Where a grid shares out keys: how many a part has, and its number.
  int64_t partKeys = 0;
  mlir::OpFoldResult part;
  mlir::Value lowest, zero;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_HELDATTENTION_H
