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
    Rows,         ///< of each linalg.generic: whose rows it shares
    Winograd,     ///< of each convolution: results along a dim of a box, 0 for
                  ///< none; columns of a panel; bits of the estimated error
    WinogradCycles, ///< of each convolution: directly, by boxes of two results
                    ///< and of four
  };

  /// What a contraction is predicted to take at some sizes beside columns for
  /// these alone.
  struct Loss {
    int64_t cycles = 0, alone = 0, work = 0; ///< work: multiply-adds
    std::string sizes;

    double ratio() const { return alone > 0 ? double(cycles) / alone : 1; }
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

  /// Notes what `other` says of one kind.
  void adopt(const FirstChoices &other, Kind kind) {
    std::scoped_lock guard(mutex, other.mutex);
    for (auto &[key, all] : other.choices)
      if (std::get<Kind>(key) == kind)
        choices.try_emplace(key, all);
  }
  bool isEmpty() const {
    std::lock_guard<std::mutex> guard(mutex);
    return choices.empty();
  }
  void clear() {
    std::lock_guard<std::mutex> guard(mutex);
    choices.clear();
    losses.clear();
  }
  /// Whether a convolution goes through transforms.
  bool hasTransforms() const {
    std::lock_guard<std::mutex> guard(mutex);
    for (auto &[key, all] : choices)
      for (size_t i = 0;
           std::get<Kind>(key) == Kind::Winograd && i < all.size();
           i += winogradNumbers)
        if (all[i] != 0)
          return true;
    return false;
  }
  static constexpr size_t winogradNumbers = 3; ///< of each convolution

  /// Of contraction `number` of a function.
  void noteLoss(mlir::func::FuncOp function, size_t number, Loss loss) {
    std::lock_guard<std::mutex> guard(mutex);
    losses[{keyOf(function, Kind::PanelColumns), number}].push_back(
        std::move(loss));
  }
  /// The worst of those with at most so much work, whoever noted it first.
  Loss findLoss(mlir::func::FuncOp function, size_t number,
                int64_t mostWork) const {
    std::lock_guard<std::mutex> guard(mutex);
    Loss worst;
    auto found = losses.find({keyOf(function, Kind::PanelColumns), number});
    if (found == losses.end())
      return worst;
    for (const Loss &loss : found->second)
      if (loss.work <= mostWork &&
          std::make_pair(loss.ratio(), loss.sizes) >
              std::make_pair(worst.ratio(), worst.sizes))
        worst = loss;
    return worst;
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
  std::map<std::pair<Key, size_t>, std::vector<Loss>> losses;
};

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_FUSE_FIRSTCHOICES_H
