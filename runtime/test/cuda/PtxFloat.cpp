// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of floats. What has neither flags nor a rounding of its own has a
// handler of its own, the rest looks at its flags.

#include "PtxFamilies.h"
#include "PtxFloatOps.h"
#include "PtxHandlers.h"

#include <cstdio>

using namespace ashlar::ptx;

namespace {

/// Two values in one register.
template <class T> struct Pair {
  T low, high;
};

template <class Compute> struct Both {
  template <class T> static Pair<T> of(Pair<T> a) {
    return {Compute::of(a.low), Compute::of(a.high)};
  }
  template <class T> static Pair<T> of(Pair<T> a, Pair<T> b) {
    return {Compute::of(a.low, b.low), Compute::of(a.high, b.high)};
  }
  template <class T> static Pair<T> of(Pair<T> a, Pair<T> b, Pair<T> c) {
    return {Compute::of(a.low, b.low, c.low),
            Compute::of(a.high, b.high, c.high)};
  }
};

template <class T> T rounded(FloatOp op, T a, T b, T c, Rounding rounding) {
  switch (op) {
  case FloatOp::Add:
    return roundedSum(a, b, rounding);
  case FloatOp::Sub:
    return roundedSum(a, FloatNeg::of(b), rounding);
  case FloatOp::Mul:
    return roundedProduct(a, b, rounding);
  case FloatOp::Div:
    return roundedQuotient(a, b, rounding);
  case FloatOp::Rcp:
    return roundedQuotient(T(1), a, rounding);
  case FloatOp::Sqrt:
    return roundedSqrt(a, rounding);
  default:
    return roundedFma(a, b, c, rounding);
  }
}
/// Of 16 bits only to nearest.
template <class T> T narrow(FloatOp op, T a, T b, T c) {
  switch (op) {
  case FloatOp::Add:
    return Plain<FloatAdd>::of(a, b);
  case FloatOp::Sub:
    return Plain<FloatSub>::of(a, b);
  case FloatOp::Mul:
    return Plain<FloatMul>::of(a, b);
  default:
    return Plain<FloatFma>::of(a, b, c);
  }
}
Half rounded(FloatOp op, Half a, Half b, Half c, Rounding) {
  return narrow(op, a, b, c);
}
BFloat rounded(FloatOp op, BFloat a, BFloat b, BFloat c, Rounding) {
  return narrow(op, a, b, c);
}

template <class T> T extreme(FloatOp op, T a, T b, uint32_t flags) {
  bool isMax = op == FloatOp::Max, keepsNaN = flags & FloatMode::NaN;
  auto pick = [&](T x, T y) {
    if (keepsNaN)
      return isMax ? ExtremeNaN<true>::of(x, y) : ExtremeNaN<false>::of(x, y);
    return isMax ? Extreme<true>::of(x, y) : Extreme<false>::of(x, y);
  };
  if (!(flags & FloatMode::XorSign))
    return pick(a, b);
  bool isNegative = signOf(a) != signOf(b);
  T result = pick(FloatAbs::of(a), FloatAbs::of(b));
  return isNegative && !isNaN(result) ? FloatNeg::of(result) : result;
}

/// One value with all that its modifiers say.
template <class T> T modified(FloatOp op, T a, T b, T c, uint32_t flags) {
  if (flags & FloatMode::Ftz)
    a = flushed(a), b = flushed(b), c = flushed(c);
  T result;
  switch (op) {
  case FloatOp::Min:
  case FloatOp::Max:
    result = extreme(op, a, b, flags);
    break;
  case FloatOp::Neg:
    result = FloatNeg::of(a);
    break;
  case FloatOp::Abs:
    result = FloatAbs::of(a);
    break;
  default:
    result = canonical(rounded(op, a, b, c, Rounding(flags & 7)));
  }
  if (flags & FloatMode::Ftz)
    result = flushed(result);
  if (flags & FloatMode::Sat)
    result = saturated(result);
  if (flags & FloatMode::Relu)
    result = rectified(result);
  return result;
}

/// i->count: the operation.
template <class T> const Instruction *flagged(Thread &t, const Instruction *i) {
  set(t, i->dst,
      modified(FloatOp(i->count), get<T>(t, i->a), get<T>(t, i->b),
               get<T>(t, i->c), i->flags));
  return i + 1;
}
template <class T>
const Instruction *flaggedPair(Thread &t, const Instruction *i) {
  auto a = get<Pair<T>>(t, i->a), b = get<Pair<T>>(t, i->b),
       c = get<Pair<T>>(t, i->c);
  FloatOp op = FloatOp(i->count);
  set(t, i->dst,
      Pair<T>{modified(op, a.low, b.low, c.low, i->flags),
              modified(op, a.high, b.high, c.high, i->flags)});
  return i + 1;
}

/// All but the last source have 16 bits; what is computed has 32.
template <class T> const Instruction *mixed(Thread &t, const Instruction *i) {
  FloatOp op = FloatOp(i->count);
  float a = toFloat(get<T>(t, i->a)), b, c = 0;
  if (op == FloatOp::Fma)
    b = toFloat(get<T>(t, i->b)), c = get<float>(t, i->c);
  else
    b = get<float>(t, i->b);
  set(t, i->dst, modified(op, a, b, c, i->flags));
  return i + 1;
}

template <class Compute> Handler quickBinary(Type type) {
  switch (type) {
  case Type::F32:
    return binary<float, Compute>;
  case Type::F64:
    return binary<double, Compute>;
  case Type::F16:
    return binary<Half, Compute>;
  case Type::BF16:
    return binary<BFloat, Compute>;
  case Type::F16x2:
    return binary<Pair<Half>, Both<Compute>>;
  case Type::F32x2:
    return binary<Pair<float>, Both<Compute>>;
  default:
    return binary<Pair<BFloat>, Both<Compute>>;
  }
}
template <class Compute> Handler quickUnary(Type type) {
  switch (type) {
  case Type::F32:
    return unary<float, Compute>;
  case Type::F64:
    return unary<double, Compute>;
  case Type::F16:
    return unary<Half, Compute>;
  case Type::BF16:
    return unary<BFloat, Compute>;
  case Type::F16x2:
    return unary<Pair<Half>, Both<Compute>>;
  default:
    return unary<Pair<BFloat>, Both<Compute>>;
  }
}
Handler quickFma(Type type) {
  using Compute = Plain<FloatFma>;
  switch (type) {
  case Type::F32:
    return ternary<float, Compute>;
  case Type::F64:
    return ternary<double, Compute>;
  case Type::F16:
    return ternary<Half, Compute>;
  case Type::BF16:
    return ternary<BFloat, Compute>;
  case Type::F16x2:
    return ternary<Pair<Half>, Both<Compute>>;
  case Type::F32x2:
    return ternary<Pair<float>, Both<Compute>>;
  default:
    return ternary<Pair<BFloat>, Both<Compute>>;
  }
}
Handler slow(Type type) {
  switch (type) {
  case Type::F32:
    return flagged<float>;
  case Type::F64:
    return flagged<double>;
  case Type::F16:
    return flagged<Half>;
  case Type::BF16:
    return flagged<BFloat>;
  case Type::F16x2:
    return flaggedPair<Half>;
  case Type::F32x2:
    return flaggedPair<float>;
  default:
    return flaggedPair<BFloat>;
  }
}

template <class Compute> Handler quickWide(Decoder &d, Type type) {
  if (type != Type::F32 && type != Type::F64)
    d.fail("not for this type");
  return type == Type::F32 ? Handler(unary<float, Plain<Compute>>)
                           : Handler(unary<double, Plain<Compute>>);
}

Handler quick(Decoder &d, FloatOp op, Type type) {
  switch (op) {
  case FloatOp::Add:
    return quickBinary<Plain<FloatAdd>>(type);
  case FloatOp::Sub:
    return quickBinary<Plain<FloatSub>>(type);
  case FloatOp::Mul:
    return quickBinary<Plain<FloatMul>>(type);
  case FloatOp::Div:
    if (type != Type::F32 && type != Type::F64)
      d.fail("not for this type");
    return quickBinary<Plain<FloatDiv>>(type);
  case FloatOp::Min:
    return quickBinary<Extreme<false>>(type);
  case FloatOp::Max:
    return quickBinary<Extreme<true>>(type);
  case FloatOp::Fma:
    return quickFma(type);
  case FloatOp::Neg:
    return quickUnary<FloatNeg>(type);
  case FloatOp::Abs:
    return quickUnary<FloatAbs>(type);
  case FloatOp::Sqrt:
    return quickWide<FloatSqrt>(d, type);
  case FloatOp::Rcp:
    return quickWide<FloatRcp>(d, type);
  }
  d.fail("not for this type");
}

size_t operandsOf(FloatOp op) {
  switch (op) {
  case FloatOp::Fma:
    return 4;
  case FloatOp::Neg:
  case FloatOp::Abs:
  case FloatOp::Sqrt:
  case FloatOp::Rcp:
    return 2;
  default:
    return 3;
  }
}

void decodeFma(Decoder &d) { decodeFloat(d, FloatOp::Fma, d.takeType()); }

/// div.approx: 0 where |b| is beyond 2^126.
struct ApproximateDiv {
  static float of(float a, float b) {
    float size = std::fabs(b);
    if (size > 0x1p126f && std::isfinite(b))
      return std::isinf(a) || a != a
                 ? canonical(NAN)
                 : std::copysign(
                       0.0f, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
    return canonical(a / b);
  }
};
template <class Compute>
const Instruction *flushedBinary(Thread &t, const Instruction *i) {
  set(t, i->dst,
      flushed(Compute::of(flushed(get<float>(t, i->a)),
                          flushed(get<float>(t, i->b)))));
  return i + 1;
}

} // namespace

/// PTX ISA, "Mixed Precision Floating Point Instructions".
static void decodeMixed(Decoder &d, FloatOp op, Type narrow) {
  if (narrow != Type::F16 && narrow != Type::BF16)
    d.fail("expected f16 or bf16 behind f32");
  size_t count = operandsOf(op);
  d.expectOperands(count);
  Instruction made = d.make(narrow == Type::F16 ? mixed<Half> : mixed<BFloat>);
  made.flags = d.takeFloatMode();
  made.count = uint32_t(op);
  made.dst = d.destination();
  made.a = d.source(1, narrow);
  made.b = d.source(2, count == 4 ? narrow : Type::F32);
  if (count == 4)
    made.c = d.source(3, Type::F32);
  d.emit(made);
}

/// Whether a module is for chips of 10.0 or later.
static bool isForLater(Decoder &d) {
  int chip = 0;
  std::sscanf(d.owner().module().target.c_str(), "sm_%d", &chip);
  return chip >= 100;
}

void ashlar::ptx::decodeFloat(Decoder &d, FloatOp op, Type type) {
  const bool adds =
      op == FloatOp::Add || op == FloatOp::Sub || op == FloatOp::Fma;
  if (type == Type::F32x2 && (!isForLater(d) || !(adds || op == FloatOp::Mul)))
    d.fail("not for this type, or this target");
  if (adds && type == Type::F32 && isForLater(d))
    if (Type narrow = d.takeTypeOrNone(); narrow != Type::None)
      return decodeMixed(d, op, narrow);
  if (op == FloatOp::Div) {
    if (d.take("approx")) {
      bool isFlushed = d.take("ftz");
      return emitPlain(d,
                       isFlushed ? flushedBinary<ApproximateDiv>
                                 : binary<float, ApproximateDiv>,
                       type, 3);
    }
    d.take("full"); // within two units, over all of the range
  }
  uint32_t flags = d.takeFloatMode();
  bool isExtreme = op == FloatOp::Min || op == FloatOp::Max;
  if (isExtreme) {
    if (d.take("NaN"))
      flags |= FloatMode::NaN;
    if (d.take("xorsign")) {
      if (!d.take("abs"))
        d.fail("expected .xorsign.abs");
      flags |= FloatMode::XorSign;
    }
    // Three of them are later chips'.
    if (flags == FloatMode::NaN)
      return emitPlain(d,
                       op == FloatOp::Max
                           ? quickBinary<ExtremeNaN<true>>(type)
                           : quickBinary<ExtremeNaN<false>>(type),
                       type, 3);
  }
  if (d.take("relu"))
    flags |= FloatMode::Relu;
  size_t count = operandsOf(op);
  if (flags == 0)
    return emitPlain(d, quick(d, op, type), type, count);
  bool isNarrow = type != Type::F32 && type != Type::F32x2 && type != Type::F64;
  if (isNarrow && (flags & 7))
    d.fail("of 16 bits only .rn");
  d.expectOperands(count);
  Instruction made = d.make(slow(type));
  made.flags = flags;
  made.count = uint32_t(op);
  made.dst = d.destination();
  made.a = d.source(1, type);
  if (count > 2)
    made.b = d.source(2, type);
  if (count > 3)
    made.c = d.source(3, type);
  d.emit(made);
}

const Family &ashlar::ptx::floating() {
  static const Family all = {{"fma", decodeFma}};
  return all;
}
