// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a device a part of another one: bytes that are its own, and turns
// of its own.

#ifndef ASHLAR_RUNTIME_LIB_VIRTUALDEVICE_H
#define ASHLAR_RUNTIME_LIB_VIRTUALDEVICE_H

#include "Budget.h"

namespace ashlar::runtime {

/// Of one virtual device, for as long as somebody has it.
struct VirtualPart {
  std::shared_ptr<Budget>
      setAside;        // below the runtime's, of the whole's memory
  uint32_t workers;    // that run at the same time
  Gate gate;           // its workers
  Gate::Tenant tenant; // all of its runs
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_VIRTUALDEVICE_H
