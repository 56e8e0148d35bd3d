// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module file of any bytes is loaded, looked at, and its entries are bound.
// The hash of the index is set right first: whoever sends a file can do that.
// Machine code of the processor is never run, for it may do anything; streams
// of the simulator are.

#include "ModuleBuilder.h"
#include "ashlar/runtime/api.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace ashlar::test;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

static void describe(const ashlar_tensor_info_t &info, ashlar_tensor_t &tensor,
                     std::vector<std::vector<char>> &storage) {
  constexpr uint64_t most = 1 << 20;
  storage.emplace_back(std::min(info.maximum_bytes, most) + 64);
  auto address = reinterpret_cast<uintptr_t>(storage.back().data());
  tensor = {};
  tensor.data = reinterpret_cast<void *>((address + 63) / 64 * 64);
  tensor.capacity = std::min(info.maximum_bytes, most);
  tensor.type = info.type;
  tensor.rank = info.rank;
  std::copy_n(info.maximum, info.rank, tensor.shape);
}

static void tryEntry(ashlar_module_t *module, ashlar_budget_t *budget,
                     ashlar_entry_t *entry, bool mayRun) {
  std::vector<ashlar_tensor_t> inputs(ashlar_entry_input_count(entry));
  std::vector<ashlar_tensor_t> outputs(ashlar_entry_output_count(entry));
  if (inputs.size() + outputs.size() > 64)
    return;
  std::vector<std::vector<char>> storage;
  for (size_t i = 0; i < inputs.size() + outputs.size(); ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    bool isInput = i < inputs.size();
    if ((isInput ? ashlar_entry_input(entry, i, &info)
                 : ashlar_entry_output(entry, i - inputs.size(), &info))
            .code != ASHLAR_OK)
      return;
    require(std::strlen(info.name) < (1 << 20));
    require(std::strlen(info.shape_text) < (1 << 20));
    describe(info, isInput ? inputs[i] : outputs[i - inputs.size()], storage);
  }
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  options.threads = 1;
  ashlar_session_t *session = nullptr;
  if (ashlar_session_create(module, budget, &options, &session).code ==
      ASHLAR_OK) {
    ashlar_bindings_t *bindings = nullptr;
    if (ashlar_bindings_create(session, entry, inputs.data(), inputs.size(),
                               outputs.data(), outputs.size(), &bindings)
                .code == ASHLAR_OK &&
        mayRun)
      // A file may ask for a loop without an end; a limit ends its run.
      (void)ashlar_bindings_run_within(bindings, /*timeout_ns=*/1000000000);
    ashlar_bindings_release(bindings);
  }
  ashlar_session_release(session);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ModuleBytes file(size);
  if (size)
    std::memcpy(file.data(), data, size);
  ashlar_module_header_t header;
  if (size >= sizeof(header)) {
    std::memcpy(&header, data, sizeof(header));
    if (header.index_offset <= size &&
        header.index_size <= size - header.index_offset)
      rehashIndex(file);
  }
  ashlar_runtime_t *runtime = nullptr;
  ashlar_budget_t *budget = nullptr;
  ashlar_module_t *module = nullptr;
  require(ashlar_runtime_create(nullptr, &runtime).code == ASHLAR_OK);
  require(ashlar_budget_create(runtime, "all", 16 << 20, &budget).code ==
          ASHLAR_OK);
  ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
  options.budget = budget;
  options.verify_weights = 1;
  // Linking foreign code reads all of its tables, but does not call it.
  options.allow_native_code = 1;
  options.share_content = size % 2;
  ashlar_status_t status = ashlar_module_load_memory(
      runtime, file.data(), file.size(), &options, &module);
  // A refusal has words; our own fault is none of its reasons.
  require(status.code == ASHLAR_OK || *status.message);
  require(status.code != ASHLAR_INTERNAL);
  if (module) {
    ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
    require(ashlar_module_query(module, &info).code == ASHLAR_OK);
    bool mayRun = std::strcmp(info.device, "systolic:0") == 0;
    for (size_t i = 0; i < std::min<size_t>(info.entry_count, 8); ++i) {
      ashlar_entry_t *entry = nullptr;
      require(ashlar_module_entry_at(module, i, &entry).code == ASHLAR_OK);
      ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
      (void)ashlar_entry_contract(entry, &contract);
      tryEntry(module, budget, entry, mayRun);
    }
    for (size_t i = 0; i < ashlar_module_metadata_count(module); ++i) {
      ashlar_metadata_t metadata = ASHLAR_METADATA_INIT;
      require(ashlar_module_metadata_at(module, i, &metadata).code ==
              ASHLAR_OK);
    }
  }
  ashlar_module_release(module);
  ashlar_budget_statistics_t left = ASHLAR_BUDGET_STATISTICS_INIT;
  require(ashlar_budget_query(budget, &left).code == ASHLAR_OK);
  require(left.current == 0 && left.peak <= left.limit);
  ashlar_budget_release(budget);
  ashlar_runtime_release(runtime);
  return 0;
}
