// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of a command line whose tool has its own way to report.

#ifndef ASHLAR_TOOLS_LIB_PARSEFLAGS_H
#define ASHLAR_TOOLS_LIB_PARSEFLAGS_H

#include "GivenOnce.h"

#include <functional>
#include <iostream>
#include <optional>

namespace ashlar::tools {

/// Parses the flags that the app, named as its tool, knows; read() takes them
/// and says what is wrong with them. The exit status where there is nothing
/// more to do.
inline std::optional<int>
parseFlags(CLI::App &app, int argc, char **argv,
           const std::function<std::optional<std::string>()> &read) {
  acceptRepeated(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Of --help, a full disk or a closed pipe shows only when all is written.
    if (app.exit(error) == 0)
      return std::cout.flush() ? 0 : 1;
    return 2;
  }
  std::optional<std::string> wrong;
  if (std::string repeated = findRepeated(app); !repeated.empty())
    wrong = repeated;
  else
    wrong = read();
  if (!wrong)
    return std::nullopt;
  std::cerr << app.get_name() << ": " << *wrong << "\n";
  return 2;
}

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_PARSEFLAGS_H
