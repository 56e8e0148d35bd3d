// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenCLDevice.h"

#include "OpenCLLoader.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

using namespace opencl;

OpenCLDevice::~OpenCLDevice() {
  if (context)
    cl.ReleaseContext(context);
}

String OpenCLDevice::text(uint32_t what) const {
  size_t size = 0;
  if (cl.GetDeviceInfo(id, what, 0, nullptr, &size) != 0 || size == 0)
    return "";
  String text(size, 0);
  if (cl.GetDeviceInfo(id, what, size, &text[0], nullptr) != 0)
    return "";
  text.resize(text.find('\0') == text.npos ? size : text.find('\0'));
  return text;
}

uint64_t OpenCLDevice::number(uint32_t what) const {
  // Some are of 32 bits, which little-endian machines leave in front.
  uint64_t value = 0;
  return cl.GetDeviceInfo(id, what, sizeof(value), &value, nullptr) == 0 ? value
                                                                         : 0;
}

Status OpenCLDevice::ask(uint32_t what, uint64_t &out) const {
  out = 0;
  return check("clGetDeviceInfo",
               cl.GetDeviceInfo(id, what, sizeof(out), &out, nullptr));
}

Status OpenCLDevice::open(Platform platform, uint32_t ordinal) {
  name = concat("opencl:", ordinal, " (", text(deviceName), ")");
  memoryBytes = number(deviceGlobalMemSize);
  blockBytes = number(deviceMaxMemAllocSize);
  roundsDivisions = (number(deviceSingleFpConfig) & correctlyRounded) != 0;
  // Kernels hold addresses of 64 bits.
  if (text(deviceIlVersion).find("SPIR-V") != String::npos &&
      number(deviceAddressBits) == 64) {
    createProgram = cl.CreateProgramWithIL;
    // In older drivers it is an extension's, whatever the loader has.
    String version = text(deviceVersion);
    if (!createProgram || (!version.empty() && version < "OpenCL 2.1"))
      createProgram = reinterpret_cast<decltype(createProgram)>(
          cl.GetExtensionFunctionAddressForPlatform(
              platform, "clCreateProgramWithILKHR"));
  }
  const String extensions = concat(" ", text(deviceExtensions), " ");
  takesSpir = !createProgram && number(deviceAddressBits) == 64 &&
              extensions.find(" cl_khr_spir ") != String::npos;
  findExtensions(platform, extensions);
  const intptr_t properties[] = {contextPlatform,
                                 reinterpret_cast<intptr_t>(platform), 0};
  Code code = 0;
  context = cl.CreateContext(properties, 1, &id, nullptr, nullptr, &code);
  return context ? Status() : failed("clCreateContext", code);
}

/// Fills a table of functions; false if one is missing.
template <typename Table>
static bool resolve(const Functions &cl, Platform platform, const char *names,
                    Table &out) {
  auto *slot = reinterpret_cast<char *>(&out);
  for (const char *name = names; *name; name += std::strlen(name) + 1) {
    void *address = cl.GetExtensionFunctionAddressForPlatform(platform, name);
    if (!address)
      return false;
    std::memcpy(slot, &address, sizeof(address));
    slot += sizeof(address);
  }
  return true;
}

/// A processor's driver launches kernels by calling them: buffers and plain
/// batches are the fastest there, as benchmarks/results/opencl.md has it. On
/// other devices a command is a message, and these have fewer.
void OpenCLDevice::findExtensions(Platform platform, const String &extensions) {
#define ASHLAR_OPENCL_NAME(RESULT, NAME, ARGUMENTS) "cl" #NAME "\0"
  static const char sharedNames[] =
      ASHLAR_OPENCL_SHARED_MEMORY(ASHLAR_OPENCL_NAME);
  static const char recorderNames[] =
      ASHLAR_OPENCL_COMMAND_BUFFERS(ASHLAR_OPENCL_NAME);
#undef ASHLAR_OPENCL_NAME
  if (number(deviceType) & deviceTypeCpu)
    return;
  auto has = [&](const char *name) {
    return extensions.find(concat(" ", name, " ")) != String::npos;
  };
  SharedMemoryFunctions shared;
  if (has("cl_intel_unified_shared_memory") &&
      (number(deviceMemCapabilities) & canAllocate) &&
      resolve(cl, platform, sharedNames, shared))
    memory.use(shared);
  CommandBufferFunctions functions;
  if (has("cl_khr_command_buffer") &&
      (number(commandBufferCapabilities) & canOverlap) &&
      number(commandBufferQueueProperties) == 0 &&
      resolve(cl, platform, recorderNames, functions))
    recorder = functions;
}

Status OpenCLDevice::checkMemory(uint64_t size) const {
  uint64_t used = allocated;
  if (size <= memoryBytes && used <= memoryBytes - size)
    return {};
  return failure(ASHLAR_OUT_OF_BUDGET,
                 concat("no memory for ", size, " bytes: ", name, " has ",
                        memoryBytes, ", of which ", used,
                        " are in use; run fewer sessions or a smaller model"),
                 name);
}

Status OpenCLDevice::allocate(uint64_t size, void *&outBase) {
  if (size > blockBytes)
    return failure(ASHLAR_OUT_OF_BUDGET,
                   concat("no memory for ", size, " bytes: ", name,
                          " gives at most ", blockBytes,
                          " at once; run a smaller model or a smaller batch"),
                   name);
  ASHLAR_RETURN_IF_ERROR(checkMemory(size));
  // There is no buffer of no bytes.
  OpenCLMemory::Called called = memory.allocate(
      context, id, size_t(std::max(size, uint64_t(1))), outBase);
  if (!outBase)
    return lacksMemory(called.name, called.code, size);
  allocated += size;
  return {};
}

void OpenCLDevice::free(void *base, uint64_t size) {
  memory.free(context, base);
  allocated -= size;
}

} // namespace ashlar::runtime
