// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Number.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <bit>
#include <cmath>

using namespace mlir;
using namespace ashlar;
using namespace ashlar::interpret;

double interpret::roundTo(Type type, double value) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return float(value);
  llvm::APFloat rounded(value);
  bool isInexact;
  rounded.convert(cast<FloatType>(type).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return rounded.convertToDouble();
}

static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

int64_t interpret::wrapTo(Type type, int64_t value) {
  unsigned width = widthOf(type);
  if (width >= 64)
    return value;
  if (width == 1)
    return value & 1;
  return llvm::SignExtend64(uint64_t(value), width);
}

int64_t interpret::extended(Type type, bool isUnsigned, Number factor) {
  if (isUnsigned)
    return unsignedOf(type, factor.whole);
  return widthOf(type) == 1 ? -factor.whole : factor.whole;
}

int64_t interpret::unsignedOf(Type type, int64_t value) {
  unsigned width = widthOf(type);
  return width >= 64 ? value : value & ((int64_t(1) << width) - 1);
}

Number interpret::numberOf(TypedAttr value) {
  Number number;
  if (auto real = dyn_cast<FloatAttr>(value))
    number.real = real.getValueAsDouble();
  else
    number.whole = wrapTo(value.getType(),
                          cast<IntegerAttr>(value).getValue().getSExtValue());
  return number;
}

static Number real(double value) {
  Number number;
  number.real = value;
  return number;
}
static Number whole(int64_t value) {
  Number number;
  number.whole = value;
  return number;
}

/// Floats in, a float of the result's type out. Sums, products, quotients and
/// roots of at most 24 bits are exact in double before they are rounded.
template <typename Function>
static ScalarRule realRule(Operation &op, Function function) {
  Type type = op.getResult(0).getType();
  return [type, function](ArrayRef<Number> in) {
    return real(roundTo(type, function(in)));
  };
}

template <typename Function>
static ScalarRule wholeRule(Operation &op, Function function) {
  Type type = op.getResult(0).getType();
  return [type, function](ArrayRef<Number> in) {
    return whole(wrapTo(type, function(in)));
  };
}

static ScalarRule unaryRule(Operation &op) {
  using Function = double (*)(double);
  static const llvm::StringMap<Function> functions = {
      {"math.absf", std::fabs},   {"math.acos", std::acos},
      {"math.acosh", std::acosh}, {"math.asin", std::asin},
      {"math.asinh", std::asinh}, {"math.atan", std::atan},
      {"math.atanh", std::atanh}, {"math.ceil", std::ceil},
      {"math.cos", std::cos},     {"math.cosh", std::cosh},
      {"math.erf", std::erf},     {"math.exp", std::exp},
      {"math.exp2", std::exp2},   {"math.expm1", std::expm1},
      {"math.floor", std::floor}, {"math.log", std::log},
      {"math.log10", std::log10}, {"math.log1p", std::log1p},
      {"math.log2", std::log2},   {"math.round", std::round},
      {"math.sin", std::sin},     {"math.roundeven", std::nearbyint},
      {"math.sinh", std::sinh},   {"math.sqrt", std::sqrt},
      {"math.tan", std::tan},     {"math.tanh", std::tanh},
      {"math.trunc", std::trunc}};
  auto found = functions.find(op.getName().getStringRef());
  if (found == functions.end())
    return {};
  Function function = found->second;
  return realRule(
      op, [function](ArrayRef<Number> in) { return function(in[0].real); });
}

static bool holds(arith::CmpFPredicate predicate, double x, double y) {
  using P = arith::CmpFPredicate;
  bool isUnordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !isUnordered;
  case P::UNO:
    return isUnordered;
  case P::OEQ:
    return x == y;
  case P::UEQ:
    return isUnordered || x == y;
  case P::OGT:
    return x > y;
  case P::UGT:
    return isUnordered || x > y;
  case P::OGE:
    return x >= y;
  case P::UGE:
    return isUnordered || x >= y;
  case P::OLT:
    return x < y;
  case P::ULT:
    return isUnordered || x < y;
  case P::OLE:
    return x <= y;
  case P::ULE:
    return isUnordered || x <= y;
  case P::ONE:
    return !isUnordered && x != y;
  case P::UNE:
    return isUnordered || x != y;
  }
  return false;
}

static bool holds(arith::CmpIPredicate predicate, int64_t x, int64_t y,
                  Type type) {
  using P = arith::CmpIPredicate;
  uint64_t ux = unsignedOf(type, x), uy = unsignedOf(type, y);
  // The one bit of i1 is its sign.
  if (widthOf(type) == 1) {
    x = -x;
    y = -y;
  }
  switch (predicate) {
  case P::eq:
    return x == y;
  case P::ne:
    return x != y;
  case P::slt:
    return x < y;
  case P::sle:
    return x <= y;
  case P::sgt:
    return x > y;
  case P::sge:
    return x >= y;
  case P::ult:
    return ux < uy;
  case P::ule:
    return ux <= uy;
  case P::ugt:
    return ux > uy;
  case P::uge:
    return ux >= uy;
  }
  return false;
}

/// NaN if one of both is, and -0 below 0.
static double least(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return NAN;
  return x == y ? (std::signbit(x) ? x : y) : std::min(x, y);
}
static double most(double x, double y) { return -least(-x, -y); }

static uint64_t bitsOf(Type type, Number value) {
  auto isFloat = dyn_cast<FloatType>(type);
  if (!isFloat)
    return unsignedOf(type, value.whole);
  llvm::APFloat exact(value.real);
  bool isInexact;
  exact.convert(isFloat.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                &isInexact);
  return exact.bitcastToAPInt().getZExtValue();
}

static Number fromBits(Type type, uint64_t bits) {
  auto isFloat = dyn_cast<FloatType>(type);
  if (!isFloat)
    return whole(wrapTo(type, int64_t(bits)));
  return real(llvm::APFloat(isFloat.getFloatSemantics(),
                            llvm::APInt(isFloat.getWidth(), bits))
                  .convertToDouble());
}

static ScalarRule conversionOf(Operation &op) {
  if (op.getNumOperands() != 1)
    return {};
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return realRule(op, [](ArrayRef<Number> in) { return in[0].real; });
  if (isa<arith::SIToFPOp>(op))
    return realRule(op, [from](ArrayRef<Number> in) {
      // The one bit of i1 is its sign.
      return double(widthOf(from) == 1 ? -in[0].whole : in[0].whole);
    });
  if (isa<arith::UIToFPOp>(op))
    return realRule(op, [from](ArrayRef<Number> in) {
      return double(uint64_t(unsignedOf(from, in[0].whole)));
    });
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return wholeRule(op, [](ArrayRef<Number> in) {
      double x = std::trunc(in[0].real);
      return x >= 0x1p63 ? int64_t(uint64_t(x)) : int64_t(x);
    });
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return wholeRule(op, [from](ArrayRef<Number> in) {
      return unsignedOf(from, in[0].whole);
    });
  if (isa<arith::ExtSIOp>(op) && widthOf(from) == 1)
    return wholeRule(op, [](ArrayRef<Number> in) { return -in[0].whole; });
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return wholeRule(op, [](ArrayRef<Number> in) { return in[0].whole; });
  if (isa<arith::BitcastOp>(op))
    return [from, to](ArrayRef<Number> in) {
      return fromBits(to, bitsOf(from, in[0]));
    };
  return {};
}

/// Quotients, whose divisor zero is for the caller to have kept out.
static ScalarRule quotientOf(Operation &op) {
  Type type = op.getResult(0).getType();
  auto divide = [&](auto function) {
    return wholeRule(op, [function](ArrayRef<Number> in) {
      bool isDefined =
          in[1].whole != 0 && !(in[0].whole == INT64_MIN && in[1].whole == -1);
      return isDefined ? function(in[0].whole, in[1].whole) : int64_t(0);
    });
  };
  auto asUnsigned = [type](int64_t x) { return uint64_t(unsignedOf(type, x)); };
  if (isa<arith::DivSIOp>(op))
    return divide([](int64_t x, int64_t y) { return x / y; });
  if (isa<arith::RemSIOp>(op))
    return divide([](int64_t x, int64_t y) { return x % y; });
  if (isa<arith::DivUIOp>(op))
    return divide([=](int64_t x, int64_t y) {
      return int64_t(asUnsigned(x) / asUnsigned(y));
    });
  if (isa<arith::RemUIOp>(op))
    return divide([=](int64_t x, int64_t y) {
      return int64_t(asUnsigned(x) % asUnsigned(y));
    });
  if (isa<arith::CeilDivSIOp>(op))
    return divide([](int64_t x, int64_t y) {
      return x / y + (x % y != 0 && (x < 0) == (y < 0));
    });
  if (isa<arith::FloorDivSIOp>(op))
    return divide([](int64_t x, int64_t y) {
      return x / y - (x % y != 0 && (x < 0) != (y < 0));
    });
  return {};
}

static ScalarRule shiftOf(Operation &op) {
  Type type = op.getResult(0).getType();
  int64_t width = widthOf(type);
  auto shift = [&](auto function) {
    return wholeRule(op, [function, width](ArrayRef<Number> in) {
      bool isDefined = in[1].whole >= 0 && in[1].whole < width;
      return isDefined ? function(in[0].whole, in[1].whole) : int64_t(0);
    });
  };
  if (isa<arith::ShLIOp>(op))
    return shift(
        [](int64_t x, int64_t n) { return int64_t(uint64_t(x) << n); });
  if (isa<arith::ShRSIOp>(op))
    return shift([](int64_t x, int64_t n) { return x >> n; });
  if (isa<arith::ShRUIOp>(op))
    return shift([type](int64_t x, int64_t n) {
      return int64_t(uint64_t(unsignedOf(type, x)) >> n);
    });
  return {};
}

#define REAL(OP, EXPRESSION)                                                   \
  .Case<OP>([](auto op) {                                                      \
    return realRule(*op,                                                       \
                    [](ArrayRef<Number> in) -> double { return EXPRESSION; }); \
  })
#define WHOLE(OP, EXPRESSION)                                                  \
  .Case<OP>([](auto op) {                                                      \
    return wholeRule(                                                          \
        *op, [](ArrayRef<Number> in) -> int64_t { return EXPRESSION; });       \
  })

static ScalarRule arithmeticOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, ScalarRule>(&op)
      // clang-format off
      REAL(arith::AddFOp, in[0].real + in[1].real)
      REAL(arith::SubFOp, in[0].real - in[1].real)
      REAL(arith::MulFOp, in[0].real * in[1].real)
      REAL(arith::DivFOp, in[0].real / in[1].real)
      REAL(arith::RemFOp, std::fmod(in[0].real, in[1].real))
      REAL(arith::NegFOp, -in[0].real)
      REAL(arith::MaximumFOp, most(in[0].real, in[1].real))
      REAL(arith::MinimumFOp, least(in[0].real, in[1].real))
      REAL(arith::MaxNumFOp, std::fmax(in[0].real, in[1].real))
      REAL(arith::MinNumFOp, std::fmin(in[0].real, in[1].real))
      REAL(math::FmaOp, std::fma(in[0].real, in[1].real, in[2].real))
      REAL(math::PowFOp, std::pow(in[0].real, in[1].real))
      REAL(math::Atan2Op, std::atan2(in[0].real, in[1].real))
      REAL(math::CopySignOp, std::copysign(in[0].real, in[1].real))
      REAL(math::RsqrtOp, 1 / std::sqrt(in[0].real))
      REAL(math::FPowIOp, std::pow(in[0].real, double(in[1].whole)))
      WHOLE(arith::AddIOp, int64_t(uint64_t(in[0].whole) + uint64_t(in[1].whole)))
      WHOLE(arith::SubIOp, int64_t(uint64_t(in[0].whole) - uint64_t(in[1].whole)))
      WHOLE(arith::MulIOp, int64_t(uint64_t(in[0].whole) * uint64_t(in[1].whole)))
      WHOLE(arith::AndIOp, in[0].whole & in[1].whole)
      WHOLE(arith::OrIOp, in[0].whole | in[1].whole)
      WHOLE(arith::XOrIOp, in[0].whole ^ in[1].whole)
      WHOLE(arith::MaxSIOp, std::max(in[0].whole, in[1].whole))
      WHOLE(arith::MinSIOp, std::min(in[0].whole, in[1].whole))
      WHOLE(math::AbsIOp, in[0].whole < 0 ? -in[0].whole : in[0].whole)
      .Default([](Operation *) { return ScalarRule(); });
  // clang-format on
}

/// What compares or chooses.
static ScalarRule choiceOf(Operation &op) {
  if (isa<arith::MaxUIOp, arith::MinUIOp>(op)) {
    Type type = op.getResult(0).getType();
    bool isMost = isa<arith::MaxUIOp>(op);
    return wholeRule(op, [type, isMost](ArrayRef<Number> in) {
      uint64_t x = unsignedOf(type, in[0].whole),
               y = unsignedOf(type, in[1].whole);
      return int64_t(isMost ? std::max(x, y) : std::min(x, y));
    });
  }
  if (isa<math::IsNaNOp>(op))
    return wholeRule(
        op, [](ArrayRef<Number> in) { return std::isnan(in[0].real); });
  if (isa<math::IsInfOp>(op))
    return wholeRule(
        op, [](ArrayRef<Number> in) { return std::isinf(in[0].real); });
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return [predicate = compare.getPredicate()](ArrayRef<Number> in) {
      return whole(holds(predicate, in[0].real, in[1].real));
    };
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return [predicate = compare.getPredicate(),
            type = compare.getLhs().getType()](ArrayRef<Number> in) {
      return whole(holds(predicate, in[0].whole, in[1].whole, type));
    };
  if (isa<arith::SelectOp>(op))
    return [](ArrayRef<Number> in) { return in[0].whole ? in[1] : in[2]; };
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (constant && constant.getType().isIntOrIndexOrFloat())
    return [value = numberOf(constant.getValue())](ArrayRef<Number>) {
      return value;
    };
  return {};
}

ScalarRule interpret::scalarRuleOf(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumRegions() != 0 ||
      !op.getResult(0).getType().isIntOrIndexOrFloat() ||
      !llvm::all_of(op.getOperandTypes(),
                    [](Type type) { return type.isIntOrIndexOrFloat(); }))
    return {};
  for (auto find :
       {arithmeticOf, choiceOf, unaryRule, conversionOf, quotientOf, shiftOf})
    if (ScalarRule rule = find(op))
      return rule;
  return {};
}
