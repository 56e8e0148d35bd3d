// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime.h"

#include "devices/cpu/WorkerTeam.h"

#include <charconv>

namespace ashlar::runtime {

Runtime::Runtime(Vector<const DeviceOps *> devices, OwnMemory::Owner memory)
    : ownMemory(std::move(memory)), types(std::move(devices)),
      threads(availableCpus()),
      root(makeShared<Budget>("runtime", ASHLAR_UNLIMITED)) {
  root->setMemory(ownMemory.get());
}

void Runtime::configure(const ashlar_runtime_options_t &options) {
  if (options.threads)
    threads = options.threads;
  if (options.executor) {
    hasExecutor = true;
    ownExecutor = *options.executor;
  }
  ownGate.open(options.worker_limit);
  if (options.logger)
    root->logger.use(*options.logger);
  signatureKeys.assign(static_cast<const char *>(options.signature_keys),
                       options.signature_key_count *
                           ASHLAR_SIGNATURE_KEY_BYTES);
  if (options.clock)
    ownClock = Clock(*options.clock);
  if (options.driver_cache)
    driverCache = options.driver_cache;
  deviceWait = options.device_wait_ns;
  if (options.allocator) {
    hasAllocator = true;
    ownAllocator = *options.allocator;
  }
}

String Runtime::deviceNames() const {
  String names;
  for (const DeviceOps *ops : types)
    for (uint32_t i = 0; ops->isOffered && i < ops->count(); ++i)
      names += concat(names.empty() ? "" : ", ", ops->type, ":", i);
  return names;
}

const char *Runtime::listDevices() {
  std::lock_guard<std::mutex> lock(mutex);
  if (names.empty())
    names = deviceNames();
  return names.c_str();
}

bool Runtime::owns(const ashlar_device_t &device) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &entry : devices)
    if (entry.second.get() == &device)
      return true;
  return false;
}

Status Runtime::device(std::string_view name,
                       std::shared_ptr<ashlar_device_t> &out) {
  if (size_t slash = name.find('/'); slash != name.npos)
    return virtualDevice(name, slash, out);
  size_t colon = name.find(':');
  std::string_view type = name.substr(0, colon);
  uint32_t ordinal = 0;
  bool sound = true;
  if (colon != name.npos) {
    const char *end = name.data() + name.size();
    auto result = std::from_chars(name.data() + colon + 1, end, ordinal);
    sound = result.ec == std::errc() && result.ptr == end;
  }
  for (const DeviceOps *ops : types) {
    if (!sound || type != ops->type || ordinal >= ops->count())
      continue;
    String fullName = concat(type, ":", ordinal);
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<ashlar_device_t> &slot = devices[fullName];
    if (!slot) {
      auto opened = makeShared<ashlar_device_t>(*ops, fullName);
      ASHLAR_RETURN_IF_ERROR(opened->open(ordinal));
      if (deviceWait && ops->limitWaits)
        ops->limitWaits(opened->state, deviceWait);
      if (!driverCache.empty() && ops->useCache)
        ops->useCache(opened->state, driverCache.c_str(), root->logger);
      slot = std::move(opened);
    }
    out = slot;
    return {};
  }
  String words = concat("no device ", name, "; there are ", deviceNames());
  for (const DeviceOps *ops : types)
    if (sound && type == ops->type && ops->needs && ops->count() == 0) {
      words += concat("; it takes ", ops->needs);
      if (String why = ops->whyNone ? ops->whyNone() : String(); !why.empty())
        words += concat(": ", why);
    }
  return failure(ASHLAR_NOT_FOUND, std::move(words), String(name));
}

Status Runtime::startTrace(const char *path) {
  std::lock_guard<std::mutex> lock(mutex);
  if (active)
    return invalidArgument("a trace is on already: stop it first", path);
  auto started = makeShared<Trace>(path, ownClock);
  root->setTrace(started.get());
  active = std::move(started);
  tracing = true;
  return {};
}

Status Runtime::stopTrace() {
  std::shared_ptr<Trace> ended;
  {
    std::lock_guard<std::mutex> lock(mutex);
    ended.swap(active);
    tracing = false;
    root->setTrace(nullptr);
  }
  if (!ended)
    return invalidArgument("no trace is on: start one first");
  return ended->write();
}

std::shared_ptr<Trace> Runtime::currentTrace() const {
  std::lock_guard<std::mutex> lock(mutex);
  return active;
}

} // namespace ashlar::runtime
