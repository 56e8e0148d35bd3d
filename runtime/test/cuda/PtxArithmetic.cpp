// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of whole numbers.

#include "PtxFamilies.h"
#include "PtxHandlers.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace ashlar::ptx;

namespace {

/// Wide enough for any product of T.
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 8,
    std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
    std::conditional_t<
        sizeof(T) == 4,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
        std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;

template <class T> T wrap(uint64_t value) { return T(value); }

struct Add {
  template <class T> static T of(T a, T b) {
    return wrap<T>(uint64_t(a) + uint64_t(b));
  }
};
struct AddSaturated {
  template <class T> static T of(T a, T b) {
    Wide<T> sum = Wide<T>(a) + b;
    return T(std::clamp<Wide<T>>(sum, std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()));
  }
};
struct Sub {
  template <class T> static T of(T a, T b) {
    return wrap<T>(uint64_t(a) - uint64_t(b));
  }
};
struct SubSaturated {
  template <class T> static T of(T a, T b) {
    Wide<T> sum = Wide<T>(a) - b;
    return T(std::clamp<Wide<T>>(sum, std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()));
  }
};
struct MulLow {
  template <class T> static T of(T a, T b) {
    return wrap<T>(uint64_t(a) * uint64_t(b));
  }
  template <class T> static T of(T a, T b, T c) {
    return wrap<T>(uint64_t(a) * uint64_t(b) + uint64_t(c));
  }
};
struct MulHigh {
  template <class T> static T of(T a, T b) {
    return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
  }
  template <class T> static T of(T a, T b, T c) {
    return wrap<T>(uint64_t(of(a, b)) + uint64_t(c));
  }
};
struct MulWide {
  template <class T> static auto of(T a, T b) {
    using Product = std::conditional_t<sizeof(T) == 8, T, Wide<T>>;
    return Product(Product(a) * Product(b));
  }
};
struct Div {
  // What a GPU gives for a division by zero: all bits.
  template <class T> static T of(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return wrap<T>(0 - uint64_t(a));
    return T(a / b);
  }
};
struct Rem {
  template <class T> static T of(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
struct Min {
  template <class T> static T of(T a, T b) { return std::min(a, b); }
};
struct Max {
  template <class T> static T of(T a, T b) { return std::max(a, b); }
};
struct Neg {
  template <class T> static T of(T a) { return wrap<T>(0 - uint64_t(a)); }
};
struct Abs {
  template <class T> static T of(T a) {
    return a < 0 ? wrap<T>(0 - uint64_t(a)) : a;
  }
};
struct Sad {
  template <class T> static T of(T a, T b, T c) {
    return wrap<T>(uint64_t(c) + (a < b ? uint64_t(b) - uint64_t(a)
                                        : uint64_t(a) - uint64_t(b)));
  }
};
template <class Compute> struct Relu {
  template <class T> static T of(T a, T b) {
    return std::max(Compute::of(a, b), T(0));
  }
};
/// Two of 16 bits.
template <class Compute> struct Pairs {
  template <class T> static T of(T a, T b) {
    using Part = std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>;
    uint16_t low = uint16_t(Compute::of(Part(a), Part(b)));
    uint16_t high = uint16_t(Compute::of(Part(a >> 16), Part(b >> 16)));
    return T(uint32_t(high) << 16 | low);
  }
};

template <class Compute>
const Instruction *madWide(Thread &t, const Instruction *i) {
  // Compute is the narrow type.
  using T = Compute;
  set(t, i->dst,
      Wide<T>(std::make_unsigned_t<Wide<T>>(Wide<T>(get<T>(t, i->a)) *
                                            Wide<T>(get<T>(t, i->b))) +
              std::make_unsigned_t<Wide<T>>(get<Wide<T>>(t, i->c))));
  return i + 1;
}

Handler pairs(Decoder &d, Type type, Handler s, Handler u) {
  if (type != Type::S16x2 && type != Type::U16x2)
    d.fail("not for this type");
  return type == Type::S16x2 ? s : u;
}

template <class Compute, class Saturated, FloatOp op>
void decodeSum(Decoder &d) {
  // add.f32.bf16 and its like mix types, later chips'.
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloat(d, op, type);
  if (type == Type::S16x2 || type == Type::U16x2)
    return emitPlain(d, binary<uint32_t, Pairs<Compute>>, type, 3);
  if (d.take("sat")) {
    if (type != Type::S32)
      d.fail(".sat is of .s32");
    return emitPlain(d, binary<int32_t, Saturated>, type, 3);
  }
  emitPlain(d, ASHLAR_PTX_WHOLE(d, type, binary, Compute), type, 3);
}

Type widened(Type type) { return bytesOf(type) == 2 ? Type::U32 : Type::U64; }

void decodeMul(Decoder &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloat(d, FloatOp::Mul, type);
  switch (d.takeOf({"lo", "hi", "wide"})) {
  case 0:
    return emitPlain(d, ASHLAR_PTX_WHOLE(d, type, binary, MulLow), type, 3);
  case 1:
    return emitPlain(d, ASHLAR_PTX_WHOLE(d, type, binary, MulHigh), type, 3);
  case 2:
    if (bytesOf(type) == 8)
      d.fail(".wide is of 16 and 32 bits");
    return emitPlain(d, ASHLAR_PTX_WHOLE(d, type, binary, MulWide), type, 3);
  }
  d.fail("expected .lo, .hi or .wide");
}

void decodeMad(Decoder &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloat(d, FloatOp::Fma, type);
  switch (d.takeOf({"lo", "hi", "wide"})) {
  case 0:
    return emitPlain(d, ASHLAR_PTX_WHOLE(d, type, ternary, MulLow), type, 4);
  case 1:
    return emitPlain(d, ASHLAR_PTX_WHOLE(d, type, ternary, MulHigh), type, 4);
  case 2: {
    d.expectOperands(4);
    Handler run = type == Type::U16   ? madWide<uint16_t>
                  : type == Type::S16 ? madWide<int16_t>
                  : type == Type::U32 ? madWide<uint32_t>
                  : type == Type::S32 ? madWide<int32_t>
                                      : nullptr;
    if (!run)
      d.fail(".wide is of 16 and 32 bits");
    Instruction made = d.make(run);
    made.dst = d.destination();
    made.a = d.source(1, type);
    made.b = d.source(2, type);
    made.c = d.source(3, widened(type));
    return d.emit(made);
  }
  }
  d.fail("expected .lo, .hi or .wide");
}

void decodeDiv(Decoder &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloat(d, FloatOp::Div, type);
  emitPlain(d, ASHLAR_PTX_WHOLE(d, type, binary, Div), type, 3);
}

void decodeRem(Decoder &d) {
  Type type = d.takeType();
  emitPlain(d, ASHLAR_PTX_WHOLE(d, type, binary, Rem), type, 3);
}

template <class Compute, FloatOp op> void decodeMinMax(Decoder &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloat(d, op, type);
  bool isRelu = d.take("relu");
  if (type == Type::S16x2 || type == Type::U16x2) {
    if (isRelu)
      return emitPlain(d, binary<int32_t, Pairs<Relu<Compute>>>, type, 3);
    return emitPlain(d,
                     pairs(d, type, binary<int32_t, Pairs<Compute>>,
                           binary<uint32_t, Pairs<Compute>>),
                     type, 3);
  }
  if (isRelu)
    return emitPlain(d, binary<int32_t, Relu<Compute>>, type, 3);
  emitPlain(d, ASHLAR_PTX_WHOLE(d, type, binary, Compute), type, 3);
}

template <class Compute, FloatOp op> void decodeSign(Decoder &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloat(d, op, type);
  emitPlain(d, ASHLAR_PTX_WHOLE(d, type, unary, Compute), type, 2);
}

void decodeSad(Decoder &d) {
  Type type = d.takeType();
  emitPlain(d, ASHLAR_PTX_WHOLE(d, type, ternary, Sad), type, 4);
}

int32_t part(uint64_t packed, int i, bool isSigned) {
  uint32_t byte = packed >> (8 * i) & 0xff;
  return isSigned ? int8_t(byte) : int32_t(byte);
}

/// flags: 1 and 2 for the signs of a and b.
const Instruction *dp4a(Thread &t, const Instruction *i) {
  uint32_t sum = uint32_t(t.r[i->c]);
  for (int k = 0; k < 4; ++k)
    sum += uint32_t(part(t.r[i->a], k, i->flags & 1) *
                    part(t.r[i->b], k, i->flags & 2));
  set(t, i->dst, sum);
  return i + 1;
}

void decodeDp4a(Decoder &d) {
  Type a = d.takeType(), b = d.takeType();
  uint32_t flags = (a == Type::S32 ? 1 : 0) | (b == Type::S32 ? 2 : 0);
  emitPlain(d, dp4a, Type::B32, 4, flags);
}

} // namespace

const Family &ashlar::ptx::arithmetic() {
  static const Family all = {
      {"add", decodeSum<Add, AddSaturated, FloatOp::Add>},
      {"sub", decodeSum<Sub, SubSaturated, FloatOp::Sub>},
      {"mul", decodeMul},
      {"mad", decodeMad},
      {"div", decodeDiv},
      {"rem", decodeRem},
      {"min", decodeMinMax<Min, FloatOp::Min>},
      {"max", decodeMinMax<Max, FloatOp::Max>},
      {"neg", decodeSign<Neg, FloatOp::Neg>},
      {"abs", decodeSign<Abs, FloatOp::Abs>},
      {"sad", decodeSad},
      {"dp4a", decodeDp4a}};
  return all;
}
