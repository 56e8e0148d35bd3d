// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Machine/CopyTime.h"
#include <algorithm>

using namespace ashlar;

double ashlar::nanosecondsToCopy(int64_t bytes, const MachineModel &host,
                                 const MachineModel &device, bool toHost) {
  if (const Link *link = device.link("host"))
    return link->startNs + double(bytes) / link->bytesPerSecond * 1e9;
  const MachineModel &from = toHost ? device : host;
  const MachineModel &to = toHost ? host : device;
  double read = from.readBytesPerCycle(from.memories.back()) * from.clock.hz;
  double write = to.writeBytesPerCycle(to.memories.back()) * to.clock.hz;
  return double(bytes) / std::min(read, write) * 1e9;
}
