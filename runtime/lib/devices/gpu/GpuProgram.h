// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module of the driver's, and the kernels in it.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUPROGRAM_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUPROGRAM_H

#include "../../OwnMemory.h"
#include "GpuDevice.h"

namespace ashlar::runtime {

/// What the device's kernel handles are.
struct GpuKernel {
  ASHLAR_OWN_NEW
  gpu::Function function;      // the driver's, as long as the module
  uint32_t bindings, integers; // of a dispatch
  uint32_t threads;            // of a workgroup, at least 1
  uint32_t sharedBytes;        // of one, beyond what the code declares
  uint32_t maps;               // of tensors
  uint32_t cluster; // workgroups of one, at least 1: its code says so, too
  /// Workgroups of a launch, at most: those that run at once, where each goes
  /// on from group to group by itself.
  int64_t most;
};

/// An executable. Loaded once, by one thread; then any thread finds kernels.
/// The device outlives it.
class GpuProgram {
public:
  ASHLAR_OWN_NEW
  explicit GpuProgram(const GpuDevice &device) : device(device) {}
  ~GpuProgram();
  GpuProgram(const GpuProgram &) = delete;

  /// Copies the image. CORRUPT, or UNSUPPORTED with the driver's log, where it
  /// is not taken.
  Status load(const void *image, uint64_t size);
  /// The kernel lives as long as this. CORRUPT: the code lacks it or takes
  /// other arguments; UNSUPPORTED: the device cannot launch it so.
  Status find(const KernelForm &form, const void **outKernel);

private:
  /// By ModuleLoad; what the driver has to say ends in the log.
  gpu::Code loadText(char *log, size_t logBytes);
  /// That the device can launch it so, and that the code takes what it is
  /// given.
  Status checkForm(const KernelForm &form) const;
  /// `found`: how many the code takes, negative where it has no such kernel.
  Status checkParameters(const KernelForm &form, int found) const;
  int64_t countAtOnce(const GpuKernel &kernel) const;

  const GpuDevice &device;      // outlives it
  gpu::Module module = nullptr; // null: nothing was loaded
  String text;                  // of the image, ended
  std::mutex mutex;
  Vector<std::unique_ptr<GpuKernel>> kernels; // all that were found
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUPROGRAM_H
