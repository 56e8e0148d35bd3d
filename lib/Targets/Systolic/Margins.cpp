// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Margins.h"

#include <algorithm>

using namespace ashlar::systolic;

std::vector<Transfer> ashlar::systolic::marginStores(const ChipLayout &layout,
                                                     uint32_t place) {
  const Contraction &contraction = layout.contraction;
  const Access &access = contraction.result;
  int64_t bytes = bytesOf(access.element);
  std::vector<Transfer> stores;
  for (const Margin &margin : contraction.margins) {
    // Elements that follow each other are columns, up to a row of them.
    std::vector<Digit> digits;
    int64_t columns = 1;
    for (size_t i = margin.digits.size(); i-- > 0;) {
      const Digit &digit = margin.digits[i];
      if (digits.empty() && digit.bytes == columns)
        columns *= digit.size;
      else
        digits.insert(digits.begin(), {digit.size, digit.bytes * bytes, 0});
    }
    for (int64_t first = 0; first < columns;) {
      Transfer transfer;
      transfer.place = place;
      transfer.columns =
          uint32_t(std::min<int64_t>(layout.dim, columns - first));
      transfer.elementBytes = uint32_t(bytes);
      transfer.memory = ashlar_systolic_address(
          access.binding, uint64_t((margin.offset + first) * bytes));
      int64_t times = (columns - first) / transfer.columns;
      std::vector<Level> levels;
      levels.push_back({uint32_t(times), 0, int64_t(transfer.columns) * bytes});
      for (size_t i = digits.size(); i-- > 0;)
        levels.push_back({uint32_t(digits[i].size), 0, digits[i].bytes});
      transfer.levels = joinLevels(levels);
      stores.push_back(transfer);
      first += times * transfer.columns;
    }
  }
  return stores;
}

std::vector<Box> ashlar::systolic::keptMargins(const ChipLayout &layout) {
  const KeptValue &kept = *layout.contraction.result.kept;
  std::vector<Box> boxes;
  for (const Margin &margin : layout.contraction.margins) {
    Box box{0, kept.rowOf(margin.offset, layout.dim), 0, {}};
    for (size_t i = margin.digits.size(); i-- > 0;)
      if (const Digit &digit = margin.digits[i]; digit.bytes >= kept.columns)
        box.levels.push_back(
            {uint32_t(digit.size), 0, digit.bytes / kept.columns});
    box.levels = joinLevels(box.levels);
    boxes.push_back(box);
  }
  return boxes;
}
