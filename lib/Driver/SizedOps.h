// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants whose sizes a caller chooses: the positions of a sequence, the rows
// of a table that it reads, a mask. Their elements at the largest sizes say
// nothing of those at others, so they are not folded: calls compute them. And
// slices that begin at an aligned address at some sizes alone.
#ifndef ASHLAR_LIB_DRIVER_SIZEDOPS_H
#define ASHLAR_LIB_DRIVER_SIZEDOPS_H

#include "ProgramSizes.h"
#include <map>
#include <set>

namespace ashlar {

/// The ops of a model that have other numbers at other sizes, such as the dims
/// of their results or where a slice begins, by their nodes and their places
/// among a node's own: what is of no node may be more or less at some sizes.
class SizedOps {
public:
  /// What differs between a model at two sizes, of one structure.
  void add(const ProgramSizes &model, const ProgramSizes &other);
  /// Keeps those of these ops that hang on constants alone from being folded,
  /// but for what is one number everywhere, whatever its dims, and from being
  /// merged with others that have other numbers at other sizes. Slices that are
  /// aligned at some sizes alone are marked as copies, which they are at
  /// others.
  void keepIn(mlir::ModuleOp model) const;

private:
  using Place = std::pair<std::string, unsigned>;
  std::set<Place> ops, unaligned;
  /// The numbers of each at all sizes that were added.
  std::map<Place, std::vector<int64_t>> numbers;
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZEDOPS_H
