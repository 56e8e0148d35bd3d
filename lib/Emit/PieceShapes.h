// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be said of an entry's outputs where it has pieces.
#ifndef ASHLAR_LIB_EMIT_PIECESHAPES_H
#define ASHLAR_LIB_EMIT_PIECESHAPES_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Emit/ModulePieces.h"

namespace ashlar {

/// The program number `program` of a piece.
mlir::ModuleOp programOf(ModulePieces::Piece piece, unsigned program);

/// At one value of each symbol; the result may be of any context's.
int64_t evaluateAt(mlir::AffineExpr formula, llvm::ArrayRef<int64_t> sizes);

/// The largest value for these symbols of a sum of products of them.
int64_t largestOf(mlir::AffineExpr formula, llvm::ArrayRef<OpenSize> symbols);

/// A dim as all pieces have it, each in its own formula: that of the first
/// whose formula gives what each piece's own does at all sizes of a small range
/// and at many of a large one, or null; and the largest of all.
std::pair<mlir::AffineExpr, int64_t>
joinDims(const ModulePieces &pieces, llvm::ArrayRef<exec::SizeAttr> dims);

/// The entry number `entry` of the program number `program`, of each piece.
llvm::SmallVector<exec::ProgramOp>
entryOfPieces(const ModulePieces &pieces, unsigned program, unsigned entry);

/// The dims of a tensor that a program describes.
llvm::SmallVector<exec::SizeAttr> dimsOf(mlir::DictionaryAttr described);

} // namespace ashlar

#endif // ASHLAR_LIB_EMIT_PIECESHAPES_H
