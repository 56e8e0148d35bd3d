// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roots, reciprocals and the approximate functions. A GPU's approximations are
// its own; these are the host's functions in f64, rounded to nearest, with the
// special cases that the manual names. Compare with a tolerance.

#include "PtxFamilies.h"
#include "PtxFloatOps.h"
#include "PtxHandlers.h"

using namespace ashlar::ptx;

namespace {

struct Exp2 {
  static double of(double a) { return std::exp2(a); }
};
struct Log2 {
  static double of(double a) { return std::log2(a); }
};
struct Sin {
  static double of(double a) { return std::sin(a); }
};
struct Cos {
  static double of(double a) { return std::cos(a); }
};
struct Tanh {
  static double of(double a) { return std::tanh(a); }
};
struct Rsqrt {
  static double of(double a) { return 1 / std::sqrt(a); }
};
struct Sqrt {
  static double of(double a) { return std::sqrt(a); }
};
struct Rcp {
  static double of(double a) { return 1 / a; }
};

template <class Compute, class T> T approximate(T value, uint32_t flags) {
  if (flags & FloatMode::Ftz)
    value = flushed(value);
  T result =
      canonical(fromDouble<T>(Compute::of(toNumber(value)), Rounding::Nearest));
  return flags & FloatMode::Ftz ? flushed(result) : result;
}
template <class T, class Compute>
const Instruction *one(Thread &t, const Instruction *i) {
  set(t, i->dst, approximate<Compute>(get<T>(t, i->a), i->flags));
  return i + 1;
}
template <class T, class Compute>
const Instruction *two(Thread &t, const Instruction *i) {
  uint64_t bits = t.r[i->a];
  T low{uint16_t(bits)}, high{uint16_t(bits >> 16)};
  set(t, i->dst,
      uint32_t(approximate<Compute>(low, i->flags).bits |
               uint32_t(approximate<Compute>(high, i->flags).bits) << 16));
  return i + 1;
}

template <class Compute> void emitApproximate(Decoder &d, Type type) {
  Handler run = type == Type::F32      ? one<float, Compute>
                : type == Type::F64    ? one<double, Compute>
                : type == Type::F16    ? one<Half, Compute>
                : type == Type::BF16   ? one<BFloat, Compute>
                : type == Type::F16x2  ? two<Half, Compute>
                : type == Type::BF16x2 ? two<BFloat, Compute>
                                       : nullptr;
  if (!run)
    d.fail("not for this type");
  emitPlain(d, run, type, 2, d.take("ftz") ? FloatMode::Ftz : 0);
}

template <class Compute> void decodeApproximate(Decoder &d) {
  Type type = d.takeType();
  if (!d.take("approx"))
    d.fail("expected .approx");
  emitApproximate<Compute>(d, type);
}

template <class Compute, FloatOp op> void decodeEither(Decoder &d) {
  Type type = d.takeType();
  if (d.take("approx"))
    return emitApproximate<Compute>(d, type);
  decodeFloat(d, op, type);
}

} // namespace

const Family &ashlar::ptx::functions() {
  static const Family all = {{"ex2", decodeApproximate<Exp2>},
                             {"lg2", decodeApproximate<Log2>},
                             {"sin", decodeApproximate<Sin>},
                             {"cos", decodeApproximate<Cos>},
                             {"tanh", decodeApproximate<Tanh>},
                             {"rsqrt", decodeApproximate<Rsqrt>},
                             {"sqrt", decodeEither<Sqrt, FloatOp::Sqrt>},
                             {"rcp", decodeEither<Rcp, FloatOp::Rcp>}};
  return all;
}
