// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops share the rows of one kernel. Whether rows stay near hangs on their
// sizes; where each call chooses these, it is so at all sizes as at the first.
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_ROWCHOICES_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_ROWCHOICES_H

#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <optional>

namespace ashlar {

class RowChoices {
public:
  /// `choices` may be null. Ops go by their place in the function as it is now.
  RowChoices(mlir::func::FuncOp function, std::shared_ptr<FirstChoices> choices)
      : function(function), choices(std::move(choices)) {
    function.walk([&](mlir::linalg::GenericOp op) {
      numbers.try_emplace(op, int64_t(numbers.size()));
    });
    roots.assign(numbers.size(), -1);
    if (this->choices)
      first = this->choices->find(function, kind);
    // It may be another model.
    if (first.size() != numbers.size())
      first.clear();
  }

  /// Whether `op` shared the rows of `root` at the first sizes; nothing where
  /// these are the first.
  std::optional<bool> shared(mlir::Operation *op, mlir::Operation *root) const {
    if (first.empty())
      return std::nullopt;
    return first[numbers.at(op)] == numbers.at(root);
  }
  void note(llvm::ArrayRef<mlir::linalg::GenericOp> ops,
            mlir::Operation *root) {
    for (mlir::linalg::GenericOp op : ops)
      roots[numbers.at(op)] = numbers.at(root);
  }
  void keep() {
    if (choices)
      choices->note(function, kind, std::move(roots));
  }

private:
  static constexpr auto kind = FirstChoices::Kind::Rows;
  mlir::func::FuncOp function;
  std::shared_ptr<FirstChoices> choices;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  std::vector<int64_t> roots, first; ///< by number; -1: none
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_ROWCHOICES_H
