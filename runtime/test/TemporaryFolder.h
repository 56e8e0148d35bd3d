// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder that goes with the test, whose files tests look at and break.

#ifndef ASHLAR_RUNTIME_TEST_TEMPORARYFOLDER_H
#define ASHLAR_RUNTIME_TEST_TEMPORARYFOLDER_H

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace ashlar::test {

/// A place for one file. Tests run side by side, each in a process of its own.
inline std::string temporaryPath(const std::string &name) {
  return (std::filesystem::temp_directory_path() /
          ("ashlar-" + std::to_string(getpid()) + "-" + name))
      .string();
}

struct TemporaryFolder {
  TemporaryFolder() {
    path = (std::filesystem::temp_directory_path() / "ashlar-XXXXXX").string();
    if (!mkdtemp(&path[0]))
      abort();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;

  /// Their names, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto &each : std::filesystem::directory_iterator(path))
      names.push_back(each.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string read(const std::string &name) const {
    std::ifstream file(path + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path + "/" + name, std::ios::binary | std::ios::trunc)
        << bytes;
  }

  std::string path;
};

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_TEMPORARYFOLDER_H
