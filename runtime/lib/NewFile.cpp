// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NewFile.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ashlar::runtime {

static std::string lastError() { return std::strerror(errno); }

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Follows links to the last name, which may be one that does not exist yet.
static std::string followLinks(std::string path, std::string &out) {
  for (int links = 0; links < 40; ++links) {
    char text[PATH_MAX];
    ssize_t size = readlink(path.c_str(), text, sizeof(text));
    if (size < 0 || size_t(size) == sizeof(text)) {
      out = path;
      return "";
    }
    std::string next(text, size_t(size));
    path = next[0] == '/' ? next : folderOf(path) + "/" + next;
  }
  return std::strerror(ELOOP);
}

NewFile::NewFile(NewFile &&other) noexcept
    : target(std::move(other.target)), temporary(std::move(other.temporary)),
      file(std::exchange(other.file, -1)), isStream(other.isStream) {
  other.temporary.clear();
}

NewFile::~NewFile() {
  if (file >= 0)
    close(file);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

std::string NewFile::create(const std::string &path, bool streams) {
  std::string problem = followLinks(path, target);
  if (!problem.empty())
    return problem;
  struct stat facts;
  bool exists = stat(target.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode))
    return "it is a folder";
  isStream = exists && !S_ISREG(facts.st_mode);
  if (isStream && !streams)
    return "it is a device or a pipe; expected the name of a file";
  if (isStream) {
    file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    return file < 0 ? lastError() : "";
  }
  // A file that is replaced keeps its permissions.
  problem = open(folderOf(target), 0666);
  if (problem.empty() && exists)
    (void)fchmod(file, facts.st_mode & 0777);
  return problem;
}

std::string NewFile::open(const std::string &folder, unsigned mode) {
  // Without /proc an unnamed file could not be named in the end.
  if (access("/proc/self/fd", X_OK) == 0) {
    file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (file >= 0)
      return "";
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL &&
        errno != ENOSYS)
      return lastError();
  }
  for (int i = 0; i < 100; ++i) {
    temporary = target + "." + std::to_string(getpid()) + "-" +
                std::to_string(i) + ".tmp";
    file =
        ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0)
      return "";
    if (errno != EEXIST)
      break;
  }
  std::string problem = lastError();
  temporary.clear();
  return problem;
}

/// Links cannot replace a file, so a second name is needed for a moment.
std::string NewFile::publish() {
  std::string source = "/proc/self/fd/" + std::to_string(file);
  auto link = [&](const std::string &name) {
    return linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
  };
  if (link(target))
    return "";
  for (int i = 0; i < 100 && errno == EEXIST; ++i) {
    std::string name = target + "." + std::to_string(getpid()) + "-" +
                       std::to_string(i) + ".tmp";
    if (!link(name))
      continue;
    if (std::rename(name.c_str(), target.c_str()) == 0)
      return "";
    std::string problem = lastError();
    unlink(name.c_str());
    return problem;
  }
  return lastError();
}

std::string NewFile::keep() {
  std::string problem;
  if (!isStream && temporary.empty())
    problem = publish();
  // Some file systems say only here that the disk is full.
  if (close(std::exchange(file, -1)) != 0 && problem.empty())
    problem = lastError();
  if (!temporary.empty() && problem.empty()) {
    if (std::rename(temporary.c_str(), target.c_str()) != 0)
      return lastError();
    temporary.clear();
  }
  return problem;
}

} // namespace ashlar::runtime
