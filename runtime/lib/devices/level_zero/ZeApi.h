// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of oneAPI Level Zero 1.0 that the device uses, declared here so that
// the runtime builds without anybody's headers. Names are the standard's
// without its prefix; numbers and layouts are from its headers, version 1.4.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEAPI_H
#define ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEAPI_H

#include <cstddef>
#include <cstdint>

namespace ashlar::runtime::ze {

/// The driver's objects; all but drivers and devices are destroyed by who made
/// them.
using DriverId = struct ZeDriverObject *;
using DeviceId = struct ZeDeviceObject *;
using ContextId = struct ZeContextObject *;
using QueueId = struct ZeQueueObject *;
using ListId = struct ZeListObject *;
using FenceId = struct ZeFenceObject *;
using PoolId = struct ZePoolObject *;
using EventId = struct ZeEventObject *;
using ModuleId = struct ZeModuleObject *;
using LogId = struct ZeLogObject *;
using KernelId = struct ZeKernelObject *;
/// ze_result_t; 0 is success.
using Code = int32_t;

/// Those that mean something to us; nameOf has the names of more.
enum : Code {
  notReady = 1,
  deviceLost = 0x70000001,
  outOfHostMemory = 0x70000002,
  outOfDeviceMemory = 0x70000003,
  moduleBuildFailure = 0x70000004,
  moduleLinkFailure = 0x70000005,
  deviceRequiresReset = 0x70000006,
  deviceInLowPowerState = 0x70000007,
  dependencyUnavailable = 0x70020000, // its compiler, mostly
  unsupportedVersion = 0x78000002,
  invalidArgument = 0x78000004,
  unsupportedSize = 0x78000009,
  invalidNativeBinary = 0x7800000f,
  invalidKernelName = 0x78000011,
  unknownError = 0x7ffffffe
};

/// What a structure is, in its first field.
enum : uint32_t {
  ofDeviceProperties = 0x3,
  ofComputeProperties = 0x4,
  ofModuleProperties = 0x5,
  ofQueueGroupProperties = 0x6,
  ofMemoryProperties = 0x7,
  ofContext = 0xd,
  ofQueue = 0xe,
  ofList = 0xf,
  ofPool = 0x10,
  ofEvent = 0x11,
  ofFence = 0x12,
  ofDeviceMemory = 0x15,
  ofHostMemory = 0x16,
  ofModule = 0x1b,
  ofKernel = 0x1d,
  ofKernelProperties = 0x1e
};

enum : uint32_t {
  typeGpu = 1,           // of DeviceProperties
  moduleFp16 = 1,        // of ModuleProperties
  moduleFp64 = 2,        //
  roundsDivisions = 64,  // of its flags of floats
  groupComputes = 1,     // of QueueGroupProperties
  queueAsynchronous = 2, // Queue's mode
  poolHostVisible = 1,   // of Pool
  scopeHost = 4,         // of Event
  formatSpirv = 0,       // of Module
  formatNative = 1       //
};

/// Structures have the standard's layout: fields that nobody reads are there
/// for it, and `next` is null.
struct DeviceProperties {
  uint32_t kind = ofDeviceProperties;
  void *next = nullptr;
  uint32_t type, vendor, device, flags, subdevice, clock; // as on its bus
  uint64_t blockBytes;                                    // of one allocation
  uint32_t contexts, priorities, threads, width, units, subslices, slices;
  uint64_t timerResolution; // nanoseconds
  uint32_t timestampBits, kernelTimestampBits;
  uint8_t uuid[16];
  char name[256];
};
/// What a workgroup may be.
struct ComputeProperties {
  uint32_t kind = ofComputeProperties;
  void *next = nullptr;
  // The most threads in all and by dimension, workgroups by dimension, and
  // bytes that one shares.
  uint32_t groupSize, sizes[3], counts[3], localBytes;
  uint32_t subgroupSizes, subgroups[8];
};
/// What code may be.
struct ModuleProperties {
  uint32_t kind = ofModuleProperties;
  void *next = nullptr;
  uint32_t spirvVersion; // major << 16 | minor; 0: it takes none
  uint32_t flags, fp16, fp32, fp64, argumentBytes, printfBytes; // bits
  uint8_t native[16];
};
/// What some of a device's queues do.
struct QueueGroupProperties {
  uint32_t kind = ofQueueGroupProperties;
  void *next = nullptr;
  uint32_t flags;
  size_t patternBytes;
  uint32_t queues;
};
/// One of a device's memories.
struct MemoryProperties {
  uint32_t kind = ofMemoryProperties;
  void *next = nullptr;
  uint32_t flags, clock, width;
  uint64_t bytes; // in all
  char name[256];
};
/// What the driver made of a kernel.
struct KernelProperties {
  uint32_t kind = ofKernelProperties;
  void *next = nullptr;
  uint32_t arguments, groupSize[3], subgroupCount, subgroupSize,
      mostSubgroupSize, mostSubgroups, localBytes, privateBytes, spillBytes;
  uint8_t uuid[32];
};
/// What is asked for, from here on.
struct Context {
  uint32_t kind = ofContext;
  const void *next = nullptr;
  uint32_t flags = 0;
};
struct Queue {
  uint32_t kind = ofQueue;
  const void *next = nullptr;
  uint32_t ordinal = 0, index = 0, flags = 0, mode = queueAsynchronous,
           priority = 0;
};
struct List {
  uint32_t kind = ofList;
  const void *next = nullptr;
  uint32_t ordinal = 0, flags = 0;
};
struct Pool {
  uint32_t kind = ofPool;
  const void *next = nullptr;
  uint32_t flags = poolHostVisible, count = 0;
};
struct Event {
  uint32_t kind = ofEvent;
  const void *next = nullptr;
  uint32_t index = 0, signal = scopeHost, wait = scopeHost;
};
struct Fence {
  uint32_t kind = ofFence;
  const void *next = nullptr;
  uint32_t flags = 0;
};
struct DeviceMemory {
  uint32_t kind = ofDeviceMemory;
  const void *next = nullptr;
  uint32_t flags = 0, ordinal = 0;
};
struct HostMemory {
  uint32_t kind = ofHostMemory;
  const void *next = nullptr;
  uint32_t flags = 0;
};
struct Module {
  uint32_t kind = ofModule;
  const void *next = nullptr;
  uint32_t format = formatSpirv;
  size_t bytes = 0; // of the image
  const void *image = nullptr;
  const char *options = nullptr;   // ended, as for OpenCL's build
  const void *constants = nullptr; // none are specialized
};
struct Kernel {
  uint32_t kind = ofKernel;
  const void *next = nullptr;
  uint32_t flags = 0;
  const char *name = nullptr;
};
/// Workgroups of a launch.
struct Groups {
  uint32_t x, y, z;
};

#define ASHLAR_ZE_WAITS EventId, uint32_t, EventId *

/// F(name, arguments): all give a Code.
#define ASHLAR_ZE_FUNCTIONS(F)                                                 \
  F(Init, (uint32_t))                                                          \
  F(DriverGet, (uint32_t *, DriverId *))                                       \
  F(DeviceGet, (DriverId, uint32_t *, DeviceId *))                             \
  F(DeviceGetProperties, (DeviceId, DeviceProperties *))                       \
  F(DeviceGetComputeProperties, (DeviceId, ComputeProperties *))               \
  F(DeviceGetModuleProperties, (DeviceId, ModuleProperties *))                 \
  F(DeviceGetCommandQueueGroupProperties,                                      \
    (DeviceId, uint32_t *, QueueGroupProperties *))                            \
  F(DeviceGetMemoryProperties, (DeviceId, uint32_t *, MemoryProperties *))     \
  F(ContextCreate, (DriverId, const Context *, ContextId *))                   \
  F(ContextDestroy, (ContextId))                                               \
  F(MemAllocDevice,                                                            \
    (ContextId, const DeviceMemory *, size_t, size_t, DeviceId, void **))      \
  F(MemAllocHost, (ContextId, const HostMemory *, size_t, size_t, void **))    \
  F(MemFree, (ContextId, void *))                                              \
  F(CommandQueueCreate, (ContextId, DeviceId, const Queue *, QueueId *))       \
  F(CommandQueueDestroy, (QueueId))                                            \
  F(CommandQueueExecuteCommandLists, (QueueId, uint32_t, ListId *, FenceId))   \
  F(CommandQueueSynchronize, (QueueId, uint64_t))                              \
  F(CommandListCreate, (ContextId, DeviceId, const List *, ListId *))          \
  F(CommandListDestroy, (ListId))                                              \
  F(CommandListClose, (ListId))                                                \
  F(CommandListReset, (ListId))                                                \
  F(CommandListAppendBarrier, (ListId, ASHLAR_ZE_WAITS))                       \
  F(CommandListAppendMemoryCopy,                                               \
    (ListId, void *, const void *, size_t, ASHLAR_ZE_WAITS))                   \
  F(CommandListAppendMemoryFill,                                               \
    (ListId, void *, const void *, size_t, size_t, ASHLAR_ZE_WAITS))           \
  F(CommandListAppendSignalEvent, (ListId, EventId))                           \
  F(CommandListAppendWaitOnEvents, (ListId, uint32_t, EventId *))              \
  F(CommandListAppendWriteGlobalTimestamp,                                     \
    (ListId, uint64_t *, ASHLAR_ZE_WAITS))                                     \
  F(CommandListAppendLaunchKernel,                                             \
    (ListId, KernelId, const Groups *, ASHLAR_ZE_WAITS))                       \
  F(FenceCreate, (QueueId, const Fence *, FenceId *))                          \
  F(FenceDestroy, (FenceId))                                                   \
  F(FenceQueryStatus, (FenceId))                                               \
  F(FenceReset, (FenceId))                                                     \
  F(EventPoolCreate,                                                           \
    (ContextId, const Pool *, uint32_t, DeviceId *, PoolId *))                 \
  F(EventPoolDestroy, (PoolId))                                                \
  F(EventCreate, (PoolId, const Event *, EventId *))                           \
  F(EventDestroy, (EventId))                                                   \
  F(EventHostReset, (EventId))                                                 \
  F(EventHostSynchronize, (EventId, uint64_t))                                 \
  F(ModuleCreate, (ContextId, DeviceId, const Module *, ModuleId *, LogId *))  \
  F(ModuleDestroy, (ModuleId))                                                 \
  F(ModuleBuildLogGetString, (LogId, size_t *, char *))                        \
  F(ModuleBuildLogDestroy, (LogId))                                            \
  F(KernelCreate, (ModuleId, const Kernel *, KernelId *))                      \
  F(KernelDestroy, (KernelId))                                                 \
  F(KernelGetProperties, (KernelId, KernelProperties *))                       \
  F(KernelSetGroupSize, (KernelId, uint32_t, uint32_t, uint32_t))              \
  F(KernelSetArgumentValue, (KernelId, uint32_t, size_t, const void *))

/// The loader's functions, all there. Any thread may call them, not for one
/// object at a time.
struct Functions {
#define ASHLAR_ZE_MEMBER(NAME, ARGUMENTS) Code(*NAME) ARGUMENTS;
  ASHLAR_ZE_FUNCTIONS(ASHLAR_ZE_MEMBER)
#undef ASHLAR_ZE_MEMBER
};

} // namespace ashlar::runtime::ze

#endif // ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEAPI_H
