// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_RUNTIME_LIB_GRAPHCACHE_H
#define ASHLAR_RUNTIME_LIB_GRAPHCACHE_H

#include "OwnMemory.h"
#include "devices/Device.h"

namespace ashlar::runtime {

/// Graphs of a call's list, as long as its addresses stay what they are.
class GraphCache {
public:
  GraphCache() = default;
  GraphCache(const GraphCache &) = delete;
  ~GraphCache() { clear(); }

  /// Null unless it pays: the list has run before as it is.
  Status find(const DeviceOps &by, void *queue, const CommandList &list,
              CommandRange range, void *&out);
  /// Nothing of the list is under way.
  void clear();
  void countRun() { runs += runs < 2; }

private:
  struct Graph {
    const DeviceOps *ops;
    size_t begin, end;
    void *handle;
  };
  Vector<Graph> graphs;
  unsigned runs = 0; // at most 2
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_GRAPHCACHE_H
