// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How passes say what they decided: through MLIR's remarks, which cost nothing
// while nobody listens.
//
//   remark::passed(op->getLoc(), about(op, "Epilogue", "fusion"))
//       << "finishes in place what " << nodeName(sums->getLoc()) << " sums";
#ifndef ASHLAR_SUPPORT_REMARKS_H
#define ASHLAR_SUPPORT_REMARKS_H

#include "mlir/IR/Remarks.h"
#include <string>
#include <vector>

namespace ashlar {

/// A remark's identity: what it is about ("Epilogue"), the kind of decision
/// ("fusion"), and the entry point in whose body `op` stands.
mlir::remark::RemarkOpts about(mlir::Operation *op, llvm::StringRef name,
                               llvm::StringRef category);

/// Whether somebody listens: for what costs time to find out.
bool wantsRemarks(mlir::Operation *op);

/// The model's nodes of a location, 'conv1' + 'relu1'; else its file's line.
std::string nodeName(mlir::Location location);
/// The names alone, in order, without repeats.
std::vector<std::string> nodeNames(mlir::Location location);
/// The nodes that read `op`'s results, each once: 'relu1', 'add1'.
std::string readerNames(mlir::Operation *op);

} // namespace ashlar

#endif // ASHLAR_SUPPORT_REMARKS_H
