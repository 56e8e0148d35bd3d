// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuProgram.h"

#include "../LaunchedKernels.h"
#include "ashlar/runtime/gpu_abi.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

using namespace gpu;

/// Options of a load: where the driver writes what it has to say of code that
/// it does not take, and how many bytes there are.
enum : int { errorLog = 5, errorLogBytes = 6, keepLines = 13 };
/// What is asked of a function, and set.
enum : int { maxThreadsPerBlock = 0, maxDynamicSharedSize = 8 };

GpuProgram::~GpuProgram() {
  CurrentGpu current(device);
  if (current && module)
    device.api.ModuleUnload(module);
}

Status GpuProgram::load(const void *image, uint64_t size) {
  text.assign(static_cast<const char *>(image), size_t(size));
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  char log[1024] = "";
  int options[] = {errorLog, errorLogBytes, keepLines};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1),
                    reinterpret_cast<void *>(1)};
  // Text that says of which node an instruction is, for profilers.
  const bool hasLines = text.find("\t.loc\t") != text.npos;
  Code code = device.api.ModuleLoad(&module, text.c_str(), hasLines ? 3 : 2,
                                    options, values);
  if (code == 0)
    return {};
  module = nullptr;
  Status cause = device.failed(&device.api.ModuleLoad, code);
  return log[0] == 0 ? cause
                     : failure(cause.code(),
                               concat(cause.message(), "; its log: ", log),
                               device.name);
}

Status GpuProgram::checkForm(const KernelForm &form) const {
  ASHLAR_RETURN_IF_ERROR(
      requireOneDimension(form, device.name, device.sharedBytes()));
  int found = device.driver.countParameters(text, form.symbol);
  if (found < 0)
    return corrupt(concat("the code lacks the kernel ", form.symbol),
                   form.symbol);
  int expected = int(ASHLAR_GPU_PARAMETERS(form.bindings, form.integers));
  if (found != expected)
    return corrupt(concat("kernel ", form.symbol, " takes ", found,
                          " parameters; expected ", expected, ", for ",
                          form.bindings, " bindings and ", form.integers,
                          " integers"),
                   form.symbol);
  return {};
}

Status GpuProgram::find(const KernelForm &form, const void **outKernel) {
  ASHLAR_RETURN_IF_ERROR(checkForm(form));
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  GpuKernel found = {nullptr, form.bindings, form.integers,
                     std::max(form.block[0], 1u), uint32_t(form.sharedBytes)};
  Code code =
      device.api.ModuleGetFunction(&found.function, module, form.symbol);
  if (code != 0)
    return device.driver.causeOf(code) == Cause::NotFound
               ? corrupt(concat("the code lacks the kernel ", form.symbol),
                         form.symbol)
               : device.failed(&device.api.ModuleGetFunction, code);
  int most = 0;
  ASHLAR_RETURN_IF_ERROR(
      device.check(&device.api.FunctionGetAttribute,
                   device.api.FunctionGetAttribute(&most, maxThreadsPerBlock,
                                                   found.function)));
  if (found.threads > uint32_t(std::max(most, 0)))
    return failure(ASHLAR_UNSUPPORTED,
                   concat("kernel ", form.symbol, " needs workgroups of ",
                          found.threads, " threads, and ", device.name,
                          " runs it with ", most, " at most"),
                   form.symbol);
  if (found.sharedBytes != 0)
    ASHLAR_RETURN_IF_ERROR(device.check(
        &device.api.FunctionSetAttribute,
        device.api.FunctionSetAttribute(found.function, maxDynamicSharedSize,
                                        int(found.sharedBytes))));
  std::lock_guard<std::mutex> lock(mutex);
  kernels.push_back(std::make_unique<GpuKernel>(found));
  *outKernel = kernels.back().get();
  return {};
}

} // namespace ashlar::runtime
