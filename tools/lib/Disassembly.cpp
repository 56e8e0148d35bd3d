// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Disassembly.h"

#include "Failure.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace ashlar::tools {

namespace {
/// A file that is gone when we are, however that happens.
class TemporaryImage {
public:
  TemporaryImage(const void *image, size_t size) {
    const char *folder = std::getenv("TMPDIR");
    path = std::string(folder && *folder ? folder : "/tmp") + "/ashlar-XXXXXX";
    descriptor = ::mkstemp(path.data());
    if (descriptor < 0)
      throw Failure(Refused, path + ": " + std::strerror(errno));
    const char *from = static_cast<const char *>(image);
    while (size != 0) {
      ssize_t written = ::write(descriptor, from, size);
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0) {
        int error = errno;
        remove();
        throw Failure(Refused, path + ": " + std::strerror(error));
      }
      from += written;
      size -= size_t(written);
    }
  }
  ~TemporaryImage() { remove(); }
  TemporaryImage(const TemporaryImage &) = delete;
  TemporaryImage &operator=(const TemporaryImage &) = delete;

  std::string path;

private:
  void remove() {
    ::close(descriptor);
    ::unlink(path.c_str());
  }
  int descriptor;
};

/// What a program prints, and how it ended; -1 where there is no such program.
int runProgram(const std::vector<std::string> &command, std::string &output) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Failure(OurFault, std::string("pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child;
  int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr,
                             arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  output.clear();
  if (error == 0) {
    char part[4096];
    for (;;) {
      ssize_t count = ::read(ends[0], part, sizeof(part));
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        break;
      output.append(part, size_t(count));
    }
  }
  ::close(ends[0]);
  if (error != 0)
    return -1;
  int status;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  // 127: a shell's word for a program that is not there.
  return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status)
                                                         : -1;
}
} // namespace

std::string disassemble(const void *image, size_t size,
                        const std::string &symbol) {
  TemporaryImage file(image, size);
  bool found = false;
  // LLVM's first: it knows the machines of all our targets.
  for (const char *program : {"llvm-objdump-22", "llvm-objdump", "objdump"}) {
    bool isGnu = !std::strcmp(program, "objdump");
    std::string output;
    int status = runProgram(
        {program, "-d", "--no-show-raw-insn",
         (isGnu ? "--disassemble=" : "--disassemble-symbols=") + symbol,
         file.path},
        output);
    found |= status >= 0;
    size_t start = output.find("<" + symbol + ">:");
    if (status == 0 && start != std::string::npos)
      return output.substr(output.rfind('\n', start) + 1);
  }
  throw Failure(Refused,
                found ? "no objdump here knows the code of '" + symbol +
                            "'; expected llvm-objdump-22 (package llvm-22)"
                      : "no disassembler was found; expected one of "
                        "llvm-objdump-22 (package llvm-22), llvm-objdump, "
                        "objdump (package binutils)");
}

} // namespace ashlar::tools
