// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who runs code objects: a process that emulates their instructions. It is
// started with the first launch, by the shell's command in
// ASHLAR_HIP_DOUBLE_EMULATOR, reads launches from its input and answers on its
// output (test/Integration/amdgpu/serve_launches.py). One launch at a time.

#ifndef ASHLAR_RUNTIME_TEST_HIP_HIPEMULATOR_H
#define ASHLAR_RUNTIME_TEST_HIP_HIPEMULATOR_H

#include "HipCode.h"

namespace ashlar::cuda {

/// Null: the environment names none.
RunCode emulator();

} // namespace ashlar::cuda

#endif // ASHLAR_RUNTIME_TEST_HIP_HIPEMULATOR_H
