// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver and its devices. A thread has a current device, 0 at first; what
// CUDA calls a context comes with its first use and stays.

#include "CudaExport.h"
#include "HipLimits.h"

#include <cstdio>
#include <cstring>

using namespace ashlar::cuda;

ASHLAR_CUDA_EXPORT hipInit(unsigned flags) {
  ASHLAR_CUDA_BEGIN(Call::Nothing)
  if (flags)
    return call.misuse(INVALID_VALUE, "flags are not 0");
  if (state().devices.empty())
    return NO_DEVICE;
  state().isInitialized = true;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT hipGetDeviceCount(int *count) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(count)
  *count = int(state().devices.size());
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT hipDeviceGet(CUdevice *device, int ordinal) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(device)
  if (ordinal < 0 || size_t(ordinal) >= state().devices.size())
    return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT hipDeviceGetName(char *name, int length, CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(name)
  if (!call.device(device))
    return call.refusal;
  if (length <= 0)
    return call.misuse(INVALID_VALUE, "a name of no length");
  std::snprintf(name, size_t(length), "Ashlar HIP double");
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT hipDeviceTotalMem(size_t *bytes, CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(bytes)
  Device *found = call.device(device);
  if (!found)
    return call.refusal;
  *bytes = found->memory;
  return SUCCESS;
}

/// By the numbers of hipDeviceAttribute_t; negative: the double does not know.
static int attributeOf(int attribute) {
  const State &all = state();
  switch (attribute) {
  case 23: // ComputeCapabilityMajor
    return all.major;
  case 61: // ComputeCapabilityMinor
    return all.minor;
  case 56: // MaxThreadsPerBlock
    return int(hip::mostThreads);
  case 57: // MaxThreadsPerMultiProcessor
    return 2048;
  case 63: // MultiprocessorCount
    return 8;
  case 71: // MaxRegistersPerBlock
    return 65536;
  case 74:    // MaxSharedMemoryPerBlock
  case 10002: // MaxSharedMemoryPerMultiprocessor
    return int(hip::sharedBytes);
  case 87: // WarpSize
    return all.major < 10 ? 64 : 32;
  }
  return -1;
}

ASHLAR_CUDA_EXPORT hipDeviceGetAttribute(int *value, int attribute,
                                         CUdevice device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(value)
  if (!call.device(device))
    return call.refusal;
  int told = attributeOf(attribute);
  if (told < 0)
    return call.misuse(INVALID_VALUE, "the double does not know attribute " +
                                          std::to_string(attribute));
  *value = told;
  return SUCCESS;
}

/// With the lock of the state.
static CUcontext contextOf(Device &device) {
  if (!device.primary) {
    auto made = std::make_shared<Context>();
    made->device = &device;
    uint64_t handle = state().newHandle();
    made->handle = reinterpret_cast<CUcontext>(handle);
    made->standard = openStream(*made, true);
    state().contexts[handle] = made;
    device.primary = made;
  }
  return device.primary->handle;
}

CUcontext ashlar::cuda::contextByDefault() {
  return contextOf(*state().devices.front());
}

ASHLAR_CUDA_EXPORT hipSetDevice(int device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  Device *found = call.device(device);
  if (!found)
    return call.refusal;
  currentContexts() = {contextOf(*found)};
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT hipGetDevice(int *device) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(device)
  *device = call.context ? call.context->device->ordinal : 0;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT hipDeviceSynchronize() {
  ASHLAR_CUDA_BEGIN(Call::Current)
  waitForAll(call.lock, *call.context);
  return call.context->fault;
}

/// As HIP calls what CUDA has by the same number.
#define ASHLAR_HIP_ERRORS(ERROR)                                               \
  ERROR(Success, 0)                                                            \
  ERROR(ErrorInvalidValue, 1)                                                  \
  ERROR(ErrorOutOfMemory, 2)                                                   \
  ERROR(ErrorNotInitialized, 3)                                                \
  ERROR(ErrorDeinitialized, 4)                                                 \
  ERROR(ErrorNoDevice, 100)                                                    \
  ERROR(ErrorInvalidDevice, 101)                                               \
  ERROR(ErrorInvalidImage, 200)                                                \
  ERROR(ErrorInvalidContext, 201)                                              \
  ERROR(ErrorNoBinaryForGpu, 209)                                              \
  ERROR(ErrorECCNotCorrectable, 214)                                           \
  ERROR(ErrorInvalidHandle, 400)                                               \
  ERROR(ErrorIllegalState, 401)                                                \
  ERROR(ErrorNotFound, 500)                                                    \
  ERROR(ErrorNotReady, 600)                                                    \
  ERROR(ErrorIllegalAddress, 700)                                              \
  ERROR(ErrorLaunchOutOfResources, 701)                                        \
  ERROR(ErrorLaunchTimeOut, 702)                                               \
  ERROR(ErrorContextIsDestroyed, 709)                                          \
  ERROR(ErrorLaunchFailure, 719)                                               \
  ERROR(ErrorNotSupported, 801)                                                \
  ERROR(ErrorStreamCaptureUnsupported, 900)                                    \
  ERROR(ErrorStreamCaptureInvalidated, 901)                                    \
  ERROR(ErrorStreamCaptureWrongThread, 908)                                    \
  ERROR(ErrorUnknown, 999)

extern "C"
    [[gnu::visibility("default")]] const char *hipGetErrorName(int error) {
  switch (error) {
#define ASHLAR_HIP_ERROR(NAME, CODE)                                           \
  case CODE:                                                                   \
    return "hip" #NAME;
    ASHLAR_HIP_ERRORS(ASHLAR_HIP_ERROR)
#undef ASHLAR_HIP_ERROR
  }
  return "hipErrorUnknown";
}
