// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver and its devices.

#include "CudaExport.h"
#include "CudaLimits.h"

#include <cstring>
#include <dlfcn.h>

using namespace ashlar::cuda;

ASHLAR_CUDA_EXPORT cuInit(unsigned flags) {
  ASHLAR_CUDA_BEGIN(Call::Nothing)
  if (flags)
    return call.misuse(INVALID_VALUE, "flags are not 0");
  if (state().devices.empty())
    return NO_DEVICE;
  state().isInitialized = true;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuDriverGetVersion(int *version) {
  ASHLAR_CUDA_BEGIN(Call::Nothing)
  ASHLAR_CUDA_NOT_NULL(version)
  *version = state().driver;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuDeviceGetCount(int *count) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(count)
  *count = int(state().devices.size());
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuDeviceGet(CUdevice *device, int ordinal) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(device)
  if (ordinal < 0 || size_t(ordinal) >= state().devices.size())
    return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuDeviceGetName(char *name, int length, CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(name)
  if (!call.device(device))
    return call.refusal;
  if (length <= 0)
    return call.misuse(INVALID_VALUE, "a name of no length");
  std::strncpy(name, "Ashlar CUDA double", size_t(length));
  name[length - 1] = 0;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(bytes)
  Device *found = call.device(device);
  if (!found)
    return call.refusal;
  *bytes = found->memory;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(uuid)
  if (!call.device(device))
    return call.refusal;
  std::memcpy(uuid->bytes, "ashlar-double-0", 16);
  uuid->bytes[15] = char(device);
  return SUCCESS;
}
ASHLAR_CUDA_EXPORT cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

ASHLAR_CUDA_EXPORT cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(id)
  if (!call.device(device))
    return call.refusal;
  if (length < 13)
    return call.misuse(INVALID_VALUE, "less room than 13 characters");
  std::snprintf(id, size_t(length), "0000:%02x:00.0", unsigned(device + 1));
  return SUCCESS;
}

/// Those of CUdevice_attribute that differ by architecture; -1: none.
static int architecturesOf(int attribute) {
  const State &all = state();
  Limits limits = limitsOf(all.major, all.minor);
  switch (attribute) {
  case 8: // MAX_SHARED_MEMORY_PER_BLOCK
    return limits.sharedPerBlock;
  case 16: // MULTIPROCESSOR_COUNT
    return all.multiprocessors ? all.multiprocessors : limits.multiprocessors;
  case 39: // MAX_THREADS_PER_MULTIPROCESSOR
    return limits.threadsPerMultiprocessor;
  case 75: // COMPUTE_CAPABILITY_MAJOR
    return all.major;
  case 76: // COMPUTE_CAPABILITY_MINOR
    return all.minor;
  case 81: // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    return limits.sharedPerMultiprocessor;
  case 97: // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    return limits.sharedOptIn;
  case 103: // HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
    return all.hasDescriptors;
  case 106: // MAX_BLOCKS_PER_MULTIPROCESSOR
    return limits.blocksPerMultiprocessor;
  case 111: // RESERVED_SHARED_MEMORY_PER_BLOCK
    return limits.sharedReserved;
  case 120: // CLUSTER_LAUNCH
  case 127: // TENSOR_MAP_ACCESS_SUPPORTED
    return all.major >= 9;
  }
  return -1;
}

/// By the numbers of CUdevice_attribute; -1: there is no such.
static int attributeOf(int attribute, const Device &device) {
  switch (attribute) {
  case 1: // MAX_THREADS_PER_BLOCK
  case 2: // MAX_BLOCK_DIM_X
  case 3:
    return 1024;
  case 4:
    return 64;
  case 5: // MAX_GRID_DIM_X
    return 0x7fffffff;
  case 6:
  case 7:
    return 65535;
  case 9: // TOTAL_CONSTANT_MEMORY
    return 65536;
  case 10: // WARP_SIZE
    return 32;
  case 11: // MAX_PITCH
    return 0x7fffffff;
  case 12: // MAX_REGISTERS_PER_BLOCK
  case 82: // MAX_REGISTERS_PER_MULTIPROCESSOR
    return 65536;
  case 13: // CLOCK_RATE, kHz
    return 1400000;
  case 14: // TEXTURE_ALIGNMENT
    return 512;
  case 15: // GPU_OVERLAP
    return 1;
  case 17: // KERNEL_EXEC_TIMEOUT
  case 18: // INTEGRATED
    return 0;
  case 19: // CAN_MAP_HOST_MEMORY
    return 1;
  case 20: // COMPUTE_MODE
    return 0;
  case 31: // CONCURRENT_KERNELS
    return 1;
  case 32: // ECC_ENABLED
    return 0;
  case 33: // PCI_BUS_ID
    return device.ordinal + 1;
  case 34: // PCI_DEVICE_ID
  case 35: // TCC_DRIVER
  case 50: // PCI_DOMAIN_ID
    return 0;
  case 36: // MEMORY_CLOCK_RATE, kHz
    return 1200000;
  case 37: // GLOBAL_MEMORY_BUS_WIDTH
    return 5120;
  case 38: // L2_CACHE_SIZE
    return 40 << 20;
  case 40: // ASYNC_ENGINE_COUNT
    return 2;
  case 41: // UNIFIED_ADDRESSING
    return 1;
  case 78: // STREAM_PRIORITIES_SUPPORTED
  case 79: // GLOBAL_L1_CACHE_SUPPORTED
  case 80: // LOCAL_L1_CACHE_SUPPORTED
    return 1;
  case 83: // MANAGED_MEMORY
  case 88: // PAGEABLE_MEMORY_ACCESS
  case 95: // COOPERATIVE_LAUNCH
  case 99: // HOST_REGISTER_SUPPORTED
    return 0;
  case 102: // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    return 1;
  case 115: // MEMORY_POOLS_SUPPORTED
    return state().hasPools;
  }
  return architecturesOf(attribute);
}

ASHLAR_CUDA_EXPORT cuDeviceGetAttribute(int *value, int attribute,
                                        CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(value)
  Device *found = call.device(device);
  if (!found)
    return call.refusal;
  int told = attributeOf(attribute, *found);
  if (told < 0)
    return call.misuse(INVALID_VALUE, "the double does not know attribute " +
                                          std::to_string(attribute));
  *value = told;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuDevicePrimaryCtxRetain(CUcontext *context,
                                            CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(context)
  Device *found = call.device(device);
  if (!found)
    return call.refusal;
  if (!found->primary) {
    auto made = std::make_shared<Context>();
    made->device = found;
    uint64_t handle = state().newHandle();
    made->handle = reinterpret_cast<CUcontext>(handle);
    made->standard = openStream(*made, true);
    state().contexts[handle] = made;
    found->primary = made;
    count(ashlar::test::CudaDouble::Contexts, 1);
  }
  ++found->references;
  *context = found->primary->handle;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized, true)
  Device *found = call.device(device);
  if (!found)
    return call.refusal;
  if (found->references == 0)
    return call.misuse(INVALID_CONTEXT,
                       "released more often than it was retained");
  if (--found->references == 0) {
    std::shared_ptr<Context> context = std::move(found->primary);
    found->primary = nullptr;
    closeContext(call.lock, context);
  }
  return call.result;
}

ASHLAR_CUDA_EXPORT cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                              int *active) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(flags)
  ASHLAR_CUDA_NOT_NULL(active)
  Device *found = call.device(device);
  if (!found)
    return call.refusal;
  *flags = 0;
  *active = found->references > 0;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuGetProcAddress_v2(const char *symbol, void **function,
                                       int version, uint64_t flags,
                                       int *status) {
  ASHLAR_CUDA_BEGIN(Call::Nothing)
  ASHLAR_CUDA_NOT_NULL(symbol)
  ASHLAR_CUDA_NOT_NULL(function)
  (void)flags;
  Dl_info self;
  *function = nullptr;
  if (dladdr(reinterpret_cast<void *>(&cuGetProcAddress_v2), &self))
    if (void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD)) {
      // By the version's own name, else by the first one's.
      *function = dlsym(library, (std::string(symbol) + "_v2").c_str());
      if (!*function)
        *function = dlsym(library, symbol);
      dlclose(library);
    }
  (void)version;
  if (status)
    *status = *function ? 0 : 1; // CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
  return *function ? SUCCESS : NOT_FOUND;
}
