// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An image of streams, checked as far as that goes without running it.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_IMAGE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_IMAGE_H

#include "../../OwnMemory.h"
#include "ashlar/runtime/systolic_isa.h"

namespace ashlar::systolic {

using runtime::String;
using runtime::Vector;

using Command = ashlar_systolic_command_t;
using Machine = ashlar_systolic_machine_t;

/// Commands of one kernel that belong together, for figures and pictures.
struct Region {
  String name;               // for people
  uint64_t multiplyAdds = 0; // that the work asks for
  uint16_t kind = ASHLAR_SYSTOLIC_OTHER;
  uint16_t dataflow = ASHLAR_SYSTOLIC_KEEPS_NOTHING;
};

/// "weight-stationary"; empty for none.
const char *dataflowName(uint32_t dataflow);

/// A stream.
struct Kernel {
  String name;              // a symbol of the module
  uint32_t bindings = 0;    // that a dispatch gives
  uint64_t issued = 0;      // commands, loops unrolled
  Vector<Region> regions;   // by number
  Vector<Command> commands; // in the order of issue
};

/// What an executable is.
struct Image {
  Machine machine = {};   // that it was written for
  Vector<Kernel> kernels; // in the order of the bytes
};

/// What is wrong with the figures of a machine; empty: nothing.
std::string checkMachine(const Machine &machine);

/// Commands that the loops issue in all; false and why if they are not nested
/// as they should be. At most 2^27.
bool countIssued(const Vector<Command> &commands, uint64_t &issued,
                 std::string &error);

/// Copies what it needs. Empty on success, else what is wrong.
std::string readImage(const void *bytes, uint64_t size, Image &image);

/// The bytes of an image; each kernel's `issued` is computed.
std::string writeImage(const Image &image);

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_IMAGE_H
