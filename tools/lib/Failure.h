// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tool ends early: exit code and message for stderr.

#ifndef ASHLAR_TOOLS_LIB_FAILURE_H
#define ASHLAR_TOOLS_LIB_FAILURE_H

#include "ashlar/runtime/api.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ashlar::tools {

enum ExitCode { Done = 0, Refused = 1, WrongUsage = 2, OurFault = 70 };

class Failure : public std::runtime_error {
public:
  Failure(ExitCode code, const std::string &message)
      : std::runtime_error(message), code(code) {}
  const ExitCode code;
};

/// Throws unless the status is OK.
void check(const ashlar_status_t &status);
/// Likewise, naming the file that the call was about.
void checkFile(const std::string &file, const ashlar_status_t &status);

/// The file is there when it is whole, or not at all. Devices and pipes are
/// written to directly.
void writeWholeFile(const std::string &path, const std::string &contents);

/// Refuses files that would take the place of the module or of each other;
/// empty names are none.
void checkWrittenFiles(const std::string &module,
                       const std::vector<std::string> &written);

/// Everything in a file of at most `limit` bytes.
std::string readWholeFile(const std::string &path, uint64_t limit);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_FAILURE_H
