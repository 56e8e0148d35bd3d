// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device of an OpenCL driver, opened: a context of its own, what the driver
// says of it, and how its failures are told.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLDEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLDEVICE_H

#include "../../DriverCache.h"
#include "../../OwnMemory.h"
#include "../Device.h"
#include "OpenCLMemory.h"

#include <atomic>

namespace ashlar::runtime {

/// This device, for allDevices.
extern const DeviceOps openclDeviceOps;

/// Any thread may call it once it is open. Holds a context of its own, which
/// ends with it; nothing that was made there may be left then.
class OpenCLDevice {
public:
  ASHLAR_OWN_NEW
  OpenCLDevice(const opencl::Functions &cl, opencl::DeviceId id)
      : cl(cl), id(id), memory(cl) {}
  ~OpenCLDevice();
  OpenCLDevice(const OpenCLDevice &) = delete;

  /// Once, before everything else. Fails where the driver makes no context.
  Status open(opencl::Platform platform, uint32_t ordinal);
  /// What the driver says; empty and 0 where it says nothing.
  String text(uint32_t what) const;
  /// The same.
  uint64_t number(uint32_t what) const;
  /// The same, or why the driver does not say it.
  Status ask(uint32_t what, uint64_t &out) const;

  /// OUT_OF_BUDGET unless so many bytes are left of what the device has and
  /// this object has not given out.
  Status checkMemory(uint64_t size) const;
  /// A handle or an address, as `memory` has it; zero bytes have one, too. Who
  /// has it frees it, with the same size. OUT_OF_BUDGET: there is not enough,
  /// or not at once.
  Status allocate(uint64_t size, void *&outBase);
  /// Nobody uses it any more.
  void free(void *base, uint64_t size);

  /// "clCall failed with CL_CODE on NAME: what to do".
  Status failed(const char *call, opencl::Code code) const;
  /// The same, where nothing but memory can be what is missing.
  Status lacksMemory(const char *call, opencl::Code code, uint64_t size) const;
  /// OK, or what `failed` says.
  Status check(const char *call, opencl::Code code) const {
    return code == 0 ? Status() : failed(call, code);
  }

  const opencl::Functions &cl;       // live as long as the process
  const opencl::DeviceId id;         // the driver's
  OpenCLMemory memory;               // its form is settled by open
  opencl::Context context = nullptr; // null until open
  String name;                       // "opencl:0 (the driver's name)"
  /// Null: it takes no SPIR-V.
  decltype(opencl::Functions::CreateProgramWithIL) createProgram = nullptr;
  /// None: what repeats is given to a queue anew.
  std::optional<opencl::CommandBufferFunctions> recorder;
  bool takesSpir = false;             // instead, LLVM IR of cl_khr_spir
  bool roundsDivisions = false;       // f32, correctly, if it is told to
  std::unique_ptr<DriverCache> cache; // null: nothing is kept

private:
  void findExtensions(opencl::Platform platform, const String &extensions);

  uint64_t memoryBytes = 0, blockBytes = 0; // of all, and of one allocation
  std::atomic<uint64_t> allocated{0};       // bytes given out by this object
};

/// "CL_OUT_OF_RESOURCES", or "error -9999".
String openclCodeName(opencl::Code code);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLDEVICE_H
