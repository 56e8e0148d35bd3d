// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level Zero as a driver of the layer for GPUs: what its codes mean, and what
// its devices run.

#include "../gpu/GpuDeviceOps.h"
#include "../opencl/SpirvVerifier.h"
#include "GpuFunctions.h"
#include "ZeChips.h"
#include "ZeModule.h"

namespace ashlar::runtime {

using gpu::Cause;
using gpu::Code;

namespace {

Cause causeOf(Code code) {
  switch (code) {
  case ze::outOfHostMemory:
  case ze::outOfDeviceMemory:
    return Cause::Memory;
  case ze::moduleBuildFailure:
  case ze::moduleLinkFailure:
  case ze::dependencyUnavailable:
  case ze::unsupportedVersion:
  case ze::unsupportedSize:
  case ze::invalidNativeBinary:
    return Cause::Code;
  case ze::invalidKernelName:
    return Cause::NotFound;
  case ze::notReady:
    return Cause::NotReady;
  case ze::deviceLost:
  case ze::deviceRequiresReset:
  case ze::deviceInLowPowerState:
  case ze::unknownError:
    return Cause::Lost;
  default:
    return Cause::Interface;
  }
}

/// Of gpu::Attribute: getDeviceAttribute has the same answer to all.
const int attributes[gpu::attributeCount] = {};

/// In OpenCL's names, which programs of SPIR-V require.
String features(int id, gpu::ChipVersion) {
  const ze::ModuleProperties &has = ze::gpuAt(id).modules;
  String all;
  if (has.flags & ze::moduleFp64)
    all += "cl_khr_fp64,";
  if (has.flags & ze::moduleFp16)
    all += "cl_khr_fp16,";
  if (!all.empty())
    all.pop_back();
  return all;
}

/// Our compiler writes SPIR-V 1.2.
bool takes(int id, gpu::ChipVersion, std::string_view format) {
  constexpr uint32_t version = 1 << 16 | 2;
  const ze::Gpu &own = ze::gpuAt(id);
  return format == ASHLAR_SPIRV_ADDRESSES_FORMAT
             ? own.modules.spirvVersion >= version
             : ze::takesCode(own.properties.vendor, own.properties.device,
                             format);
}

/// Machine code for the very GPU before SPIR-V.
uint32_t rank(std::string_view format, std::string_view) {
  return format == ASHLAR_SPIRV_ADDRESSES_FORMAT ? 1 : 2;
}

const gpu::Driver &levelZeroDriver() {
  static const gpu::Driver &known = *[] {
    OwnMemory::Scope ofAll(nullptr); // whichever runtime asks first
    auto *driver = new gpu::Driver{
        ze::gpuFunctions,
        ze::gpuFunctionNames,
        int(ze::drivers().gpus.size()),
        "level-zero",
        takes,
        rank,
        causeOf,
        features,
        /*countParameters=*/nullptr, // the driver says it of a function
        attributes,
        /*encode=*/nullptr,
        [](const String &image) {
          return ze::isZebin(image) ? ze::verifyZebin(image)
                                    : verifySpirv(image.data(), image.size());
        },
        ze::loadModule};
    driver->countOf = ze::countParameters;
    return driver;
  }();
  return known;
}

} // namespace

static constexpr DeviceOps levelZeroDevices() {
  DeviceOps ops = gpuDeviceOps<levelZeroDriver>(
      "level-zero", "oneAPI's Level Zero loader (libze_loader.so.1), a driver "
                    "behind it and a GPU that it finds");
  ops.encode = nullptr;
  // A stream here is a queue and the lists that it is given.
  ops.takesStreams = false;
  return ops;
}

extern const DeviceOps level_zeroDeviceOps;
const DeviceOps level_zeroDeviceOps = levelZeroDevices();

} // namespace ashlar::runtime
