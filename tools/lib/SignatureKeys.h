// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Public keys that a tool is given as files.

#ifndef ASHLAR_TOOLS_LIB_SIGNATUREKEYS_H
#define ASHLAR_TOOLS_LIB_SIGNATUREKEYS_H

#include <string>
#include <vector>

namespace ashlar::tools {

/// One behind the other, as the runtime takes them. Throws a Failure that names
/// the flag.
std::string readSignatureKeys(const std::vector<std::string> &files,
                              const std::string &flag);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_SIGNATUREKEYS_H
