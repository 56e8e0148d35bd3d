// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/MinimumCut.h"
#include <algorithm>
#include <cassert>

using namespace ashlar;

unsigned MinimumCut::addNode() {
  edgesOf.emplace_back();
  return unsigned(edgesOf.size()) - 1;
}

void MinimumCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  assert(capacity >= 0 && "nobody is paid for a cut");
  if (from == to || capacity == 0)
    return;
  edgesOf[from].push_back(unsigned(edges.size()));
  edges.push_back({to, std::min(capacity, unlimited)});
  edgesOf[to].push_back(unsigned(edges.size()));
  edges.push_back({from, 0});
}

/// How many edges each node is from the first end; whether the last one can be
/// reached.
bool MinimumCut::findLevels() {
  constexpr unsigned never = ~0u;
  level.assign(edgesOf.size(), never);
  level[first] = 0;
  std::vector<unsigned> queue = {first};
  for (size_t i = 0; i != queue.size(); ++i)
    for (unsigned edge : edgesOf[queue[i]])
      if (edges[edge].left > 0 && level[edges[edge].to] == never) {
        level[edges[edge].to] = level[queue[i]] + 1;
        queue.push_back(edges[edge].to);
      }
  return level[last] != never;
}

/// More flow along one shortest way; 0: there is none; unlimited: all of it is,
/// and nothing flows. Without recursion, since
/// a way may be as long as a model.
int64_t MinimumCut::push(int64_t flow) {
  std::vector<unsigned> way;
  unsigned node = first;
  while (node != last) {
    std::vector<unsigned> &all = edgesOf[node];
    unsigned &i = next[node];
    for (; i != all.size(); ++i)
      if (edges[all[i]].left > 0 && level[edges[all[i]].to] == level[node] + 1)
        break;
    if (i != all.size()) {
      way.push_back(all[i]);
      node = edges[all[i]].to;
      continue;
    }
    if (way.empty())
      return 0;
    // A dead end: the edge that led here is of no use any more.
    node = edges[way.back() ^ 1].to;
    ++next[node];
    way.pop_back();
  }
  for (unsigned edge : way)
    flow = std::min(flow, edges[edge].left);
  if (flow >= unlimited)
    return unlimited;
  for (unsigned edge : way) {
    if (edges[edge].left < unlimited)
      edges[edge].left -= flow;
    if (edges[edge ^ 1].left < unlimited)
      edges[edge ^ 1].left += flow;
  }
  return flow;
}

int64_t MinimumCut::solve() {
  int64_t total = 0;
  while (findLevels()) {
    next.assign(edgesOf.size(), 0);
    while (int64_t flow = push(unlimited)) {
      if (flow >= unlimited)
        return unlimited;
      total += flow;
    }
  }
  // Whoever still reaches the last end is with it.
  behind.assign(edgesOf.size(), false);
  behind[last] = true;
  std::vector<unsigned> queue = {last};
  for (size_t i = 0; i != queue.size(); ++i)
    for (unsigned edge : edgesOf[queue[i]])
      if (edges[edge ^ 1].left > 0 && !behind[edges[edge].to]) {
        behind[edges[edge].to] = true;
        queue.push_back(edges[edge].to);
      }
  return total;
}
