// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ZeDriver.h"

#include <cstring>
#include <dlfcn.h>

namespace ashlar::runtime::ze {

/// Fills the table; false if a function is missing.
static bool open(Functions &functions) {
  // Its functions follow each other as in the table.
  static const char names[] =
#define ASHLAR_ZE_NAME(NAME, ARGUMENTS) "ze" #NAME "\0"
      ASHLAR_ZE_FUNCTIONS(ASHLAR_ZE_NAME)
#undef ASHLAR_ZE_NAME
      ;
  void *library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
  auto *slot = reinterpret_cast<char *>(&functions);
  for (const char *name = names; *name; name += std::strlen(name) + 1) {
    void *address = dlsym(library, name);
    if (!address)
      return false;
    std::memcpy(slot, &address, sizeof(address));
    slot += sizeof(address);
  }
  return true;
}

/// A driver that fails counts as one without GPUs.
static void listGpus(Drivers &found) {
  const Functions &api = found.api;
  uint32_t count = 0;
  if (api.Init(0) != 0 || api.DriverGet(&count, nullptr) != 0 || count == 0)
    return;
  Vector<DriverId> all(count);
  if (api.DriverGet(&count, all.data()) != 0)
    return;
  for (DriverId driver : all) {
    uint32_t here = 0;
    if (api.DeviceGet(driver, &here, nullptr) != 0 || here == 0)
      continue;
    Vector<DeviceId> devices(here);
    if (api.DeviceGet(driver, &here, devices.data()) != 0)
      continue;
    for (DeviceId device : devices) {
      DeviceProperties said = {};
      if (api.DeviceGetProperties(device, &said) == 0 && said.type == typeGpu)
        found.gpus.push_back(std::make_unique<Gpu>(api, driver, device));
    }
  }
}

const Drivers &drivers() {
  // Never destroyed: a driver's threads may outlive it.
  static const Drivers &known = *[] {
    OwnMemory::Scope ofAll(nullptr); // whichever runtime asks first
    auto *found = new Drivers();
    if (open(found->api))
      listGpus(*found);
    return found;
  }();
  return known;
}

Code Gpu::describe() {
  if (Code code = api.DeviceGetProperties(device, &properties))
    return code;
  if (Code code = api.DeviceGetComputeProperties(device, &compute))
    return code;
  return api.DeviceGetModuleProperties(device, &modules);
}

Code Gpu::findQueues() {
  uint32_t count = 0;
  if (Code code =
          api.DeviceGetCommandQueueGroupProperties(device, &count, nullptr))
    return code;
  Vector<QueueGroupProperties> groups(count);
  if (Code code = api.DeviceGetCommandQueueGroupProperties(device, &count,
                                                           groups.data()))
    return code;
  for (ordinal = 0; ordinal < count; ++ordinal)
    if (groups[ordinal].flags & groupComputes)
      return 0;
  return unsupportedVersion;
}

Code Gpu::retain() {
  std::lock_guard<std::mutex> lock(mutex);
  if (users == 0) {
    if (Code code = describe())
      return code;
    if (Code code = findQueues())
      return code;
    const Context how;
    if (Code code = api.ContextCreate(driver, &how, &context))
      return code;
  }
  ++users;
  return 0;
}

void Gpu::release() {
  std::lock_guard<std::mutex> lock(mutex);
  if (--users != 0)
    return;
  api.ContextDestroy(context);
  context = nullptr;
}

/// A thread goes to a device while it holds another one's, not deeper.
static constexpr unsigned deepest = 16;
static thread_local struct {
  Gpu *gpus[deepest];
  unsigned depth;
} pushed;

Gpu &current() { return *pushed.gpus[pushed.depth - 1]; }

Code push(Gpu *gpu) {
  if (pushed.depth == deepest)
    return unknownError;
  pushed.gpus[pushed.depth++] = gpu;
  return 0;
}

Code pop(Gpu **outGpu) {
  *outGpu = &current();
  --pushed.depth;
  return 0;
}

const char *nameOf(Code code) {
  struct Named {
    Code code;
    const char *name;
  };
  static constexpr Named names[] = {
      {0, "ZE_RESULT_SUCCESS"},
      {notReady, "ZE_RESULT_NOT_READY"},
      {deviceLost, "ZE_RESULT_ERROR_DEVICE_LOST"},
      {outOfHostMemory, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY"},
      {outOfDeviceMemory, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"},
      {moduleBuildFailure, "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE"},
      {moduleLinkFailure, "ZE_RESULT_ERROR_MODULE_LINK_FAILURE"},
      {deviceRequiresReset, "ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET"},
      {deviceInLowPowerState, "ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE"},
      {dependencyUnavailable, "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE"},
      {0x78000001, "ZE_RESULT_ERROR_UNINITIALIZED"},
      {unsupportedVersion, "ZE_RESULT_ERROR_UNSUPPORTED_VERSION"},
      {0x78000003, "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE"},
      {invalidArgument, "ZE_RESULT_ERROR_INVALID_ARGUMENT"},
      {0x78000005, "ZE_RESULT_ERROR_INVALID_NULL_HANDLE"},
      {0x78000006, "ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE"},
      {0x78000007, "ZE_RESULT_ERROR_INVALID_NULL_POINTER"},
      {0x78000008, "ZE_RESULT_ERROR_INVALID_SIZE"},
      {unsupportedSize, "ZE_RESULT_ERROR_UNSUPPORTED_SIZE"},
      {0x7800000a, "ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT"},
      {0x7800000b, "ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT"},
      {0x7800000c, "ZE_RESULT_ERROR_INVALID_ENUMERATION"},
      {0x7800000d, "ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION"},
      {invalidNativeBinary, "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY"},
      {invalidKernelName, "ZE_RESULT_ERROR_INVALID_KERNEL_NAME"},
      {0x78000013, "ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION"},
      {0x78000015, "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX"},
      {0x78000016, "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE"},
      {0x78000018, "ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED"},
      {0x7800001a, "ZE_RESULT_ERROR_OVERLAPPING_REGIONS"},
      {unknownError, "ZE_RESULT_ERROR_UNKNOWN"},
  };
  for (const Named &each : names)
    if (each.code == code)
      return each.name;
  return nullptr;
}

} // namespace ashlar::runtime::ze
