// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Planner/Generate.h"
#include <algorithm>

using namespace ashlar::planner;

std::vector<Buffer> ashlar::planner::generateTiling(int64_t count,
                                                    int64_t capacity,
                                                    uint64_t seed) {
  Random random(seed);
  struct Tile {
    int64_t lower, upper, begin, end;
  };
  std::vector<Tile> tiles = {{0, 4 * count, 0, capacity}};
  auto hasRoom = [](const Tile &tile) {
    return tile.upper - tile.lower > 1 || tile.end - tile.begin > 1;
  };
  auto isSmaller = [](const Tile &x, const Tile &y) {
    return static_cast<double>(x.upper - x.lower) * (x.end - x.begin) <
           static_cast<double>(y.upper - y.lower) * (y.end - y.begin);
  };
  // The largest tile is cut next: a heap holds it first.
  while (static_cast<int64_t>(tiles.size()) < count && hasRoom(tiles[0])) {
    std::pop_heap(tiles.begin(), tiles.end(), isSmaller);
    Tile left = tiles.back(), right = left;
    tiles.pop_back();
    auto cut = [&](int64_t from, int64_t to) {
      int64_t length = to - from;
      double place = 0.15 + 0.7 * random.fraction();
      return from +
             std::clamp<int64_t>(
                 static_cast<int64_t>(place * static_cast<double>(length)), 1,
                 length - 1);
    };
    bool inTime = random.below(2) == 0;
    if (left.upper - left.lower == 1 || left.end - left.begin == 1)
      inTime = left.upper - left.lower > 1;
    if (inTime)
      left.upper = right.lower = cut(left.lower, left.upper);
    else
      left.end = right.begin = cut(left.begin, left.end);
    for (const Tile &tile : {left, right}) {
      tiles.push_back(tile);
      std::push_heap(tiles.begin(), tiles.end(), isSmaller);
    }
  }
  std::vector<Buffer> buffers;
  for (const Tile &tile : tiles)
    buffers.push_back({tile.lower, tile.upper, tile.end - tile.begin, 1});
  for (size_t i = buffers.size(); i > 1; --i)
    std::swap(buffers[i - 1], buffers[random.below(i)]);
  return buffers;
}

std::vector<Buffer> ashlar::planner::generateNetwork(int64_t count,
                                                     uint64_t seed) {
  Random random(seed);
  std::vector<Buffer> buffers;
  double kibibytes = 512;
  for (int64_t operation = 0; static_cast<int64_t>(buffers.size()) < count;
       ++operation) {
    if (random.below(12) == 0)
      kibibytes *= random.below(2) == 0 ? 0.5 : 2;
    kibibytes = std::clamp(kibibytes, 16.0, 8192.0);
    int64_t kind = random.below(100);
    int64_t life = kind < 70   ? 2
                   : kind < 85 ? 3 + random.below(4)
                   : kind < 98 ? 5 + random.below(20)
                               : 30 + random.below(170);
    double share = 0.25 * static_cast<double>(1 + random.below(8));
    buffers.push_back({operation, operation + life,
                       static_cast<int64_t>(kibibytes * share) * 1024, 64});
    if (random.below(4) == 0)
      buffers.push_back(
          {operation, operation + 1, 64 * (1 + random.below(4096)), 64});
  }
  buffers.resize(static_cast<size_t>(count));
  return buffers;
}
