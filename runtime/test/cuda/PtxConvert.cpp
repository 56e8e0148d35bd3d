// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt and cvt.pack: every pair of types. The pairs that kernels are full of
// have handlers of their own.

#include "PtxFamilies.h"
#include "PtxFloatOps.h"
#include "PtxHandlers.h"

#include <algorithm>
#include <limits>

using namespace ashlar::ptx;

namespace {

bool isSigned(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 ||
         type == Type::S64;
}

/// flags: rounding, FloatMode's bits, then to whole numbers, types.
constexpr uint32_t wholeFlag = 512;
struct Form {
  Rounding rounding;
  uint32_t flags;
  Type to, from;

  uint32_t packed() const {
    return uint32_t(rounding) | flags | uint32_t(to) << 16 |
           uint32_t(from) << 24;
  }
  static Form of(uint32_t bits) {
    return {Rounding(bits & 7), bits & 0xfff8, Type(bits >> 16 & 0xff),
            Type(bits >> 24)};
  }
};

/// A whole number of any type as 64 bits with its sign.
uint64_t wholeOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::U8:
  case Type::B8:
    return uint8_t(bits);
  case Type::S8:
    return uint64_t(int64_t(int8_t(bits)));
  case Type::U16:
  case Type::B16:
    return uint16_t(bits);
  case Type::S16:
    return uint64_t(int64_t(int16_t(bits)));
  case Type::U32:
  case Type::B32:
    return uint32_t(bits);
  case Type::S32:
    return uint64_t(int64_t(int32_t(bits)));
  default:
    return bits;
  }
}

double floatOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::F16:
    return toFloat(Half{uint16_t(bits)});
  case Type::BF16:
    return toFloat(BFloat{uint16_t(bits)});
  case Type::F32:
    return bitsAs<float>(uint32_t(bits));
  default:
    return bitsAs<double>(bits);
  }
}

double flushedOf(Type type, uint64_t bits) {
  if (type == Type::F32)
    return flushed(bitsAs<float>(uint32_t(bits)));
  return floatOf(type, bits);
}

double toWhole(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default: {
    // To even, whatever the processor's rounding is.
    double low = std::floor(value), rest = value - low;
    bool isUp = rest > 0.5 || (rest == 0.5 && std::fmod(low, 2) != 0);
    return std::copysign(isUp ? low + 1 : low, value);
  }
  }
}

/// Of the type, whatever is out of its range at its end. A NaN is 0, with 64
/// bits on either side only the highest one.
uint64_t wholeFrom(double value, Type to, Type from) {
  unsigned bits = 8 * bytesOf(to);
  if (value != value)
    return from == Type::F64 || bits == 64 ? 1ull << (bits - 1) : 0;
  if (isSigned(to)) {
    double limit = std::ldexp(1.0, int(bits) - 1);
    if (value >= limit)
      return (1ull << (bits - 1)) - 1;
    if (value < -limit)
      return uint64_t(0) - (1ull << (bits - 1));
    return uint64_t(int64_t(value));
  }
  if (value <= 0)
    return 0;
  if (value >= std::ldexp(1.0, int(bits)))
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
  return uint64_t(value);
}

/// To a float of the type, from a number that rounds to it as the value does.
uint64_t floatFrom(double value, Type to, Rounding rounding, uint32_t flags) {
  auto finish = [&](auto result) -> uint64_t {
    if (flags & FloatMode::Ftz)
      result = flushed(result);
    if (flags & FloatMode::Sat)
      result = saturated(result);
    if (flags & FloatMode::Relu)
      result = rectified(result);
    uint64_t bits = 0;
    std::memcpy(&bits, &result, sizeof(result));
    return bits;
  };
  switch (to) {
  case Type::F16:
  case Type::F16x2: {
    // Of f16 subnormals are kept.
    flags &= ~uint32_t(FloatMode::Ftz);
    return finish(fromDouble<Half>(value, rounding));
  }
  case Type::BF16:
  case Type::BF16x2:
    flags &= ~uint32_t(FloatMode::Ftz);
    return finish(fromDouble<BFloat>(value, rounding));
  case Type::TF32:
    return finish(bitsAs<float>(encode<8, 10>(value, rounding) << 13));
  case Type::F32:
    return finish(canonical(fromDouble<float>(value, rounding)));
  default:
    return finish(value);
  }
}

uint64_t convert(const Form &form, uint64_t bits) {
  bool fromFloat = isFloat(form.from),
       toFloatType = isFloat(form.to) || form.to == Type::TF32;
  if (!fromFloat && !toFloatType) {
    uint64_t value = wholeOf(form.from, bits);
    if (form.flags & FloatMode::Sat) {
      unsigned width = 8 * bytesOf(form.to);
      __int128 wide =
          isSigned(form.from) ? __int128(int64_t(value)) : __int128(value);
      __int128 least = isSigned(form.to) ? -(__int128(1) << (width - 1)) : 0;
      __int128 most =
          (__int128(1) << (isSigned(form.to) ? width - 1 : width)) - 1;
      value = uint64_t(std::clamp(wide, least, most));
    }
    return wholeOf(form.to, value);
  }
  if (!fromFloat) {
    uint64_t value = wholeOf(form.from, bits);
    double number =
        isSigned(form.from) ? oddDouble(int64_t(value)) : oddDouble(value);
    if (form.to == Type::F64) {
      // 64 bits do not fit: the processor's conversion, rounded by hand.
      double nearest =
          isSigned(form.from) ? double(int64_t(value)) : double(value);
      __int128 exact =
          isSigned(form.from) ? __int128(int64_t(value)) : __int128(value);
      __int128 got = __int128(nearest);
      bool isAbove = got > exact, isBelow = got < exact;
      if ((form.rounding == Rounding::Down && isAbove) ||
          (form.rounding == Rounding::Zero && isAbove && exact > 0))
        nearest = std::nextafter(nearest, -INFINITY);
      else if ((form.rounding == Rounding::Up && isBelow) ||
               (form.rounding == Rounding::Zero && isBelow && exact < 0))
        nearest = std::nextafter(nearest, INFINITY);
      number = nearest;
    }
    return floatFrom(number, form.to, form.rounding, form.flags);
  }
  double value = form.flags & FloatMode::Ftz ? flushedOf(form.from, bits)
                                             : floatOf(form.from, bits);
  if (!toFloatType)
    return wholeFrom(toWhole(value, form.rounding), form.to, form.from);
  if (form.flags & wholeFlag)
    return floatFrom(toWhole(value, form.rounding), form.to, Rounding::Nearest,
                     form.flags);
  // f64 to f32 in one step, by all its digits.
  return floatFrom(value, form.to, form.rounding, form.flags);
}

const Instruction *general(Thread &t, const Instruction *i) {
  t.r[i->dst] = convert(Form::of(i->flags), t.r[i->a]);
  return i + 1;
}

/// Two f32 into two of 16 bits: a is the upper one.
const Instruction *pack(Thread &t, const Instruction *i) {
  Form form = Form::of(i->flags);
  auto one = [&](uint32_t slot) {
    return uint32_t(floatFrom(bitsAs<float>(uint32_t(t.r[slot])), form.to,
                              form.rounding, form.flags));
  };
  set(t, i->dst, one(i->a) << 16 | one(i->b));
  return i + 1;
}
template <class T>
const Instruction *packNearest(Thread &t, const Instruction *i) {
  uint32_t high = fromFloat<T>(get<float>(t, i->a)).bits;
  uint32_t low = fromFloat<T>(get<float>(t, i->b)).bits;
  set(t, i->dst, high << 16 | low);
  return i + 1;
}

template <class To, class From>
const Instruction *whole(Thread &t, const Instruction *i) {
  // With the sign in all bits of the register.
  t.r[i->dst] = uint64_t(int64_t(To(get<From>(t, i->a))));
  if constexpr (!std::is_signed_v<To>)
    t.r[i->dst] = To(t.r[i->dst]);
  return i + 1;
}
template <class T>
const Instruction *toSingle(Thread &t, const Instruction *i) {
  set(t, i->dst, canonical(toFloat(get<T>(t, i->a))));
  return i + 1;
}
template <class T>
const Instruction *fromSingle(Thread &t, const Instruction *i) {
  set(t, i->dst, fromFloat<T>(get<float>(t, i->a)));
  return i + 1;
}
template <class T>
const Instruction *wholeToSingle(Thread &t, const Instruction *i) {
  set(t, i->dst, float(get<T>(t, i->a)));
  return i + 1;
}

/// The frequent ones, without flags, to nearest.
Handler quick(const Form &form) {
  auto is = [&](Type to, Type from) {
    return form.to == to && form.from == from;
  };
  if (form.flags)
    return nullptr;
  if (is(Type::U64, Type::U32))
    return whole<uint64_t, uint32_t>;
  if (is(Type::S64, Type::S32))
    return whole<int64_t, int32_t>;
  if (is(Type::U32, Type::U64))
    return whole<uint32_t, uint64_t>;
  if (is(Type::U16, Type::U32))
    return whole<uint16_t, uint32_t>;
  if (is(Type::U32, Type::U16))
    return whole<uint32_t, uint16_t>;
  if (is(Type::S32, Type::S16))
    return whole<int32_t, int16_t>;
  if (is(Type::S32, Type::S8))
    return whole<int32_t, int8_t>;
  if (is(Type::S16, Type::S8))
    return whole<int16_t, int8_t>;
  if (is(Type::F32, Type::F16))
    return toSingle<Half>;
  if (is(Type::F32, Type::BF16))
    return toSingle<BFloat>;
  if (form.rounding != Rounding::Nearest)
    return nullptr;
  if (is(Type::F16, Type::F32))
    return fromSingle<Half>;
  if (is(Type::BF16, Type::F32))
    return fromSingle<BFloat>;
  if (is(Type::F32, Type::S32))
    return wholeToSingle<int32_t>;
  if (is(Type::F32, Type::U32))
    return wholeToSingle<uint32_t>;
  if (is(Type::F32, Type::S16))
    return wholeToSingle<int16_t>;
  if (is(Type::F32, Type::U16))
    return wholeToSingle<uint16_t>;
  if (is(Type::F32, Type::S64))
    return wholeToSingle<int64_t>;
  return nullptr;
}

// Of 8 bits: e5m2 is IEEE's, e4m3 has no infinity and one NaN.
uint32_t toE5M2(double value, bool isRelu) {
  if (isRelu && value <= 0)
    value = 0;
  if (value != value)
    return 0x7f;
  uint32_t sign = std::signbit(value) ? 0x80 : 0;
  // .satfinite: what is beyond becomes the greatest one.
  return sign | std::min(encode<5, 2>(std::fabs(value), Rounding::Nearest),
                         uint32_t(0x7b));
}

/// The nearest of e4m3: its steps below 2^-6 are 2^-9.
uint32_t toE4M3(double value, bool isRelu) {
  if (isRelu && value <= 0)
    value = 0;
  if (value != value)
    return 0x7f;
  uint32_t sign = std::signbit(value) ? 0x80 : 0;
  double size = std::fabs(value);
  if (size > 448)
    return sign | 0x7e;
  int exponent = size > 0 ? std::max(std::ilogb(size), -6) : -6;
  double steps = toWhole(std::ldexp(size, 3 - exponent), Rounding::Nearest);
  return sign | std::min(uint32_t(steps) + (uint32_t(exponent + 6) << 3),
                         uint32_t(0x7e));
}

double fromEight(Type from, uint32_t bits) {
  double sign = bits & 0x80 ? -1 : 1;
  bits &= 0x7f;
  if (from == Type::E5M2x2)
    return sign * double(toFloat(Half{uint16_t(bits << 8)}));
  if (bits == 0x7f)
    return NAN;
  int exponent = int(bits >> 3), mantissa = int(bits & 7);
  return sign * (exponent ? std::ldexp(8 + mantissa, exponent - 10)
                          : std::ldexp(mantissa, -9));
}

uint32_t eightOf(Type to, double value, bool isRelu) {
  return to == Type::E4M3x2 ? toE4M3(value, isRelu) : toE5M2(value, isRelu);
}

/// From two f32.
const Instruction *packEight(Thread &t, const Instruction *i) {
  Form form = Form::of(i->flags);
  bool isRelu = form.flags & FloatMode::Relu;
  uint32_t high = eightOf(form.to, get<float>(t, i->a), isRelu);
  uint32_t low = eightOf(form.to, get<float>(t, i->b), isRelu);
  set(t, i->dst, uint16_t(high << 8 | low));
  return i + 1;
}
/// From two f16 in one register.
const Instruction *packEightHalves(Thread &t, const Instruction *i) {
  Form form = Form::of(i->flags);
  bool isRelu = form.flags & FloatMode::Relu;
  uint64_t both = t.r[i->a];
  uint32_t high = eightOf(form.to, toFloat(Half{uint16_t(both >> 16)}), isRelu);
  uint32_t low = eightOf(form.to, toFloat(Half{uint16_t(both)}), isRelu);
  set(t, i->dst, uint16_t(high << 8 | low));
  return i + 1;
}
const Instruction *unpackEight(Thread &t, const Instruction *i) {
  Form form = Form::of(i->flags);
  uint64_t both = t.r[i->a];
  auto one = [&](uint32_t bits) {
    return uint32_t(floatFrom(fromEight(form.from, bits), Type::F16,
                              Rounding::Nearest, form.flags));
  };
  set(t, i->dst, one(both >> 8 & 0xff) << 16 | one(both & 0xff));
  return i + 1;
}

void emitConversion(Decoder &d, Handler run, const Form &form, size_t sources) {
  d.expectOperands(1 + sources);
  Instruction made = d.make(run);
  made.flags = form.packed();
  made.dst = d.destination();
  made.a = d.source(1, form.from);
  if (sources > 1)
    made.b = d.source(2, form.from);
  d.emit(made);
}

void decodeCvt(Decoder &d) {
  Form form{};
  int rounding = d.takeOf({"rn", "rz", "rm", "rp", "rna"});
  int whole = d.takeOf({"rni", "rzi", "rmi", "rpi"});
  form.rounding = Rounding(rounding >= 0 ? rounding : whole >= 0 ? whole : 0);
  if (whole >= 0)
    form.flags |= wholeFlag;
  bool isFinite = d.take("satfinite");
  if (d.take("ftz"))
    form.flags |= FloatMode::Ftz;
  if (d.take("sat"))
    form.flags |= FloatMode::Sat;
  if (d.take("relu"))
    form.flags |= FloatMode::Relu;
  form.to = d.takeType();
  form.from = d.takeType();
  bool isEight = form.to == Type::E4M3x2 || form.to == Type::E5M2x2;
  if (isEight) {
    if (!isFinite)
      d.fail("expected .satfinite");
    if (form.from == Type::F32)
      return emitConversion(d, packEight, form, 2);
    if (form.from == Type::F16x2)
      return emitConversion(d, packEightHalves, form, 1);
    d.fail("not for this type");
  }
  if (isFinite)
    d.fail(".satfinite is of types with 8 bits");
  if (form.from == Type::E4M3x2 || form.from == Type::E5M2x2) {
    if (form.to != Type::F16x2)
      d.fail("not for this type");
    return emitConversion(d, unpackEight, form, 1);
  }
  if (form.to == Type::F16x2 || form.to == Type::BF16x2) {
    if (form.from != Type::F32)
      d.fail("not for this type");
    Handler run = form.flags || form.rounding != Rounding::Nearest ? pack
                  : form.to == Type::F16x2 ? packNearest<Half>
                                           : packNearest<BFloat>;
    return emitConversion(d, run, form, 2);
  }
  if (form.to == Type::TF32 && form.from != Type::F32)
    d.fail("not for this type");
  bool toWholeType = !isFloat(form.to) && form.to != Type::TF32;
  if (isFloat(form.from) && toWholeType && whole < 0)
    d.fail("expected a rounding to a whole number");
  Handler run = quick(form);
  emitConversion(d, run ? run : general, form, 1);
}

/// d = two of a and b, saturated, above c.
const Instruction *packWhole(Thread &t, const Instruction *i) {
  Form form = Form::of(i->flags);
  form.flags |= FloatMode::Sat;
  unsigned width = i->count;
  uint64_t mask = (1ull << width) - 1;
  uint64_t a = convert(form, t.r[i->a]) & mask,
           b = convert(form, t.r[i->b]) & mask;
  uint64_t above = width == 16 ? 0 : t.r[i->c] << (2 * width);
  set(t, i->dst, uint32_t(above | a << width | b));
  return i + 1;
}

void decodeCvtPack(Decoder &d) {
  if (!d.take("sat"))
    d.fail("expected .sat");
  Form form{};
  form.to = d.takeType();
  form.from = d.takeType();
  bool isWide = bytesOf(form.to) == 2;
  d.expectOperands(isWide ? 3 : 4);
  if (!isWide)
    d.takeType();
  Instruction made = d.make(packWhole);
  made.flags = form.packed();
  made.count = 8 * bytesOf(form.to);
  made.dst = d.destination();
  made.a = d.source(1, form.from);
  made.b = d.source(2, form.from);
  if (!isWide)
    made.c = d.source(3, Type::B32);
  d.emit(made);
}

void decodeAnyCvt(Decoder &d) {
  if (d.take("pack"))
    return decodeCvtPack(d);
  decodeCvt(d);
}

} // namespace

const Family &ashlar::ptx::converting() {
  static const Family all = {{"cvt", decodeAnyCvt}};
  return all;
}
