// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ToolMain.h"

#include "GivenOnce.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ashlar::tools {

static int reportOurFault(const char *name, const char *what) {
  std::fprintf(stderr,
               "%s: internal error: %s\n%s: please report this, with the file "
               "that reproduces it\n",
               name, what, name);
  return OurFault;
}

/// A full disk or a closed pipe shows only when all is written.
static void finishOutput() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw Failure(Refused, std::string("cannot write the output: ") +
                               std::strerror(errno));
}

static int runBody(const char *name, const std::function<int()> &body) {
  try {
    int code = body();
    finishOutput();
    return code;
  } catch (const Failure &failure) {
    if (failure.code == OurFault)
      return reportOurFault(name, failure.what());
    std::fprintf(stderr, "%s: error: %s\n", name, failure.what());
    return failure.code;
  } catch (const std::exception &error) {
    return reportOurFault(name, error.what());
  }
}

int runTool(const char *name, CLI::App &app, int argc, char **argv,
            const std::function<int()> &body) {
  acceptRepeated(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() != 0) {
      app.exit(error);
      return WrongUsage;
    }
    // --help and --version.
    return runBody(name, [&] { return app.exit(error); });
  }
  return runBody(name, [&] {
    std::string repeated = findRepeated(app);
    if (!repeated.empty())
      throw Failure(WrongUsage, repeated);
    return body();
  });
}

} // namespace ashlar::tools
