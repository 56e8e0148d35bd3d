// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OutputFile.h"

using namespace ashlar;
using llvm::Expected;

Expected<OutputFile> OutputFile::create(llvm::StringRef path) {
  OutputFile output;
  output.path = path.str();
  if (llvm::sys::fs::is_directory(path))
    return llvm::createStringError("cannot write '" + path +
                                   "': it is a folder");
  // A module takes the place of the old one at the end; a device or a pipe of
  // that name would be gone.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return llvm::createStringError("cannot write '" + path +
                                   "': it is a device or a pipe; expected the "
                                   "name of a file");
  auto file = llvm::sys::fs::TempFile::create(path + ".%%%%%%.tmp",
                                              llvm::sys::fs::all_read |
                                                  llvm::sys::fs::owner_write);
  if (!file)
    return llvm::createStringError("cannot write '" + path +
                                   "': " + llvm::toString(file.takeError()));
  output.file.emplace(std::move(*file));
  output.stream = std::make_unique<llvm::raw_fd_ostream>(output.file->FD,
                                                         /*shouldClose=*/false);
  return output;
}

OutputFile::~OutputFile() {
  if (stream) {
    stream->flush();
    stream->clear_error();
  }
  if (file)
    llvm::consumeError(file->discard());
}

void OutputFile::padTo(uint64_t offset) {
  stream->write_zeros(offset - stream->tell());
}

void OutputFile::overwrite(llvm::ArrayRef<char> bytes, uint64_t offset) {
  stream->pwrite(bytes.data(), bytes.size(), offset);
}

llvm::Error OutputFile::keep() {
  stream->flush();
  if (std::error_code code = stream->error()) {
    stream->clear_error();
    return llvm::createStringError("cannot write '" + path +
                                   "': " + code.message());
  }
  llvm::Error error = file->keep(path);
  file.reset();
  stream.reset();
  if (error)
    return llvm::createStringError("cannot write '" + path +
                                   "': " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}
