// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Failure.h"

#include "NewFile.h"
#include "RegularFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace ashlar::tools {

void check(const ashlar_status_t &status) {
  if (status.code == ASHLAR_OK)
    return;
  std::string message;
  if (*status.place)
    message += std::string(status.place) + ": ";
  message += status.message;
  // Lists end with a line of their own.
  while (!message.empty() && message.back() == '\n')
    message.pop_back();
  message += std::string(" [") + ashlar_status_code_name(status.code) + "]";
  // A kernel that failed or memory that ran out is not the user's doing.
  throw Failure(status.code == ASHLAR_INTERNAL ? OurFault : Refused, message);
}

void checkFile(const std::string &file, const ashlar_status_t &status) {
  try {
    check(status);
  } catch (const Failure &failure) {
    std::string message = failure.what();
    // Errors of opening name the file themselves.
    if (message.find(file) == std::string::npos)
      message = file + ": " + message;
    throw Failure(failure.code, message);
  }
}

void writeWholeFile(const std::string &path, const std::string &contents) {
  auto fail = [&](const std::string &why) {
    throw Failure(Refused, path + ": cannot write: " + why);
  };
  runtime::NewFile file;
  std::string problem = file.create(path, /*streams=*/true);
  if (!problem.empty())
    fail(problem);
  for (size_t done = 0; done < contents.size();) {
    ssize_t count = write(file.descriptor(), contents.data() + done,
                          contents.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      fail(std::strerror(errno));
    done += size_t(count);
  }
  problem = file.keep();
  if (!problem.empty())
    fail(problem);
}

void checkWrittenFiles(const std::string &module,
                       const std::vector<std::string> &written) {
  namespace fs = std::filesystem;
  std::set<fs::path> seen;
  for (const std::string &file : written) {
    if (file.empty())
      continue;
    std::error_code code;
    if (fs::equivalent(file, module, code))
      throw Failure(Refused, file + " is the module itself; give the output "
                                    "another name");
    // Devices and pipes take any number of outputs.
    if (fs::exists(file, code) && !fs::is_regular_file(file, code))
      continue;
    fs::path place = fs::weakly_canonical(file, code);
    if (!seen.insert(code ? fs::path(file) : place).second)
      throw Failure(Refused, "two outputs would be written to " + file);
  }
}

std::string readWholeFile(const std::string &path, uint64_t limit) {
  auto fail = [&](const std::string &why) {
    throw Failure(Refused, path + ": cannot read: " + why);
  };
  runtime::RegularFile file;
  std::string problem = file.open(path);
  if (!problem.empty())
    fail(problem);
  if (file.size() > limit)
    fail("expected at most " + std::to_string(limit) + " bytes, found " +
         std::to_string(file.size()));
  std::string contents;
  problem = file.read(contents);
  if (!problem.empty())
    fail(problem);
  return contents;
}

} // namespace ashlar::tools
