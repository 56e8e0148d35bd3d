// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_COPYWRITER_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_COPYWRITER_H

#include "Threads.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"

namespace ashlar::simt {

/// Writes a copy as what one of all threads does: pieces of 16 bytes that end
/// later, where source and slot hold such in one piece, then, where threads
/// copy words, those of 4 bytes, else element by element.
class CopyWriter {
public:
  CopyWriter(tile::CopyOp op, const Threads &threads);

  bool isAsynchronous() const { return piece != 0 && !isComputed; }
  /// Into the slot that begins at `place` of `memory`.
  void write(mlir::ImplicitLocOpBuilder &b, mlir::Value memory,
             mlir::Value place);

private:
  /// Elements of a piece of so many bytes; 0: there are none such.
  int64_t findPiece(int64_t bytes);
  /// Whether so many elements, from a multiple of them on, lie side by side in
  /// a slot.
  bool slotHolds(int64_t elements);
  bool liesAsInSource(int64_t elements);
  /// Whether rows of what zeros lie around begin at multiples of so many
  /// elements, and no zeros lie in them; true where nothing is so.
  bool hasRowsOfInput(int64_t elements);
  /// The dim along which a thread's pieces follow each other at equal steps,
  /// all others being the same; none: there is no such.
  std::optional<unsigned> dimOfSteps();
  /// That which is so many steps behind `index`.
  void writePiece(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange index,
                  llvm::ArrayRef<int64_t> steps);
  /// That which is so far on in the slot.
  void writeWord(mlir::ImplicitLocOpBuilder &b, mlir::Value number);
  void copyPiece(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange at,
                 mlir::Value to);
  /// Computes a piece, or an element, and stores it.
  void writeDecoded(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange at,
                    mlir::Value to);
  /// How many elements of a piece exist that begins at this place along the
  /// source's last dim, inside of it; null: all.
  mlir::Value countInPiece(mlir::ImplicitLocOpBuilder &b, mlir::Value first);

  tile::CopyOp op;
  const Threads &threads;
  tile::SlotType slot;
  tile::DecodeOp decode; ///< that makes what is copied; null: it is memory
  bool isComputed;       ///< by `decode`; else that adds zeros around memory
  llvm::SmallVector<int64_t> counts; ///< of pieces, or elements, by dim
  int64_t piece = 0; ///< elements that are copied at once; 0: one, at once
  /// Pieces of 4 bytes: neighbours in the slot are those of neighbours among
  /// the threads, whatever its layout makes of them.
  bool areWords = false;
  mlir::Value memory, place;
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_COPYWRITER_H
