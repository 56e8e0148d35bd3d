// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is made, given an address and opened in steps of its own, and
// that goes to other processes by file descriptor: a memfd, so that whoever
// maps it sees the same bytes. The rules are those of the manual's chapter
// "Virtual Memory Management".

#include "CudaExport.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

/// What sizes and addresses are multiples of.
static constexpr uint64_t granule = 2 << 20;
static constexpr uint64_t beyond = ashlar::ptx::Memory::beyond;

enum { TypePinned = 1, PlaceDevice = 1, HandleDescriptor = 1 };

/// By which a descriptor of the double's is known, with the device's number.
static std::string nameOf(int ordinal) {
  return "ashlar-cuda-double-" + std::to_string(ordinal);
}

/// Negative: the descriptor is none of a double's.
static int deviceOf(int descriptor) {
  char text[128] = "";
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (readlink(path.c_str(), text, sizeof(text) - 1) < 0)
    return -1;
  for (const auto &device : state().devices) {
    std::string name = "/memfd:" + nameOf(device->ordinal);
    if (!std::strncmp(text, name.c_str(), name.size()) &&
        (text[name.size()] == ' ' || !text[name.size()]))
      return device->ordinal;
  }
  return -1;
}

static bool isWhole(uint64_t bytes) { return bytes && bytes % granule == 0; }

static CUresult checkPlace(Call &call, const CUmemLocation &place) {
  if (place.type != PlaceDevice)
    return call.misuse(INVALID_VALUE, "the location is no device");
  if (place.id < 0 || size_t(place.id) >= state().devices.size())
    return call.misuse(INVALID_DEVICE, "the location is no device that there "
                                       "is");
  return SUCCESS;
}

static CUresult checkProperties(Call &call, const CUmemAllocationProp *of) {
  if (!of)
    return call.misuse(INVALID_VALUE, "the properties are null");
  if (of->type != TypePinned)
    return call.misuse(INVALID_VALUE, "the type is not PINNED");
  if (of->requestedHandleTypes & ~HandleDescriptor)
    return call.misuse(NOT_SUPPORTED, "other handles than POSIX descriptors");
  if (of->win32HandleMetaData)
    return call.misuse(INVALID_VALUE, "win32HandleMetaData is not null");
  for (unsigned char flag : of->allocFlags)
    if (flag)
      return call.misuse(INVALID_VALUE, "allocation flags are not 0");
  if (of->requestedHandleTypes && !state().hasDescriptors)
    return NOT_SUPPORTED;
  return checkPlace(call, of->location);
}

ASHLAR_CUDA_EXPORT cuMemGetAllocationGranularity(size_t *bytes,
                                                 const CUmemAllocationProp *of,
                                                 int option) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(bytes)
  if (option != 0 && option != 1)
    return call.misuse(INVALID_VALUE, "neither the minimum nor the recommended "
                                      "granularity");
  if (CUresult code = checkProperties(call, of))
    return code;
  *bytes = granule;
  return SUCCESS;
}

static uint64_t newHandle(std::shared_ptr<PhysicalMemory> memory) {
  uint64_t handle = state().newHandle();
  state().physical[handle] = std::move(memory);
  count(CudaDouble::VirtualMemory, 1);
  return handle;
}

ASHLAR_CUDA_EXPORT cuMemCreate(uint64_t *handle, size_t size,
                               const CUmemAllocationProp *of,
                               unsigned long long flags) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(handle)
  if (flags)
    return call.misuse(INVALID_VALUE, "flags are not 0");
  if (CUresult code = checkProperties(call, of))
    return code;
  if (!isWhole(size))
    return call.misuse(INVALID_VALUE, "the size is no multiple of the "
                                      "granularity");
  Device &device = *state().devices[size_t(of->location.id)];
  if (size > device.memory || size > device.memory - device.used)
    return OUT_OF_MEMORY;
  int file = memfd_create(nameOf(device.ordinal).c_str(), MFD_CLOEXEC);
  void *bytes = MAP_FAILED;
  if (file >= 0 && ftruncate(file, off_t(size)) == 0)
    bytes = mmap(nullptr, size, PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) {
    if (file >= 0)
      close(file);
    return OUT_OF_MEMORY;
  }
  std::memset(bytes, ashlar::ptx::Memory::fresh, size);
  munmap(bytes, size);
  auto made = std::make_shared<PhysicalMemory>();
  made->device = &device;
  made->size = size;
  made->descriptor = file;
  made->isCounted = true;
  made->isExportable = of->requestedHandleTypes == HandleDescriptor;
  device.used += size;
  CudaDouble &control = ashlar_cuda_double;
  int64_t now = control.bytes += int64_t(size);
  control.mostBytes = std::max<int64_t>(control.mostBytes, now);
  *handle = newHandle(std::move(made));
  return SUCCESS;
}

/// Null: misuse.
static PhysicalMemory *memoryOf(Call &call, uint64_t handle) {
  auto found = state().physical.find(handle);
  if (found != state().physical.end())
    return found->second.get();
  bool isGone = state().gone.count(handle);
  call.refusal = call.misuse(INVALID_VALUE,
                             ashlar::ptx::hex(handle) +
                                 (isGone ? " was released" : " is no memory"));
  return nullptr;
}

ASHLAR_CUDA_EXPORT cuMemExportToShareableHandle(void *shareable,
                                                uint64_t handle, int type,
                                                unsigned long long flags) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(shareable)
  if (flags || type != HandleDescriptor)
    return call.misuse(INVALID_VALUE, "flags are not 0, or it is no POSIX "
                                      "descriptor that is asked for");
  PhysicalMemory *memory = memoryOf(call, handle);
  if (!memory)
    return call.refusal;
  if (!memory->isExportable)
    return call.misuse(INVALID_VALUE, "the memory was not created for that");
  int made = dup(memory->descriptor);
  if (made < 0)
    return UNKNOWN;
  *static_cast<int *>(shareable) = made;
  return SUCCESS;
}

// Whether a descriptor is one is found out here: no misuse.
ASHLAR_CUDA_EXPORT cuMemImportFromShareableHandle(uint64_t *handle,
                                                  void *shareable, int type) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(handle)
  if (type != HandleDescriptor)
    return call.misuse(INVALID_VALUE, "it is no POSIX descriptor");
  int given = int(reinterpret_cast<intptr_t>(shareable));
  int ordinal = deviceOf(given);
  struct stat known;
  if (ordinal < 0 || fstat(given, &known) != 0)
    return INVALID_VALUE;
  auto made = std::make_shared<PhysicalMemory>();
  made->descriptor = dup(given);
  if (made->descriptor < 0)
    return UNKNOWN;
  made->device = state().devices[size_t(ordinal)].get();
  made->size = uint64_t(known.st_size);
  made->isExportable = true;
  *handle = newHandle(std::move(made));
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuMemRelease(uint64_t handle) {
  ASHLAR_CUDA_BEGIN(Call::Initialized, true)
  if (!memoryOf(call, handle))
    return call.refusal;
  state().gone[handle] = "memory";
  state().physical.erase(handle); // what is mapped stays
  count(CudaDouble::VirtualMemory, -1);
  return call.result;
}

ASHLAR_CUDA_EXPORT cuMemAddressReserve(CUdeviceptr *address, size_t size,
                                       size_t alignment, CUdeviceptr wanted,
                                       unsigned long long flags) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(address)
  if (flags || !isWhole(size) || (alignment & (alignment - 1)))
    return call.misuse(INVALID_VALUE,
                       "flags are not 0, the size is no multiple of the "
                       "granularity or the alignment no power of two");
  (void)wanted; // a hint
  alignment = std::max<size_t>(alignment, granule);
  const size_t all = size + alignment;
  void *place = mmap(nullptr, all, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    return OUT_OF_MEMORY;
  Reservation made;
  made.begin = reinterpret_cast<uint64_t>(place);
  made.all = all;
  made.size = size;
  uint64_t host = (made.begin + alignment - 1) / alignment * alignment;
  state().reservations[host + beyond] = std::move(made);
  count(CudaDouble::VirtualMemory, 1);
  *address = host + beyond;
  return SUCCESS;
}

/// The reservation that is these bytes; null: misuse.
static Reservation *reservationOf(Call &call, CUdeviceptr address,
                                  uint64_t size) {
  auto found = state().reservations.find(address);
  if (found != state().reservations.end() && found->second.size == size)
    return &found->second;
  call.refusal = call.misuse(
      INVALID_VALUE, ashlar::ptx::hex(address) + " with " +
                         std::to_string(size) + " bytes is no reservation");
  return nullptr;
}

ASHLAR_CUDA_EXPORT cuMemAddressFree(CUdeviceptr address, size_t size) {
  ASHLAR_CUDA_BEGIN(Call::Initialized, true)
  Reservation *place = reservationOf(call, address, size);
  if (!place)
    return call.refusal;
  if (place->mapped)
    return call.misuse(INVALID_VALUE, "memory is mapped there");
  munmap(reinterpret_cast<void *>(place->begin), place->all);
  state().reservations.erase(address);
  count(CudaDouble::VirtualMemory, -1);
  return call.result;
}

ASHLAR_CUDA_EXPORT cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                            uint64_t handle, unsigned long long flags) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  Reservation *place = reservationOf(call, address, size);
  PhysicalMemory *memory = place ? memoryOf(call, handle) : nullptr;
  if (!memory)
    return call.refusal;
  if (flags || offset)
    return call.misuse(INVALID_VALUE, "flags or offset are not 0");
  if (place->mapped)
    return call.misuse(INVALID_VALUE, "memory is mapped there already");
  // Who imports cannot ask how large it is.
  if (size > memory->size)
    return INVALID_VALUE;
  // Nobody reaches it before access is set.
  void *at = reinterpret_cast<void *>(address - beyond);
  if (mmap(at, size, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->descriptor,
           0) == MAP_FAILED)
    return OUT_OF_MEMORY;
  place->mapped = state().physical[handle];
  count(CudaDouble::VirtualMemory, 1);
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuMemSetAccess(CUdeviceptr address, size_t size,
                                  const CUmemAccessDesc *access, size_t count) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(access)
  Reservation *place = reservationOf(call, address, size);
  if (!place)
    return call.refusal;
  if (!place->mapped)
    return call.misuse(INVALID_VALUE, "nothing is mapped there");
  if (count != 1 || access->flags != 3)
    return call.misuse(INVALID_VALUE, "the double takes one device, to read "
                                      "and write");
  if (CUresult code = checkPlace(call, access->location))
    return code;
  Context &context = *call.context;
  if (access->location.id != context.device->ordinal ||
      place->mapped->device != context.device)
    return call.misuse(INVALID_VALUE, "the double lets no other device at it");
  if (place->context)
    return SUCCESS;
  auto *at = reinterpret_cast<uint8_t *>(address - beyond);
  if (mprotect(at, size, PROT_READ | PROT_WRITE) != 0)
    return OUT_OF_MEMORY;
  context.memory.adopt(at, size);
  DeviceMemory known;
  known.context = &context;
  known.size = size;
  known.isMapped = true;
  context.allocations[address] = known;
  place->context = &context;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuMemUnmap(CUdeviceptr address, size_t size) {
  ASHLAR_CUDA_BEGIN(Call::Initialized, true)
  Reservation *place = reservationOf(call, address, size);
  if (!place)
    return call.refusal;
  if (!place->mapped)
    return call.misuse(INVALID_VALUE, "nothing is mapped there");
  CUresult code = call.result;
  if (place->context)
    if (const char *user =
            userOf(*place->context, {address, address + size}, nullptr)) {
      code = call.misuse(INVALID_VALUE, ashlar::ptx::hex(address) +
                                            " is unmapped while it is used "
                                            "by " +
                                            user);
      waitForAll(call.lock, *place->context);
    }
  unmap(address);
  return code;
}
