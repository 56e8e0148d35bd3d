// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuDevice.h"

#include <algorithm>

namespace ashlar::runtime {

using namespace gpu;

GpuDevice::~GpuDevice() {
  if (silent)
    return;
  freeStatusBlocks();
  closePool();
  if (context)
    api.ReleaseContext(id);
}

Status GpuDevice::open(uint32_t ordinal) {
  name = concat(driver.type, ":", ordinal);
  ASHLAR_RETURN_IF_ERROR(
      check(&api.DeviceGet, api.DeviceGet(&id, int(ordinal))));
  char text[256] = "";
  if (api.DeviceGetName(text, sizeof(text) - 1, id) == 0)
    name = concat(name, " (", text, ")");
  size_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(
      check(&api.DeviceTotalMem, api.DeviceTotalMem(&bytes, id)));
  memoryBytes = bytes;
  ASHLAR_RETURN_IF_ERROR(
      check(&api.RetainContext, api.RetainContext(&context, id)));
  ASHLAR_RETURN_IF_ERROR(readAttributes());
  ASHLAR_RETURN_IF_ERROR(openPool());
  ASHLAR_RETURN_IF_ERROR(addStatusBlock());
  noBytes = statusBlocks.front();
  return {};
}

uint64_t GpuDevice::sharedBytes() const {
  return uint64_t(attribute(Attribute::MaxSharedPerBlock));
}

Status GpuDevice::readAttributes() {
  for (size_t i = 0; i < attributeCount; ++i) {
    int value = 0;
    const int number = driver.attributes[i];
    if (number < 0)
      continue; // the vendor has no such
    const Code code = api.DeviceGetAttribute(&value, number, id);
    if (code != 0 && driver.causeOf(code) == Cause::Lost)
      return failed(&api.DeviceGetAttribute, code);
    attributes[i] = code == 0 ? std::max(value, 0) : 0;
  }
  return {};
}

Status GpuDevice::failed(const void *call, Code code) const {
  ashlar_status_code_t kind = ASHLAR_INTERNAL;
  const char *advice = "the driver refuses what it should take: try another "
                       "version of it";
  switch (driver.causeOf(code)) {
  case Cause::Memory:
    kind = ASHLAR_OUT_OF_BUDGET;
    advice = "it has no more memory: run fewer sessions or a smaller model";
    break;
  case Cause::Code:
    kind = ASHLAR_UNSUPPORTED;
    advice = "the driver does not take the code: install a newer one, or "
             "compile for an older GPU";
    break;
  case Cause::Lost:
    kind = ASHLAR_DEVICE_LOST;
    advice = "the device is lost: release all that uses it, then load the "
             "module again, there or elsewhere";
    break;
  default:
    break;
  }
  return failure(kind,
                 concat(driver.nameOf(call), " failed with ",
                        driver.codeName(code), " on ", name, "; ", advice),
                 name);
}

} // namespace ashlar::runtime
