// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons and selections.

#include "PtxFamilies.h"
#include "PtxFloatOps.h"
#include "PtxHandlers.h"

using namespace ashlar::ptx;

namespace {

enum class Relation : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge, // false where one is a NaN
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu, // true where one is a NaN
  Num,
  NaN,
};

template <Relation relation> struct Compare {
  template <class N> static bool of(N a, N b) {
    switch (relation) {
    case Relation::Eq:
      return a == b;
    case Relation::Ne:
      return a < b || a > b;
    case Relation::Lt:
      return a < b;
    case Relation::Le:
      return a <= b;
    case Relation::Gt:
      return a > b;
    case Relation::Ge:
      return a >= b;
    case Relation::Equ:
      return !(a < b || a > b);
    case Relation::Neu:
      return !(a == b);
    case Relation::Ltu:
      return !(a >= b);
    case Relation::Leu:
      return !(a > b);
    case Relation::Gtu:
      return !(a <= b);
    case Relation::Geu:
      return !(a < b);
    case Relation::Num:
      return a == a && b == b;
    case Relation::NaN:
      return a != a || b != b;
    }
    return false;
  }
};

inline uint16_t number(uint16_t v) { return v; }
inline int16_t number(int16_t v) { return v; }
inline uint32_t number(uint32_t v) { return v; }
inline int32_t number(int32_t v) { return v; }
inline uint64_t number(uint64_t v) { return v; }
inline int64_t number(int64_t v) { return v; }
inline float number(float v) { return v; }
inline double number(double v) { return v; }
inline float number(Half v) { return toFloat(v); }
inline float number(BFloat v) { return toFloat(v); }

/// Of T, to a predicate.
template <class T, class C>
const Instruction *quick(Thread &t, const Instruction *i) {
  t.r[i->dst] = C::of(number(get<T>(t, i->a)), number(get<T>(t, i->b)));
  return i + 1;
}

template <class T> bool compare(Relation relation, T a, T b) {
#define ASHLAR_PTX_RELATION(NAME)                                              \
  case Relation::NAME:                                                         \
    return Compare<Relation::NAME>::of(a, b);
  switch (relation) {
    ASHLAR_PTX_RELATION(Eq)
    ASHLAR_PTX_RELATION(Ne)
    ASHLAR_PTX_RELATION(Lt)
    ASHLAR_PTX_RELATION(Le)
    ASHLAR_PTX_RELATION(Gt)
    ASHLAR_PTX_RELATION(Ge)
    ASHLAR_PTX_RELATION(Equ)
    ASHLAR_PTX_RELATION(Neu)
    ASHLAR_PTX_RELATION(Ltu)
    ASHLAR_PTX_RELATION(Leu)
    ASHLAR_PTX_RELATION(Gtu)
    ASHLAR_PTX_RELATION(Geu)
    ASHLAR_PTX_RELATION(Num)
    ASHLAR_PTX_RELATION(NaN)
  }
#undef ASHLAR_PTX_RELATION
  return false;
}

/// How the comparison, its combination and its results go, in `flags`.
struct Form {
  Relation relation;
  int combine; // -1, and, or, xor
  bool isFlushed;
  Type type, result; // Pred: setp; else what set writes

  uint32_t packed() const {
    return uint32_t(relation) | uint32_t(combine + 1) << 4 |
           uint32_t(isFlushed) << 6 | uint32_t(type) << 8 |
           uint32_t(result) << 16;
  }
  static Form of(uint32_t flags) {
    return {Relation(flags & 15), int(flags >> 4 & 3) - 1, bool(flags >> 6 & 1),
            Type(flags >> 8 & 0xff), Type(flags >> 16)};
  }
};

bool compareOf(const Form &form, uint64_t a, uint64_t b) {
  auto as = [&](auto of) { return compare(form.relation, of(a), of(b)); };
  auto flush = [&](auto value) {
    return toNumber(form.isFlushed ? flushed(value) : value);
  };
  switch (form.type) {
  case Type::U16:
  case Type::B16:
    return as([](uint64_t v) { return uint16_t(v); });
  case Type::S16:
    return as([](uint64_t v) { return int16_t(v); });
  case Type::U32:
  case Type::B32:
    return as([](uint64_t v) { return uint32_t(v); });
  case Type::S32:
    return as([](uint64_t v) { return int32_t(v); });
  case Type::U64:
  case Type::B64:
    return as([](uint64_t v) { return v; });
  case Type::S64:
    return as([](uint64_t v) { return int64_t(v); });
  case Type::F32:
    return as([&](uint64_t v) { return flush(bitsAs<float>(uint32_t(v))); });
  case Type::F64:
    return as([&](uint64_t v) { return bitsAs<double>(v); });
  case Type::F16:
  case Type::F16x2:
    return as([&](uint64_t v) { return flush(Half{uint16_t(v)}); });
  default:
    return as([&](uint64_t v) { return flush(BFloat{uint16_t(v)}); });
  }
}

bool combined(const Form &form, bool value, bool with) {
  switch (form.combine) {
  case 0:
    return value && with;
  case 1:
    return value || with;
  case 2:
    return value != with;
  }
  return value;
}

/// p = combined(compared, c), q = combined(!compared, c); q in `count`.
const Instruction *setPredicates(Thread &t, const Instruction *i) {
  Form form = Form::of(i->flags);
  bool value = compareOf(form, t.r[i->a], t.r[i->b]), with = t.r[i->c];
  bool isPair = form.type == Type::F16x2 || form.type == Type::BF16x2;
  bool second =
      isPair ? compareOf(form, t.r[i->a] >> 16, t.r[i->b] >> 16) : !value;
  t.r[i->dst] = combined(form, value, with);
  t.r[i->count] = combined(form, second, with);
  return i + 1;
}

const Instruction *setValue(Thread &t, const Instruction *i) {
  Form form = Form::of(i->flags);
  auto at = [&](int shift) {
    return combined(form,
                    compareOf(form, t.r[i->a] >> shift, t.r[i->b] >> shift),
                    t.r[i->c]);
  };
  bool value = at(0);
  switch (form.result) {
  case Type::F32:
    set(t, i->dst, value ? 1.0f : 0.0f);
    break;
  case Type::F16:
    set(t, i->dst, uint16_t(value ? 0x3c00 : 0));
    break;
  case Type::BF16:
    set(t, i->dst, uint16_t(value ? 0x3f80 : 0));
    break;
  case Type::F16x2:
    set(t, i->dst, (value ? 0x3c00u : 0) | (at(16) ? 0x3c000000u : 0));
    break;
  case Type::BF16x2:
    set(t, i->dst, (value ? 0x3f80u : 0) | (at(16) ? 0x3f800000u : 0));
    break;
  case Type::U16:
  case Type::S16:
    set(t, i->dst, uint16_t(value ? 0xffff : 0));
    break;
  default:
    if (form.type == Type::F16x2 || form.type == Type::BF16x2)
      set(t, i->dst, (value ? 0xffffu : 0) | (at(16) ? 0xffff0000u : 0));
    else
      set(t, i->dst, value ? ~0u : 0u);
  }
  return i + 1;
}

template <class T, bool isFloat> Handler quickOf(Relation relation) {
#define ASHLAR_PTX_RELATION(NAME)                                              \
  case Relation::NAME:                                                         \
    return quick<T, Compare<Relation::NAME>>;
  switch (relation) {
    ASHLAR_PTX_RELATION(Eq)
    ASHLAR_PTX_RELATION(Ne)
    ASHLAR_PTX_RELATION(Lt)
    ASHLAR_PTX_RELATION(Le)
    ASHLAR_PTX_RELATION(Gt)
    ASHLAR_PTX_RELATION(Ge)
  default:
    break;
  }
  if constexpr (isFloat)
    switch (relation) {
      ASHLAR_PTX_RELATION(Equ)
      ASHLAR_PTX_RELATION(Neu)
      ASHLAR_PTX_RELATION(Ltu)
      ASHLAR_PTX_RELATION(Leu)
      ASHLAR_PTX_RELATION(Gtu)
      ASHLAR_PTX_RELATION(Geu)
      ASHLAR_PTX_RELATION(Num)
      ASHLAR_PTX_RELATION(NaN)
    default:
      break;
    }
#undef ASHLAR_PTX_RELATION
  return nullptr;
}

Handler quickOf(Type type, Relation relation) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return quickOf<uint16_t, false>(relation);
  case Type::S16:
    return quickOf<int16_t, false>(relation);
  case Type::U32:
  case Type::B32:
    return quickOf<uint32_t, false>(relation);
  case Type::S32:
    return quickOf<int32_t, false>(relation);
  case Type::U64:
  case Type::B64:
    return quickOf<uint64_t, false>(relation);
  case Type::S64:
    return quickOf<int64_t, false>(relation);
  case Type::F32:
    return quickOf<float, true>(relation);
  case Type::F64:
    return quickOf<double, true>(relation);
  case Type::F16:
    return quickOf<Half, true>(relation);
  case Type::BF16:
    return quickOf<BFloat, true>(relation);
  default:
    return nullptr;
  }
}

Form takeForm(Decoder &d) {
  Form form{};
  int relation =
      d.takeOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs"});
  if (relation < 0)
    d.fail("expected a comparison");
  // Of unsigned numbers they have names of their own.
  static constexpr Relation lower[] = {Relation::Lt, Relation::Le, Relation::Gt,
                                       Relation::Ge};
  form.relation = relation < 14 ? Relation(relation) : lower[relation - 14];
  form.combine = d.takeOf({"and", "or", "xor"});
  form.isFlushed = d.take("ftz");
  return form;
}

void takeSources(Decoder &d, Instruction &made, const Form &form) {
  d.expectOperands(form.combine < 0 ? 3 : 4);
  made.a = d.source(1, form.type);
  made.b = d.source(2, form.type);
  if (form.combine >= 0)
    made.c = d.source(3, Type::Pred);
}

void decodeSetp(Decoder &d) {
  Form form = takeForm(d);
  form.type = d.takeType();
  form.result = Type::Pred;
  Handler fast = quickOf(form.type, form.relation);
  bool isPair = form.type == Type::F16x2 || form.type == Type::BF16x2;
  if (!fast && !isPair)
    d.fail("not for this type");
  const Operand &to = d.operand(0);
  bool isQuick =
      !isPair && form.combine < 0 && !form.isFlushed && to.second.empty();
  Instruction made = d.make(isQuick ? fast : setPredicates);
  takeSources(d, made, form);
  made.run = isQuick ? fast : setPredicates;
  made.flags = form.packed();
  made.dst = d.destination();
  made.count = to.second.empty() ? d.scratch() : d.destination(to.second[0]);
  d.emit(made);
}

void decodeSet(Decoder &d) {
  Form form = takeForm(d);
  form.result = d.takeType();
  form.type = d.takeType();
  Instruction made = d.make(setValue);
  takeSources(d, made, form);
  made.flags = form.packed();
  made.dst = d.destination();
  d.emit(made);
}

const Instruction *select(Thread &t, const Instruction *i) {
  t.r[i->dst] = t.r[t.r[i->c] ? i->a : i->b];
  return i + 1;
}

/// a where c >= 0, else b; a NaN selects b.
template <class T>
const Instruction *selectBySign(Thread &t, const Instruction *i) {
  T sign = get<T>(t, i->c);
  if constexpr (std::is_same_v<T, float>)
    if (i->flags)
      sign = flushed(sign);
  t.r[i->dst] = t.r[sign >= 0 ? i->a : i->b];
  return i + 1;
}

/// Constants may have more bits than the type.
uint64_t maskOf(Type type) {
  unsigned bytes = bytesOf(type);
  return bytes >= 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
}

uint32_t cut(Decoder &d, size_t i, Type type) {
  const Operand &of = d.operand(i);
  if (of.kind == Operand::Integer)
    return d.constant(uint64_t(of.integer) & maskOf(type));
  return d.source(i, type);
}

void decodeSelp(Decoder &d) {
  Type type = d.takeType();
  d.expectOperands(4);
  Instruction made = d.make(select);
  made.a = cut(d, 1, type);
  made.b = cut(d, 2, type);
  made.c = d.source(3, Type::Pred);
  made.dst = d.destination();
  d.emit(made);
}

void decodeSlct(Decoder &d) {
  bool isFlushed = d.take("ftz");
  Type type = d.takeType(), by = d.takeType();
  d.expectOperands(4);
  if (by != Type::S32 && by != Type::F32)
    d.fail("selects by .s32 or .f32");
  Instruction made =
      d.make(by == Type::S32 ? selectBySign<int32_t> : selectBySign<float>);
  made.flags = isFlushed;
  made.a = cut(d, 1, type);
  made.b = cut(d, 2, type);
  made.c = d.source(3, by);
  made.dst = d.destination();
  d.emit(made);
}

template <class T>
const Instruction *testProperty(Thread &t, const Instruction *i) {
  T value = get<T>(t, i->a);
  int kind = std::fpclassify(value);
  bool is = false;
  switch (i->flags) {
  case 0:
    is = kind != FP_NAN && kind != FP_INFINITE;
    break;
  case 1:
    is = kind == FP_INFINITE;
    break;
  case 2:
    is = kind != FP_NAN;
    break;
  case 3:
    is = kind == FP_NAN;
    break;
  case 4:
    is = kind == FP_NORMAL;
    break;
  case 5:
    is = kind == FP_SUBNORMAL;
    break;
  }
  t.r[i->dst] = is;
  return i + 1;
}

void decodeTestp(Decoder &d) {
  int property = d.takeOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = d.takeType();
  if (property < 0 || (type != Type::F32 && type != Type::F64))
    d.fail("expected a property of .f32 or .f64");
  emitPlain(d, type == Type::F32 ? testProperty<float> : testProperty<double>,
            type, 2, uint32_t(property));
}

/// The sign of a, the rest of b.
template <class T>
const Instruction *copySign(Thread &t, const Instruction *i) {
  constexpr T sign = T(1) << (8 * sizeof(T) - 1);
  set(t, i->dst, T((get<T>(t, i->a) & sign) | (get<T>(t, i->b) & T(~sign))));
  return i + 1;
}

void decodeCopySign(Decoder &d) {
  Type type = d.takeType();
  emitPlain(d, type == Type::F32 ? copySign<uint32_t> : copySign<uint64_t>,
            type, 3);
}

} // namespace

const Family &ashlar::ptx::comparing() {
  static const Family all = {
      {"setp", decodeSetp},   {"set", decodeSet},
      {"selp", decodeSelp},   {"slct", decodeSlct},
      {"testp", decodeTestp}, {"copysign", decodeCopySign}};
  return all;
}
