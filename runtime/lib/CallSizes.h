// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes that the inputs of a call have: all of a bind that needs no
// session.

#ifndef ASHLAR_RUNTIME_LIB_CALLSIZES_H
#define ASHLAR_RUNTIME_LIB_CALLSIZES_H

#include "Module.h"
#include "OwnMemory.h"

namespace ashlar::runtime {

/// A caller's tensors, that are only read.
struct ConstTensorSpan {
  const ashlar_tensor_t *tensors;
  size_t count;
};

/// "inputs[0] x".
String placeOf(const char *what, size_t index,
               const fb::TensorDescription &tensor);

/// As many as the entry takes.
Status checkCount(const ashlar_entry_t &entry, ConstTensorSpan inputs);

/// Type, rank and the sizes that are the same in all calls; gives the bytes.
Status checkShape(const ashlar_entry_t &entry, const ashlar_tensor_t &tensor,
                  uint32_t index, uint64_t &bytes);

/// A value for each of the module's symbols, of checked inputs; -1 where the
/// entry has none.
Status readSymbols(const ashlar_entry_t &entry, ConstTensorSpan inputs,
                   Vector<int64_t> &found);

/// Dimensions such as 2*N, which follow from the symbols.
Status checkDerivedShapes(const ashlar_entry_t &entry, ConstTensorSpan inputs,
                          const int64_t *symbols);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_CALLSIZES_H
