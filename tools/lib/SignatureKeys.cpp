// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SignatureKeys.h"

#include "Failure.h"
#include "SigningKey.h"

namespace ashlar::tools {

std::string readSignatureKeys(const std::vector<std::string> &files,
                              const std::string &flag) {
  std::string keys;
  for (const std::string &file : files) {
    std::string key, problem = runtime::readPublicKey(file, key);
    if (!problem.empty())
      throw Failure(Refused, flag + "=" + file + ": " + problem);
    keys += key;
  }
  return keys;
}

} // namespace ashlar::tools
