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
  gpu::Function function;
  uint32_t bindings, integers;
  uint32_t threads;     // of a workgroup, at least 1
  uint32_t sharedBytes; // of one, beyond what the code declares
  uint32_t maps;        // of tensors
  uint32_t cluster;     // workgroups of one, at least 1: its code says so, too
  /// Workgroups of a launch, at most: those that run at once, where each goes
  /// on from group to group by itself.
  int64_t most;
};

class GpuProgram {
public:
  ASHLAR_OWN_NEW
  explicit GpuProgram(const GpuDevice &device) : device(device) {}
  ~GpuProgram();
  GpuProgram(const GpuProgram &) = delete;

  Status load(const void *image, uint64_t size);
  Status find(const KernelForm &form, const void **outKernel);

private:
  gpu::Code loadText(char *log, size_t logBytes);
  Status checkForm(const KernelForm &form) const;
  Status checkParameters(const KernelForm &form, int found) const;
  int64_t countAtOnce(const GpuKernel &kernel) const;

  const GpuDevice &device;
  gpu::Module module = nullptr;
  String text; // of the image, ended
  std::mutex mutex;
  Vector<std::unique_ptr<GpuKernel>> kernels;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUPROGRAM_H
