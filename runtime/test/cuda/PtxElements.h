// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What elements of matrices are.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXELEMENTS_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXELEMENTS_H

#include "PtxDecoder.h"

namespace ashlar::ptx {

/// Of A and B.
enum class Element : uint32_t { Half, BFloat, TF32, S8, U8, E4M3, E5M2 };

inline unsigned bytesOf(Element of) {
  return of == Element::TF32                            ? 4
         : of == Element::Half || of == Element::BFloat ? 2
                                                        : 1;
}
inline int elementsPerRegister(Element of) { return 4 / int(bytesOf(of)); }
inline bool isWhole(Element of) {
  return of == Element::S8 || of == Element::U8;
}

/// Of a register, its element `at`.
double valueOf(Element of, uint64_t bits, int at);

/// The next modifier that names a type of elements.
Element takeElement(Decoder &d);

/// Registers of a vector; of one alone without braces.
void addSlots(Decoder &d, size_t i, size_t count, bool isResult,
              std::vector<uint32_t> &to);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXELEMENTS_H
