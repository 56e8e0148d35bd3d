// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bits: logic, shifts, fields, permutations.

#include "PtxFamilies.h"
#include "PtxHandlers.h"

#include <algorithm>
#include <type_traits>

using namespace ashlar::ptx;

namespace {

struct And {
  template <class T> static T of(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T of(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T of(T a, T b) { return a ^ b; }
};
struct Not {
  template <class T> static T of(T a) { return T(~a); }
};
struct CNot {
  template <class T> static T of(T a) { return a == 0; }
};
struct LogicalNot {
  template <class T> static T of(T a) { return !a; }
};

template <class T> constexpr uint32_t width = 8 * sizeof(T);

/// The distance has 32 bits; more than the width shifts all out.
template <class T, class>
const Instruction *shiftLeft(Thread &t, const Instruction *i) {
  uint32_t by = uint32_t(t.r[i->b]);
  set(t, i->dst, by >= width<T> ? T(0) : T(get<T>(t, i->a) << by));
  return i + 1;
}
template <class T, class>
const Instruction *shiftRight(Thread &t, const Instruction *i) {
  uint32_t by = uint32_t(t.r[i->b]);
  T value = get<T>(t, i->a);
  T out = std::is_signed_v<T> && value < 0 ? T(-1) : T(0);
  set(t, i->dst, by >= width<T> ? out : T(value >> by));
  return i + 1;
}

/// flags: 1 for right, 2 for .clamp.
const Instruction *funnel(Thread &t, const Instruction *i) {
  uint64_t both = (t.r[i->b] & 0xffffffff) << 32 | uint32_t(t.r[i->a]);
  uint32_t by = uint32_t(t.r[i->c]);
  by = i->flags & 2 ? std::min(by, 32u) : by & 31;
  set(t, i->dst,
      i->flags & 1 ? uint32_t(both >> by) : uint32_t(both << by >> 32));
  return i + 1;
}

template <class T> uint32_t leadingZeros(T value) {
  if (value == 0)
    return width<T>;
  return uint32_t(sizeof(T) == 8 ? __builtin_clzll(value)
                                 : __builtin_clz(uint32_t(value)));
}
struct Clz {
  template <class T> static uint32_t of(T a) { return leadingZeros(a); }
};
struct Popc {
  template <class T> static uint32_t of(T a) {
    return uint32_t(__builtin_popcountll(a));
  }
};
struct Brev {
  template <class T> static T of(T a) {
    T out = 0;
    for (uint32_t i = 0; i < width<T>; ++i)
      out |= T(a >> i & 1) << (width<T> - 1 - i);
    return out;
  }
};
template <bool isShift> struct BFind {
  template <class T> static uint32_t of(T a) {
    using U = std::make_unsigned_t<T>;
    U bits = std::is_signed_v<T> && a < 0 ? U(~a) : U(a);
    if (bits == 0)
      return ~0u;
    uint32_t at = width<T> - 1 - leadingZeros(bits);
    return isShift ? width<T> - 1 - at : at;
  }
};

template <class T, class>
const Instruction *extractField(Thread &t, const Instruction *i) {
  T value = get<T>(t, i->a);
  uint32_t at = t.r[i->b] & 0xff, count = t.r[i->c] & 0xff;
  uint32_t top = width<T> - 1;
  using U = std::make_unsigned_t<T>;
  bool isNegative = std::is_signed_v<T> && count > 0 &&
                    (U(value) >> std::min(at + count - 1, top) & 1);
  U out = isNegative ? U(-1) : U(0);
  for (uint32_t k = 0; k < count && k <= top && at + k <= top; ++k) {
    U bit = U(U(value) >> (at + k) & 1);
    out = U((out & U(~(U(1) << k))) | U(bit << k));
  }
  set(t, i->dst, out);
  return i + 1;
}

template <class T, class>
const Instruction *insertField(Thread &t, const Instruction *i) {
  T from = get<T>(t, i->a), out = get<T>(t, i->b);
  uint32_t at = t.r[i->c] & 0xff, count = t.r[i->count] & 0xff;
  for (uint32_t k = 0; k < count && at + k < width<T>; ++k) {
    T bit = k < width<T> ? T(from >> k & 1) : T(0);
    out = T((out & T(~(T(1) << (at + k)))) | T(bit << (at + k)));
  }
  set(t, i->dst, out);
  return i + 1;
}

const Instruction *permute(Thread &t, const Instruction *i) {
  uint64_t both = (t.r[i->b] & 0xffffffff) << 32 | uint32_t(t.r[i->a]);
  uint32_t selector = uint32_t(t.r[i->c]), out = 0;
  for (int k = 0; k < 4; ++k) {
    uint32_t pick = selector >> (4 * k) & 15;
    uint32_t byte = both >> (8 * (pick & 7)) & 0xff;
    if (pick & 8)
      byte = byte & 0x80 ? 0xff : 0;
    out |= byte << (8 * k);
  }
  set(t, i->dst, out);
  return i + 1;
}

/// Modes that take their selector from two bits.
const Instruction *permuteMode(Thread &t, const Instruction *i) {
  static constexpr uint16_t selectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
      {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
      {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
      {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
      {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
      {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
  };
  uint64_t both = (t.r[i->b] & 0xffffffff) << 32 | uint32_t(t.r[i->a]);
  uint32_t selector = selectors[i->flags][t.r[i->c] & 3], out = 0;
  for (int k = 0; k < 4; ++k)
    out |= uint32_t(both >> (8 * (selector >> (4 * k) & 7)) & 0xff) << (8 * k);
  set(t, i->dst, out);
  return i + 1;
}

/// flags: the truth table.
const Instruction *lop3(Thread &t, const Instruction *i) {
  uint32_t a = uint32_t(t.r[i->a]), b = uint32_t(t.r[i->b]),
           c = uint32_t(t.r[i->c]), out = 0;
  for (uint32_t k = 0; k < 8; ++k)
    if (i->flags >> k & 1)
      out |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  set(t, i->dst, out);
  return i + 1;
}

/// The n-th set bit of a mask, from a base on.
const Instruction *findNth(Thread &t, const Instruction *i) {
  uint32_t mask = uint32_t(t.r[i->a]), base = uint32_t(t.r[i->b]) & 31;
  int32_t offset = int32_t(t.r[i->c]);
  uint32_t out = ~0u;
  if (offset == 0) {
    if (mask >> base & 1)
      out = base;
  } else {
    int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (int at = int(base); at >= 0 && at < 32; at += step)
      if ((mask >> at & 1) && --left == 0) {
        out = uint32_t(at);
        break;
      }
  }
  set(t, i->dst, out);
  return i + 1;
}

template <class T, class>
const Instruction *bitMask(Thread &t, const Instruction *i) {
  uint32_t at = uint32_t(t.r[i->a]), count = uint32_t(t.r[i->b]);
  if (i->flags) {
    at &= 31;
    count &= 31;
  }
  uint32_t ones = count >= 32 ? ~0u : (1u << count) - 1;
  set(t, i->dst, at >= 32 ? 0u : ones << at);
  return i + 1;
}

template <class Compute> void decodeLogic(Decoder &d) {
  Type type = d.takeType();
  if (type == Type::Pred)
    return emitPlain(d, binary<uint64_t, Compute>, type, 3);
  emitPlain(d, ASHLAR_PTX_BITS(d, type, binary, Compute), type, 3);
}

void decodeNot(Decoder &d) {
  Type type = d.takeType();
  if (type == Type::Pred)
    return emitPlain(d, unary<uint64_t, LogicalNot>, type, 2);
  emitPlain(d, ASHLAR_PTX_BITS(d, type, unary, Not), type, 2);
}

void decodeCNot(Decoder &d) {
  Type type = d.takeType();
  emitPlain(d, ASHLAR_PTX_BITS(d, type, unary, CNot), type, 2);
}

void emitShift(Decoder &d, Handler run, Type type) {
  d.expectOperands(3);
  Instruction made = d.make(run);
  made.dst = d.destination();
  made.a = d.source(1, type);
  made.b = d.source(2, Type::U32);
  d.emit(made);
}

void decodeShl(Decoder &d) {
  Type type = d.takeType();
  emitShift(d, ASHLAR_PTX_BITS(d, type, shiftLeft, void), type);
}

void decodeShr(Decoder &d) {
  Type type = d.takeType();
  emitShift(d, ASHLAR_PTX_WHOLE(d, type, shiftRight, void), type);
}

void decodeShf(Decoder &d) {
  int way = d.takeOf({"l", "r"}), mode = d.takeOf({"wrap", "clamp"});
  if (way < 0 || mode < 0)
    d.fail("expected .l or .r, .wrap or .clamp");
  d.takeType();
  emitPlain(d, funnel, Type::B32, 4, uint32_t(way | mode << 1));
}

template <class Compute> void decodeCount(Decoder &d) {
  Type type = d.takeType();
  if (bytesOf(type) < 4)
    d.fail("of 32 or 64 bits");
  emitPlain(d, ASHLAR_PTX_BITS(d, type, unary, Compute), type, 2);
}

void decodeBFind(Decoder &d) {
  bool isShift = d.take("shiftamt");
  Type type = d.takeType();
  emitPlain(d,
            isShift ? ASHLAR_PTX_WHOLE(d, type, unary, BFind<true>)
                    : ASHLAR_PTX_WHOLE(d, type, unary, BFind<false>),
            type, 2);
}

void decodeBfe(Decoder &d) {
  Type type = d.takeType();
  emitPlain(d, ASHLAR_PTX_WHOLE(d, type, extractField, void), type, 4);
}

void decodeBfi(Decoder &d) {
  Type type = d.takeType();
  d.expectOperands(5);
  Instruction made = d.make(ASHLAR_PTX_BITS(d, type, insertField, void));
  made.dst = d.destination();
  made.a = d.source(1, type);
  made.b = d.source(2, type);
  made.c = d.source(3, Type::U32);
  made.count = d.source(4, Type::U32);
  d.emit(made);
}

void decodePrmt(Decoder &d) {
  d.takeType();
  int mode = d.takeOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  emitPlain(d, mode < 0 ? permute : permuteMode, Type::B32, 4,
            mode < 0 ? 0 : uint32_t(mode));
}

void decodeLop3(Decoder &d) {
  d.takeType();
  d.expectOperands(5);
  if (d.operand(4).kind != Operand::Integer)
    d.fail("a truth table that is no number");
  Instruction made = d.make(lop3);
  made.dst = d.destination();
  made.a = d.source(1, Type::B32);
  made.b = d.source(2, Type::B32);
  made.c = d.source(3, Type::B32);
  made.flags = uint32_t(d.operand(4).integer) & 0xff;
  d.emit(made);
}

void decodeFns(Decoder &d) {
  d.takeType();
  emitPlain(d, findNth, Type::B32, 4);
}

void decodeBmsk(Decoder &d) {
  int mode = d.takeOf({"clamp", "wrap"});
  d.takeType();
  emitPlain(d, bitMask<uint32_t, void>, Type::B32, 3, mode == 1);
}

} // namespace

const Family &ashlar::ptx::bitwise() {
  static const Family all = {
      {"and", decodeLogic<And>},   {"or", decodeLogic<Or>},
      {"xor", decodeLogic<Xor>},   {"not", decodeNot},
      {"cnot", decodeCNot},        {"shl", decodeShl},
      {"shr", decodeShr},          {"shf", decodeShf},
      {"clz", decodeCount<Clz>},   {"popc", decodeCount<Popc>},
      {"brev", decodeCount<Brev>}, {"bfind", decodeBFind},
      {"bfe", decodeBfe},          {"bfi", decodeBfi},
      {"prmt", decodePrmt},        {"lop3", decodeLop3},
      {"fns", decodeFns},          {"bmsk", decodeBmsk}};
  return all;
}
