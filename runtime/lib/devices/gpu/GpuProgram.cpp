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
enum : int {
  maxThreadsPerBlock = 0,
  registersPerThread = 4,
  maxDynamicSharedSize = 8
};

GpuProgram::~GpuProgram() {
  CurrentGpu current(device);
  if (current && module)
    device.api.ModuleUnload(module);
}

Code GpuProgram::loadText(char *log, size_t logBytes) {
  int options[] = {errorLog, errorLogBytes, keepLines};
  void *values[] = {log, reinterpret_cast<void *>(logBytes - 1),
                    reinterpret_cast<void *>(1)};
  // Text that says of which node an instruction is, for profilers.
  const bool hasLines = text.find("\t.loc\t") != text.npos;
  return device.api.ModuleLoad(&module, text.c_str(), hasLines ? 3 : 2, options,
                               values);
}

Status GpuProgram::load(const void *image, uint64_t size) {
  text.assign(static_cast<const char *>(image), size_t(size));
  if (device.driver.verify)
    ASHLAR_RETURN_IF_ERROR(device.driver.verify(text));
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  char log[1024] = "";
  Code code = device.driver.load
                  ? device.driver.load(text, &module, log, sizeof(log))
                  : loadText(log, sizeof(log));
  if (code == 0)
    return {};
  module = nullptr;
  Status cause = device.failed(&device.api.ModuleLoad, code);
  return log[0] == 0 ? cause
                     : failure(cause.code(),
                               concat(cause.message(), "; its log: ", log),
                               device.name);
}

/// Tensor maps behind the usual arguments; negative: of another order.
static int countMaps(const KernelForm &form) {
  using Kind = KernelForm::Argument::Kind;
  const size_t usual = size_t(form.bindings) + form.integers;
  if (form.arguments.empty())
    return 0;
  for (size_t i = 0; i < std::max(usual, form.arguments.size()); ++i) {
    const Kind kind = i < form.bindings ? Kind::Pointer
                      : i < usual       ? Kind::Integer
                                        : Kind::TensorMap;
    if (i >= form.arguments.size() || form.arguments[i].kind != kind ||
        (i < usual && form.arguments[i].index !=
                          (i < form.bindings ? i : i - form.bindings)))
      return -1;
  }
  return int(form.arguments.size() - usual);
}

Status GpuProgram::checkForm(const KernelForm &form) const {
  KernelForm usual = form;
  const int maps = countMaps(form);
  if (maps >= 0)
    usual.arguments.clear();
  if (form.cluster[1] == 1 && form.cluster[2] == 1 &&
      device.attribute(Attribute::Clusters) > 0)
    usual.cluster[0] = 1;
  ASHLAR_RETURN_IF_ERROR(
      requireOneDimension(usual, device.name, device.sharedBytes()));
  if (maps > 0 && !device.api.TensorMapEncode)
    return failure(ASHLAR_UNSUPPORTED,
                   concat("kernel ", form.symbol,
                          " takes tensor maps, which the driver of ",
                          device.name, " does not make; update the driver"),
                   form.symbol);
  return device.driver.countParameters
             ? checkParameters(form,
                               device.driver.countParameters(text, form.symbol))
             : Status();
}

Status GpuProgram::checkParameters(const KernelForm &form, int found) const {
  if (found < 0)
    return corrupt(concat("the code lacks the kernel ", form.symbol),
                   form.symbol);
  const int maps = countMaps(form);
  int expected =
      int(ASHLAR_GPU_PARAMETERS(form.bindings, form.integers)) + maps;
  if (found != expected)
    return corrupt(concat("kernel ", form.symbol, " takes ", found,
                          " parameters; expected ", expected, ", for ",
                          form.bindings, " bindings, ", form.integers,
                          " integers and ", maps, " tensor maps"),
                   form.symbol);
  return {};
}

/// What the driver's occupancy calculator says, which older ones lack; a few
/// too many do no harm: they follow the others.
int64_t GpuProgram::countAtOnce(const GpuKernel &kernel) const {
  const Functions &api = device.api;
  const int64_t own = int64_t(kernel.sharedBytes) +
                      device.attribute(Attribute::ReservedSharedPerBlock);
  int registers = 0;
  if (api.FunctionGetAttribute(&registers, registersPerThread,
                               kernel.function) != 0)
    registers = 1;
  const int64_t each =
      std::min({device.attribute(Attribute::SharedPerProcessor) /
                    std::max<int64_t>(own, 1),
                device.attribute(Attribute::ThreadsPerProcessor) /
                    int64_t(kernel.threads),
                device.attribute(Attribute::RegistersPerProcessor) /
                    (int64_t(kernel.threads) * std::max(registers, 1))});
  const int64_t all =
      std::max<int64_t>(1, device.attribute(Attribute::Processors)) *
      std::max<int64_t>(1, each);
  return std::max<int64_t>(all / kernel.cluster, 1) * kernel.cluster;
}

Status GpuProgram::find(const KernelForm &form, const void **outKernel) {
  ASHLAR_RETURN_IF_ERROR(checkForm(form));
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  GpuKernel found = {nullptr,
                     form.bindings,
                     form.integers,
                     std::max(form.block[0], 1u),
                     uint32_t(form.sharedBytes),
                     uint32_t(countMaps(form)),
                     form.cluster[0],
                     INT32_MAX};
  Code code =
      device.api.ModuleGetFunction(&found.function, module, form.symbol);
  if (code != 0)
    return device.driver.causeOf(code) == Cause::NotFound
               ? corrupt(concat("the code lacks the kernel ", form.symbol),
                         form.symbol)
               : device.failed(&device.api.ModuleGetFunction, code);
  if (device.driver.countOf)
    ASHLAR_RETURN_IF_ERROR(
        checkParameters(form, device.driver.countOf(found.function)));
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
  if (found.maps != 0)
    found.most = countAtOnce(found);
  std::lock_guard<std::mutex> lock(mutex);
  kernels.push_back(std::make_unique<GpuKernel>(found));
  *outKernel = kernels.back().get();
  return {};
}

} // namespace ashlar::runtime
