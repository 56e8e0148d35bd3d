// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU of a vendor's driver, opened: the driver's context for this process,
// memory, and how its failures are told.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUDEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUDEVICE_H

#include "../../OwnMemory.h"
#include "../Device.h"
#include "GpuApi.h"

#include <atomic>

namespace ashlar::runtime {

class GpuDevice {
public:
  ASHLAR_OWN_NEW
  explicit GpuDevice(const gpu::Driver &driver)
      : driver(driver), api(driver.functions) {}
  ~GpuDevice();
  GpuDevice(const GpuDevice &) = delete;

  Status open(uint32_t ordinal);
  String features() const { return driver.features(api, id); }
  bool takes(std::string_view format) const {
    return driver.takes(api, id, format);
  }

  /// That a workgroup may share, at most, where its launch asks for it.
  uint64_t sharedBytes() const;
  /// 0 where the driver does not know it.
  int64_t attribute(gpu::Attribute which) const;
  Status checkMemory(uint64_t size) const;
  Status allocate(uint64_t size, void *&out);
  void free(void *memory, uint64_t size);

  // Memory that has file descriptors: GpuExternal.cpp.
  Status externalGranularity(uint64_t &out) const;
  Status openExternal(int descriptor, uint64_t size, ExternalMemory &out);
  Status shareExternal(const ExternalMemory &memory, int &out) const;
  void closeExternal(const ExternalMemory &memory);

  /// "cuCall failed with CUDA_ERROR_X on NAME; what to do". A call is told by
  /// its place in the table, "&api.MemAlloc".
  Status failed(const void *call, gpu::Code code) const;
  Status check(const void *call, gpu::Code code) const {
    return code == 0 ? Status() : failed(call, code);
  }

  const gpu::Driver &driver;
  const gpu::Functions &api;
  gpu::Context context = nullptr;
  String name; // "cuda:0 (the driver's name)"

private:
  Status noMemory(const void *call, gpu::Code code, uint64_t size) const;
  Status checkExternal() const;
  Status openHandle(int descriptor, uint64_t size, gpu::MemoryHandle &out);
  Status mapExternal(uint64_t size, ExternalMemory &out) const;
  String codeName(gpu::Code code) const;

  int id = 0;
  uint64_t memoryBytes = 0;
  std::atomic<uint64_t> allocated{0};
};

/// A thread's calls go to the device while it lives; the context that the
/// thread had before is its own again afterwards.
class CurrentGpu {
public:
  explicit CurrentGpu(const GpuDevice &device)
      : device(device),
        code(device.driver.enter(device.api, device.context, before)) {}
  ~CurrentGpu() {
    if (code == 0)
      device.driver.leave(device.api, before);
  }
  CurrentGpu(const CurrentGpu &) = delete;
  /// False: the driver does not let anybody to the device any more, not even to
  /// give back.
  explicit operator bool() const { return code == 0; }
  Status status() const { return device.check(&device.api.PushContext, code); }

private:
  const GpuDevice &device;
  gpu::Context before = nullptr;
  const gpu::Code code;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUDEVICE_H
