// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Support/MemoryFile.h"
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace ashlar;
using llvm::Expected;

static llvm::Error ioError(const llvm::Twine &why) {
  return llvm::createStringError(std::make_error_code(std::errc::io_error),
                                 why);
}

static std::string lastError() {
  return std::error_code(errno, std::generic_category()).message();
}

Expected<MemoryFile> MemoryFile::create(const char *name) {
  int file = memfd_create(name, MFD_CLOEXEC);
  if (file < 0)
    return ioError("cannot make a temporary file in memory: " + lastError());
  MemoryFile result(file);
  if (access(result.path().c_str(), R_OK) != 0)
    return ioError("cannot open " + result.path() + ": " + lastError() +
                   "; compiling needs /proc");
  return result;
}

Expected<MemoryFile> MemoryFile::create(const char *name,
                                        llvm::StringRef contents) {
  Expected<MemoryFile> result = create(name);
  while (result && !contents.empty()) {
    ssize_t count = write(result->file, contents.data(), contents.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return ioError("cannot write a temporary file in memory: " + lastError());
    contents = contents.drop_front(size_t(count));
  }
  return result;
}

MemoryFile::MemoryFile(MemoryFile &&other) noexcept
    : file(std::exchange(other.file, -1)) {}

MemoryFile::~MemoryFile() {
  if (file >= 0)
    close(file);
}

std::string MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(file);
}
