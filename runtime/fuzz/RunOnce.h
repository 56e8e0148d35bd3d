// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A systolic stream that may be anything, on both halves of the simulator.

#ifndef ASHLAR_RUNTIME_FUZZ_RUNONCE_H
#define ASHLAR_RUNTIME_FUZZ_RUNONCE_H

#include "systolic/Function.h"
#include "systolic/Timing.h"

#include <string>
#include <vector>

namespace ashlar::systolic {

/// How a stream ended: by itself, or not after so many actions, or with an
/// error that names an instruction, or with one that does not.
enum Outcome { Ran, CutShort, Stopped, Wrong };

/// `why`: the error, if there is one.
inline Outcome runOnce(const Machine &machine, const Kernel &kernel,
                       Function &function, const Vector<Binding> &bindings,
                       uint64_t mostActions, std::string &why) {
  function.start(bindings);
  Decoder decoder(machine, kernel);
  Timing timing(machine, kernel.regions.size());
  bool isFine = true;
  uint64_t actions = 0;
  for (Action action; isFine && decoder.next(action);) {
    if (++actions > mostActions)
      return CutShort;
    timing.add(action);
    isFine = function.execute(action);
  }
  timing.finish();
  if (isFine && !decoder.failed())
    return Ran;
  why = isFine ? decoder.error() : function.error();
  return why.compare(0, 12, "instruction ") == 0 &&
                 why.find(": ") != std::string::npos
             ? Stopped
             : Wrong;
}

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_FUZZ_RUNONCE_H
