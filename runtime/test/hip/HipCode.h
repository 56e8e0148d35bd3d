// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code objects as the double has them, and who runs their kernels.
//
// A launch goes to CudaDouble::runCode, which somebody may have set before the
// module was loaded, or to an emulator of the instructions, where the
// environment names one (HipEmulator.h). Otherwise what runs is PTX that was
// compiled from the same source (ASHLAR_HIP_DOUBLE_PTX,
// CudaDouble::sourceOfCode, or the tests' own): right for tests of the runtime,
// which are about everything but instructions. Without either, no code object
// is taken.

#ifndef ASHLAR_RUNTIME_TEST_HIP_HIPCODE_H
#define ASHLAR_RUNTIME_TEST_HIP_HIPCODE_H

#include "PtxMemory.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ashlar::cuda {

/// One kernel, as the object's own metadata has it.
struct CodeKernel {
  struct Argument {
    uint64_t offset = 0, size = 0; // in the kernel's arguments
    std::string kind;              // .value_kind; "hidden_.." are the driver's
  };
  std::string name;
  uint64_t argumentBytes = 0, sharedBytes = 0;
  uint32_t mostThreads = 0, registers = 0, privateBytes = 0;
  std::vector<Argument> arguments;
};

struct CodeObject : std::enable_shared_from_this<CodeObject> {
  std::vector<uint8_t> image;
  uint32_t chip = 0; // EF_AMDGPU_MACH
  std::map<std::string, CodeKernel> kernels;
};

/// What a kernel is run with.
struct CodeLaunch {
  const CodeObject *object;
  const CodeKernel *kernel;
  uint32_t grid[3], block[3]; // workgroups, and threads of one
  uint32_t dynamicShared;
  /// As the kernel reads them, those that the driver fills in included.
  std::vector<uint8_t> arguments;
  /// Where addresses of the device lie on the host; null: in no allocation.
  const ptx::Memory *memory;
};

/// Throws ptx::Fault (PtxThread.h) for what a device would fault at.
using RunCode = void (*)(const CodeLaunch &);

/// Of an image in memory, which says itself how long it is; null: `why` is what
/// is wrong with it.
std::shared_ptr<CodeObject> readCode(const void *image, std::string &why);

} // namespace ashlar::cuda

#endif // ASHLAR_RUNTIME_TEST_HIP_HIPCODE_H
