// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which program of a module runs here, and why not the others.

#ifndef ASHLAR_RUNTIME_LIB_PROGRAMCHOICE_H
#define ASHLAR_RUNTIME_LIB_PROGRAMCHOICE_H

#include "OwnMemory.h"
#include "Runtime.h"
#include "ashlar/runtime/module_generated.h"

namespace ashlar::runtime {

/// What a load asks for.
struct ProgramRequest {
  /// One that a device did not take when its code was loaded.
  struct Refused {
    uint32_t program;
    String why;
  };

  Vector<String> devices;  // in order of preference; empty: any
  bool strict = true;      // one of these or none
  Vector<Refused> refused; // not looked at again
  bool isLost = false;     // a device was, why one of these was refused

  /// Nobody asked for a device, or others will do.
  bool isFree() const { return devices.empty() || !strict; }
};

/// What it gets.
struct ProgramChoice {
  uint32_t program = 0; // in the module's order
  /// The program's own device first, then those of its companions.
  Vector<ashlar_device_t *> devices;
  /// The one that was asked for, which is not destroyed meanwhile; null: none.
  std::shared_ptr<ashlar_device_t> asked;
  uint64_t fallbacks = 0; // devices asked for that could not serve
  String log;             // a line per program looked at
  bool isLost = false;    // a device that was looked at
};

/// Of programs for the same targets, the first in the file's order whose
/// devices and instruction sets are there counts, or where these devices rank
/// code, that which suits them best; of these, the one that is
/// predicted to be the fastest is taken, or the first where that is not known
/// of all. UNSUPPORTED, or DEVICE_LOST where a device is, carries the log.
Status chooseProgram(Runtime &runtime, const fb::Module &module,
                     const ProgramRequest &request, ProgramChoice &out);

/// The first form of an executable, itself or a variant, from number `from` on,
/// that the device accepts; false: there is none.
bool findForm(const fb::Program &program, uint32_t executable, uint32_t from,
              const ashlar_device_t &device, uint32_t &out);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_PROGRAMCHOICE_H
