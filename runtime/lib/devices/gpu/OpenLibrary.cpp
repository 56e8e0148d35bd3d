// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuApi.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

bool ashlar::runtime::gpu::openLibrary(const char *library, const char *names,
                                       Functions &functions) {
  void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    return false;
  auto *slot = reinterpret_cast<char *>(&functions);
  // Where those begin that may be missing; a group is there as a whole.
  auto **graphs = reinterpret_cast<void **>(&functions.BeginCapture),
       **tensors = reinterpret_cast<void **>(&functions.TensorMapEncode),
       **external = reinterpret_cast<void **>(&functions.MemGranularity),
       **pools = reinterpret_cast<void **>(&functions.PoolCreate);
  bool isWhole[4] = {true, true, true, true};
  for (const char *name = names; *name; name += std::strlen(name) + 1) {
    void *address = dlsym(opened, name);
    auto **at = reinterpret_cast<void **>(slot);
    if (!address && at < graphs)
      return false;
    if (!address)
      isWhole[(at >= tensors) + (at >= external) + (at >= pools)] = false;
    std::memcpy(slot, &address, sizeof(address));
    slot += sizeof(address);
  }
  void **const groups[4] = {graphs, tensors, external, pools};
  for (unsigned i = 0; i < 4; ++i)
    if (!isWhole[i])
      std::memset(groups[i], 0, sizeof(void *));
  return true;
}

int ashlar::runtime::gpu::countDevices(const Functions &functions) {
  int count = 0;
  return functions.Init(0) == 0 && functions.DeviceGetCount(&count) == 0
             ? std::max(count, 0)
             : 0;
}

const char *ashlar::runtime::gpu::Driver::nameOf(const void *member) const {
  const char *name = names;
  const auto *slot = reinterpret_cast<const char *>(&functions);
  for (; slot != member && *name; slot += sizeof(void *))
    name += std::strlen(name) + 1;
  return name;
}
