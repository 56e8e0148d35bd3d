// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RegularFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ashlar::runtime {

/// Why a file of this mode is not read; null: it is.
static const char *whyNot(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFREG:
    return nullptr;
  case S_IFDIR:
    return "expected a regular file, found a folder";
  case S_IFIFO:
    return "expected a regular file, found a FIFO";
  case S_IFSOCK:
    return "expected a regular file, found a socket";
  default:
    return "expected a regular file, found a device";
  }
}

RegularFile::~RegularFile() {
  if (file >= 0)
    close(file);
}

std::string RegularFile::open(const std::string &path) {
  struct stat facts;
  auto fail = [&] {
    missing = errno == ENOENT;
    shortage = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    return std::strerror(errno);
  };
  if (path.find('\0') != path.npos)
    return "the name holds a NUL character";
  // To open some devices is to use them already.
  if (stat(path.c_str(), &facts) != 0)
    return fail();
  if (const char *why = whyNot(facts.st_mode))
    return why;
  // Until then something else may have taken the name.
  file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0 || fstat(file, &facts) != 0)
    return fail();
  if (const char *why = whyNot(facts.st_mode))
    return why;
  byteCount = uint64_t(facts.st_size);
  return "";
}

std::string RegularFile::read(std::string &out) const {
  out.resize(size_t(byteCount));
  for (size_t done = 0; done < out.size();) {
    ssize_t count = ::read(file, &out[done], out.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return count < 0 ? std::strerror(errno) : "it became shorter meanwhile";
    done += size_t(count);
  }
  return "";
}

} // namespace ashlar::runtime
