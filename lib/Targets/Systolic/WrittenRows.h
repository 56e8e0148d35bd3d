// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which step of a stream finishes what lies in memory: whoever loads it has to
// come later.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_WRITTENROWS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_WRITTENROWS_H

#include "StreamWriter.h"

#include <map>

namespace ashlar::systolic {

class WrittenRows {
public:
  void note(const std::vector<Transfer> &transfers, int step);
  /// The last step of any of it; -1: the stream does not write it.
  int lastOf(const std::vector<Transfer> &transfers) const;

private:
  /// So many bytes are told apart.
  static constexpr uint64_t granule = 16;
  std::map<uint32_t, std::vector<int>> steps; ///< by binding
};

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_WRITTENROWS_H
