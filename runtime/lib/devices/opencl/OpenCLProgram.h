// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SPIR-V module that the driver has built, and the kernels in it.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLPROGRAM_H
#define ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLPROGRAM_H

#include "../../OwnMemory.h"
#include "OpenCLDevice.h"

namespace ashlar::runtime {

/// What the device's kernel handles are. Arguments are kept in the driver's
/// kernel objects, so each queue makes its own.
struct OpenCLKernel {
  ASHLAR_OWN_NEW
  opencl::Program program;     // of the OpenCLProgram, which lives longer
  String symbol;               // the function's name in it
  uint32_t bindings, integers; // of a dispatch
  uint64_t threads; // of a workgroup for each group; 0: workers share them out

  /// A kernel object for one thread at a time, which the caller releases; null:
  /// `code` says why.
  opencl::Kernel make(const OpenCLDevice &device, opencl::Code &code) const {
    return device.cl.CreateKernel(program, symbol.c_str(), &code);
  }
};

/// An executable. Loaded once, by one thread; then any thread finds kernels.
/// The device outlives it.
class OpenCLProgram {
public:
  ASHLAR_OWN_NEW
  explicit OpenCLProgram(const OpenCLDevice &device) : device(device) {}
  ~OpenCLProgram();
  OpenCLProgram(const OpenCLProgram &) = delete;

  /// Out of the device's cache, if it has one, or built.
  Status load(const void *image, uint64_t size);
  /// The kernel lives as long as this. CORRUPT: the module lacks it or takes
  /// other arguments; UNSUPPORTED: the device cannot launch it so.
  Status find(const KernelForm &form, const void **outKernel);

private:
  /// Without a cache. UNSUPPORTED, with the driver's log, where it does not
  /// compile.
  Status build(const void *image, uint64_t size);
  /// From SPIR-V, or from LLVM IR.
  Status create(const void *image, uint64_t size);
  /// Of BuildProgram; they are part of what a cache is asked for.
  const char *buildOptions() const;
  /// "its log: ..." of the last build, shortened.
  String buildLog() const;
  /// Who compiles, and how; empty: the driver does not say enough.
  String describeDriver() const;
  /// False: the driver does not take it; there is no program then.
  bool restore(const String &binary);
  /// Empty: the driver gives none.
  String binary() const;
  /// Whether the device can launch it, in one dimension.
  Status checkForm(const KernelForm &form) const;
  /// Whether it has the threads and the memory that a workgroup shares: drivers
  /// may say that at the first launch only.
  Status checkGroup(opencl::Kernel kernel, const KernelForm &form) const;
  /// CORRUPT unless the module's kernel takes what it will be given.
  Status checkArguments(opencl::Kernel kernel, const KernelForm &form) const;

  const OpenCLDevice &device;        // outlives it
  opencl::Program program = nullptr; // null: nothing was loaded
  std::mutex mutex;
  Vector<std::unique_ptr<OpenCLKernel>> kernels; // all that were found
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLPROGRAM_H
