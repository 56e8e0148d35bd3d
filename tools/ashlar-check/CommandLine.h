// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TOOLS_ASHLAR_CHECK_COMMANDLINE_H
#define ASHLAR_TOOLS_ASHLAR_CHECK_COMMANDLINE_H

#include "ashlar/Check/AgainstOptions.h"
#include "ashlar/Check/CheckOptions.h"
#include <optional>

namespace ashlar::check {

struct Request {
  std::vector<std::string> folders;
  CheckOptions options;
  std::string jsonFile;          ///< "-": stdout; empty: none
  std::string expectedFile;      ///< empty: none
  std::string writeExpectedFile; ///< empty: none
  bool isOfLevels = false;       ///< its kernels are interpreted instead
  bool isAgainst = false;        ///< one model beside the reference, no tests
  AgainstOptions against;
};

/// Fills `request`; returns an exit code when there is nothing left to do
/// (--help, --version, wrong usage).
std::optional<int> parseCommandLine(int argc, char **argv, Request &request);

} // namespace ashlar::check

#endif // ASHLAR_TOOLS_ASHLAR_CHECK_COMMANDLINE_H
