// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metadata.h"
#include "ashlar/runtime/module_format.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

using namespace ashlar;
using namespace ashlar::onnx_import;

ModelMetadata ashlar::onnx_import::readMetadata(const onnx::ModelProto &model,
                                                mlir::Location location) {
  ModelMetadata found;
  llvm::StringMap<size_t> places;
  auto add = [&](const std::string &key, const std::string &value) {
    auto [place, isNew] = places.try_emplace(key, found.size());
    if (isNew)
      found.emplace_back(key, value);
    else // as readers do that keep it in a map
      found[place->second].second = value;
  };
  for (const onnx::StringStringEntryProto &entry : model.metadata_props())
    if (!entry.key().empty())
      add(entry.key(), entry.value());
  auto addOwn = [&](const char *key, const std::string &value) {
    // The model's own words come first.
    if (!value.empty() && !places.contains(key))
      add(key, value);
  };
  addOwn("onnx.producer_name", model.producer_name());
  addOwn("onnx.producer_version", model.producer_version());
  addOwn("onnx.domain", model.domain());
  if (model.model_version() != 0)
    addOwn("onnx.model_version", std::to_string(model.model_version()));
  addOwn("onnx.doc_string", model.doc_string());
  addOwn("onnx.graph_name", model.graph().name());
  addOwn("onnx.graph_doc_string", model.graph().doc_string());

  ModelMetadata kept;
  size_t bytes = 0;
  for (auto &entry : found) {
    size_t size = entry.first.size() + entry.second.size();
    if (kept.size() < ASHLAR_MODULE_MAX_METADATA &&
        size <= ASHLAR_MODULE_MAX_METADATA_SIZE - bytes) {
      bytes += size;
      kept.push_back(std::move(entry));
    }
  }
  if (size_t left = found.size() - kept.size())
    mlir::emitWarning(location)
        << left << " of " << found.size()
        << " entries of metadata are left out: a module holds "
        << ASHLAR_MODULE_MAX_METADATA << " of them and "
        << (ASHLAR_MODULE_MAX_METADATA_SIZE >> 20) << " MiB";
  return kept;
}
