// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model whose sizes each call chooses is looked at with several sizes, and
// must become the same kernels with all of them: panels of weights are as wide
// as they were with the first.
#ifndef ASHLAR_TRANSFORMS_FUSE_PANELWIDTHS_H
#define ASHLAR_TRANSFORMS_FUSE_PANELWIDTHS_H

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ashlar {

/// In columns, of each contraction of a function. Functions may ask at once.
class PanelWidths {
public:
  using Function = std::pair<std::string, std::string>; ///< program and name

  /// Empty where none were noted.
  std::vector<int64_t> find(const Function &function) const {
    std::lock_guard<std::mutex> guard(mutex);
    auto found = widths.find(function);
    return found == widths.end() ? std::vector<int64_t>() : found->second;
  }
  /// The first time counts.
  void note(const Function &function, std::vector<int64_t> all) {
    std::lock_guard<std::mutex> guard(mutex);
    widths.try_emplace(function, std::move(all));
  }

private:
  mutable std::mutex mutex;
  std::map<Function, std::vector<int64_t>> widths;
};

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_FUSE_PANELWIDTHS_H
