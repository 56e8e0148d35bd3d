// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenCLLoader.h"

#include <cstring>
#include <dlfcn.h>

namespace ashlar::runtime::opencl {

/// Fills the table; false if a function is missing that must be there.
static bool open(Functions &functions) {
  // Its functions follow each other as in the table.
  static const char names[] =
#define ASHLAR_OPENCL_NAME(RESULT, NAME, ARGUMENTS) "cl" #NAME "\0"
      ASHLAR_OPENCL_FUNCTIONS(ASHLAR_OPENCL_NAME)
#undef ASHLAR_OPENCL_NAME
      ;
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
  auto *slot = reinterpret_cast<char *>(&functions);
  for (const char *name = names; *name; name += std::strlen(name) + 1) {
    void *address = dlsym(library, name);
    std::memcpy(slot, &address, sizeof(address));
    slot += sizeof(address);
    // Loaders before OpenCL 2.1 lack the last one.
    if (!address && slot != reinterpret_cast<char *>(&functions + 1))
      return false;
  }
  return true;
}

/// A platform whose driver fails counts as one without devices.
static void listDevices(Drivers &found) {
  const Functions &cl = found.functions;
  uint32_t count = 0;
  if (cl.GetPlatformIDs(0, nullptr, &count) != 0 || count == 0)
    return;
  Vector<Platform> platforms(count);
  if (cl.GetPlatformIDs(count, platforms.data(), nullptr) != 0)
    return;
  for (Platform platform : platforms) {
    uint32_t here = 0;
    if (cl.GetDeviceIDs(platform, deviceTypeAll, 0, nullptr, &here) != 0 ||
        here == 0)
      continue;
    Vector<DeviceId> ids(here);
    if (cl.GetDeviceIDs(platform, deviceTypeAll, here, ids.data(), nullptr) !=
        0)
      continue;
    for (DeviceId id : ids)
      found.devices.push_back({platform, id});
  }
}

const Drivers &drivers() {
  // Never destroyed: a driver's threads may outlive it.
  static const Drivers &known = *[] {
    OwnMemory::Scope ofAll(nullptr); // whichever runtime asks first
    auto *found = new Drivers();
    if (open(found->functions))
      listDevices(*found);
    return found;
  }();
  return known;
}

} // namespace ashlar::runtime::opencl
