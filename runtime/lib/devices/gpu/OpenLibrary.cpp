// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuApi.h"

#include <cstring>
#include <dlfcn.h>

bool ashlar::runtime::gpu::openLibrary(const char *library, const char *names,
                                       Functions &functions) {
  void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    return false;
  auto *slot = reinterpret_cast<char *>(&functions);
  const auto *graphs = reinterpret_cast<char *>(&functions.BeginCapture),
             *tensors = reinterpret_cast<char *>(&functions.TensorMapEncode);
  bool hasGraphs = true;
  for (const char *name = names; *name; name += std::strlen(name) + 1) {
    void *address = dlsym(opened, name);
    if (!address && slot < graphs)
      return false;
    hasGraphs &= address || slot >= tensors;
    std::memcpy(slot, &address, sizeof(address));
    slot += sizeof(address);
  }
  if (!hasGraphs)
    functions.BeginCapture = nullptr;
  return true;
}

const char *ashlar::runtime::gpu::Driver::nameOf(const void *member) const {
  const char *name = names;
  const auto *slot = reinterpret_cast<const char *>(&functions);
  for (; slot != member && *name; slot += sizeof(void *))
    name += std::strlen(name) + 1;
  return name;
}
