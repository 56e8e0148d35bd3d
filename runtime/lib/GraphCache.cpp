// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GraphCache.h"

namespace ashlar::runtime {

Status GraphCache::find(const DeviceOps &by, void *queue,
                        const CommandList &list, CommandRange range,
                        void *&out) {
  // Addresses that are used once are not worth a graph.
  if (runs < 2)
    return {};
  for (const Graph &graph : graphs)
    if (graph.begin == range.begin && graph.end == range.end &&
        graph.ops == &by) {
      out = graph.handle;
      return {};
    }
  ASHLAR_RETURN_IF_ERROR(by.capture(queue, list, range, &out));
  graphs.push_back({&by, range.begin, range.end, out});
  return {};
}

void GraphCache::clear() {
  for (const Graph &graph : graphs)
    graph.ops->destroyGraph(graph.handle);
  graphs.clear();
  runs = 0;
}

} // namespace ashlar::runtime
