// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that appears under its name only when it is complete. Until then it
// has no name at all, so that not even a kill leaves something behind.

#ifndef ASHLAR_RUNTIME_LIB_NEWFILE_H
#define ASHLAR_RUNTIME_LIB_NEWFILE_H

#include <string>

namespace ashlar::runtime {

/// One thread at a time.
class NewFile {
public:
  NewFile() = default;
  NewFile(NewFile &&other) noexcept;
  NewFile &operator=(NewFile &&) = delete;
  /// Without keep(), nothing has happened.
  ~NewFile();

  /// Says in words why not; empty: done. Symbolic links are followed: what
  /// they point to is replaced, they stay. With `streams`, devices and pipes
  /// are written to directly; otherwise they are refused, since a file would
  /// take their place.
  std::string create(const std::string &path, bool streams);

  /// To write to; belongs to this object.
  int descriptor() const { return file; }
  /// Where the file system knows no file without a name: the name that it has
  /// until keep(), for handlers of signals. Otherwise empty.
  const std::string &temporaryName() const { return temporary; }

  /// Gives the file its name; in words why not.
  std::string keep();

private:
  /// In the target's folder, without a name where that can be.
  std::string open(const std::string &folder, unsigned mode);
  std::string publish();

  std::string target;    // the path, links followed
  std::string temporary; // see temporaryName
  int file = -1;         // negative: there is none
  bool isStream = false; // written directly
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_NEWFILE_H
