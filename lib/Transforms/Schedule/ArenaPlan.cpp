// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArenaPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace ashlar;

/// Every buffer a kernel is given starts on a cache line.
static constexpr int64_t alignment = 64;

ArenaPlan ashlar::planArenaGreedily(llvm::ArrayRef<ArenaRequest> requests) {
  ArenaPlan plan;
  plan.offsets.assign(requests.size(), 0);
  std::map<int64_t, int64_t> changes;
  llvm::SmallVector<unsigned> order;
  for (auto [i, request] : llvm::enumerate(requests)) {
    order.push_back(i);
    int64_t bytes = llvm::alignTo(request.bytes, alignment);
    changes[request.lower] += bytes;
    changes[request.upper] -= bytes;
  }
  int64_t live = 0;
  for (auto [time, change] : changes)
    plan.lowerBound = std::max(plan.lowerBound, live += change);

  llvm::stable_sort(order, [&](unsigned x, unsigned y) {
    return requests[x].bytes > requests[y].bytes;
  });
  llvm::SmallVector<unsigned> placed; // by offset
  for (unsigned i : order) {
    const ArenaRequest &request = requests[i];
    int64_t bytes = llvm::alignTo(request.bytes, alignment);
    int64_t offset = 0;
    for (unsigned other : placed) {
      const ArenaRequest &neighbour = requests[other];
      if (neighbour.upper <= request.lower || request.upper <= neighbour.lower)
        continue;
      if (plan.offsets[other] - offset >= bytes)
        break;
      offset = std::max(offset,
                        plan.offsets[other] +
                            int64_t(llvm::alignTo(neighbour.bytes, alignment)));
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    placed.insert(llvm::upper_bound(placed, i,
                                    [&](unsigned x, unsigned y) {
                                      return plan.offsets[x] < plan.offsets[y];
                                    }),
                  i);
  }
  return plan;
}
