// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_EMIT_OUTPUTFILE_H
#define ASHLAR_LIB_EMIT_OUTPUTFILE_H

#include "NewFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>

namespace ashlar {
namespace runtime {
class SigningKey;
}

/// A module's file, complete or not there: whoever stops in between leaves
/// nothing behind.
class OutputFile {
public:
  static llvm::Expected<OutputFile> create(llvm::StringRef path);
  /// Writes to an open file of the caller's; keep() then only says whether all
  /// of it could be written.
  static OutputFile at(int descriptor);
  OutputFile(OutputFile &&) = default;
  ~OutputFile();

  void write(llvm::ArrayRef<char> bytes) {
    stream->write(bytes.data(), bytes.size());
  }
  void padTo(uint64_t offset);
  uint64_t offset() const { return stream->tell(); }
  /// Overwrites bytes that were written before.
  void overwrite(llvm::ArrayRef<char> bytes, uint64_t offset);
  /// Appends the signature of the file's `size` bytes.
  llvm::Error sign(const runtime::SigningKey &key, uint64_t size);
  /// Fails when any write did; the disk may be full.
  llvm::Error flush();
  /// Flushes, then gives the file its name.
  llvm::Error keep();

private:
  OutputFile() = default;
  llvm::Error error(const llvm::Twine &why) const;

  std::string path;
  std::optional<runtime::NewFile> file;
  int descriptor = -1; // what the stream writes to
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

} // namespace ashlar

#endif // ASHLAR_LIB_EMIT_OUTPUTFILE_H
