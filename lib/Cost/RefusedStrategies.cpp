// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/RefusedStrategies.h"
#include "ashlar/Support/Remarks.h"

using namespace mlir;
using namespace ashlar;

RefusedStrategies::Nodes RefusedStrategies::nodesOf(Location location) {
  std::vector<std::string> names = nodeNames(location);
  return Nodes(names.begin(), names.end());
}

RefusedStrategies::Form RefusedStrategies::formOf(tile::ContractOp op,
                                                  bool openSizes) {
  Form form = KnownLevels::keyOf(op, openSizes);
  op.getBody().walk([&](Operation *inner) {
    form.push_back(inner->getName().getAsOpaquePointer());
  });
  return form;
}

void RefusedStrategies::note(Location op, StringRef strategy, int64_t sums,
                             Form form) {
  Nodes nodes = nodesOf(op);
  std::lock_guard<std::mutex> lock(mutex);
  Taken &one = taken[nodes][strategy.str()];
  one.sums = sums;
  if (!form.empty())
    one.forms.insert(std::move(form));
}

bool RefusedStrategies::refuse(Location kernel) {
  Nodes all = nodesOf(kernel);
  std::lock_guard<std::mutex> lock(mutex);
  bool isNew = false;
  for (const auto &[nodes, strategies] : taken) {
    if (nodes.empty() ||
        !std::includes(all.begin(), all.end(), nodes.begin(), nodes.end()))
      continue;
    for (const auto &[strategy, one] : strategies) {
      isNew |= refused[nodes].emplace(strategy, one).second;
      for (const Form &form : one.forms)
        refusedForms[form].emplace(strategy, one);
    }
  }
  return isNew;
}

bool RefusedStrategies::isEmpty() const {
  std::lock_guard<std::mutex> lock(mutex);
  return refused.empty();
}

bool RefusedStrategies::has(const Strategies &all, StringRef strategy,
                            int64_t sums) {
  // A quarter of what a thread of today's machines has.
  constexpr int64_t many = 64;
  return all.count(strategy.str()) ||
         (sums >= many && llvm::any_of(all, [&](const auto &other) {
            return other.second.sums >= many && other.second.sums <= sums;
          }));
}

bool RefusedStrategies::contains(Location op, StringRef strategy, int64_t sums,
                                 const Form &form) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = refused.find(nodesOf(op));
  if (found != refused.end() && has(found->second, strategy, sums))
    return true;
  auto same = refusedForms.find(form);
  return same != refusedForms.end() && has(same->second, strategy, sums);
}
