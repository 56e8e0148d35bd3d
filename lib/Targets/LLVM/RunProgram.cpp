// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunProgram.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace ashlar;

ScratchFolder::ScratchFolder(StringRef prefix) {
  code = sys::fs::createUniqueDirectory(prefix, path);
}

ScratchFolder::~ScratchFolder() {
  if (!code)
    sys::fs::remove_directories(path);
}

Error ScratchFolder::takeError() const {
  return code ? createStringError("a temporary folder: " + code.message())
              : Error::success();
}

std::string ScratchFolder::file(StringRef name) const {
  SmallString<128> whole(path);
  sys::path::append(whole, name);
  return std::string(whole);
}

Error ScratchFolder::write(StringRef name, StringRef bytes) const {
  std::error_code failed;
  raw_fd_ostream out(file(name), failed);
  if (!failed)
    out << bytes;
  out.close();
  if (!failed)
    failed = out.error();
  out.clear_error();
  return failed ? createStringError("'" + file(name) + "': " + failed.message())
                : Error::success();
}

std::string ScratchFolder::read(StringRef name) const {
  auto buffer = MemoryBuffer::getFile(file(name));
  return buffer ? (*buffer)->getBuffer().str() : "";
}

std::string ashlar::describeKernels(ArrayRef<StringRef> kernels) {
  constexpr size_t most = 3;
  std::string text = kernels.size() == 1 ? "kernel " : "kernels ";
  text += join(kernels.take_front(most), ", ");
  if (kernels.size() > most)
    text += " and " + std::to_string(kernels.size() - most) + " more";
  return text;
}

static Expected<unsigned> readLimit() {
  constexpr const char *variable = "ASHLAR_ASSEMBLER_SECONDS";
  constexpr unsigned usual = 600, most = 86400;
  auto text = sys::Process::GetEnv(variable);
  if (!text || text->empty())
    return usual;
  unsigned seconds = 0;
  if (StringRef(*text).getAsInteger(10, seconds) || seconds == 0 ||
      seconds > most)
    return createStringError(std::string(variable) +
                             ": expected a whole number from 1 to 86400, "
                             "found '" +
                             *text + "'");
  return seconds;
}

/// In the child, of which nothing but what may follow a fork is asked: never
/// returns. A group of its own, so that what it starts is killed with it; and
/// it goes when we go, as a terminal's word reaches us alone.
[[noreturn]] static void becomeProgram(const char *path, char *const *arguments,
                                       const char *log, pid_t parent,
                                       int failed) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int in = ::open("/dev/null", O_RDONLY),
            out = ::open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (::getppid() == parent && in >= 0 && out >= 0 && ::dup2(in, 0) == 0 &&
      ::dup2(out, 1) == 1 && ::dup2(out, 2) == 2)
    ::execv(path, arguments);
  const int code = errno;
  (void)!::write(failed, &code, sizeof(code));
  ::_exit(127);
}

/// Starts it; or the reason why it does not run.
static std::optional<pid_t> start(StringRef program,
                                  ArrayRef<StringRef> arguments,
                                  const std::string &log, std::string &why) {
  std::vector<std::string> texts = {program.str()};
  for (StringRef argument : arguments)
    texts.push_back(argument.str());
  std::vector<char *> pointers;
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  int failed[2];
  if (::pipe2(failed, O_CLOEXEC) != 0) {
    why = sys::StrError();
    return std::nullopt;
  }
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0)
    becomeProgram(pointers.front(), pointers.data(), log.c_str(), parent,
                  failed[1]);
  int code = child < 0 ? errno : 0;
  ::close(failed[1]);
  if (child > 0 &&
      sys::RetryAfterSignal(-1, ::read, failed[0], &code, sizeof(code)) > 0)
    sys::RetryAfterSignal(-1, ::waitpid, child, nullptr, 0);
  ::close(failed[0]);
  if (code == 0)
    return child;
  why = sys::StrError(code);
  return std::nullopt;
}

/// Its status; nothing where it had to be killed.
static std::optional<int> waitFor(pid_t child, unsigned seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  auto pause = std::chrono::milliseconds(1);
  for (int status = 0;;) {
    const pid_t ended =
        sys::RetryAfterSignal(-1, ::waitpid, child, &status, WNOHANG);
    if (ended != 0)
      return ended == child ? status : -1;
    if (Clock::now() >= end)
      break;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(20));
  }
  ::kill(-child, SIGKILL);
  sys::RetryAfterSignal(-1, ::waitpid, child, nullptr, 0);
  return std::nullopt;
}

Expected<ProgramRun> ashlar::runProgram(StringRef program,
                                        ArrayRef<StringRef> arguments,
                                        const ScratchFolder &folder,
                                        const ProgramTask &task) {
  Expected<unsigned> limit = readLimit();
  if (!limit)
    return limit.takeError();
  const unsigned seconds = task.isShort ? std::min(*limit, 60u) : *limit;
  ProgramRun run;
  std::optional<pid_t> child =
      start(program, arguments, folder.file("log"), run.said);
  if (!child)
    return run;
  std::optional<int> status = waitFor(*child, seconds);
  if (!status)
    return createStringError(
        std::make_error_code(std::errc::timed_out),
        "'" + program + "' was ended after " + Twine(seconds) +
            " s, before it was done with " + task.what +
            "; give it longer (ASHLAR_ASSEMBLER_SECONDS), or " + task.wayOut);
  run.isDone = WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
  run.said = folder.read("log");
  if (run.said.empty() && WIFSIGNALED(*status))
    run.said = "it was ended by signal " + std::to_string(WTERMSIG(*status));
  return run;
}

bool ashlar::isTooLate(const Error &error) {
  bool isLate = false;
  visitErrors(error, [&](const ErrorInfoBase &info) {
    isLate |= info.convertToErrorCode() == std::errc::timed_out;
  });
  return isLate;
}
