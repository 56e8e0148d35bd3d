// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cheapest way to cut a graph in two, exact: what is cut is the maximum
// flow from one end to the other (Dinic's algorithm). Own code, since it is
// short: Boost.Graph brings headers of ten times this, exceptions and another
// package for it.
//
//   MinimumCut cut;
//   unsigned x = cut.addNode(), y = cut.addNode();
//   cut.addEdge(cut.first, x, 5); // paid if x is with the last end
//   cut.addEdge(x, y, 2);         // if x is with the first, y is not
//   cut.addEdge(y, cut.last, 7);  // if y is with the first end
//   cut.solve();                  // 2: x is with the first end, y is not
#ifndef ASHLAR_COST_MINIMUMCUT_H
#define ASHLAR_COST_MINIMUMCUT_H

#include <cstdint>
#include <vector>

namespace ashlar {

class MinimumCut {
public:
  /// What is never cut. Finite capacities must add up to less.
  static constexpr int64_t unlimited = int64_t(1) << 62;
  static constexpr unsigned first = 0, last = 1; ///< the two ends

  MinimumCut() : edgesOf(2) {}

  unsigned addNode();
  /// `capacity` is paid if `from` is on the first end's side and `to` is not;
  /// it is at least 0. An edge to itself or of no capacity is none.
  void addEdge(unsigned from, unsigned to, int64_t capacity);
  /// The least that can be paid; `unlimited`: each cut has something that is.
  /// Once.
  int64_t solve();
  /// After solve, of a limited cut: whether a node is with the last end. Of all
  /// cheapest cuts it is the one with the fewest such nodes, whatever the order
  /// of edges.
  bool isWithLast(unsigned node) const { return behind[node]; }

private:
  struct Edge {
    unsigned to;
    int64_t left; ///< of its capacity; the next or previous one leads back
  };
  bool findLevels();
  int64_t push(int64_t flow);

  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf; ///< their numbers, by node
  std::vector<unsigned> level, next;          ///< by node
  std::vector<bool> behind;
};

} // namespace ashlar

#endif // ASHLAR_COST_MINIMUMCUT_H
