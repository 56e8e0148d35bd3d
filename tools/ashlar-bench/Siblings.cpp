// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Siblings.h"

#include "Failure.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace ashlar::tools {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code code;
  fs::path place = fs::temp_directory_path(code);
  path = (code ? fs::path("/tmp") : place) / "ashlar-tune-XXXXXX";
  if (!mkdtemp(path.data()))
    throw Failure(Refused, "cannot make a folder for modules, " + path + ": " +
                               std::strerror(errno) +
                               "; TMPDIR says where it may be");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  fs::remove_all(path, code);
}

static volatile std::sig_atomic_t stopRequested = 0;
static void requestStop(int) { stopRequested = 1; }

StopOnRequest::StopOnRequest() {
  std::signal(SIGINT, requestStop);
  std::signal(SIGTERM, requestStop);
}

StopOnRequest::~StopOnRequest() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void StopOnRequest::check() const {
  if (stopRequested)
    throw Failure(Refused, "stopped; no table was written");
}

std::string findSibling(const std::string &name) {
  std::error_code code;
  fs::path self = fs::read_symlink("/proc/self/exe", code);
  // Installed by pip, the tools of two packages lie apart.
  const char *elsewhere = std::getenv("ASHLAR_BIN");
  for (const fs::path &folder : {code ? fs::path() : self.parent_path(),
                                 elsewhere ? fs::path(elsewhere) : fs::path()})
    if (!folder.empty() && access((folder / name).c_str(), X_OK) == 0)
      return folder / name;
  throw Failure(Refused,
                "expected the tool " + name +
                    " beside ashlar-bench, or in the folder that ASHLAR_BIN "
                    "names, found none" +
                    (code ? "" : " in " + self.parent_path().string()));
}

static std::string describeEnd(int status, const std::string &said) {
  std::string how =
      WIFSIGNALED(status)
          ? "was ended by signal " + std::to_string(WTERMSIG(status))
          : "ended with exit code " + std::to_string(WEXITSTATUS(status));
  return how + (said.empty() ? "" : ":\n" + said);
}

std::string runSibling(const std::vector<std::string> &arguments,
                       const TemporaryFolder &folder) {
  constexpr uint64_t most = uint64_t(1) << 30;
  std::string out = folder.file("stdout"), log = folder.file("stderr");
  std::vector<char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(const_cast<char *>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), flags,
                                   0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), flags,
                                   0600);
  pid_t child = 0;
  int error = posix_spawn(&child, pointers[0], &actions, nullptr,
                          pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw Failure(Refused,
                  "cannot run " + arguments[0] + ": " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw Failure(OurFault, "lost sight of " + arguments[0]);
  if (status != 0)
    throw Failure(Refused, arguments[0] + " " +
                               describeEnd(status, readWholeFile(log, most)));
  return readWholeFile(out, most);
}

} // namespace ashlar::tools
