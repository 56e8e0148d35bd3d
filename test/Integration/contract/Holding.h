// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs share that hold modules to their contracts.
#ifndef ASHLAR_TEST_INTEGRATION_CONTRACT_HOLDING_H
#define ASHLAR_TEST_INTEGRATION_CONTRACT_HOLDING_H

#include "TensorFile.h"
#include "ashlar/runtime/api.h"

#include <cstdio>
#include <map>
#include <string>

namespace ashlar::test {

struct Breach {
  std::string what;
};

inline void check(ashlar_status_t status) {
  if (status.code != ASHLAR_OK)
    throw Breach{status.message};
}

/// By input.
using Files = std::map<std::string, std::string>;

/// Of one input, at its largest where nobody gives another: from its file, or
/// random.
inline tools::Tensor inputOf(const ashlar_entry_t *entry, size_t i,
                             const Files &files) {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  check(ashlar_entry_input(entry, i, &info));
  auto file = files.find(info.name);
  return file != files.end()
             ? tools::readTensorFile(file->second)
             : tools::randomTensor(info.name, 1, info.type,
                                   {info.maximum, info.maximum + info.rank});
}

/// Room for one output at its largest.
inline tools::Tensor outputOf(const ashlar_entry_t *entry, size_t i) {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  check(ashlar_entry_output(entry, i, &info));
  return {info.type, {info.maximum, info.maximum + info.rank}};
}

/// What the program ends with: 1 where `hold` finds a breach, which it prints.
template <typename Hold> int endOf(const char *path, Hold hold) {
  try {
    hold();
  } catch (const Breach &breach) {
    std::printf("%s: breach: %s\n", path, breach.what.c_str());
    return 1;
  } catch (const std::exception &error) {
    std::printf("%s: %s\n", path, error.what());
    return 1;
  }
  return 0;
}

} // namespace ashlar::test

#endif // ASHLAR_TEST_INTEGRATION_CONTRACT_HOLDING_H
