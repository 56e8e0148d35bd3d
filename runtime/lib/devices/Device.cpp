// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Device.h"

#include <cstring>

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
  std::lock_guard<std::mutex> lock(whole.mutex);
  if (whole.firstFailure.ok())
    whole.firstFailure =
        failure(ASHLAR_DEVICE_LOST, cause.message(), whole.name);
}

Status ashlar_device_t::status() const {
  std::lock_guard<std::mutex> lock(whole.mutex);
  return whole.firstFailure;
}

namespace ashlar::runtime {

Status finished::createEvent(void *, void **outEvent) {
  static char event;
  *outEvent = &event;
  return {};
}
void finished::destroyEvent(void *) {}
Status finished::record(void *, void *) { return {}; }
Status finished::waitFor(void *, void *) { return {}; }
Status finished::wait(void *, uint64_t, bool *outCame) {
  *outCame = true;
  return {};
}

Status finished::copy(void *, CopyKind, DeviceAddress to, DeviceAddress from,
                      uint64_t size) {
  std::memcpy(to.pointer(), from.pointer(), size);
  return {};
}
Status finished::readBack(void *, DeviceAddress from, void *host,
                          uint64_t size) {
  std::memcpy(host, from.pointer(), size);
  return {};
}

Status requirePlain(const KernelForm &form, const char *device) {
  if (form.isPlain())
    return {};
  return failure(ASHLAR_UNSUPPORTED,
                 concat("kernel ", form.symbol,
                        " has workgroups or arguments of its own order, which ",
                        device, " does not have"),
                 form.symbol);
}

} // namespace ashlar::runtime
