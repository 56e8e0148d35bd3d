// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a contraction is cut for a machine, and where each part lies in memory
// and on chip: chunks of rows, blocks of columns, folds of terms.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_CHIPLAYOUT_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_CHIPLAYOUT_H

#include "Contraction.h"
#include "StreamWriter.h"

namespace ashlar::systolic {

/// What may be chosen.
struct Choice {
  /// A's rows on chip are its own, and each tap of a convolution reads them
  /// from another place; otherwise each result has a row of all its terms.
  bool readsTapsInPlace = false;
  int64_t chunkRows = 0;  ///< results of one chunk, at most
  int64_t tileBlocks = 0; ///< folds whose operands come together, at most
  int64_t stepCycles = 0; ///< of the array, between two rounds of syncs
  /// Sums stay in the array while all terms of a tile go by; otherwise B does.
  bool isOutputStationary = false;
  /// One row of results is multiplied and added by the vector unit, which takes
  /// weights faster than an array: rows of B, and A as a column beside them.
  bool isOnLanes = false;
};

/// Terms of one fold.
struct KBlock {
  int64_t first; ///< among all terms
  int64_t depth;
  int64_t bRow;  ///< first row within its tile of B
  int64_t plane; ///< which block of A's columns it reads
  int64_t aRow;  ///< where its tap begins in that
};

/// Rows of the result that are computed together.
struct Chunk {
  int64_t batch;                    ///< among all batches
  int64_t first, rows;              ///< among all rows, if those of a range
  std::vector<int64_t> begin, size; ///< of the dims of M, if a box
  int64_t pixels;                   ///< rows of one plane of A on chip

  bool operator==(const Chunk &other) const {
    return batch == other.batch && first == other.first && rows == other.rows &&
           begin == other.begin && size == other.size;
  }
};

/// Where a contraction is cut, and in which order its results are begun.
struct Cuts {
  struct Block {
    int64_t chunk, nBlock;
  };

  std::vector<Chunk> chunks;
  /// Ranges of folds whose operands come together: ends of each.
  std::vector<int64_t> tileEnds;
  std::vector<Block> blocks;
};

class ChipLayout {
public:
  /// `cuts`: those of a strategy's loops; null: by the sizes of `choice`.
  ChipLayout(const Contraction &contraction, const Machine &machine,
             const Choice &choice, const Cuts *cuts = nullptr);

  const Contraction &contraction;
  const Machine &machine;
  const Choice choice;
  const int64_t dim;
  bool bIsTransposed = false;
  /// A's rows on chip are terms, its columns results: a block of them after the
  /// other, for each fold.
  bool aIsTransposed = false;
  std::vector<Chunk> chunks;
  std::vector<KBlock> kBlocks;
  /// Ranges of kBlocks whose operands come together: ends of each.
  std::vector<int64_t> tileEnds;
  std::vector<Cuts::Block> blocks; ///< in the order in which they are begun
  int64_t nBlocks = 0;

  int64_t tileBegin(int64_t tile) const {
    return tile ? tileEnds[size_t(tile - 1)] : 0;
  }
  int64_t columnsOf(int64_t nBlock) const;
  /// What an array takes for a tile, without gaps.
  int64_t cyclesOf(const Chunk &chunk, int64_t tile) const;

  int64_t aRows(const Chunk &chunk, int64_t tile) const;
  int64_t bRows(int64_t tile) const;

  /// Loads of the blocks [begin, end) of a tile that lies at `place`.
  std::vector<Transfer> loadsOfA(const Chunk &chunk, int64_t tile,
                                 int64_t nBlock, int64_t begin, int64_t end,
                                 uint32_t place) const;
  std::vector<Transfer> loadsOfB(int64_t batch, int64_t nBlock, int64_t tile,
                                 int64_t begin, int64_t end,
                                 uint32_t place) const;
  /// All but array and C's place. Depthwise: a row of B and what it meets.
  Fold fold(const Chunk &chunk, int64_t nBlock, int64_t tile, int64_t block,
            uint32_t a, uint32_t b) const;
  /// Between memory and rows of results at `place`: of the result itself, or
  /// of an operand that reaches over rows and columns, or rows alone.
  std::vector<Transfer> rowsOfResults(const Access &access, const Chunk &chunk,
                                      int64_t nBlock, uint32_t place,
                                      bool isColumn = false) const;
  /// One row for a block of columns, or one element.
  std::vector<Transfer> rowOfColumns(const Access &access, int64_t batch,
                                     int64_t nBlock, uint32_t place,
                                     bool isElement) const;
  /// Where rows [first, first + count) of a chunk lie in a value on chip: boxes
  /// whose levels' `bytes` are rows there, and whose `rows` are the chunk's.
  std::vector<Box> keptRows(const Access &access, const Chunk &chunk,
                            int64_t nBlock, int64_t first, int64_t count) const;
  /// Chunks of rows that are a range are multiples of so many: an array takes
  /// as many at once.
  int64_t rowUnit() const {
    return choice.isOutputStationary || aIsTransposed ? dim : 1;
  }
  int64_t batches() const { return contraction.count(contraction.batch); }

private:
  void makeFolds();
  void cutTerms();
  /// In B, within their tiles.
  void placeFolds();
  int64_t planeOf(int64_t tap) const;
  void cutRows();
  void setKeptRows(Fold &fold, const Chunk &chunk, int64_t nBlock,
                   const KBlock &block) const;
  uint64_t address(const Access &access, int64_t element) const;
  std::vector<Transfer> loadsOfColumns(const Chunk &chunk, int64_t tile,
                                       int64_t begin, int64_t end,
                                       uint32_t place) const;
  std::vector<Transfer> loadsOfSeveral(int64_t batch, int64_t nBlock,
                                       int64_t begin, int64_t end,
                                       uint32_t place) const;
  /// Columns of a block that follow each other in memory; one, if all stand for
  /// the same.
  std::vector<Run> columnRuns(const Access &access, int64_t nBlock,
                              bool isOne) const;
  std::vector<Box> boxesOfRows(const Access &access, const Chunk &chunk) const;
  /// Of the coordinates that move: on-chip step of a dim of the contraction.
  int64_t pixelStep(unsigned d, const std::vector<int64_t> &extents) const;
  std::vector<int64_t> extentsOf(const std::vector<int64_t> &size) const;

  /// First term of a tile; where its folds are a range.
  int64_t firstTerm(int64_t tile) const {
    return kBlocks[size_t(tileBegin(tile))].first;
  }
  int64_t pieces(const Chunk &chunk) const {
    return (chunk.rows + dim - 1) / dim;
  }

  std::vector<int64_t> lattice; ///< by coordinate of A
};

/// Elements of loads or of stores, whichever are more, that go one by one since
/// they do not follow each other in memory as they do in a row on chip.
int64_t singleElements(const Contraction &contraction, const Machine &machine,
                       const Choice &choice);

/// The innermost dim that has more than one value; -1: none.
int innermost(const Contraction &contraction, llvm::ArrayRef<unsigned> dims);

/// The sizes of a box of some dims with no more than `most` values: one of the
/// outermost, a part of one dim, all of the rest. Parts of a dim are as even as
/// can be.
std::vector<int64_t> boxOf(const Contraction &contraction,
                           llvm::ArrayRef<unsigned> dims, int64_t most);

/// Whether A can be read in place: its columns are a range of the terms, and
/// its rows are those of a grid that all taps share.
bool canReadTapsInPlace(const Contraction &contraction);

/// Whether it may be computed as Choice::isOnLanes says.
bool canRunOnLanes(const Contraction &contraction, const Machine &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_CHIPLAYOUT_H
