// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of memory that a file descriptor stands for.

#include "Handles.h"

using namespace ashlar::runtime;

/// `descriptor` negative: new memory.
static Status openMemory(ashlar_runtime_t *runtime, ashlar_device_t *device,
                         ashlar_budget_t *budget, const char *name,
                         int descriptor, uint64_t bytes,
                         ashlar_memory_t **out) {
  if (!runtime)
    return isNull("runtime");
  if (!device)
    return isNull("device");
  if (!name)
    return isNull("name");
  if (!out)
    return isNull("out_memory");
  auto made = makeShared<SharedMemory>(runtime->impl);
  ASHLAR_RETURN_IF_ERROR(
      made->open(*device, budget ? *budget->impl : *runtime->impl->budget(),
                 name, descriptor, bytes));
  *out = new ashlar_memory_t{std::move(made)};
  return {};
}

extern "C" {

ashlar_status_t ashlar_memory_create(ashlar_runtime_t *runtime,
                                     ashlar_device_t *device,
                                     ashlar_budget_t *budget, const char *name,
                                     uint64_t bytes,
                                     ashlar_memory_t **out_memory) {
  if (out_memory)
    *out_memory = nullptr;
  return guard(runtime, [&] {
    return openMemory(runtime, device, budget, name, -1, bytes, out_memory);
  });
}

ashlar_status_t ashlar_memory_import(ashlar_runtime_t *runtime,
                                     ashlar_device_t *device,
                                     ashlar_budget_t *budget, const char *name,
                                     int descriptor, uint64_t bytes,
                                     ashlar_memory_t **out_memory) {
  if (out_memory)
    *out_memory = nullptr;
  return guard(runtime, [&]() -> Status {
    if (descriptor < 0)
      return invalidArgument(concat(descriptor,
                                    " is no file descriptor; expected one that "
                                    "ashlar_memory_export gave"),
                             "descriptor");
    return openMemory(runtime, device, budget, name, descriptor, bytes,
                      out_memory);
  });
}

ashlar_status_t ashlar_memory_export(const ashlar_memory_t *memory,
                                     int *out_descriptor) {
  if (out_descriptor)
    *out_descriptor = -1;
  return guard(memory, [&]() -> Status {
    if (!isUsable(memory))
      return unusable(memory, "memory");
    if (!out_descriptor)
      return isNull("out_descriptor");
    return memory->impl->share(out_descriptor);
  });
}

ashlar_status_t ashlar_memory_query(const ashlar_memory_t *memory,
                                    ashlar_memory_info_t *out_info) {
  return guard(memory, [&]() -> Status {
    if (!memory)
      return isNull("memory");
    ashlar_memory_info_t filled = ASHLAR_MEMORY_INFO_INIT;
    memory->impl->query(filled);
    return writeStruct(filled, out_info, "out_info");
  });
}

void ashlar_memory_release(ashlar_memory_t *memory) { release(memory); }

} // extern "C"
