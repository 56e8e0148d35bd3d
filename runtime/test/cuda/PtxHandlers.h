// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers of one shape, made from what computes one value.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXHANDLERS_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXHANDLERS_H

#include "PtxDecoder.h"

namespace ashlar::ptx {

/// Compute::of(T) to a T or another type.
template <class T, class Compute>
const Instruction *unary(Thread &t, const Instruction *i) {
  set(t, i->dst, Compute::of(get<T>(t, i->a)));
  return i + 1;
}
template <class T, class Compute>
const Instruction *binary(Thread &t, const Instruction *i) {
  set(t, i->dst, Compute::of(get<T>(t, i->a), get<T>(t, i->b)));
  return i + 1;
}
template <class T, class Compute>
const Instruction *ternary(Thread &t, const Instruction *i) {
  set(t, i->dst,
      Compute::of(get<T>(t, i->a), get<T>(t, i->b), get<T>(t, i->c)));
  return i + 1;
}

/// d, a, b, c as far as the statement has them, all of one type.
inline void emitPlain(Decoder &d, Handler run, Type type, size_t operands,
                      uint32_t flags = 0) {
  d.expectOperands(operands);
  Instruction made = d.make(run);
  made.flags = flags;
  made.dst = d.destination();
  if (operands > 1)
    made.a = d.source(1, type);
  if (operands > 2)
    made.b = d.source(2, type);
  if (operands > 3)
    made.c = d.source(3, type);
  d.emit(made);
}

/// Shape<T, Compute<T>> for the whole number type; fails for others.
#define ASHLAR_PTX_WHOLE(DECODER, TYPE, SHAPE, COMPUTE)                        \
  [&]() -> Handler {                                                           \
    switch (TYPE) {                                                            \
    case Type::U16:                                                            \
    case Type::B16:                                                            \
      return SHAPE<uint16_t, COMPUTE>;                                         \
    case Type::S16:                                                            \
      return SHAPE<int16_t, COMPUTE>;                                          \
    case Type::U32:                                                            \
    case Type::B32:                                                            \
      return SHAPE<uint32_t, COMPUTE>;                                         \
    case Type::S32:                                                            \
      return SHAPE<int32_t, COMPUTE>;                                          \
    case Type::U64:                                                            \
    case Type::B64:                                                            \
      return SHAPE<uint64_t, COMPUTE>;                                         \
    case Type::S64:                                                            \
      return SHAPE<int64_t, COMPUTE>;                                          \
    default:                                                                   \
      (DECODER).fail("not for this type");                                     \
    }                                                                          \
  }()

/// The same for bits, which have no sign.
#define ASHLAR_PTX_BITS(DECODER, TYPE, SHAPE, COMPUTE)                         \
  [&]() -> Handler {                                                           \
    switch (bytesOf(TYPE)) {                                                   \
    case 2:                                                                    \
      return SHAPE<uint16_t, COMPUTE>;                                         \
    case 4:                                                                    \
      return SHAPE<uint32_t, COMPUTE>;                                         \
    case 8:                                                                    \
      return SHAPE<uint64_t, COMPUTE>;                                         \
    default:                                                                   \
      (DECODER).fail("not for this type");                                     \
    }                                                                          \
  }()

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXHANDLERS_H
