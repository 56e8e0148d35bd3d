// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device is a table of functions. To add one, copy devices/null, fill in the
// table and name its sources in CMakeLists.txt; the conformance suite then runs
// on it. Nothing outside a device's folder asks which device it is.
//
// All functions may be called from any thread; those that take a queue from
// one thread at a time per queue.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_DEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_DEVICE_H

#include "../Status.h"
#include "Sequencer.h"

#include <mutex>
#include <vector>

namespace ashlar::runtime {

struct QueueOptions {
  uint32_t workers;                  // at least 1
  const ashlar_executor_t *executor; // null: threads of the queue's own
  uint64_t scratchBytes;             // per worker
  void *scratch;                     // workers * scratchBytes, aligned to 64
};

struct DeviceOps {
  /// "cpu": what Program.device_type and device names say.
  const char *type;
  /// Host pointers are device pointers: weights, inputs and outputs are used
  /// where they are.
  bool sharesHostMemory;
  /// Executables are machine code of this process.
  bool runsNativeCode;
  /// Errors offer it among the devices there are; false where it computes
  /// nothing and only those who know its name want it.
  bool isOffered;

  /// How many there are; 0 also when a driver is missing.
  uint32_t (*count)();
  Status (*open)(uint32_t ordinal, void **outDevice);
  void (*close)(void *device);
  /// Instruction sets, in LLVM's names, separated by commas.
  std::string (*features)(void *device);
  /// Whether executables of this format can be loaded.
  bool (*accepts)(void *device, std::string_view format);

  /// Whether the device could have `size` bytes more: asked before a module's
  /// weights are allocated one by one.
  Status (*checkMemory)(void *device, uint64_t size);
  /// Memory aligned to 64 bytes and contents undefined. Zero bytes give a
  /// pointer that may be freed.
  Status (*allocate)(void *device, uint64_t size, void **outAddress);
  void (*free)(void *device, void *address, uint64_t size);
  Status (*copyIn)(void *device, void *target, const void *hostSource,
                   uint64_t size);
  Status (*copyOut)(void *device, void *hostTarget, const void *source,
                    uint64_t size);

  Status (*loadExecutable)(void *device, const void *image, uint64_t size,
                           void **outExecutable);
  void (*unloadExecutable)(void *device, void *executable);
  /// The handle lives as long as the executable.
  Status (*findKernel)(void *executable, const char *symbol,
                       const void **outKernel);

  Status (*createQueue)(void *device, const QueueOptions &options,
                        void **outQueue);
  void (*destroyQueue)(void *queue);
  /// Runs a part of the sequencer's list to its end: all of it, or commands
  /// without control flow between them. A kernel that fails is reported through
  /// the control; a status other than OK means that the device is lost.
  Status (*execute)(void *queue, Sequencer &sequencer, CommandRange part);
};

/// Devices compiled in, the preferred first.
const std::vector<const DeviceOps *> &allDevices();

} // namespace ashlar::runtime

/// An opened device. This is the C API's handle.
struct ashlar_device_t {
public:
  ashlar_device_t(const ashlar::runtime::DeviceOps &ops, std::string name)
      : ops(ops), name(std::move(name)) {}
  ~ashlar_device_t() {
    if (state)
      ops.close(state);
  }
  ashlar_device_t(const ashlar_device_t &) = delete;
  ashlar_device_t &operator=(const ashlar_device_t &) = delete;

  ashlar::runtime::Status open(uint32_t ordinal);
  bool hasFeature(std::string_view feature) const;

  /// Keeps the first failure, which is what all later calls report.
  void lose(const ashlar::runtime::Status &cause);
  ashlar::runtime::Status status() const;

  const ashlar::runtime::DeviceOps &ops;
  const std::string name;
  std::string features;
  void *state = nullptr;

private:
  mutable std::mutex mutex;
  ashlar::runtime::Status firstFailure;
};

#endif // ASHLAR_RUNTIME_LIB_DEVICES_DEVICE_H
