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
  /// The list has run as it is, once more.
  void countRun() { runs += runs < 2; }

private:
  /// A part of the list that a device has made a graph of.
  struct Graph {
    const DeviceOps *ops; // of the device
    size_t begin, end;    // in the list
    void *handle;         // the device's; null: it makes none
  };
  Vector<Graph> graphs; // all that were asked for
  unsigned runs = 0;    // at most 2
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_GRAPHCACHE_H
