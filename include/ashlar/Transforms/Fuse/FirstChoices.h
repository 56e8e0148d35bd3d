// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model whose sizes each call chooses is looked at with several sizes, and
// must become the same kernels with all of them: what was chosen with the first
// is chosen again.
#ifndef ASHLAR_TRANSFORMS_FUSE_FIRSTCHOICES_H
#define ASHLAR_TRANSFORMS_FUSE_FIRSTCHOICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace ashlar {

/// Numbers that say what a pass chose, for each op that it looked at, in their
/// order. Functions may ask at once.
class FirstChoices {
public:
  enum class Kind {
    PanelColumns, ///< of each contraction
    Devices,      ///< of each operation that may run elsewhere
    Winograd,     ///< of each convolution: results along a dim of a box, 0 for
                  ///< none; columns of a panel
  };

  /// Empty where none were noted.
  std::vector<int64_t> find(mlir::func::FuncOp function, Kind kind) const {
    std::lock_guard<std::mutex> guard(mutex);
    auto found = choices.find(keyOf(function, kind));
    return found == choices.end() ? std::vector<int64_t>() : found->second;
  }
  /// The first time counts.
  void note(mlir::func::FuncOp function, Kind kind, std::vector<int64_t> all) {
    std::lock_guard<std::mutex> guard(mutex);
    choices.try_emplace(keyOf(function, kind), std::move(all));
  }

private:
  using Key = std::tuple<std::string, std::string, Kind>;
  /// Program, function and kind.
  static Key keyOf(mlir::func::FuncOp function, Kind kind) {
    auto program = function->getParentOfType<mlir::ModuleOp>();
    return {program.getName().value_or("").str(), function.getName().str(),
            kind};
  }

  mutable std::mutex mutex;
  std::map<Key, std::vector<int64_t>> choices;
};

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_FUSE_FIRSTCHOICES_H
