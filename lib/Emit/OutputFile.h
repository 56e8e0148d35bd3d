// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_EMIT_OUTPUTFILE_H
#define ASHLAR_LIB_EMIT_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>

namespace ashlar {

/// A file that appears under its name only when it is complete. Until keep(),
/// it is a temporary one beside it, removed on every way out.
class OutputFile {
public:
  static llvm::Expected<OutputFile> create(llvm::StringRef path);
  OutputFile(OutputFile &&) = default;
  ~OutputFile();

  void write(llvm::ArrayRef<char> bytes) {
    stream->write(bytes.data(), bytes.size());
  }
  void padTo(uint64_t offset);
  uint64_t offset() const { return stream->tell(); }
  /// Overwrites bytes that were written before.
  void overwrite(llvm::ArrayRef<char> bytes, uint64_t offset);
  /// Fails when any write did; the disk may be full.
  llvm::Error keep();

private:
  OutputFile() = default;

  std::string path;
  std::optional<llvm::sys::fs::TempFile> file;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

} // namespace ashlar

#endif // ASHLAR_LIB_EMIT_OUTPUTFILE_H
