// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of the embedder's with what drivers have compiled. Whatever is wrong
// with it costs a compilation, never a load.

#ifndef ASHLAR_RUNTIME_LIB_DRIVERCACHE_H
#define ASHLAR_RUNTIME_LIB_DRIVERCACHE_H

#include "Logger.h"
#include "OwnMemory.h"

#include <atomic>

namespace ashlar::runtime {

/// Any thread, and any number of processes.
class DriverCache {
public:
  ASHLAR_OWN_NEW
  /// The logger lives as long.
  DriverCache(std::string_view folder, const Logger &logger);

  /// What a binary was made from, all of which an entry repeats.
  struct Source {
    std::string_view driver; // who compiles, in which version, for what, how
    std::string_view code;   // before it is compiled
  };

  /// Empty: there is no sound entry.
  String find(const Source &source) const;
  /// Takes the place of an entry of the same source; says what is wrong to the
  /// log alone.
  void keep(const Source &source, std::string_view binary) const;
  /// The driver did not take what was found.
  void refused(const Source &source) const;

private:
  String pathOf(const Source &source) const;
  void warn(const String &path, const String &why) const;
  void note(const String &path, const char *why) const;

  const String folder;  // made when something is kept
  const Logger &logger; // lives as long
  /// Drivers may compile for exactly this processor without a word of it.
  String processor;
  mutable std::atomic<bool> warned{false};
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DRIVERCACHE_H
