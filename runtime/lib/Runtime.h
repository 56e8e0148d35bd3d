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

/// Configured once; then any thread. Lives until all that was made from it is
/// gone.
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
  /// Refused while somebody has it.
  Status destroyVirtual(const ashlar_device_t &device);
  /// As in "cpu:0, null:0": those that errors offer.
  String deviceNames() const;
  /// Whether the device was opened here.
  bool owns(const ashlar_device_t &device);
  /// The same, for as long as this lives.
  const char *listDevices();
  /// The preferred first.
  const Vector<const DeviceOps *> &deviceTypes() const { return types; }

  /// Of a session that asks for no number.
  uint32_t defaultThreads() const { return threads; }
  /// Null: sessions start threads of their own.
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
  /// Of deadlines, times and traces.
  const Clock &clock() const { return ownClock; }
  /// The embedder's, if there is one.
  const Logger &logger() const { return root->logger; }
  /// What runs pass through: open unless workers are limited.
  Gate &gate() { return ownGate; }

  /// Of all runs from now on, until stopTrace writes the file; refused while
  /// one is on.
  Status startTrace(const char *path);
  /// Refused while none is on; fails where the file cannot be written.
  Status stopTrace();
  /// Null while no trace is on.
  std::shared_ptr<Trace> trace() const {
    return tracing.load(std::memory_order_relaxed) ? currentTrace() : nullptr;
  }

private:
  /// With the lock.
  std::shared_ptr<Trace> currentTrace() const;
  /// Of those that were created; `slash` is where the part's name begins.
  Status virtualDevice(std::string_view name, size_t slash,
                       std::shared_ptr<ashlar_device_t> &out);

  const OwnMemory::Owner ownMemory;      // goes last
  const Vector<const DeviceOps *> types; // the preferred first
  uint32_t threads = 1;                  // see defaultThreads
  bool hasExecutor = false;
  ashlar_executor_t ownExecutor = {}; // if hasExecutor
  bool hasAllocator = false;
  ashlar_allocator_t ownAllocator = {}; // if hasAllocator
  String signatureKeys;                 // one behind the other
  Clock ownClock;                       // the system's unless given
  std::shared_ptr<Budget> root;         // its budgets may live longer
  Gate ownGate;                         // of all that is no part's
  String driverCache;                   // a folder; empty: nothing is written
  uint64_t deviceWait = 0;              // nanoseconds; 0: as devices have it
  mutable std::mutex mutex;
  Map<String, std::shared_ptr<ashlar_device_t>> devices; // opened, by name
  String names;                                          // once asked for
  std::shared_ptr<Trace> active;                         // null: none is on
  // Spares calls the lock.
  std::atomic<bool> tracing{false};
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_RUNTIME_H
