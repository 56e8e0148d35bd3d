// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Device.h"

using namespace ashlar::runtime;

Status ashlar_device_t::open(uint32_t ordinal) {
  ASHLAR_RETURN_IF_ERROR(ops.open(ordinal, &state));
  features = ops.features(state);
  return {};
}

bool ashlar_device_t::hasFeature(std::string_view feature) const {
  std::string_view rest = features;
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    if (rest.substr(0, comma) == feature)
      return true;
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return false;
}

void ashlar_device_t::lose(const Status &cause) {
  std::lock_guard<std::mutex> lock(mutex);
  if (firstFailure.ok())
    firstFailure = failure(ASHLAR_DEVICE_LOST, cause.message(), name);
}

Status ashlar_device_t::status() const {
  std::lock_guard<std::mutex> lock(mutex);
  return firstFailure;
}
