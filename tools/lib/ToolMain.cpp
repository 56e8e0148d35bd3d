// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ToolMain.h"

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

static int runBody(const char *name, const std::function<int()> &body) {
  try {
    int code = body();
    // A full disk or a closed pipe shows only here.
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      throw Failure(Refused, std::string("cannot write the output: ") +
                                 std::strerror(errno));
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // --help and --version end here too.
    return app.exit(error) == 0 ? Done : WrongUsage;
  }
  return runBody(name, body);
}

} // namespace ashlar::tools
