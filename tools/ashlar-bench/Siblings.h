// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tools that are installed beside this one, run as processes: what
// compiles is not part of a tool that measures.

#ifndef ASHLAR_TOOLS_ASHLAR_BENCH_SIBLINGS_H
#define ASHLAR_TOOLS_ASHLAR_BENCH_SIBLINGS_H

#include <string>
#include <vector>

namespace ashlar::tools {

/// A folder that is gone when this is.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string file(const std::string &name) const { return path + "/" + name; }

private:
  std::string path;
};

/// While this lives, Ctrl-C only asks to stop.
class StopOnRequest {
public:
  StopOnRequest();
  ~StopOnRequest();
  StopOnRequest(const StopOnRequest &) = delete;
  StopOnRequest &operator=(const StopOnRequest &) = delete;

  /// Throws a Failure once somebody has asked.
  void check() const;
};

/// Throws a Failure where there is no such tool beside this one.
std::string findSibling(const std::string &name);

/// Runs a program to its end; what it prints. Throws a Failure with what it
/// said where its exit code is not 0.
std::string runSibling(const std::vector<std::string> &arguments,
                       const TemporaryFolder &folder);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_ASHLAR_BENCH_SIBLINGS_H
