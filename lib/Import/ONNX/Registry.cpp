// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NodeImporter.h"

using namespace ashlar::onnx_import;

void OperatorRegistry::add(llvm::StringRef op, int64_t since, Importer importer,
                           llvm::StringRef domain) {
  bool isNew = importers[{domain.str(), op.str()}]
                   .emplace(since, std::move(importer))
                   .second;
  (void)isNew;
  assert(isNew && "operator registered twice for one opset");
}

const OperatorRegistry::Importer *
OperatorRegistry::lookup(llvm::StringRef domain, llvm::StringRef op,
                         int64_t version) const {
  auto found = importers.find({domain.str(), op.str()});
  if (found == importers.end())
    return nullptr;
  auto next = found->second.upper_bound(version);
  return next == found->second.begin() ? nullptr : &std::prev(next)->second;
}

bool OperatorRegistry::knows(llvm::StringRef domain, llvm::StringRef op) const {
  return importers.count({domain.str(), op.str()});
}

void OperatorRegistry::forEach(
    llvm::function_ref<void(llvm::StringRef, llvm::StringRef,
                            llvm::ArrayRef<int64_t>)>
        function) const {
  for (const auto &[key, versions] : importers) {
    llvm::SmallVector<int64_t> since;
    for (const auto &[version, importer] : versions)
      since.push_back(version);
    function(key.first, key.second, since);
  }
}

const OperatorRegistry &ashlar::onnx_import::operatorRegistry() {
  static const OperatorRegistry registry = [] {
    OperatorRegistry registry;
#define ASHLAR_ONNX_FAMILY(name) register##name##Operators(registry);
#include "Families.def"
    return registry;
  }();
  return registry;
}
