// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileSearch.h"

void ashlar::TileSearch::search() {
  for (const MultiplyUnit *unit : units()) {
    size_t ways = useUnit(unit);
    for (size_t way = 0; way != ways; ++way) {
      useWay(way);
      for (int64_t outer : outerSizes())
        for (int64_t inner : innerSizes(outer))
          tryTile(outer, inner);
      endWay();
    }
  }
}
