// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RemovalOrder.h"
#include <algorithm>
#include <cmath>

using namespace ashlar;

static bool contains(const std::vector<unsigned> &nodes, unsigned node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

double ashlar::errorOfNode(const PrecisionDecisions &decisions,
                           const std::vector<double> &errors, unsigned node) {
  double squares = 0;
  for (size_t site = 0; site != errors.size(); ++site)
    if (contains(decisions.sites[site].nodes, node))
      squares += errors[site] * errors[site];
  return std::sqrt(squares);
}

std::vector<unsigned> ashlar::removalOrder(const PrecisionDecisions &decisions,
                                           const std::vector<double> &errors) {
  size_t count = decisions.nodes.size();
  double total = 0;
  for (const PrecisionNode &node : decisions.nodes)
    total += node.gain;
  // What saves nothing is given up for any error, but not for none.
  double least = total > 0 ? total * 1e-4 : 1;
  std::vector<std::vector<unsigned>> sitesOf(count);
  std::vector<double> squares(count, 0);
  for (size_t site = 0; site != errors.size(); ++site)
    for (unsigned node : decisions.sites[site].nodes) {
      sitesOf[node].push_back(unsigned(site));
      squares[node] += errors[site] * errors[site];
    }
  std::vector<bool> isOff(errors.size(), false), isTaken(count, false);
  std::vector<unsigned> order;
  for (;;) {
    size_t best = count;
    double most = -1;
    for (size_t node = 0; node != count; ++node) {
      if (isTaken[node] || sitesOf[node].empty())
        continue;
      double worth = squares[node] / (decisions.nodes[node].gain + least);
      if (worth > most) {
        most = worth;
        best = node;
      }
    }
    if (best == count)
      return order;
    isTaken[best] = true;
    order.push_back(unsigned(best));
    for (unsigned site : sitesOf[best]) {
      if (isOff[site])
        continue;
      isOff[site] = true;
      for (unsigned node : decisions.sites[site].nodes)
        squares[node] =
            std::max(0.0, squares[node] - errors[site] * errors[site]);
    }
  }
}
