// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all modules of one embedder share: devices, threads' number, trace.

#ifndef ASHLAR_RUNTIME_LIB_RUNTIME_H
#define ASHLAR_RUNTIME_LIB_RUNTIME_H

#include "Budget.h"
#include "Clock.h"
#include "OwnMemory.h"
#include "Trace.h"
#include "devices/Device.h"

namespace ashlar::runtime {

class Runtime {
public:
  explicit Runtime(Vector<const DeviceOps *> devices = allDevices(),
                   OwnMemory::Owner memory = OwnMemory::create());

  /// Options have been checked.
  void configure(const ashlar_runtime_options_t &options);

  /// Opens on first use. "cpu" is "cpu:0".
  Status device(std::string_view name, ashlar_device_t *&out) {
    std::shared_ptr<ashlar_device_t> found;
    ASHLAR_RETURN_IF_ERROR(device(name, found));
    out = found.get();
    return {};
  }
  /// The same; no virtual device goes while somebody has it from here.
  Status device(std::string_view name, std::shared_ptr<ashlar_device_t> &out);
  /// "cpu:0/tenant-a": a part of cpu:0 with memory and workers of its own.
  Status createVirtual(std::string_view name, uint64_t bytes, uint32_t workers,
                       ashlar_device_t *&out);
  Status destroyVirtual(const ashlar_device_t &device);
  /// As in "cpu:0, null:0": those that errors offer.
  String deviceNames() const;
  /// Whether the device was opened here.
  bool owns(const ashlar_device_t &device);
  /// The same, for as long as this lives.
  const char *listDevices();
  const Vector<const DeviceOps *> &deviceTypes() const { return types; }

  uint32_t defaultThreads() const { return threads; }
  const ashlar_executor_t *executor() const {
    return hasExecutor ? &ownExecutor : nullptr;
  }
  /// All budgets of the caller's are below it; it carries what is charged to
  /// none of them.
  const std::shared_ptr<Budget> &budget() const { return root; }
  /// Null: memory is mapped.
  const ashlar_allocator_t *allocator() const {
    return hasAllocator ? &ownAllocator : nullptr;
  }

  /// Whose modules are loaded; empty: anybody's.
  std::string_view keys() const { return signatureKeys; }
  /// What it allocates for itself.
  OwnMemory *memory() const { return ownMemory.get(); }
  const Clock &clock() const { return ownClock; }
  const Logger &logger() const { return root->logger; }
  /// What runs pass through: open unless workers are limited.
  Gate &gate() { return ownGate; }

  Status startTrace(const char *path);
  Status stopTrace();
  /// Null while no trace is on.
  std::shared_ptr<Trace> trace() const {
    return tracing.load(std::memory_order_relaxed) ? currentTrace() : nullptr;
  }

private:
  std::shared_ptr<Trace> currentTrace() const;
  Status virtualDevice(std::string_view name, size_t slash,
                       std::shared_ptr<ashlar_device_t> &out);

  const OwnMemory::Owner ownMemory;
  const Vector<const DeviceOps *> types;
  uint32_t threads = 1;
  bool hasExecutor = false;
  ashlar_executor_t ownExecutor = {};
  bool hasAllocator = false;
  ashlar_allocator_t ownAllocator = {};
  String signatureKeys;
  Clock ownClock;
  std::shared_ptr<Budget> root;
  Gate ownGate;
  String driverCache; // a folder; empty: nothing is written
  mutable std::mutex mutex;
  Map<String, std::shared_ptr<ashlar_device_t>> devices;
  String names; // once asked for
  std::shared_ptr<Trace> active;
  // Spares calls the lock.
  std::atomic<bool> tracing{false};
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_RUNTIME_H
