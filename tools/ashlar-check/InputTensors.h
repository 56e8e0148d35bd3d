// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TOOLS_ASHLAR_CHECK_INPUTTENSORS_H
#define ASHLAR_TOOLS_ASHLAR_CHECK_INPUTTENSORS_H

#include "ashlar/Check/AgainstOptions.h"
#include <map>

namespace ashlar::check {

/// Inputs by name: a file (.npy, .pb), "random" or "random:SEED"; random where
/// none is named.
InputSource inputsFrom(std::map<std::string, std::string> sources);

} // namespace ashlar::check

#endif // ASHLAR_TOOLS_ASHLAR_CHECK_INPUTTENSORS_H
