// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuApi.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

bool ashlar::runtime::gpu::Driver::open(const char *library) {
  void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const char *why = dlerror();
    whyNone = why ? why : library;
    return false;
  }
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
    if (!address && at < graphs) {
      whyNone = concat(library, " has no ", name,
                       ": it is no such driver, or too old a one");
      return false;
    }
    if (!address)
      isWhole[(at >= tensors) + (at >= external) + (at >= pools)] = false;
    std::memcpy(slot, &address, sizeof(address));
    slot += sizeof(address);
  }
  void **const groups[4] = {graphs, tensors, external, pools};
  for (unsigned i = 0; i < 4; ++i)
    if (!isWhole[i])
      std::memset(groups[i], 0, sizeof(void *));
  whyNone = {};
  return true;
}

void ashlar::runtime::gpu::Driver::start() {
  auto sayFailed = [&](const void *member, Code code) {
    whyNone = concat(nameOf(member), " failed with ", codeName(code), " (code ",
                     code, ")");
  };
  int count = 0;
  if (Code code = functions.Init(0))
    return sayFailed(&functions.Init, code);
  if (Code code = functions.DeviceGetCount(&count))
    return sayFailed(&functions.DeviceGetCount, code);
  deviceCount = std::max(count, 0);
}

const char *ashlar::runtime::gpu::Driver::nameOf(const void *member) const {
  const char *name = names;
  const auto *slot = reinterpret_cast<const char *>(&functions);
  for (; slot != member && *name; slot += sizeof(void *))
    name += std::strlen(name) + 1;
  return name;
}

ashlar::runtime::String
ashlar::runtime::gpu::Driver::codeName(Code code) const {
  const char *text = nullptr;
  if (functions.GetErrorName(code, &text) == 0 && text)
    return text;
  return concat("error ", code);
}
