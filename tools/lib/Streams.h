// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a module's streams for systolic machines say and cost.

#ifndef ASHLAR_TOOLS_LIB_STREAMS_H
#define ASHLAR_TOOLS_LIB_STREAMS_H

#include "ModuleFile.h"
#include "systolic/Utilisation.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace ashlar::tools {

/// Of one program: its streams with how often each is launched.
struct StreamUse {
  struct Stream {
    std::string name;
    uint64_t launches;
    systolic::KernelUse use;
  };
  std::shared_ptr<const systolic::Image> image; ///< what rows of use point into
  std::vector<Stream> streams;

  /// Cycles of all launches, one after the other, and what contractions take of
  /// them and ask for.
  uint64_t cycles() const;
  uint64_t contractionCycles() const;
  /// What depthwise ones take of them, on the vector unit.
  uint64_t depthwiseCycles() const;
  uint64_t multiplyAdds() const;
  /// Of the arrays, while there are contractions.
  double utilisation() const;

  /// A table for each stream, and a line for all; begins with an empty line.
  std::string table(const std::string &program) const;
  nlohmann::ordered_json json() const;
};

/// Times each stream of the program once; nothing where it has none. Throws a
/// Failure where one is at fault. `launches`: by kernel.
std::optional<StreamUse> measureStreams(const runtime::ModuleFile &file,
                                        const fb::Program &program,
                                        const std::vector<uint64_t> &launches);

/// The commands of a kernel; nothing where the code is no stream.
std::optional<std::string> disassembleStream(const runtime::ModuleFile &file,
                                             const fb::Executable &code,
                                             const std::string &symbol);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_STREAMS_H
