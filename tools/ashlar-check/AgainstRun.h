// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TOOLS_ASHLAR_CHECK_AGAINSTRUN_H
#define ASHLAR_TOOLS_ASHLAR_CHECK_AGAINSTRUN_H

#include "CommandLine.h"
#include "ashlar/Driver/CompileHooks.h"
#include "llvm/Support/Error.h"

namespace ashlar::check {

/// Says what is wrong; the exit code of a refusal.
int complain(llvm::Error error);

/// Compares a model with the reference, or bisects; the tool's exit code.
/// `planted` is for tests.
int runAgainst(const Request &request, const CompileHooks &planted = {});

} // namespace ashlar::check

#endif // ASHLAR_TOOLS_ASHLAR_CHECK_AGAINSTRUN_H
