// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of modules and entries.

#include "CallSizes.h"
#include "EntryPieces.h"
#include "Handles.h"
#include "IndexVerifier.h"
#include "TensorShape.h"

using namespace ashlar::runtime;
namespace fb = ashlar::fb;

static Status readLoadOptions(ashlar_runtime_t *runtime,
                              const ashlar_load_options_t *given,
                              const char *defaultName, LoadOptions &out) {
  ashlar_load_options_t read = ASHLAR_LOAD_OPTIONS_INIT;
  ASHLAR_RETURN_IF_ERROR(readStruct(given, read, "options"));
  if (read.placement > ASHLAR_PLACEMENT_SOFT)
    return invalidArgument(concat("unknown placement ", read.placement),
                           "options.placement");
  if (!read.devices && read.device_count)
    return isNull("options.devices");
  for (size_t i = 0; i < read.device_count; ++i) {
    if (!read.devices[i])
      return isNull("options.devices");
    out.request.devices.push_back(read.devices[i]);
  }
  out.request.strict = read.placement == ASHLAR_PLACEMENT_STRICT;
  out.budget = read.budget ? read.budget->impl : runtime->impl->budget();
  out.name = read.name ? read.name : defaultName;
  out.allowNativeCode = read.allow_native_code != 0;
  out.verifyWeights = read.verify_weights != 0;
  out.shareContent = read.share_content != 0;
  return {};
}

/// The first of what `open` opens, by order of choice, whose code its devices
/// take and that are not lost meanwhile, where others will do.
template <typename Open>
static Status loadFirst(const std::shared_ptr<Runtime> &runtime,
                        LoadOptions &options, Open &&open,
                        std::shared_ptr<Module> &out) {
  Status refusal;
  for (;;) {
    std::unique_ptr<ModuleFile> file;
    ASHLAR_RETURN_IF_ERROR(open(file));
    out = makeShared<Module>(runtime, std::move(file), options);
    Vector<ProgramRequest::Refused> &refused = options.request.refused;
    Status status = out->plan();
    // Where there was no choice, why the one program was refused tells enough.
    if (!status.ok())
      return refused.size() == 1 ? std::move(refusal) : std::move(status);
    refusal = out->load();
    if (refusal.ok() || !out->isRefused())
      return refusal;
    refused.push_back({out->programNumber(), String(refusal.message())});
    options.request.isLost |= refusal.code() == ASHLAR_DEVICE_LOST;
    out.reset();
  }
}

/// Loads what `open` opens; `source` is the argument of that name.
template <typename Open>
static ashlar_status_t
loadModule(ashlar_runtime_t *runtime, const void *source, const char *argument,
           const ashlar_load_options_t *options, ashlar_module_t **out_module,
           const char *defaultName, Open &&open) {
  if (out_module)
    *out_module = nullptr;
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    if (!source)
      return isNull(argument);
    if (!out_module)
      return isNull("out_module");
    uint64_t start = runtime->impl->clock().now();
    LoadOptions read;
    ASHLAR_RETURN_IF_ERROR(
        readLoadOptions(runtime, options, defaultName, read));
    std::shared_ptr<Module> module;
    ASHLAR_RETURN_IF_ERROR(loadFirst(runtime->impl, read, open, module));
    module->loadNanoseconds = runtime->impl->clock().now() - start;
    *out_module = new ashlar_module_t{std::move(module)};
    return {};
  });
}

static const char *fileName(const char *path) {
  const char *slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/// What `index` of an entry's inputs or outputs is.
static Status describeTensor(
    const char *kind,
    const flatbuffers::Vector<flatbuffers::Offset<fb::TensorDescription>>
        *tensors,
    const Vector<String> &shapes, size_t index, ashlar_tensor_info_t *out) {
  if (index >= count(tensors))
    return failure(ASHLAR_NOT_FOUND,
                   concat(kind, " ", index, " of ", count(tensors)), "index");
  const fb::TensorDescription &tensor = *tensors->Get(uint32_t(index));
  ashlar_tensor_info_t filled = ASHLAR_TENSOR_INFO_INIT;
  filled.name = tensor.name()->c_str();
  filled.shape_text = shapes[index].c_str();
  filled.type = uint32_t(tensor.type());
  filled.rank = uint32_t(count(tensor.shape()));
  if (!maximumShape(tensor, filled.maximum, filled.maximum_bytes))
    return corrupt("the largest shape overflows", filled.name);
  if (tensor.state_input())
    filled.state_input = *tensor.state_input();
  for (uint32_t i = 0; i < filled.rank; ++i)
    filled.shape[i] =
        isConstantSize(*tensor.shape()->Get(i)) ? filled.maximum[i] : -1;
  return writeStruct(filled, out, "out_info");
}

static Status describeMetadata(const fb::Metadata &metadata,
                               ashlar_metadata_t *out) {
  ashlar_metadata_t filled = ASHLAR_METADATA_INIT;
  filled.key = metadata.key()->c_str();
  filled.value = metadata.value() ? metadata.value()->c_str() : "";
  filled.value_bytes = metadata.value() ? metadata.value()->size() : 0;
  return writeStruct(filled, out, "out_metadata");
}

extern "C" {

ashlar_status_t ashlar_module_load_file(ashlar_runtime_t *runtime,
                                        const char *path,
                                        const ashlar_load_options_t *options,
                                        ashlar_module_t **out_module) {
  return loadModule(
      runtime, path, "path", options, out_module, path ? fileName(path) : "",
      [&](std::unique_ptr<ModuleFile> &file) {
        return ModuleFile::openFile(path, file, runtime->impl->keys());
      });
}

ashlar_status_t ashlar_module_load_memory(ashlar_runtime_t *runtime,
                                          const void *data, size_t size,
                                          const ashlar_load_options_t *options,
                                          ashlar_module_t **out_module) {
  return loadModule(runtime, data, "data", options, out_module, "memory",
                    [&](std::unique_ptr<ModuleFile> &file) {
                      return ModuleFile::openMemory(data, size, file,
                                                    runtime->impl->keys());
                    });
}

ashlar_status_t
ashlar_module_check_file(ashlar_runtime_t *runtime, const char *path,
                         const ashlar_load_options_t *options,
                         ashlar_budget_t *session_budget,
                         const ashlar_session_options_t *session_options,
                         uint32_t sessions, ashlar_module_cost_t *out_cost) {
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    if (!path)
      return isNull("path");
    LoadOptions read;
    ASHLAR_RETURN_IF_ERROR(
        readLoadOptions(runtime, options, fileName(path), read));
    ashlar_session_options_t of = ASHLAR_SESSION_OPTIONS_INIT;
    ASHLAR_RETURN_IF_ERROR(readStruct(session_options, of, "session_options"));
    std::unique_ptr<ModuleFile> file;
    ASHLAR_RETURN_IF_ERROR(
        ModuleFile::openFile(path, file, runtime->impl->keys()));
    Module module(runtime->impl, std::move(file), std::move(read));
    ASHLAR_RETURN_IF_ERROR(module.plan());
    uint32_t workers = sessionWorkers(module, of.threads);
    ashlar_module_cost_t cost = ASHLAR_MODULE_COST_INIT;
    ASHLAR_RETURN_IF_ERROR(
        module.cost(workers, of.reserve_all != 0, !of.arena, cost));
    if (out_cost)
      ASHLAR_RETURN_IF_ERROR(writeStruct(cost, out_cost, "out_cost"));
    return module.checkFit(sessions, workers, of.reserve_all != 0,
                           session_budget ? *session_budget->impl
                                          : *runtime->impl->budget(),
                           of.arena ? of.arena->impl.get() : nullptr);
  });
}

void ashlar_module_release(ashlar_module_t *module) { release(module); }

ashlar_status_t ashlar_module_query(const ashlar_module_t *module,
                                    ashlar_module_info_t *out_info) {
  return guard(module, [&]() -> Status {
    if (!module)
      return isNull("module");
    ashlar_module_info_t filled = ASHLAR_MODULE_INFO_INIT;
    module->impl->query(filled);
    return writeStruct(filled, out_info, "out_info");
  });
}

size_t ashlar_module_metadata_count(const ashlar_module_t *module) {
  return module ? count(module->impl->index().metadata()) : 0;
}

ashlar_status_t ashlar_module_metadata_at(const ashlar_module_t *module,
                                          size_t index,
                                          ashlar_metadata_t *out_metadata) {
  return guard(module, [&]() -> Status {
    if (!module)
      return isNull("module");
    const auto *all = module->impl->index().metadata();
    if (index >= count(all))
      return failure(ASHLAR_NOT_FOUND,
                     concat("metadata ", index, " of ", count(all)), "index");
    return describeMetadata(*all->Get(uint32_t(index)), out_metadata);
  });
}

ashlar_status_t ashlar_module_metadata(const ashlar_module_t *module,
                                       const char *key,
                                       ashlar_metadata_t *out_metadata) {
  return guard(module, [&]() -> Status {
    if (!module)
      return isNull("module");
    if (!key)
      return isNull("key");
    const auto *all = module->impl->index().metadata();
    for (uint32_t i = 0; i < count(all); ++i)
      if (all->Get(i)->key()->string_view() == key)
        return describeMetadata(*all->Get(i), out_metadata);
    return failure(ASHLAR_NOT_FOUND,
                   concat("the model says nothing of ", key, "; it has ",
                          count(all), " entries of metadata"),
                   "key");
  });
}

ashlar_status_t ashlar_module_entry(ashlar_module_t *module, const char *name,
                                    ashlar_entry_t **out_entry) {
  if (out_entry)
    *out_entry = nullptr;
  return guard(module, [&]() -> Status {
    if (!module)
      return isNull("module");
    if (!name)
      return isNull("name");
    if (!out_entry)
      return isNull("out_entry");
    return module->impl->findEntry(name, *out_entry);
  });
}

ashlar_status_t ashlar_module_entry_at(ashlar_module_t *module, size_t index,
                                       ashlar_entry_t **out_entry) {
  if (out_entry)
    *out_entry = nullptr;
  return guard(module, [&]() -> Status {
    if (!module)
      return isNull("module");
    if (!out_entry)
      return isNull("out_entry");
    if (index >= module->impl->entries.size())
      return Status(
          ASHLAR_NOT_FOUND,
          concat("entry ", index, " of ", module->impl->entries.size()),
          "index");
    *out_entry = &module->impl->entries[index];
    return {};
  });
}

const char *ashlar_entry_name(const ashlar_entry_t *entry) {
  return entry ? entry->entry->name()->c_str() : "";
}

size_t ashlar_entry_input_count(const ashlar_entry_t *entry) {
  return entry ? count(entry->entry->inputs()) : 0;
}

size_t ashlar_entry_output_count(const ashlar_entry_t *entry) {
  return entry ? count(entry->entry->outputs()) : 0;
}

ashlar_status_t ashlar_entry_input(const ashlar_entry_t *entry, size_t index,
                                   ashlar_tensor_info_t *out_info) {
  return guard([&]() -> Status {
    if (!entry)
      return isNull("entry");
    return describeTensor("input", entry->entry->inputs(), entry->inputShapes,
                          index, out_info);
  });
}

ashlar_status_t ashlar_entry_output(const ashlar_entry_t *entry, size_t index,
                                    ashlar_tensor_info_t *out_info) {
  return guard([&]() -> Status {
    if (!entry)
      return isNull("entry");
    ASHLAR_RETURN_IF_ERROR(describeTensor("output", entry->entry->outputs(),
                                          entry->outputShapes, index,
                                          out_info));
    size_t rank = count(entry->entry->outputs()->Get(uint32_t(index))->shape());
    for (size_t i = 0; i < rank; ++i)
      if (isBound(*entry, index, i))
        out_info->shape[i] = -1;
    return {};
  });
}

ashlar_status_t ashlar_entry_contract(const ashlar_entry_t *entry,
                                      ashlar_contract_t *out_cost) {
  return guard([&]() -> Status {
    if (!entry)
      return isNull("entry");
    return writeStruct(contractOf(*entry), out_cost, "out_cost");
  });
}

ashlar_status_t ashlar_entry_contract_at(const ashlar_entry_t *entry,
                                         const ashlar_tensor_t *inputs,
                                         size_t input_count,
                                         ashlar_contract_t *out_cost) {
  return guard([&]() -> Status {
    if (!entry)
      return isNull("entry");
    ConstTensorSpan given = {inputs, input_count};
    ASHLAR_RETURN_IF_ERROR(checkCount(*entry, given));
    uint64_t bytes;
    for (uint32_t i = 0; i < input_count; ++i)
      ASHLAR_RETURN_IF_ERROR(checkShape(*entry, inputs[i], i, bytes));
    Vector<int64_t> symbols;
    ASHLAR_RETURN_IF_ERROR(readSymbols(*entry, given, symbols));
    const fb::ProgramEntry *piece;
    ASHLAR_RETURN_IF_ERROR(findPiece(entry->module->index(), entry->pieces,
                                     symbols.data(), piece));
    ASHLAR_RETURN_IF_ERROR(checkDerivedShapes(*entry, given, symbols.data()));
    ashlar_contract_t filled;
    ASHLAR_RETURN_IF_ERROR(
        contractOfCall(*entry, *piece, symbols.data(), filled));
    return writeStruct(filled, out_cost, "out_cost");
  });
}

} // extern "C"
