// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows a command list's control flow on the host: it says which command
// comes next at every point where all that came before is finished. It moves no
// data; the bytes that decide are read where the host can see them, or by
// whoever knows how.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SEQUENCER_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SEQUENCER_H

#include "CommandList.h"

namespace ashlar::runtime {

/// Reads the byte of a control command from memory that the host cannot see.
class ConditionReader {
public:
  /// Whether it is set; a failure ends the run by its control.
  virtual bool isSet(const Command &command) = 0;

protected:
  ~ConditionReader() = default;
};

/// Of one run, on one thread.
class Sequencer {
public:
  /// Without a reader, conditions are behind the list's pointers.
  Sequencer(const CommandList &list, RunControl &control,
            ConditionReader *reader = nullptr)
      : list(list), control(control), reader(reader) {}

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

  /// Where the loops are now.
  const LoopCounters &counters() const { return loops; }

  const CommandList &list; // outlives it
  RunControl &control;     // of the run

private:
  bool isSet(const Command &command) const {
    if (command.firstPointer == Command::none)
      return true;
    return reader ? reader->isSet(command)
                  : *static_cast<const char *>(
                        list.pointers[command.firstPointer]) != 0;
  }

  /// The command to go on with behind control command `at`.
  size_t step(size_t at) {
    const Command &command = list.commands[at];
    int64_t *counters = loops.values;
    switch (command.kind) {
    case Command::Check:
      // Who could not read it has said why.
      if (!isSet(command) && !control.stopped())
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

  ConditionReader *const reader; // null: bytes are in the host's memory
  LoopCounters loops;            // as far as it has come
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SEQUENCER_H
