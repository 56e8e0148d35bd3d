// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The other process of ExternalMemoryTest: ExternalPeer DEVICE import|export
// takes memory from the socket 3, or makes some and sends it there, and has the
// sample module write its results into it.

#include "SampleModules.h"
#include "SendDescriptor.h"
#include "ashlar/runtime/api.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace ashlar::test;

static constexpr int socketNumber = 3;
static constexpr uint64_t bytes = sampleCount * sizeof(float);

static bool isFailure(const char *what, ashlar_status_t status) {
  if (status.code != ASHLAR_OK)
    std::fprintf(stderr, "peer: %s: %s\n", what, status.message);
  return status.code != ASHLAR_OK;
}

/// x is i % 17 - 3, y is i % 5 / 4, as in SampleArguments.
static bool run(ashlar_runtime_t *runtime, const char *device,
                const ashlar_memory_info_t &into) {
  ModuleBuilder builder = sampleModule();
  if (std::strncmp(device, "cuda", 4) == 0 && !builder.useCuda())
    return false;
  ModuleBytes file = builder.build();
  ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
  options.allow_native_code = 1;
  options.devices = &device;
  options.device_count = 1;
  ashlar_module_t *module = nullptr;
  ashlar_session_t *session = nullptr;
  alignas(64) float x[sampleCount], y[sampleCount];
  for (int i = 0; i < sampleCount; ++i) {
    x[i] = float(i % 17) - 3;
    y[i] = float(i % 5) * 0.25f;
  }
  ashlar_tensor_t tensors[3] = {};
  void *const places[] = {x, y, into.data};
  for (int i = 0; i < 3; ++i) {
    tensors[i].data = places[i];
    tensors[i].capacity = bytes;
    tensors[i].type = ASHLAR_TYPE_F32;
    tensors[i].rank = 1;
    tensors[i].shape[0] = sampleCount;
  }
  tensors[2].device = into.device;
  bool isDone =
      !isFailure("load",
                 ashlar_module_load_memory(runtime, file.data(), file.size(),
                                           &options, &module)) &&
      !isFailure("session",
                 ashlar_session_create(module, nullptr, nullptr, &session)) &&
      !isFailure("run", ashlar_session_run(session, "main", tensors, 2,
                                           tensors + 2, 1));
  ashlar_session_release(session);
  ashlar_module_release(module);
  return isDone;
}

int main(int count, char **words) {
  if (count != 3)
    return 2;
  const bool isImport = std::strcmp(words[2], "import") == 0;
  ashlar_runtime_t *runtime = nullptr;
  ashlar_device_t *device = nullptr;
  ashlar_memory_t *memory = nullptr;
  if (isFailure("runtime", ashlar_runtime_create(nullptr, &runtime)) ||
      isFailure("device", ashlar_device_open(runtime, words[1], &device)))
    return 1;
  if (isImport) {
    int got = receiveDescriptor(socketNumber);
    if (isFailure("import", ashlar_memory_import(runtime, device, nullptr,
                                                 "peer", got, bytes, &memory)))
      return 1;
    close(got);
  } else if (isFailure("create",
                       ashlar_memory_create(runtime, device, nullptr, "peer",
                                            bytes, &memory))) {
    return 1;
  }
  ashlar_memory_info_t info = ASHLAR_MEMORY_INFO_INIT;
  if (isFailure("query", ashlar_memory_query(memory, &info)) ||
      !run(runtime, words[1], info))
    return 1;
  if (!isImport) {
    int made = -1;
    if (isFailure("export", ashlar_memory_export(memory, &made)) ||
        !sendDescriptor(socketNumber, made))
      return 1;
    close(made);
  }
  ashlar_memory_release(memory);
  ashlar_runtime_release(runtime);
  return 0;
}
