// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who made a module: an Ed25519 signature of all its bytes, at its end.

#ifndef ASHLAR_RUNTIME_LIB_SIGNATURE_H
#define ASHLAR_RUNTIME_LIB_SIGNATURE_H

#include "Status.h"

namespace ashlar::runtime {

/// UNSUPPORTED where the library that checks signatures is missing.
Status openVerifier();

/// Whether one of the keys, 32 bytes each, has signed the module.
Status verifySignature(const uint8_t *data, uint64_t size,
                       std::string_view keys);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SIGNATURE_H
