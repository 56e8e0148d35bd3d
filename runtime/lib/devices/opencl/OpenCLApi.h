// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of OpenCL 1.2 to 2.1, and of two extensions, that the device uses,
// declared here so that the runtime builds without anybody's headers. Names are
// the standard's without its prefix; numbers are from the Khronos headers.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLAPI_H
#define ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLAPI_H

#include <cstddef>
#include <cstdint>

namespace ashlar::runtime::opencl {

/// The driver's objects, each of which is released as often as it was made or
/// retained.
using Platform = struct PlatformObject *;
using DeviceId = struct DeviceObject *;
using Context = struct ContextObject *;
using Memory = struct MemoryObject *;
using Program = struct ProgramObject *;
using Kernel = struct KernelObject *;
using CommandQueue = struct CommandQueueObject *;
using EventId = struct EventObject *;
using CommandBuffer = struct CommandBufferObject *;
/// CL_SUCCESS is 0, an error is below.
using Code = int32_t;
/// Of a context: names and values by turns, 0 at the end.
using Properties = const intptr_t *;
/// Of the extensions: names and values by turns, 0 at the end.
using Properties64 = const uint64_t *;

/// Errors that mean something to us; OpenCLErrors.cpp has the names of all.
enum : Code {
  deviceNotAvailable = -2,
  memObjectAllocationFailure = -4,
  outOfResources = -5,
  outOfHostMemory = -6,
  invalidKernelName = -46,
  invalidBufferSize = -61
};

/// Bits of what devices are asked for, and of how buffers are made.
enum : uint64_t {
  deviceTypeCpu = 2,
  deviceTypeAll = 0xFFFFFFFF,
  memReadWrite = 1,
  memCopy = 32
};

/// CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT of CL_DEVICE_SINGLE_FP_CONFIG.
constexpr uint64_t correctlyRounded = 1 << 7;

/// What is asked of devices, programs, kernels and events.
enum : uint32_t {
  deviceType = 0x1000,
  deviceMaxWorkGroupSize = 0x1004,
  deviceAddressBits = 0x100D,
  deviceMaxMemAllocSize = 0x1010,
  deviceSingleFpConfig = 0x101B,
  deviceGlobalMemSize = 0x101F,
  deviceLocalMemSize = 0x1023,
  deviceName = 0x102B,
  deviceVendor = 0x102C,
  driverVersion = 0x102D,
  deviceVersion = 0x102F,
  deviceExtensions = 0x1030,
  deviceIlVersion = 0x105B,
  contextPlatform = 0x1084,
  kernelWorkGroupSize = 0x11B0,
  kernelLocalMemSize = 0x11B2,
  commandBufferCapabilities = 0x12A9,
  commandBufferQueueProperties = 0x12AA,
  commandBufferFlags = 0x1293,
  deviceMemCapabilities = 0x4191,
  programBinarySizes = 0x1165,
  programBinaries = 0x1166,
  programBuildLog = 0x1183,
  kernelNumArgs = 0x1191,
  eventExecutionStatus = 0x11D3,
  profilingQueued = 0x1280,
  profilingStart = 0x1282,
  profilingEnd = 0x1283
};

/// Of commandBufferCapabilities, and of a command buffer's flags: it may be
/// given to a queue while it is under way.
constexpr uint64_t canOverlap = 1 << 2, overlaps = 1;
/// Of deviceMemCapabilities: there is such memory.
constexpr uint64_t canAllocate = 1;

/// Of a command queue: its events know when they ran.
constexpr uint64_t queueProfiling = 2;

#define ASHLAR_OPENCL_WAITS uint32_t, const EventId *, EventId *

/// F(result, name, arguments); the last ones may be missing in a loader.
#define ASHLAR_OPENCL_FUNCTIONS(F)                                             \
  F(Code, GetPlatformIDs, (uint32_t, Platform *, uint32_t *))                  \
  F(Code, GetDeviceIDs,                                                        \
    (Platform, uint64_t, uint32_t, DeviceId *, uint32_t *))                    \
  F(Code, GetDeviceInfo, (DeviceId, uint32_t, size_t, void *, size_t *))       \
  F(Context, CreateContext,                                                    \
    (Properties, uint32_t, const DeviceId *,                                   \
     void (*)(const char *, const void *, size_t, void *), void *, Code *))    \
  F(Code, ReleaseContext, (Context))                                           \
  F(Memory, CreateBuffer, (Context, uint64_t, size_t, const void *, Code *))   \
  F(Code, ReleaseMemObject, (Memory))                                          \
  F(Program, CreateProgramWithBinary,                                          \
    (Context, uint32_t, const DeviceId *, const size_t *,                      \
     const unsigned char *const *, Code *, Code *))                            \
  F(Code, GetProgramInfo, (Program, uint32_t, size_t, void *, size_t *))       \
  F(Code, BuildProgram,                                                        \
    (Program, uint32_t, const DeviceId *, const char *,                        \
     void (*)(Program, void *), void *))                                       \
  F(Code, GetProgramBuildInfo,                                                 \
    (Program, DeviceId, uint32_t, size_t, void *, size_t *))                   \
  F(Code, ReleaseProgram, (Program))                                           \
  F(Kernel, CreateKernel, (Program, const char *, Code *))                     \
  F(Code, GetKernelInfo, (Kernel, uint32_t, size_t, void *, size_t *))         \
  F(Code, GetKernelWorkGroupInfo,                                              \
    (Kernel, DeviceId, uint32_t, size_t, void *, size_t *))                    \
  F(Code, SetKernelArg, (Kernel, uint32_t, size_t, const void *))              \
  F(Code, ReleaseKernel, (Kernel))                                             \
  F(CommandQueue, CreateCommandQueue, (Context, DeviceId, uint64_t, Code *))   \
  F(Code, ReleaseCommandQueue, (CommandQueue))                                 \
  F(Code, EnqueueReadBuffer,                                                   \
    (CommandQueue, Memory, uint32_t, size_t, size_t, void *,                   \
     ASHLAR_OPENCL_WAITS))                                                     \
  F(Code, EnqueueWriteBuffer,                                                  \
    (CommandQueue, Memory, uint32_t, size_t, size_t, const void *,             \
     ASHLAR_OPENCL_WAITS))                                                     \
  F(Code, EnqueueCopyBuffer,                                                   \
    (CommandQueue, Memory, Memory, size_t, size_t, size_t,                     \
     ASHLAR_OPENCL_WAITS))                                                     \
  F(Code, EnqueueNDRangeKernel,                                                \
    (CommandQueue, Kernel, uint32_t, const size_t *, const size_t *,           \
     const size_t *, ASHLAR_OPENCL_WAITS))                                     \
  F(Code, EnqueueMarkerWithWaitList, (CommandQueue, ASHLAR_OPENCL_WAITS))      \
  F(Code, EnqueueBarrierWithWaitList, (CommandQueue, ASHLAR_OPENCL_WAITS))     \
  F(Code, Flush, (CommandQueue))                                               \
  F(Code, Finish, (CommandQueue))                                              \
  F(Code, WaitForEvents, (uint32_t, const EventId *))                          \
  F(Code, GetEventInfo, (EventId, uint32_t, size_t, void *, size_t *))         \
  F(Code, GetEventProfilingInfo,                                               \
    (EventId, uint32_t, size_t, void *, size_t *))                             \
  F(Code, RetainEvent, (EventId))                                              \
  F(Code, ReleaseEvent, (EventId))                                             \
  F(void *, GetExtensionFunctionAddressForPlatform, (Platform, const char *))  \
  F(Program, CreateProgramWithIL, (Context, const void *, size_t, Code *))

/// cl_intel_unified_shared_memory
#define ASHLAR_OPENCL_SHARED_MEMORY(F)                                         \
  F(void *, DeviceMemAllocINTEL,                                               \
    (Context, DeviceId, Properties64, size_t, uint32_t, Code *))               \
  F(Code, MemFreeINTEL, (Context, void *))                                     \
  F(Code, SetKernelArgMemPointerINTEL, (Kernel, uint32_t, const void *))       \
  F(Code, EnqueueMemcpyINTEL,                                                  \
    (CommandQueue, uint32_t, void *, const void *, size_t,                     \
     ASHLAR_OPENCL_WAITS))

/// cl_khr_command_buffer; what has changed between its versions is not used.
#define ASHLAR_OPENCL_COMMAND_BUFFERS(F)                                       \
  F(CommandBuffer, CreateCommandBufferKHR,                                     \
    (uint32_t, const CommandQueue *, Properties64, Code *))                    \
  F(Code, ReleaseCommandBufferKHR, (CommandBuffer))                            \
  F(Code, FinalizeCommandBufferKHR, (CommandBuffer))                           \
  F(Code, EnqueueCommandBufferKHR,                                             \
    (uint32_t, CommandQueue *, CommandBuffer, ASHLAR_OPENCL_WAITS))            \
  F(Code, CommandNDRangeKernelKHR,                                             \
    (CommandBuffer, CommandQueue, Properties64, Kernel, uint32_t,              \
     const size_t *, const size_t *, const size_t *, uint32_t,                 \
     const uint32_t *, uint32_t *, void **))

/// A loader's functions. Any thread may call them, but for SetKernelArg: one at
/// a time for a kernel object.
struct Functions {
#define ASHLAR_OPENCL_MEMBER(RESULT, NAME, ARGUMENTS) RESULT(*NAME) ARGUMENTS;
  ASHLAR_OPENCL_FUNCTIONS(ASHLAR_OPENCL_MEMBER)
};

/// Of a platform: all are there or none, by extension.
struct SharedMemoryFunctions {
  ASHLAR_OPENCL_SHARED_MEMORY(ASHLAR_OPENCL_MEMBER)
};
/// The same.
struct CommandBufferFunctions {
  ASHLAR_OPENCL_COMMAND_BUFFERS(ASHLAR_OPENCL_MEMBER)
};
#undef ASHLAR_OPENCL_MEMBER

} // namespace ashlar::runtime::opencl

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLAPI_H
