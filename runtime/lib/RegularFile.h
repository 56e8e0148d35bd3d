// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one way in which the runtime, the tools and the compiler open files that
// a user names. Only regular files: a pipe would be waited for, and a device
// has no end. So no more is read than the file's size says.

#ifndef ASHLAR_RUNTIME_LIB_REGULARFILE_H
#define ASHLAR_RUNTIME_LIB_REGULARFILE_H

#include <cstdint>
#include <string>

namespace ashlar::runtime {

/// One thread at a time opens it, once.
class RegularFile {
public:
  RegularFile() = default;
  RegularFile(const RegularFile &) = delete;
  RegularFile &operator=(const RegularFile &) = delete;
  ~RegularFile();

  /// Says in words why not; empty: open to be read. Never waits.
  std::string open(const std::string &path);

  /// All of it, from where it is; says in words why not.
  std::string read(std::string &out) const;

  /// To read from; belongs to this object.
  int descriptor() const { return file; }
  /// When it was opened.
  uint64_t size() const { return byteCount; }
  /// Why open() failed: no file is there.
  bool isMissing() const { return missing; }
  /// Why open() failed: the system is short of descriptors or memory.
  bool isShortage() const { return shortage; }

private:
  int file = -1;          // negative: not open
  uint64_t byteCount = 0; // when it was opened
  bool missing = false;   // see isMissing
  bool shortage = false;  // see isShortage
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_REGULARFILE_H
