// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader's and the devices' part, contexts and memory.

#include "ZeState.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ashlar::ze;

static DriverId driver() { return reinterpret_cast<DriverId>(0x10); }
static bool isDevice(DeviceId device) {
  const auto number = reinterpret_cast<uint64_t>(device);
  return number >= 0x100 && number < 0x100 + state().devices;
}

/// How many there are; fills what there is room for.
template <typename Each, typename Fill>
static Code list(const char *call, uint32_t *count, Each *all, uint32_t has,
                 Fill fill) {
  if (!count)
    return misuse(call, "no place for the number");
  if (all) {
    *count = std::min(*count, has);
    for (uint32_t i = 0; i < *count; ++i)
      fill(all[i], i);
  } else {
    *count = has;
  }
  return 0;
}

ASHLAR_ZE_EXPORT zeInit(uint32_t flags) {
  ASHLAR_ZE_BEGIN(zeInit);
  return flags <= 3 ? 0 : misuse(call, "flags that there are not");
}

ASHLAR_ZE_EXPORT zeDriverGet(uint32_t *count, DriverId *drivers) {
  ASHLAR_ZE_BEGIN(zeDriverGet);
  return list(call, count, drivers, 1,
              [](DriverId &out, uint32_t) { out = driver(); });
}

ASHLAR_ZE_EXPORT zeDeviceGet(DriverId of, uint32_t *count, DeviceId *devices) {
  ASHLAR_ZE_BEGIN(zeDeviceGet);
  if (of != driver())
    return misuse(call, "no driver");
  return list(call, count, devices, uint32_t(state().devices),
              [](DeviceId &out, uint32_t i) {
                out = reinterpret_cast<DeviceId>(uint64_t(0x100 + i));
              });
}

/// Whether it may be asked, of that structure.
template <typename Properties>
static Code check(const char *call, DeviceId device, Properties *out) {
  if (!isDevice(device))
    return misuse(call, "no device");
  return out && out->kind == Properties().kind && !out->next
             ? 0
             : misuse(call, "a structure of another kind");
}

ASHLAR_ZE_EXPORT zeDeviceGetProperties(DeviceId device, DeviceProperties *out) {
  ASHLAR_ZE_BEGIN(zeDeviceGetProperties);
  if (Code code = check(call, device, out))
    return code;
  out->type = typeGpu;
  out->vendor = 0x8086;
  out->device = uint32_t(state().chip);
  out->blockBytes = state().memory / 2;
  out->timerResolution = 100; // nanoseconds
  out->timestampBits = 32;
  std::strcpy(out->name, "a driver double");
  return 0;
}

ASHLAR_ZE_EXPORT zeDeviceGetComputeProperties(DeviceId device,
                                              ComputeProperties *out) {
  ASHLAR_ZE_BEGIN(zeDeviceGetComputeProperties);
  if (Code code = check(call, device, out))
    return code;
  out->groupSize = out->sizes[0] = uint32_t(state().threads);
  out->localBytes = uint32_t(state().local);
  out->counts[0] = UINT32_MAX;
  return 0;
}

ASHLAR_ZE_EXPORT zeDeviceGetModuleProperties(DeviceId device,
                                             ModuleProperties *out) {
  ASHLAR_ZE_BEGIN(zeDeviceGetModuleProperties);
  if (Code code = check(call, device, out))
    return code;
  out->spirvVersion = state().takesSpirv ? 1 << 16 | 4 : 0;
  out->flags = moduleFp16 | moduleFp64;
  out->fp32 = roundsDivisions;
  return 0;
}

/// The first only copies, as some devices' do.
ASHLAR_ZE_EXPORT
zeDeviceGetCommandQueueGroupProperties(DeviceId device, uint32_t *count,
                                       QueueGroupProperties *out) {
  ASHLAR_ZE_BEGIN(zeDeviceGetCommandQueueGroupProperties);
  if (!isDevice(device))
    return misuse(call, "no device");
  return list(call, count, out, 2, [](QueueGroupProperties &each, uint32_t i) {
    each.flags = i == 1 ? groupComputes : 2;
    each.queues = 1;
  });
}

ASHLAR_ZE_EXPORT zeDeviceGetMemoryProperties(DeviceId device, uint32_t *count,
                                             MemoryProperties *out) {
  ASHLAR_ZE_BEGIN(zeDeviceGetMemoryProperties);
  if (!isDevice(device))
    return misuse(call, "no device");
  return list(call, count, out, 1, [](MemoryProperties &each, uint32_t) {
    each.bytes = state().memory;
  });
}

ASHLAR_ZE_EXPORT zeContextCreate(DriverId of, const Context *how,
                                 ContextId *out) {
  ASHLAR_ZE_BEGIN(zeContextCreate);
  if (of != driver() || !how || how->kind != ofContext || !out)
    return misuse(call, "arguments");
  enter(state().contexts, std::make_shared<int>(0), ZeDouble::Contexts, out);
  return 0;
}

ASHLAR_ZE_EXPORT zeContextDestroy(ContextId context) {
  Lock lock(state().mutex);
  int64_t left = 0;
  for (int kind = ZeDouble::Memory; kind < ZeDouble::Kinds; ++kind)
    left += ashlar_ze_double.alive[kind];
  if (left != 0 && state().contexts.size() == 1)
    misuse("zeContextDestroy", "something of it is alive");
  return leave(state().contexts, context, ZeDouble::Contexts,
               "zeContextDestroy");
}

static Code allocate(const char *call, ContextId context, size_t bytes,
                     size_t alignment, bool isHost, void **out) {
  State &all = state();
  if (!find(all.contexts, context, call) || bytes == 0 || !out ||
      (alignment & (alignment - 1)) != 0)
    return misuse(call, "arguments");
  if (!isHost && (bytes > all.memory || all.used > all.memory - bytes))
    return outOfDeviceMemory;
  *out = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!*out)
    return outOfHostMemory;
  // Nobody may count on zeros.
  std::memset(*out, 0xA5, bytes);
  all.allocations[reinterpret_cast<uintptr_t>(*out)] = {bytes, isHost};
  all.used += isHost ? 0 : bytes;
  ++ashlar_ze_double.alive[ZeDouble::Memory];
  return 0;
}

ASHLAR_ZE_EXPORT zeMemAllocDevice(ContextId context, const DeviceMemory *how,
                                  size_t bytes, size_t alignment,
                                  DeviceId device, void **out) {
  ASHLAR_ZE_BEGIN(zeMemAllocDevice);
  if (!how || how->kind != ofDeviceMemory || !isDevice(device))
    return misuse(call, "arguments");
  return allocate(call, context, bytes, alignment, false, out);
}

ASHLAR_ZE_EXPORT zeMemAllocHost(ContextId context, const HostMemory *how,
                                size_t bytes, size_t alignment, void **out) {
  ASHLAR_ZE_BEGIN(zeMemAllocHost);
  if (!how || how->kind != ofHostMemory)
    return misuse(call, "arguments");
  return allocate(call, context, bytes, alignment, true, out);
}

ASHLAR_ZE_EXPORT zeMemFree(ContextId context, void *memory) {
  Lock lock(state().mutex);
  State &all = state();
  const auto at = reinterpret_cast<uintptr_t>(memory);
  auto found = all.allocations.find(at);
  if (!find(all.contexts, context, "zeMemFree") ||
      found == all.allocations.end())
    return misuse("zeMemFree", "no allocation begins there");
  const Allocation what = found->second;
  if (isInUse({at, at + what.bytes}))
    misuse("zeMemFree", "a queue has work left that touches it");
  all.used -= what.isHost ? 0 : what.bytes;
  all.allocations.erase(found);
  --ashlar_ze_double.alive[ZeDouble::Memory];
  std::free(memory);
  return 0;
}
