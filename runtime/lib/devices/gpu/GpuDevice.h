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
#include <mutex>

namespace ashlar::runtime {

/// Any thread may call it. It holds the driver's one context of the device from
/// open to its end.
class GpuDevice {
public:
  ASHLAR_OWN_NEW
  /// Flags of the driver's: a stream that does not wait for the default one,
  /// which others may use; an event that keeps no time, and is quicker for it.
  static constexpr unsigned nonBlocking = 1, withoutTiming = 2;
  explicit GpuDevice(const gpu::Driver &driver)
      : driver(driver), api(driver.functions) {}
  ~GpuDevice();
  GpuDevice(const GpuDevice &) = delete;

  /// Once, before everything else. DEVICE_LOST or INTERNAL where the driver
  /// fails.
  Status open(uint32_t ordinal);
  /// Separated by commas.
  String features() const { return driver.features(id, chip()); }
  /// Whether code of this format can be loaded.
  bool takes(std::string_view format) const {
    return driver.takes(id, chip(), format);
  }

  /// That a workgroup may share, at most, where its launch asks for it.
  uint64_t sharedBytes() const;
  /// 0 where the driver does not know it.
  int64_t attribute(gpu::Attribute which) const {
    return attributes[int(which)];
  }
  /// OUT_OF_BUDGET unless so many bytes are left of what the device has and
  /// this object has not given out; what others use, the driver knows alone.
  Status checkMemory(uint64_t size) const;
  /// Of the device, aligned to 64 at least; zero bytes have an address, too.
  /// Who has it frees it, with the same size. OUT_OF_BUDGET where there is not
  /// enough.
  Status allocate(uint64_t size, void *&out);
  /// Nobody uses it any more.
  void free(void *memory, uint64_t size);
  /// Of the device: words of a queue, `statusBytes` of them, which it gives
  /// back.
  Status takeStatus(void *&out);
  void giveStatus(void *words);

  // Waits, none of which has no end: GpuWait.cpp.
  /// How long one goes on, at most.
  void limitWaits(uint64_t nanoseconds) { mostWait = nanoseconds; }
  /// All that the stream was given has ended. DEVICE_LOST: it has not within
  /// the limit, so the device is silent from now on. It is the thread's current
  /// one.
  Status finish(gpu::Stream stream) const;
  /// Until the event has come or the time is over; the same.
  Status await(gpu::EventId event, uint64_t timeoutNanoseconds,
               bool &came) const;
  /// It has not answered in time. What it may still be using, and what gives
  /// that back may wait for, stays as it is until the process ends: memory of
  /// the device and pinned memory, streams, events, modules, the context.
  bool isSilent() const { return silent; }
  /// Of one that is silent, why it is lost.
  Status silence() const;

  // Memory that has file descriptors: GpuExternal.cpp.
  Status externalGranularity(uint64_t &out) const;
  /// Makes memory where the descriptor is negative, else maps what it stands
  /// for, which stays the caller's. UNSUPPORTED: this driver has no such. Where
  /// it fails, nothing is left.
  Status openExternal(int descriptor, uint64_t size, ExternalMemory &out);
  /// A new descriptor, which is the caller's to close.
  Status shareExternal(const ExternalMemory &memory, int &out) const;
  /// Unmaps it; others who have a descriptor keep theirs.
  void closeExternal(const ExternalMemory &memory);

  /// "cuCall failed with CUDA_ERROR_X on NAME; what to do". A call is told by
  /// its place in the table, "&api.MemAlloc".
  Status failed(const void *call, gpu::Code code) const;
  /// OK, or what `failed` says.
  Status check(const void *call, gpu::Code code) const {
    return code == 0 ? Status() : failed(call, code);
  }

  /// Of a queue's words, which no other queue's share a line with.
  static constexpr size_t statusBytes = 64;

  const gpu::Driver &driver;      // lives as long as the process
  const gpu::Functions &api;      // the driver's
  gpu::Context context = nullptr; // null until open
  String name;                    // "cuda:0 (the driver's name)"

private:
  /// A driver that does not know one is none that has lost the device.
  Status readAttributes();
  gpu::ChipVersion chip() const {
    return {int(attribute(gpu::Attribute::Major)),
            int(attribute(gpu::Attribute::Minor))};
  }
  /// What `failed` says, or, where memory is short, how much is missing.
  Status noMemory(const void *call, gpu::Code code, uint64_t size) const;
  /// UNSUPPORTED, with what to do, unless memory has descriptors.
  Status checkExternal() const;
  /// A handle to memory without an address yet; see openExternal.
  Status openHandle(int descriptor, uint64_t size, gpu::MemoryHandle &out);
  Status mapExternal(uint64_t size, ExternalMemory &out) const;

  /// Memory comes from a pool from then on, where the driver has such:
  /// GpuMemory.cpp.
  Status openPool();
  void closePool();
  /// Words for more queues: GpuStatusWords.cpp.
  Status addStatusBlock();
  void freeStatusBlocks();
  /// Asks until there is another answer than that work is under way.
  template <typename Ask>
  Status poll(uint64_t most, Ask ask, gpu::Code &out) const;

  int id = 0;                               // the driver's number for it
  int attributes[gpu::attributeCount] = {}; // as open() read them
  uint64_t memoryBytes = 0;                 // of the whole device
  std::atomic<uint64_t> allocated{0};       // bytes given out by this object
  gpu::Pool pool = nullptr;                 // null: there are none
  gpu::Stream poolStream = nullptr;         // in whose order the pool gives

  std::mutex statusMutex;
  Vector<void *> statusBlocks; // the device's memory
  Vector<void *> statusWords;  // in them, which no queue has
  void *noBytes = nullptr;     // where memory of no bytes is

  uint64_t mostWait = defaultDeviceWait;   // nanoseconds
  mutable std::atomic<bool> silent{false}; // see isSilent
};

/// A thread's calls go to the device while it lives; the context that the
/// thread had before is its own again afterwards. Of a device that is silent,
/// nobody asks anything any more.
class CurrentGpu {
public:
  explicit CurrentGpu(const GpuDevice &device)
      : device(device), isSilent(device.isSilent()),
        code(isSilent
                 ? 0
                 : device.driver.enter(device.api, device.context, before)) {}
  ~CurrentGpu() {
    if (*this)
      device.driver.leave(device.api, before);
  }
  CurrentGpu(const CurrentGpu &) = delete;
  /// False: the driver does not let anybody to the device any more, not even to
  /// give back.
  explicit operator bool() const { return !isSilent && code == 0; }
  /// Why it is none, as a status of the device.
  Status status() const {
    return isSilent ? device.silence()
                    : device.check(&device.api.PushContext, code);
  }

private:
  const GpuDevice &device;       // outlives it
  gpu::Context before = nullptr; // what the thread had
  const bool isSilent;           // as it began
  const gpu::Code code;          // of entering
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUDEVICE_H
