// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of GpuDevice that has memory by file descriptor: made or imported
// without an address, then mapped at one that was reserved for it.

#include "GpuDevice.h"

namespace ashlar::runtime {

using namespace gpu;

static constexpr int asDescriptor = 1; // the type of a handle for others

Status GpuDevice::checkExternal() const {
  if (api.hasExternal() && attribute(Attribute::Descriptors) != 0)
    return {};
  return failure(
      ASHLAR_UNSUPPORTED,
      concat("the driver of ", name,
             " gives and takes no memory by file descriptor: update it, or use "
             "another system; within the process, ashlar_tensor_t.device takes "
             "any of the device's memory, elsewhere copy by way of the host's"),
      name);
}

Status GpuDevice::externalGranularity(uint64_t &out) const {
  ASHLAR_RETURN_IF_ERROR(checkExternal());
  CurrentGpu current(*this);
  ASHLAR_RETURN_IF_ERROR(current.status());
  MemoryProperties properties;
  properties.place.id = id;
  size_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(
      check(&api.MemGranularity,
            api.MemGranularity(&bytes, &properties, /*the least=*/0)));
  out = bytes;
  return {};
}

Status GpuDevice::openHandle(int descriptor, uint64_t size, MemoryHandle &out) {
  if (descriptor < 0) {
    MemoryProperties properties;
    properties.place.id = id;
    const Code code = api.MemCreate(&out, size_t(size), &properties, 0);
    return code == 0 ? Status() : noMemory(&api.MemCreate, code, size);
  }
  const Code code = api.MemImport(
      &out, reinterpret_cast<void *>(intptr_t(descriptor)), asDescriptor);
  if (code == 0 || driver.causeOf(code) != Cause::Interface)
    return check(&api.MemImport, code);
  return invalidArgument(
      concat(driver.nameOf(&api.MemImport), " failed with ",
             driver.codeName(code), " on ", name, ": descriptor ", descriptor,
             " is none of this GPU's memory; give one that "
             "ashlar_memory_export made, and hand it to another process "
             "through a socket (SCM_RIGHTS)"),
      "descriptor");
}

/// `out` has the handle; what is done so far stands there.
Status GpuDevice::mapExternal(uint64_t size, ExternalMemory &out) const {
  ASHLAR_RETURN_IF_ERROR(
      check(&api.MemReserve,
            api.MemReserve(&out.address.base, size_t(size), 0, nullptr, 0)));
  const Code code =
      api.MemMap(out.address.base, size_t(size), 0, out.handle, 0);
  if (code != 0 && driver.causeOf(code) == Cause::Interface)
    return invalidArgument(concat(driver.nameOf(&api.MemMap), " failed with ",
                                  driver.codeName(code), " on ", name,
                                  ": the memory has less than ", size,
                                  " bytes; import as many as were created"),
                           "bytes");
  ASHLAR_RETURN_IF_ERROR(check(&api.MemMap, code));
  out.size = size;
  MemoryAccess access;
  access.place.id = id;
  return check(&api.MemSetAccess,
               api.MemSetAccess(out.address.base, size_t(size), &access, 1));
}

Status GpuDevice::openExternal(int descriptor, uint64_t size,
                               ExternalMemory &out) {
  ASHLAR_RETURN_IF_ERROR(checkMemory(size));
  CurrentGpu current(*this);
  ASHLAR_RETURN_IF_ERROR(current.status());
  MemoryHandle handle = 0;
  ASHLAR_RETURN_IF_ERROR(openHandle(descriptor, size, handle));
  ExternalMemory made;
  made.handle = handle;
  const Status status = mapExternal(size, made);
  if (status.ok()) {
    allocated += size;
    out = made;
    return {};
  }
  if (made.size)
    api.MemUnmap(made.address.base, size_t(size));
  if (made.address.base)
    api.MemUnreserve(made.address.base, size_t(size));
  api.MemRelease(handle);
  return status;
}

Status GpuDevice::shareExternal(const ExternalMemory &memory, int &out) const {
  CurrentGpu current(*this);
  ASHLAR_RETURN_IF_ERROR(current.status());
  return check(&api.MemExport,
               api.MemExport(&out, memory.handle, asDescriptor, 0));
}

void GpuDevice::closeExternal(const ExternalMemory &memory) {
  // None of it is a context's.
  if (!silent) {
    api.MemUnmap(memory.address.base, size_t(memory.size));
    api.MemUnreserve(memory.address.base, size_t(memory.size));
    api.MemRelease(memory.handle);
  }
  allocated -= memory.size;
}

} // namespace ashlar::runtime
