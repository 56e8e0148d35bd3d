// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies where in an arena, and when: found again from the commands of a
// module, which know nothing of values. A command that writes a range begins a
// value; it lives until the last command that reads of it before the range is
// written again.

#ifndef ASHLAR_TOOLS_LIB_MEMORYMAP_H
#define ASHLAR_TOOLS_LIB_MEMORYMAP_H

#include "ashlar/runtime/module_generated.h"

#include <string>
#include <vector>

namespace ashlar::tools {

struct MemoryMap {
  struct Command {
    int64_t kernel = -1;                      ///< of the program; -1: a copy
    std::string kernelName;                   ///< empty: a copy
    std::vector<std::string> nodes;           ///< the model's
    std::vector<std::string> takes, makes;    ///< "f32 1x64x56x56", if known
    std::vector<std::string> inputs, outputs; ///< of the entry, by name
    uint64_t weightBytes = 0;                 ///< read
    /// The first node's name, else the kernel's.
    std::string name() const;
  };
  struct Value {
    size_t writer = 0;          ///< the command
    size_t first = 0, last = 0; ///< commands during which it lives, inclusive
    uint64_t offset = 0;        ///< bytes from the start of the arena
    uint64_t bytes = 0;         ///< as the arena is planned, a multiple of 64
    int64_t inPlace = -1; ///< the value that dies here and leaves its place
    std::vector<size_t> readers; ///< commands
  };

  std::vector<Command> commands; ///< launches and copies, in order
  std::vector<Value> values;
  uint64_t arenaBytes = 0, lowerBoundBytes = 0;
  size_t peakCommand = 0;
  uint64_t peakBytes = 0; ///< alive at the peak

  bool isAliveAt(const Value &value, size_t command) const {
    return value.first <= command && command <= value.last;
  }
  /// Numbers of the values alive at the peak, largest first.
  std::vector<size_t> holders() const;
};

/// Throws a Failure where sizes depend on symbols.
MemoryMap readMemoryMap(const fb::Module &index, const fb::Program &program,
                        const fb::ProgramEntry &entry);

/// A picture that stands alone: time to the right, addresses up.
std::string drawMemoryMap(const MemoryMap &map, const std::string &title);
/// The same in a page that can be zoomed, with what holds the memory.
std::string memoryMapPage(const MemoryMap &map, const std::string &title);

/// The commands in their order, each to be opened, with arcs from where data is
/// made to where it is read.
std::string graphPage(const MemoryMap &map, const fb::Program &program,
                      const std::string &title);

/// Text as XML and HTML hold it.
std::string escapeMarkup(const std::string &text);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_MEMORYMAP_H
