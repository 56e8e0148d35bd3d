// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver has compiled, from a cache and into it.

#include "OpenCLProgram.h"
#include "SpirvVerifier.h"

namespace ashlar::runtime {

using namespace opencl;

const char *OpenCLProgram::buildOptions() const {
  return device.roundsDivisions ? "-cl-fp32-correctly-rounded-divide-sqrt" : "";
}

String OpenCLProgram::describeDriver() const {
  String all = "opencl\n";
  for (uint32_t what :
       {deviceName, deviceVendor, driverVersion, deviceVersion}) {
    String text = device.text(what);
    // Another driver might say as little.
    if (text.empty())
      return "";
    all += concat(text, "\n");
  }
  return all + buildOptions();
}

bool OpenCLProgram::restore(const String &binary) {
  auto *bytes = reinterpret_cast<const unsigned char *>(binary.data());
  size_t size = binary.size();
  Code status = 0, code = 0;
  program = device.cl.CreateProgramWithBinary(device.context, 1, &device.id,
                                              &size, &bytes, &status, &code);
  if (!program)
    return false;
  if (status == 0 &&
      device.cl.BuildProgram(program, 1, &device.id, buildOptions(), nullptr,
                             nullptr) == 0)
    return true;
  device.cl.ReleaseProgram(program);
  program = nullptr;
  return false;
}

String OpenCLProgram::binary() const {
  // Contexts are of one device, so there is one binary.
  size_t size = 0;
  if (device.cl.GetProgramInfo(program, programBinarySizes, sizeof(size), &size,
                               nullptr) != 0)
    return "";
  String bytes(size, 0);
  char *to = &bytes[0];
  if (size == 0 || device.cl.GetProgramInfo(program, programBinaries,
                                            sizeof(to), &to, nullptr) != 0)
    return "";
  return bytes;
}

Status OpenCLProgram::load(const void *image, uint64_t size) {
  if (!isBitcode(image, size))
    ASHLAR_RETURN_IF_ERROR(verifySpirv(image, size));
  String driver = device.cache ? describeDriver() : "";
  if (driver.empty())
    return build(image, size);
  DriverCache::Source source = {
      driver, {static_cast<const char *>(image), size_t(size)}};
  if (String found = device.cache->find(source); !found.empty()) {
    if (restore(found))
      return {};
    device.cache->refused(source);
  }
  ASHLAR_RETURN_IF_ERROR(build(image, size));
  if (String made = binary(); !made.empty())
    device.cache->keep(source, made);
  return {};
}

} // namespace ashlar::runtime
