// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, their logs, and kernels.

#include "ZeState.h"

#include <cstring>

using namespace ashlar::ze;

/// What the double runs in place of machine code: SPIR-V behind the header of
/// an ELF file. Empty: there is none.
static std::string_view sourceOf(std::string_view code) {
  constexpr size_t header = 64;
  constexpr std::string_view magic("\x03\x02\x23\x07", 4);
  if (code.size() < header || code.substr(header, magic.size()) != magic)
    return {};
  return code.substr(header);
}

ASHLAR_ZE_EXPORT zeModuleCreate(ContextId context, DeviceId, const Module *how,
                                ModuleId *out, LogId *outLog) {
  ASHLAR_ZE_BEGIN(zeModuleCreate);
  State &all = state();
  if (!find(all.contexts, context, call) || !how || how->kind != ofModule ||
      how->format > formatNative || !how->image || !out)
    return misuse(call, "arguments");
  const bool rounds =
      how->options && std::strstr(how->options, "correctly-rounded");
  std::string_view image(static_cast<const char *>(how->image), how->bytes);
  if (how->format == formatNative) {
    if (outLog)
      *outLog = nullptr;
    image = sourceOf(image);
    if (image.empty())
      return invalidNativeBinary;
    ++ashlar_ze_double.fromCode;
  }
  auto log = std::make_shared<std::string>();
  auto made = std::make_shared<ModuleObject>();
  lock.unlock();
  made->program = buildModule(image, rounds, *log);
  lock.lock();
  if (outLog)
    enter(all.logs, log, ZeDouble::Logs, outLog);
  if (!made->program && !all.isSilent)
    return moduleBuildFailure;
  enter(all.modules, made, ZeDouble::Modules, out);
  return 0;
}

ASHLAR_ZE_EXPORT zeModuleDestroy(ModuleId module) {
  Lock lock(state().mutex);
  auto found = find(state().modules, module, "zeModuleDestroy");
  for (const auto &[handle, kernel] : state().kernels)
    if (kernel->module == found.get())
      misuse("zeModuleDestroy", "a kernel of it is alive");
  return leave(state().modules, module, ZeDouble::Modules, "zeModuleDestroy");
}

ASHLAR_ZE_EXPORT zeModuleBuildLogGetString(LogId log, size_t *size, char *out) {
  ASHLAR_ZE_BEGIN(zeModuleBuildLogGetString);
  auto found = find(state().logs, log, call);
  if (!found || !size)
    return misuse(call, "arguments");
  if (out)
    std::memcpy(out, found->c_str(), std::min(*size, found->size() + 1));
  *size = found->size() + 1;
  return 0;
}

ASHLAR_ZE_EXPORT zeModuleBuildLogDestroy(LogId log) {
  Lock lock(state().mutex);
  return leave(state().logs, log, ZeDouble::Logs, "zeModuleBuildLogDestroy");
}

ASHLAR_ZE_EXPORT zeKernelCreate(ModuleId module, const Kernel *how,
                                KernelId *out) {
  ASHLAR_ZE_BEGIN(zeKernelCreate);
  auto found = find(state().modules, module, call);
  if (!found || !how || how->kind != ofKernel || !how->name || !out)
    return misuse(call, "arguments");
  if (!found->program || !found->program->kernels.count(how->name))
    return invalidKernelName;
  auto made = std::make_shared<KernelObject>();
  made->module = found.get();
  made->program = found->program;
  made->name = how->name;
  made->sizes = found->program->kernels[how->name];
  made->values.resize(made->sizes.size());
  enter(state().kernels, made, ZeDouble::Kernels, out);
  return 0;
}

ASHLAR_ZE_EXPORT zeKernelDestroy(KernelId kernel) {
  Lock lock(state().mutex);
  return leave(state().kernels, kernel, ZeDouble::Kernels, "zeKernelDestroy");
}

ASHLAR_ZE_EXPORT zeKernelGetProperties(KernelId kernel, KernelProperties *out) {
  ASHLAR_ZE_BEGIN(zeKernelGetProperties);
  auto found = find(state().kernels, kernel, call);
  if (!found || !out || out->kind != ofKernelProperties)
    return misuse(call, "arguments");
  out->arguments = uint32_t(found->sizes.size());
  out->localBytes = uint32_t(found->program->localBytes(found->name));
  return 0;
}

ASHLAR_ZE_EXPORT zeKernelSetGroupSize(KernelId kernel, uint32_t x, uint32_t y,
                                      uint32_t z) {
  ASHLAR_ZE_BEGIN(zeKernelSetGroupSize);
  auto found = find(state().kernels, kernel, call);
  if (!found || x == 0 || y != 1 || z != 1 || x > state().threads)
    return misuse(call, "arguments");
  found->threads = x;
  return 0;
}

ASHLAR_ZE_EXPORT zeKernelSetArgumentValue(KernelId kernel, uint32_t index,
                                          size_t size, const void *value) {
  ASHLAR_ZE_BEGIN(zeKernelSetArgumentValue);
  auto found = find(state().kernels, kernel, call);
  if (!found || index >= found->sizes.size() || !value)
    return misuse(call, "arguments");
  const uint32_t expected = found->sizes[index];
  if (size != (expected ? expected : sizeof(void *)))
    return misuse(call, "a value of another size");
  if (expected == 0) {
    void *address;
    bool reachesBeyond;
    std::memcpy(&address, value, sizeof(address));
    if (!allocationOf(address, 1, reachesBeyond))
      return misuse(call, "an address of no memory of the driver's");
  }
  const auto *bytes = static_cast<const uint8_t *>(value);
  found->values[index].assign(bytes, bytes + size);
  return 0;
}
