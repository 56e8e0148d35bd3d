// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_SUPPORT_MEMORYFILE_H
#define ASHLAR_SUPPORT_MEMORYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar {

/// A file without a name, for libraries that read or write files: however the
/// process ends, nothing stays.
class MemoryFile {
public:
  /// `name` shows in /proc only. Errors are std::errc::io_error: the machine is
  /// at fault, not the caller.
  static llvm::Expected<MemoryFile> create(const char *name);
  /// With these contents.
  static llvm::Expected<MemoryFile> create(const char *name,
                                           llvm::StringRef contents);
  MemoryFile(MemoryFile &&other) noexcept;
  MemoryFile &operator=(MemoryFile &&) = delete;
  ~MemoryFile();

  int descriptor() const { return file; }
  /// A path that opens it in this process.
  std::string path() const;

private:
  explicit MemoryFile(int file) : file(file) {}

  int file;
};

} // namespace ashlar

#endif // ASHLAR_SUPPORT_MEMORYFILE_H
