// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of a module that are made when it is loaded.

#ifndef ASHLAR_RUNTIME_LIB_MAKEWEIGHTS_H
#define ASHLAR_RUNTIME_LIB_MAKEWEIGHTS_H

#include "Status.h"
#include "ashlar/runtime/module_generated.h"

namespace ashlar::runtime {

/// Whether they can be made: what it is made of fits its type and size.
Status verifyRandomWeight(const fb::Weight &weight, String place);

/// Writes the weight's bytes; of one that was verified.
void makeWeight(const fb::Weight &weight, uint8_t *to);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_MAKEWEIGHTS_H
