// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The system's Level Zero loader, the GPUs that its drivers have, and what one
// is opened as. Nothing is opened before somebody asks.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEDRIVER_H
#define ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEDRIVER_H

#include "../../OwnMemory.h"
#include "ZeApi.h"

#include <mutex>

namespace ashlar::runtime::ze {

/// A GPU of some driver's, and its context while somebody has it open.
struct Gpu {
  ASHLAR_OWN_NEW
  Gpu(const Functions &api, DriverId driver, DeviceId device)
      : api(api), driver(driver), device(device) {}

  /// From then on all of what follows is there.
  Code retain();
  /// As often as it was retained; the last one ends the context, in which
  /// nothing is left.
  void release();

  const Functions &api;        // lives as long as the process
  const DriverId driver;       // the loader's
  const DeviceId device;       // the driver's
  ContextId context = nullptr; // null: nobody has it open
  uint32_t ordinal = 0;        // of the queues that compute
  // What the driver says, asked once.
  DeviceProperties properties = {};
  ComputeProperties compute = {}; // asked for with the others
  ModuleProperties modules = {};  // asked for with the others

private:
  /// Fills the properties.
  Code describe();
  /// Sets the ordinal; fails where no queue computes.
  Code findQueues();
  std::mutex mutex;
  uint32_t users = 0; // who have retained it
};

/// What the loader found; the list never changes and lives as long as the
/// process.
struct Drivers {
  ASHLAR_OWN_NEW
  Functions api;
  Vector<std::unique_ptr<Gpu>> gpus; // of all drivers, in the loader's order
};

/// Opens libze_loader.so.1 and asks each driver for its GPUs, once for the
/// process: drivers cannot be closed. Without a loader, or with one that lacks
/// a function, there are none.
const Drivers &drivers();
/// By its number in the list, which is there.
inline Gpu &gpuAt(int ordinal) { return *drivers().gpus[size_t(ordinal)]; }

/// That of the context which this thread has pushed last; there is one.
Gpu &current();
/// A thread's calls go to a GPU that is retained; fails where it goes too deep.
Code push(Gpu *gpu);
/// Back to the one before; as often as it was pushed.
Code pop(Gpu **outGpu);

/// "ZE_RESULT_ERROR_DEVICE_LOST"; null: it has no name here.
const char *nameOf(Code code);

} // namespace ashlar::runtime::ze

#endif // ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEDRIVER_H
