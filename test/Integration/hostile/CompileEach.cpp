// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the models that it is told, each in a process of its own, so that
// one that brings the compiler down is only a line of output. A line of input
// is a stage and a path; a line of output is "compiled", "refused: ERROR",
// "unsupported: WHY", or what else happened.
#include "ashlar/Driver/Compile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <cstring>
#include <iostream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ashlar;

namespace {
llvm::cl::opt<std::string> output("out", llvm::cl::desc("The module's file"));
llvm::cl::opt<unsigned> seconds("seconds", llvm::cl::desc("Limit of one"),
                                llvm::cl::init(10));
llvm::cl::opt<unsigned>
    megabytes("megabytes",
              llvm::cl::desc("Memory beyond what there was; 0: no limit"),
              llvm::cl::init(1024));

/// Exit codes of a child; a sanitizer ends it with another one.
enum Verdict { Compiled = 40, Refused, Unsupported, OurFault, Silent };
} // namespace

/// Compiles in this process; what it says goes to `pipe`.
[[noreturn]] static void compileHere(const std::string &path, Stage stage,
                                     int pipe) {
  CompileOptions options;
  options.input = path;
  options.output = output;
  options.quiet = true;
  options.threads = 1;
  options.targets = {{"cpu", "x86-64-v3"}};
  options.stopEarly = stage != Stage::Emit;
  options.until = stage;
  std::string log;
  llvm::raw_string_ostream stream(log);
  CompileResult result = compile(options, llvm::nulls(), stream);
  int verdict = Compiled;
  std::string said;
  if (result.status == CompileStatus::Unsupported) {
    verdict = Unsupported;
    said = result.unsupported.front().op + ", " +
           result.unsupported.front().reason;
  } else if (result.status != CompileStatus::Done) {
    verdict = result.status == CompileStatus::Refused ? Refused : OurFault;
    size_t at = log.find("error: ");
    if (at == std::string::npos)
      verdict = verdict == Refused ? Silent : verdict;
    else
      said = log.substr(at + 7);
  }
  said = said.substr(0, std::min<size_t>(said.find('\n'), 300));
  (void)!write(pipe, said.data(), said.size());
  _exit(verdict);
}

static std::string compileApart(const std::string &path, Stage stage) {
  int ends[2];
  if (pipe(ends))
    return "no pipe";
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    rlimit time = {seconds, seconds + 1};
    setrlimit(RLIMIT_CPU, &time);
    // Far more than the limit, so that what was too much can be told.
    rlim_t bytes = rlim_t(megabytes) * 16 << 20;
    rlimit memory = {bytes, bytes};
    if (megabytes)
      setrlimit(RLIMIT_AS, &memory);
    alarm(seconds * 3);
    compileHere(path, stage, ends[1]);
  }
  close(ends[1]);
  std::string said;
  char buffer[512];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof(buffer))) > 0;)
    said.append(buffer, size);
  close(ends[0]);
  int status = 0;
  rusage usage = {};
  rusage own = {};
  wait4(child, &status, 0, &usage);
  getrusage(RUSAGE_SELF, &own);
  if (WIFSIGNALED(status)) {
    int signal = WTERMSIG(status);
    return signal == SIGXCPU || signal == SIGALRM || signal == SIGKILL
               ? llvm::formatv("took more than {0} seconds", seconds).str()
               : llvm::formatv("crashed: {0}", strsignal(signal)).str();
  }
  long beyond = (usage.ru_maxrss - own.ru_maxrss) / 1024;
  if (megabytes && beyond > long(megabytes))
    return llvm::formatv("took {0} MiB", beyond).str();
  switch (WEXITSTATUS(status)) {
  case Compiled:
    return "compiled";
  case Refused:
    return "refused: " + said;
  case Unsupported:
    return "unsupported: " + said;
  case OurFault:
    return "our fault: " + said;
  case Silent:
    return "refused without an error";
  default:
    return llvm::formatv("ended with {0}", WEXITSTATUS(status)).str();
  }
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv);
  std::string line;
  while (std::getline(std::cin, line)) {
    size_t space = line.find(' ');
    Stage stage;
    if (space == std::string::npos ||
        !parseStage(line.substr(0, space), stage)) {
      std::cout << "expected a stage and a path" << std::endl;
      continue;
    }
    std::cout << compileApart(line.substr(space + 1), stage) << std::endl;
  }
  return 0;
}
