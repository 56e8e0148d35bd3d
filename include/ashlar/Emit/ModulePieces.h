// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_EMIT_MODULEPIECES_H
#define ASHLAR_EMIT_MODULEPIECES_H

#include "ashlar/Targets/Target.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace ashlar {

/// The sizes of one symbol: multiples of the step.
struct OpenSize {
  std::string name;
  int64_t minimum, maximum, step;
};

/// The programs of a model, each for a target, in one form or in several: its
/// pieces, each for a part of the sizes that a caller may choose.
struct ModulePieces {
  struct Piece {
    /// Its programs have passed the stage `schedule`; with the binary of each,
    /// in order. The same targets in all pieces, which may be of different
    /// contexts.
    mlir::ModuleOp module;
    llvm::ArrayRef<ProgramBinary> binaries;
    /// Of each symbol; empty where this is the only piece.
    std::vector<OpenSize> ranges = {};
  };
  /// The first one holds the largest sizes.
  std::vector<Piece> pieces;
  /// All sizes. Where there is one piece, it says so itself.
  std::vector<OpenSize> symbols = {};
  /// The dims of the inputs, by name, in these symbols; what is not here is the
  /// same in all pieces.
  std::map<std::string, llvm::SmallVector<mlir::AffineExpr>> inputs = {};
};

} // namespace ashlar

#endif // ASHLAR_EMIT_MODULEPIECES_H
