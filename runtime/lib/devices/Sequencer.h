// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows a command list's control flow on the host. A device asks it which
// command comes next at every point where all that came before is finished.
// Conditions are read from memory that the host can see.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SEQUENCER_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SEQUENCER_H

#include "CommandList.h"

#include <cstring>

namespace ashlar::runtime {

class Sequencer {
public:
  Sequencer(const CommandList &list, RunControl &control)
      : list(list), control(control) {}

  CommandRange whole() const { return {0, list.commands.size()}; }

  /// From command `at`, the first that does work or is a barrier; the number
  /// of commands at the end and when the run is to stop.
  size_t settle(size_t at) {
    size_t size = list.commands.size();
    while (at < size && list.commands[at].isControl()) {
      if (control.stopped())
        return size;
      at = step(at);
    }
    return control.stopped() ? size : at;
  }

  /// A copy, in this iteration, where the host can see both sides.
  void copy(const Command &copy) const {
    std::memcpy(address(copy, 1), address(copy, 0), size_t(copy.extent));
  }

  /// Pointer i of a copy, in this iteration.
  char *address(const Command &copy, unsigned i) const {
    char *base = static_cast<char *>(list.pointers[copy.firstPointer + i]);
    return copy.loop == Command::none
               ? base
               : base + counters[copy.loop] * copy.strides[i];
  }

  const CommandList &list;
  RunControl &control;

private:
  bool isSet(const Command &command) const {
    return command.firstPointer == Command::none ||
           *static_cast<const char *>(list.pointers[command.firstPointer]) != 0;
  }

  size_t step(size_t at) {
    const Command &command = list.commands[at];
    switch (command.kind) {
    case Command::Check:
      if (!isSet(command))
        control.fail(uint32_t(at), 0);
      return at + 1;
    case Command::Branch:
      return isSet(command) ? at + 1 : command.target;
    case Command::Jump:
      return command.target;
    case Command::LoopEnter:
      counters[command.loop] = 0;
      return at + 1;
    case Command::LoopTest: {
      bool isOver =
          command.extent >= 0 && counters[command.loop] >= command.extent;
      return !isOver && isSet(command) ? at + 1 : command.target;
    }
    default: // LoopNext; without a limit nothing reads the counter
      counters[command.loop] = int64_t(uint64_t(counters[command.loop]) + 1);
      return command.target;
    }
  }

  int64_t counters[maximumNesting] = {};
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SEQUENCER_H
