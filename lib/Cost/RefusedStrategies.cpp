// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/RefusedStrategies.h"
#include "ashlar/Support/Remarks.h"

using namespace mlir;
using namespace ashlar;

RefusedStrategies::Nodes RefusedStrategies::nodesOf(Location location) {
  std::vector<std::string> names = nodeNames(location);
  return Nodes(names.begin(), names.end());
}

void RefusedStrategies::note(Location op, StringRef strategy) {
  Nodes nodes = nodesOf(op);
  std::lock_guard<std::mutex> lock(mutex);
  taken[nodes].insert(strategy.str());
}

bool RefusedStrategies::refuse(Location kernel) {
  Nodes all = nodesOf(kernel);
  std::lock_guard<std::mutex> lock(mutex);
  bool isNew = false;
  for (const auto &[nodes, strategies] : taken) {
    if (nodes.empty() ||
        !std::includes(all.begin(), all.end(), nodes.begin(), nodes.end()))
      continue;
    for (const std::string &strategy : strategies)
      isNew |= refused[nodes].insert(strategy).second;
  }
  return isNew;
}

bool RefusedStrategies::isEmpty() const {
  std::lock_guard<std::mutex> lock(mutex);
  return refused.empty();
}

bool RefusedStrategies::contains(Location op, StringRef strategy) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = refused.find(nodesOf(op));
  return found != refused.end() && found->second.count(strategy.str());
}
