// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the C library, for what is sorted rarely: an instance of std::sort is a
// kilobyte of code.

#ifndef ASHLAR_RUNTIME_LIB_SORTPLAIN_H
#define ASHLAR_RUNTIME_LIB_SORTPLAIN_H

#include "OwnMemory.h"

#include <cstdlib>
#include <type_traits>

namespace ashlar::runtime {

/// `order` gives less than, equal to or more than zero; equal ones end up in
/// any order.
template <typename T>
void sortPlain(Vector<T> &list, int (*order)(const T &, const T &)) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (list.empty())
    return;
  qsort_r(
      list.data(), list.size(), sizeof(T),
      [](const void *a, const void *b, void *given) {
        auto *order = static_cast<int (**)(const T &, const T &)>(given);
        return (*order)(*static_cast<const T *>(a), *static_cast<const T *>(b));
      },
      &order);
}

/// For such an order.
template <typename T> int compare(const T &a, const T &b) {
  return a < b ? -1 : b < a;
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SORTPLAIN_H
