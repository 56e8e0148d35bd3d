// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SPIR-V that a driver has built, or machine code, and the kernels in it.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEMODULE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEMODULE_H

#include "ZeStream.h"

#include <string_view>

namespace ashlar::runtime::ze {

/// Arguments are the driver's object's own, so one launch sets them at a time.
class Function {
public:
  ASHLAR_OWN_NEW
  explicit Function(const Functions &api) : api(api) {}
  ~Function();
  Function(const Function &) = delete;
  /// Once, before it is used. invalidKernelName: the module has no such kernel.
  Code create(ModuleId module, const char *name);

  /// In one dimension; `values` are those of ashlar/runtime/gpu_abi.h, of eight
  /// bytes each.
  Code launch(Stream &stream, unsigned groups, unsigned threads, void **values);

  KernelProperties properties; // what the driver says, from then on

private:
  Code setArguments(unsigned threads, void **values);

  const Functions &api;      // the driver's
  KernelId kernel = nullptr; // null until created
  std::mutex mutex;
};

/// Code on a GPU. Built once, by one thread; then any thread finds functions.
class LoadedModule {
public:
  ASHLAR_OWN_NEW
  explicit LoadedModule(Gpu &gpu) : gpu(gpu) {}
  ~LoadedModule();
  LoadedModule(const LoadedModule &) = delete;
  /// The log is what the driver has to say, ended, as much as has room.
  Code build(std::string_view image, char *outLog, size_t logBytes);
  /// It lives as long as the module.
  Code find(const char *name, Function *&out);

private:
  String optionsFor(std::string_view image) const;
  size_t readLog(LogId log, char *outLog, size_t logBytes) const;

  Gpu &gpu;                  // retained, and outlives it
  ModuleId module = nullptr; // null: nothing was built
  std::mutex mutex;
  Vector<std::unique_ptr<Function>> functions; // all that were found
};

} // namespace ashlar::runtime::ze

#endif // ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZEMODULE_H
