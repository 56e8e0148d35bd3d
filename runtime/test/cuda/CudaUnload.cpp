// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a module, which no launch may be waiting for.

#include "CudaExport.h"

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

ASHLAR_CUDA_EXPORT cuModuleUnload(CUmodule handle) {
  ASHLAR_CUDA_BEGIN(Call::Current, true)
  auto module = call.find(state().modules, handle, "module");
  if (!module)
    return call.refusal;
  CUresult code = call.result;
  auto uses = [&](const Stream &stream) {
    if (stream.current && stream.current->keeps == module)
      return true;
    for (const Task &task : stream.queue)
      if (task.keeps == module)
        return true;
    return false;
  };
  bool isUsed = uses(*call.context->standard);
  for (auto &[other, stream] : state().streams)
    isUsed |= stream->context == call.context && uses(*stream);
  if (isUsed && !call.context->fault) {
    code = call.misuse(INVALID_HANDLE,
                       "the module is unloaded while a launch of it is not "
                       "done");
    waitForAll(call.lock, *call.context);
  }
  for (auto &[name, function] : module->functions) {
    uint64_t key = reinterpret_cast<uint64_t>(function);
    state().kernels.erase(key);
    state().gone[key] = "function";
  }
  state().modules.erase(reinterpret_cast<uint64_t>(handle));
  state().gone[reinterpret_cast<uint64_t>(handle)] = "module";
  count(CudaDouble::Modules, -1);
  return code;
}
