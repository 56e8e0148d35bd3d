// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs tests in child processes, several at a time.
#include "ashlar/Check/Check.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ashlar::check;
using llvm::formatv;

namespace {
using Clock = std::chrono::steady_clock;

/// A test that is running.
struct Child {
  size_t test;
  pid_t process;
  int pipe; ///< gives the result, then ends
  Clock::time_point begin;
  std::string received;
};

/// Waits until a process has ended, whatever signals arrive meanwhile.
int waitFor(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR)
    ;
  return status;
}

/// A result on its way through the pipe: verdict, operator, reason and fixed
/// inputs, each ended by a zero byte. Cut off when the child died.
std::string encode(const TestResult &result) {
  std::string text(1, char('0' + static_cast<int>(result.verdict)));
  text += '\0';
  return text + result.op + '\0' + result.why + '\0' + result.fixedInputs +
         '\0';
}

std::optional<TestResult> decode(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, '\0');
  if (parts.size() != 5 || parts[0].size() != 1)
    return std::nullopt;
  TestResult result;
  result.verdict = static_cast<Verdict>(parts[0][0] - '0');
  result.op = parts[1].str();
  result.why = parts[2].str();
  result.fixedInputs = parts[3].str();
  return result;
}

class Runner {
public:
  Runner(const std::vector<Test> &tests, const CheckOptions &options)
      : tests(tests), options(options), results(tests.size()),
        done(tests.size(), false) {}

  std::vector<TestResult>
  run(const std::function<void(const Test &, const TestResult &)> &report);

private:
  void start(size_t test);
  [[noreturn]] void runChild(size_t test, int pipe);
  void waitForChildren();
  void finish(Child &child, bool timedOut);
  double secondsSince(Clock::time_point begin) const {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  const std::vector<Test> &tests;
  const CheckOptions &options;
  std::vector<TestResult> results;
  std::vector<bool> done;
  std::vector<Child> children;
};
} // namespace

void Runner::runChild(size_t test, int pipe) {
  if (!options.showLogs) {
    // What a crash prints says nothing that the verdict does not.
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
  // A group of its own, so that a timeout reaches what it starts.
  setpgid(0, 0);
  std::string text = encode(checkTest(tests[test], options));
  for (size_t at = 0; at < text.size();) {
    ssize_t written = write(pipe, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR)
      break;
    at += std::max<ssize_t>(written, 0);
  }
  // Sanitizers look for leaks at exit; nothing else is worth the time.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  std::exit(0);
#endif
#endif
  _exit(0);
}

void Runner::start(size_t test) {
  auto fail = [&] {
    results[test].why =
        formatv("cannot start a process: {0}", std::strerror(errno));
    done[test] = true;
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return fail();
  pid_t parent = getpid(), process = fork();
  if (process == 0) {
    close(ends[0]);
    // Whoever ends us ends the tests, too.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    runChild(test, ends[1]);
  }
  if (process < 0) {
    fail();
    close(ends[0]);
    close(ends[1]);
    return;
  }
  close(ends[1]);
  children.push_back({test, process, ends[0], Clock::now(), ""});
}

void Runner::finish(Child &child, bool timedOut) {
  if (timedOut) {
    kill(-child.process, SIGKILL);
    kill(child.process, SIGKILL);
  }
  close(child.pipe);
  int status = waitFor(child.process);
  TestResult result;
  std::optional<TestResult> received = decode(child.received);
  if (timedOut)
    result.why =
        formatv("still running after {0} seconds", options.timeoutSeconds);
  else if (WIFSIGNALED(status))
    result.why = formatv("crashed with signal {0} ({1})", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
  else if (!received || WEXITSTATUS(status) != 0)
    result.why = formatv("ended with exit code {0}", WEXITSTATUS(status));
  else
    result = *received;
  result.seconds = secondsSince(child.begin);
  results[child.test] = result;
  done[child.test] = true;
}

/// Returns when at least one child has ended.
void Runner::waitForChildren() {
  for (bool ended = false; !ended;) {
    std::vector<pollfd> waiting;
    double left = options.timeoutSeconds;
    for (const Child &child : children) {
      waiting.push_back({child.pipe, POLLIN, 0});
      left = std::min(left, options.timeoutSeconds - secondsSince(child.begin));
    }
    poll(waiting.data(), waiting.size(),
         static_cast<int>(std::max(left, 0.0) * 1000) + 1);
    std::vector<Child> running;
    for (auto [child, state] : llvm::zip(children, waiting)) {
      bool closed = false;
      if (state.revents) {
        char buffer[4096];
        ssize_t size = read(child.pipe, buffer, sizeof(buffer));
        if (size > 0)
          child.received.append(buffer, size);
        closed = size == 0 || (size < 0 && errno != EINTR);
      }
      bool timedOut =
          !closed && secondsSince(child.begin) > options.timeoutSeconds;
      if (closed || timedOut) {
        finish(child, timedOut);
        ended = true;
      } else {
        running.push_back(std::move(child));
      }
    }
    children = std::move(running);
  }
}

std::vector<TestResult> Runner::run(
    const std::function<void(const Test &, const TestResult &)> &report) {
  unsigned jobs =
      options.jobs ? options.jobs : std::thread::hardware_concurrency();
  size_t next = 0, reported = 0;
  while (reported != tests.size()) {
    while (next != tests.size() && children.size() < std::max(jobs, 1u))
      start(next++);
    if (!children.empty())
      waitForChildren();
    for (; reported != tests.size() && done[reported]; ++reported)
      report(tests[reported], results[reported]);
  }
  return results;
}

std::vector<TestResult> ashlar::check::checkTests(
    const std::vector<Test> &tests, const CheckOptions &options,
    const std::function<void(const Test &, const TestResult &)> &report) {
  return Runner(tests, options).run(report);
}
