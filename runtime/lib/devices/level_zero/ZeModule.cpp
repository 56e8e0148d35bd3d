// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ZeModule.h"

#include "ZeChips.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime::ze {

Function::~Function() {
  if (kernel)
    api.KernelDestroy(kernel);
}

Code Function::create(ModuleId module, const char *name) {
  Kernel how;
  how.name = name;
  if (Code code = api.KernelCreate(module, &how, &kernel))
    return code;
  properties = {};
  return api.KernelGetProperties(kernel, &properties);
}

/// All are of eight bytes but the last, the number of the command.
Code Function::setArguments(unsigned threads, void **values) {
  if (Code code = api.KernelSetGroupSize(kernel, threads, 1, 1))
    return code;
  for (uint32_t i = 0; i < properties.arguments; ++i) {
    const size_t bytes = i + 1 == properties.arguments ? 4 : 8;
    if (Code code = api.KernelSetArgumentValue(kernel, i, bytes, values[i]))
      return code;
  }
  return 0;
}

Code Function::launch(Stream &stream, unsigned groups, unsigned threads,
                      void **values) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Code code = setArguments(threads, values))
    return code;
  const Groups all = {groups, 1, 1};
  return stream.add([&](ListId list) {
    return api.CommandListAppendLaunchKernel(list, kernel, &all, nullptr, 0,
                                             nullptr);
  });
}

LoadedModule::~LoadedModule() {
  functions.clear();
  if (module)
    gpu.api.ModuleDestroy(module);
}

/// Addresses of buffers beyond 4 GiB; a division as IEEE 754 has it, where the
/// device can; twice the registers for half as many threads, where matrix units
/// need them for their operands.
String LoadedModule::optionsFor(std::string_view image) const {
  String options = "-ze-opt-greater-than-4GB-buffer-required";
  if (gpu.modules.fp32 & roundsDivisions)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  if (image.find("_matrix_mad_k") != image.npos)
    options += " -ze-opt-large-register-file";
  return options;
}

/// How long it is.
size_t LoadedModule::readLog(LogId log, char *outLog, size_t logBytes) const {
  size_t bytes = 0;
  if (gpu.api.ModuleBuildLogGetString(log, &bytes, nullptr) != 0 || bytes == 0)
    return 0;
  String all(bytes, 0);
  if (gpu.api.ModuleBuildLogGetString(log, &bytes, &all[0]) != 0)
    return 0;
  const size_t length = std::min(all.find('\0'), all.size());
  const size_t room = std::min(length, logBytes - 1);
  std::memcpy(outLog, all.data(), room);
  outLog[room] = 0;
  return length;
}

Code LoadedModule::build(std::string_view image, char *outLog,
                         size_t logBytes) {
  const String options = optionsFor(image);
  Module how;
  how.format = isZebin(image) ? formatNative : formatSpirv;
  how.bytes = image.size();
  how.image = image.data();
  how.options = options.c_str();
  LogId log = nullptr;
  Code code =
      gpu.api.ModuleCreate(gpu.context, gpu.device, &how, &module, &log);
  outLog[0] = 0;
  if (log) {
    readLog(log, outLog, logBytes);
    gpu.api.ModuleBuildLogDestroy(log);
  }
  if (code != 0) {
    module = nullptr;
    return code;
  }
  // Some drivers report success of a build that failed.
  return std::strstr(outLog, "error") ? moduleBuildFailure : 0;
}

Code LoadedModule::find(const char *name, Function *&out) {
  auto made = std::make_unique<Function>(gpu.api);
  if (Code code = made->create(module, name))
    return code;
  std::lock_guard<std::mutex> lock(mutex);
  functions.push_back(std::move(made));
  out = functions.back().get();
  return 0;
}

} // namespace ashlar::runtime::ze
