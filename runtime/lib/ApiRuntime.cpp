// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of runtimes, traces and devices.

#include "Handles.h"
#include "Signature.h"

#include <pthread.h>

using namespace ashlar::runtime;

static constexpr uint32_t maximumThreads = 4096;
static constexpr uint32_t maximumKeys = 65536;

#define ASHLAR_STRING_(x) #x
#define ASHLAR_STRING(x) ASHLAR_STRING_(x)

[[maybe_unused]] static const int isCounting = pthread_atfork(
    nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

extern "C" {

const char *ashlar_runtime_version(void) {
  return ASHLAR_STRING(ASHLAR_VERSION_MAJOR) "." ASHLAR_STRING(
      ASHLAR_VERSION_MINOR) "." ASHLAR_STRING(ASHLAR_VERSION_PATCH);
}

ashlar_status_t ashlar_runtime_create(const ashlar_runtime_options_t *options,
                                      ashlar_runtime_t **out_runtime) {
  if (out_runtime)
    *out_runtime = nullptr;
  return guard([&]() -> Status {
    if (!out_runtime)
      return isNull("out_runtime");
    ashlar_runtime_options_t read = ASHLAR_RUNTIME_OPTIONS_INIT;
    ASHLAR_RETURN_IF_ERROR(readStruct(options, read, "options"));
    if (read.threads > maximumThreads)
      return invalidArgument(
          concat(read.threads, " threads; at most ", maximumThreads),
          "options.threads");
    if (read.executor && (!read.executor->run || read.executor->shares == 0 ||
                          read.executor->shares > maximumThreads))
      return invalidArgument("an executor needs a function and 1 to 4096 "
                             "shares",
                             "options.executor");
    if (read.allocator && (!read.allocator->allocate || !read.allocator->free))
      return invalidArgument("an allocator needs both of its functions",
                             "options.allocator");
    if (read.logger && !read.logger->log)
      return isNull("options.logger->log");
    if (read.clock && !read.clock->now_ns)
      return isNull("options.clock->now_ns");
    if (read.signature_key_count) {
      if (!read.signature_keys)
        return isNull("options.signature_keys");
      if (read.signature_key_count > maximumKeys)
        return invalidArgument(
            concat(read.signature_key_count, " keys; at most ", maximumKeys),
            "options.signature_key_count");
      ASHLAR_RETURN_IF_ERROR(openVerifier());
    }
    OwnMemory::Owner memory = OwnMemory::create();
    OwnMemory::Scope scope(memory.get());
    auto runtime = makeShared<Runtime>(allDevices(), std::move(memory));
    runtime->configure(read);
    *out_runtime = new ashlar_runtime_t{std::move(runtime)};
    return {};
  });
}

void ashlar_runtime_release(ashlar_runtime_t *runtime) { release(runtime); }

ashlar_status_t ashlar_trace_start(ashlar_runtime_t *runtime,
                                   const char *path) {
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    if (!path)
      return isNull("path");
    return runtime->impl->startTrace(path);
  });
}

ashlar_status_t ashlar_trace_stop(ashlar_runtime_t *runtime) {
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    return runtime->impl->stopTrace();
  });
}

ashlar_status_t ashlar_device_open(ashlar_runtime_t *runtime, const char *name,
                                   ashlar_device_t **out_device) {
  if (out_device)
    *out_device = nullptr;
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    if (!name)
      return isNull("name");
    if (!out_device)
      return isNull("out_device");
    return runtime->impl->device(name, *out_device);
  });
}

ashlar_status_t
ashlar_virtual_device_create(ashlar_runtime_t *runtime, const char *name,
                             const ashlar_virtual_device_options_t *options,
                             ashlar_device_t **out_device) {
  if (out_device)
    *out_device = nullptr;
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    if (!name)
      return isNull("name");
    if (!options)
      return isNull("options");
    if (!out_device)
      return isNull("out_device");
    ashlar_virtual_device_options_t read = ASHLAR_VIRTUAL_DEVICE_OPTIONS_INIT;
    ASHLAR_RETURN_IF_ERROR(readStruct(options, read, "options"));
    if (!read.memory_bytes || !read.workers)
      return invalidArgument("0; a virtual device has at least 1",
                             read.workers ? "options.memory_bytes"
                                          : "options.workers");
    return runtime->impl->createVirtual(name, read.memory_bytes, read.workers,
                                        *out_device);
  });
}

ashlar_status_t ashlar_virtual_device_destroy(ashlar_runtime_t *runtime,
                                              ashlar_device_t *device) {
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    return device ? runtime->impl->destroyVirtual(*device) : isNull("device");
  });
}

const char *ashlar_device_names(ashlar_runtime_t *runtime) {
  try {
    return runtime ? runtime->impl->listDevices() : "";
  } catch (const std::bad_alloc &) {
    return "";
  }
}

const char *ashlar_device_name(const ashlar_device_t *device) {
  return device ? device->name.c_str() : "";
}

const char *ashlar_device_features(const ashlar_device_t *device) {
  return device ? device->features.c_str() : "";
}

ashlar_status_t ashlar_device_status(const ashlar_device_t *device) {
  return guard([&]() -> Status {
    if (!device)
      return isNull("device");
    return device->status();
  });
}

} // extern "C"
