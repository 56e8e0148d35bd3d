// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction's body as instructions of the vector unit. It has exp and
// reciprocals; tanh and erf are made of them, with an absolute error below
// 3e-7. A quotient is a product with a reciprocal: two roundings of f32.
#include "ReadContract.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolic;

namespace {
Reach join(Reach a, Reach b) {
  if (a == Reach::Number)
    return b;
  if (b == Reach::Number)
    return a;
  bool rows = hasRows(a) || hasRows(b),
       columns = hasColumns(a) || hasColumns(b);
  return rows ? (columns ? Reach::Each : Reach::Column)
              : (columns ? Reach::Row : Reach::Element);
}

uint8_t withImmediate(uint8_t funct) {
  switch (funct) {
  case ASHLAR_SYSTOLIC_ADD:
    return ASHLAR_SYSTOLIC_ADD_IMMEDIATE;
  case ASHLAR_SYSTOLIC_MULTIPLY:
    return ASHLAR_SYSTOLIC_MULTIPLY_IMMEDIATE;
  case ASHLAR_SYSTOLIC_MAXIMUM:
    return ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE;
  default:
    return ASHLAR_SYSTOLIC_MINIMUM_IMMEDIATE;
  }
}

/// What is known of a value.
struct Facts {
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
  bool isWhole = false;
};

class EpilogueReader {
public:
  EpilogueReader(tile::ContractOp op, const Machine &machine,
                 Contraction &contraction)
      : op(op), machine(machine), contraction(contraction),
        values(contraction.epilogue.values) {}

  Refusal read();

private:
  int number(double value, bool isInteger);
  int add(EpilogueValue value, Facts facts = {});
  int unary(uint8_t funct, int operand);
  int binary(uint8_t funct, bool onIntegers, int left, int right);
  std::optional<int> simplify(uint8_t funct, int left, double number);
  int immediate(uint8_t funct, int left, double value);
  int narrow(int operand);
  int subtract(bool onIntegers, int left, int right);
  int divide(int left, int right);
  int tanh(int x);
  int erf(int x);
  int roundEven(int x);
  int reduce(uint8_t funct, int operand, ArrayRef<int64_t> dims);
  int select(arith::SelectOp op);
  int readOperand(unsigned i);
  std::optional<int> readFloats(Operation *inner);
  std::optional<int> readFunctions(Operation *inner);
  std::optional<int> readIntegers(Operation *inner);
  std::optional<int> readConversions(Operation *inner);
  int readOp(Operation *inner);
  int valueOf(Value value);
  int leaveToStore(int result);
  void dropUnused();
  Refusal finish(int result);
  void shareValues();
  Refusal leaveToTransfers();
  bool isNumber(int v) const {
    return values[size_t(v)].kind == EpilogueValue::Number;
  }
  int refuse(const Twine &why) {
    if (message.empty())
      message = why.str();
    return 0;
  }

  tile::ContractOp op;
  const Machine &machine;
  Contraction &contraction;
  std::vector<EpilogueValue> &values;
  std::vector<Facts> facts;
  DenseMap<Value, int> known;
  std::string message;
};
} // namespace

int EpilogueReader::add(EpilogueValue value, Facts about) {
  values.push_back(value);
  facts.push_back(about);
  return int(values.size()) - 1;
}

int EpilogueReader::number(double number, bool isInteger) {
  EpilogueValue value;
  value.kind = EpilogueValue::Number;
  value.reach = Reach::Number;
  value.number = number;
  value.isInteger = isInteger;
  return add(value, {number, number, number == std::rint(number)});
}

int EpilogueReader::unary(uint8_t funct, int operand) {
  // A root and its reciprocal are made of each other.
  if (const EpilogueValue &of = values[size_t(operand)];
      funct == ASHLAR_SYSTOLIC_RECIPROCAL && of.kind == EpilogueValue::Result &&
      of.funct == ASHLAR_SYSTOLIC_RECIPROCAL &&
      values[size_t(of.left)].funct == ASHLAR_SYSTOLIC_RECIPROCAL_ROOT)
    return of.left;
  EpilogueValue value;
  value.kind = EpilogueValue::Result;
  value.reach = values[size_t(operand)].reach;
  value.funct = funct;
  value.left = operand;
  value.isInteger =
      funct == ASHLAR_SYSTOLIC_TO_INTEGER ||
      (funct == ASHLAR_SYSTOLIC_COPY && values[size_t(operand)].isInteger);
  value.actsOnIntegers =
      funct == ASHLAR_SYSTOLIC_COPY && values[size_t(operand)].isInteger;
  Facts about;
  if (funct == ASHLAR_SYSTOLIC_TO_INTEGER || funct == ASHLAR_SYSTOLIC_COPY ||
      funct == ASHLAR_SYSTOLIC_TO_FLOAT)
    about = facts[size_t(operand)];
  about.isWhole |= funct == ASHLAR_SYSTOLIC_TO_INTEGER;
  if (value.reach == Reach::Number)
    return refuse("its epilogue computes with numbers alone");
  return add(value, about);
}

int EpilogueReader::binary(uint8_t funct, bool onIntegers, int left,
                           int right) {
  if (isNumber(left) && isNumber(right)) {
    double l = values[size_t(left)].number, r = values[size_t(right)].number;
    return number(funct == ASHLAR_SYSTOLIC_ADD        ? l + r
                  : funct == ASHLAR_SYSTOLIC_MULTIPLY ? l * r
                  : funct == ASHLAR_SYSTOLIC_MAXIMUM  ? std::max(l, r)
                                                      : std::min(l, r),
                  onIntegers);
  }
  Reach all = join(values[size_t(left)].reach, values[size_t(right)].reach);
  // A column, an element or a number can stand on the right alone.
  if (isNumber(left) ||
      (hasColumns(all) && !hasColumns(values[size_t(left)].reach)))
    std::swap(left, right);
  if (isNumber(right) && !onIntegers)
    if (std::optional<int> simpler =
            simplify(funct, left, values[size_t(right)].number))
      return *simpler;
  EpilogueValue value;
  value.kind = EpilogueValue::Result;
  value.reach = all;
  value.funct = isNumber(right) ? withImmediate(funct) : funct;
  value.isInteger = value.actsOnIntegers = onIntegers;
  value.left = left;
  value.right = right;
  Facts about;
  const Facts &l = facts[size_t(left)], &r = facts[size_t(right)];
  if (funct == ASHLAR_SYSTOLIC_MAXIMUM) {
    about = {std::max(l.least, r.least), std::max(l.greatest, r.greatest),
             l.isWhole && r.isWhole};
  } else if (funct == ASHLAR_SYSTOLIC_MINIMUM) {
    about = {std::min(l.least, r.least), std::min(l.greatest, r.greatest),
             l.isWhole && r.isWhole};
  }
  about.isWhole |= onIntegers;
  return add(value, about);
}

static bool isPowerOfTwo(double number) {
  int exponent;
  return std::frexp(number, &exponent) == 0.5 && std::abs(exponent) < 64;
}

/// What a number does to a value in fewer instructions, to the bit.
std::optional<int> EpilogueReader::simplify(uint8_t funct, int left,
                                            double number) {
  auto isResult = [&](int v, uint8_t of) {
    return values[size_t(v)].kind == EpilogueValue::Result &&
           values[size_t(v)].funct == of && !values[size_t(v)].isNarrow;
  };
  auto numberOf = [&](int v) {
    return values[size_t(values[size_t(v)].right)].number;
  };
  // An integer has no negative zero.
  if (funct == ASHLAR_SYSTOLIC_ADD && number == 0 &&
      isResult(left, ASHLAR_SYSTOLIC_TO_FLOAT))
    return left;
  // What follows is for machines that scale on the way out alone.
  if (machine.flags & ASHLAR_SYSTOLIC_EXTENDED ||
      funct != ASHLAR_SYSTOLIC_MULTIPLY || !isPowerOfTwo(number))
    return std::nullopt;
  if (isResult(left, ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE) && numberOf(left) == 0)
    return immediate(
        ASHLAR_SYSTOLIC_MAXIMUM,
        immediate(ASHLAR_SYSTOLIC_MULTIPLY, values[size_t(left)].left, number),
        0);
  if (isResult(left, ASHLAR_SYSTOLIC_MULTIPLY_IMMEDIATE) &&
      isResult(values[size_t(left)].left, ASHLAR_SYSTOLIC_TO_FLOAT) &&
      std::isnormal(float(numberOf(left) * number)))
    return immediate(ASHLAR_SYSTOLIC_MULTIPLY, values[size_t(left)].left,
                     numberOf(left) * number);
  return std::nullopt;
}

int EpilogueReader::immediate(uint8_t funct, int left, double value) {
  return binary(funct, false, left, number(value, false));
}

/// Rounded to the type of inputs, by way of the scratchpad.
int EpilogueReader::narrow(int operand) {
  if (isNumber(operand))
    return operand;
  int copy = unary(ASHLAR_SYSTOLIC_COPY, operand);
  if (!hasRows(values[size_t(copy)].reach))
    return refuse("its epilogue rounds a row to bf16");
  values[size_t(copy)].isNarrow = true;
  return copy;
}

int EpilogueReader::subtract(bool onIntegers, int left, int right) {
  if (isNumber(right))
    return binary(ASHLAR_SYSTOLIC_ADD, onIntegers, left,
                  number(-values[size_t(right)].number, onIntegers));
  Reach all = join(values[size_t(left)].reach, values[size_t(right)].reach);
  if (isNumber(left) ||
      (hasColumns(all) && !hasColumns(values[size_t(left)].reach))) {
    int negative = binary(ASHLAR_SYSTOLIC_MULTIPLY, onIntegers, right,
                          number(-1, onIntegers));
    return binary(ASHLAR_SYSTOLIC_ADD, onIntegers, negative, left);
  }
  int result = binary(ASHLAR_SYSTOLIC_ADD, onIntegers, left, right);
  values[size_t(result)].funct = ASHLAR_SYSTOLIC_SUBTRACT;
  values[size_t(result)].left = left;
  values[size_t(result)].right = right;
  return result;
}

int EpilogueReader::divide(int left, int right) {
  if (isNumber(right)) {
    double divisor = values[size_t(right)].number;
    // Rounded twice, a quotient may come to lie on the other side of a half.
    if (machine.input == ASHLAR_SYSTOLIC_S8 && !isPowerOfTwo(std::abs(divisor)))
      return refuse("its epilogue divides, and what is rounded to whole "
                    "numbers must be exact");
    return binary(ASHLAR_SYSTOLIC_MULTIPLY, false, left,
                  number(double(float(1 / divisor)), false));
  }
  if (machine.input == ASHLAR_SYSTOLIC_S8)
    return refuse("its epilogue divides, and what is rounded to whole numbers "
                  "must be exact");
  int reciprocal = unary(ASHLAR_SYSTOLIC_RECIPROCAL, right);
  if (isNumber(left) && values[size_t(left)].number == 1)
    return reciprocal;
  return binary(ASHLAR_SYSTOLIC_MULTIPLY, false, left, reciprocal);
}

/// 1 - 2 / (1 + exp(2 x)).
int EpilogueReader::tanh(int x) {
  int e = unary(ASHLAR_SYSTOLIC_EXP, immediate(ASHLAR_SYSTOLIC_MULTIPLY, x, 2));
  int r =
      unary(ASHLAR_SYSTOLIC_RECIPROCAL, immediate(ASHLAR_SYSTOLIC_ADD, e, 1));
  return immediate(ASHLAR_SYSTOLIC_ADD,
                   immediate(ASHLAR_SYSTOLIC_MULTIPLY, r, -2), 1);
}

/// Abramowitz and Stegun, 7.1.26: an error of at most 1.5e-7.
int EpilogueReader::erf(int x) {
  int minus = immediate(ASHLAR_SYSTOLIC_MULTIPLY, x, -1);
  int size = binary(ASHLAR_SYSTOLIC_MAXIMUM, false, x, minus);
  int t =
      unary(ASHLAR_SYSTOLIC_RECIPROCAL,
            immediate(ASHLAR_SYSTOLIC_ADD,
                      immediate(ASHLAR_SYSTOLIC_MULTIPLY, size, 0.3275911), 1));
  int p = immediate(ASHLAR_SYSTOLIC_MULTIPLY, t, 1.061405429);
  for (double coefficient :
       {-1.453152027, 1.421413741, -0.284496736, 0.254829592})
    p = binary(ASHLAR_SYSTOLIC_MULTIPLY, false,
               immediate(ASHLAR_SYSTOLIC_ADD, p, coefficient), t);
  int square = binary(ASHLAR_SYSTOLIC_MULTIPLY, false, x, minus);
  int rest = binary(ASHLAR_SYSTOLIC_MULTIPLY, false, p,
                    unary(ASHLAR_SYSTOLIC_EXP, square));
  int positive = immediate(ASHLAR_SYSTOLIC_ADD,
                           immediate(ASHLAR_SYSTOLIC_MULTIPLY, rest, -1), 1);
  // The sign of x, as a factor.
  int sign = immediate(ASHLAR_SYSTOLIC_MULTIPLY, x, 1e30);
  sign = immediate(ASHLAR_SYSTOLIC_MAXIMUM,
                   immediate(ASHLAR_SYSTOLIC_MINIMUM, sign, 1), -1);
  return binary(ASHLAR_SYSTOLIC_MULTIPLY, false, positive, sign);
}

int EpilogueReader::roundEven(int x) {
  int whole = unary(ASHLAR_SYSTOLIC_TO_INTEGER, x);
  return unary(ASHLAR_SYSTOLIC_TO_FLOAT, whole);
}

/// Of the values of a row.
int EpilogueReader::reduce(uint8_t funct, int operand, ArrayRef<int64_t> dims) {
  if (!(machine.flags & ASHLAR_SYSTOLIC_EXTENDED) ||
      machine.input != ASHLAR_SYSTOLIC_BF16)
    return refuse("its epilogue combines the values of a row");
  llvm::SmallDenseSet<unsigned> over(dims.begin(), dims.end());
  for (unsigned d = 0; d < contraction.sizes.size(); ++d)
    if (contraction.sizes[d] > 1 &&
        over.contains(d) != llvm::is_contained(contraction.n, d))
      return refuse("its epilogue combines values of other dims than its "
                    "columns");
  if (contraction.isDepthwise || !contraction.margins.empty() ||
      values[size_t(operand)].reach != Reach::Each)
    return refuse("its epilogue combines what are no rows of results");
  int result = unary(funct, operand);
  values[size_t(result)].reach = Reach::Column;
  return result;
}

/// The larger or the smaller of two.
int EpilogueReader::select(arith::SelectOp op) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return refuse(
        "its epilogue selects by another condition than a comparison");
  Value l = compare.getLhs(), r = compare.getRhs();
  bool isSame = op.getTrueValue() == l && op.getFalseValue() == r;
  bool isSwapped = op.getTrueValue() == r && op.getFalseValue() == l;
  bool takesLarger;
  switch (compare.getPredicate()) {
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGT:
  case arith::CmpFPredicate::UGE:
    takesLarger = isSame;
    break;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULT:
  case arith::CmpFPredicate::ULE:
    takesLarger = isSwapped;
    break;
  default:
    isSame = isSwapped = false;
  }
  if (!isSame && !isSwapped)
    return refuse("its epilogue selects something else than the larger or the "
                  "smaller of two values");
  return binary(takesLarger ? ASHLAR_SYSTOLIC_MAXIMUM : ASHLAR_SYSTOLIC_MINIMUM,
                false, valueOf(l), valueOf(r));
}

int EpilogueReader::readOperand(unsigned i) {
  const Access &access = contraction.operands[i];
  bool rows = false, columns = false;
  for (unsigned d : contraction.m)
    rows |= access.strides[d] && contraction.sizes[d] > 1;
  for (unsigned d : contraction.n)
    columns |= access.strides[d] && contraction.sizes[d] > 1;
  EpilogueValue value;
  value.kind = EpilogueValue::Operand;
  value.operand = i;
  value.reach = rows ? (columns ? Reach::Each : Reach::Column)
                     : (columns ? Reach::Row : Reach::Element);
  value.isInteger =
      access.element == Element::S8 || access.element == Element::S32;
  Facts about;
  about.isWhole = value.isInteger;
  if (access.element == Element::S8)
    about = {-128, 127, true};
  bool isBF16 = machine.input == ASHLAR_SYSTOLIC_BF16;
  if (!systolic::isWide(access.element) &&
      (access.element == Element::BF16) != isBF16)
    return refuse("its epilogue reads a type that the scratchpad does not "
                  "hold");
  return add(value, about);
}

int EpilogueReader::valueOf(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  int result = 0;
  FloatAttr floating;
  IntegerAttr integer;
  if (matchPattern(value, m_Constant(&floating)))
    result = number(floating.getValueAsDouble(), false);
  else if (matchPattern(value, m_Constant(&integer)))
    result = number(double(integer.getInt()), true);
  else if (auto argument = dyn_cast<BlockArgument>(value))
    result = argument.getArgNumber() == 0
                 ? 0
                 : readOperand(argument.getArgNumber() - 1);
  else if (message.empty())
    result = readOp(value.getDefiningOp());
  known[value] = result;
  return result;
}

/// Sums, products and the like of floats; none: it is something else.
std::optional<int> EpilogueReader::readFloats(Operation *inner) {
  auto operand = [&](unsigned i) { return valueOf(inner->getOperand(i)); };
  auto rounded = [&](int result) {
    return inner->getResult(0).getType().isBF16() ? narrow(result) : result;
  };
  auto combine = [&](uint8_t funct) -> std::optional<int> {
    return rounded(binary(funct, false, operand(0), operand(1)));
  };
  return llvm::TypeSwitch<Operation *, std::optional<int>>(inner)
      .Case<arith::AddFOp>([&](auto) { return combine(ASHLAR_SYSTOLIC_ADD); })
      .Case<arith::MulFOp>(
          [&](auto) { return combine(ASHLAR_SYSTOLIC_MULTIPLY); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return combine(ASHLAR_SYSTOLIC_MAXIMUM); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return combine(ASHLAR_SYSTOLIC_MINIMUM); })
      .Case<arith::SubFOp>([&](auto) {
        return rounded(subtract(false, operand(0), operand(1)));
      })
      .Case<arith::DivFOp>(
          [&](auto) { return rounded(divide(operand(0), operand(1))); })
      .Case<arith::NegFOp>([&](auto) {
        return immediate(ASHLAR_SYSTOLIC_MULTIPLY, operand(0), -1);
      })
      .Case<math::AbsFOp>([&](auto) {
        int x = operand(0);
        return binary(ASHLAR_SYSTOLIC_MAXIMUM, false, x,
                      immediate(ASHLAR_SYSTOLIC_MULTIPLY, x, -1));
      })
      .Case<math::FmaOp>([&](auto) {
        int product =
            binary(ASHLAR_SYSTOLIC_MULTIPLY, false, operand(0), operand(1));
        return binary(ASHLAR_SYSTOLIC_ADD, false, product, operand(2));
      })
      .Case<arith::SelectOp>([&](auto op) { return select(op); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Functions of one value, and what combines a row's.
std::optional<int> EpilogueReader::readFunctions(Operation *inner) {
  auto operand = [&] { return valueOf(inner->getOperand(0)); };
  return llvm::TypeSwitch<Operation *, std::optional<int>>(inner)
      .Case<math::ExpOp>(
          [&](auto) { return unary(ASHLAR_SYSTOLIC_EXP, operand()); })
      .Case<math::RsqrtOp>([&](auto) {
        return unary(ASHLAR_SYSTOLIC_RECIPROCAL_ROOT, operand());
      })
      .Case<math::SqrtOp>([&](auto) {
        return unary(ASHLAR_SYSTOLIC_RECIPROCAL,
                     unary(ASHLAR_SYSTOLIC_RECIPROCAL_ROOT, operand()));
      })
      .Case<math::TanhOp>([&](auto) { return tanh(operand()); })
      .Case<math::ErfOp>([&](auto) { return erf(operand()); })
      .Case<math::RoundEvenOp>([&](auto) { return roundEven(operand()); })
      .Case<tile::RowSumOp>([&](auto op) {
        return reduce(ASHLAR_SYSTOLIC_ROW_SUM, operand(), op.getDims());
      })
      .Case<tile::RowMaximumOp>([&](auto op) {
        return reduce(ASHLAR_SYSTOLIC_ROW_MAXIMUM, operand(), op.getDims());
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int> EpilogueReader::readIntegers(Operation *inner) {
  bool isWord = inner->getResult(0).getType().isInteger(32);
  auto operand = [&](unsigned i) { return valueOf(inner->getOperand(i)); };
  auto combine = [&](uint8_t funct) -> std::optional<int> {
    if (!isWord)
      return refuse("its epilogue computes with integers of another size than "
                    "32 bits");
    return binary(funct, true, operand(0), operand(1));
  };
  return llvm::TypeSwitch<Operation *, std::optional<int>>(inner)
      .Case<arith::AddIOp>([&](auto) { return combine(ASHLAR_SYSTOLIC_ADD); })
      .Case<arith::MulIOp>(
          [&](auto) { return combine(ASHLAR_SYSTOLIC_MULTIPLY); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return combine(ASHLAR_SYSTOLIC_MAXIMUM); })
      .Case<arith::MinSIOp>(
          [&](auto) { return combine(ASHLAR_SYSTOLIC_MINIMUM); })
      .Case<arith::SubIOp>([&](auto) {
        return isWord ? subtract(true, operand(0), operand(1))
                      : refuse("its epilogue subtracts bytes");
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int> EpilogueReader::readConversions(Operation *inner) {
  Type type = inner->getResult(0).getType();
  auto operand = [&] { return valueOf(inner->getOperand(0)); };
  auto fitsByte = [&](int x) {
    const Facts &about = facts[size_t(x)];
    return about.least >= -128 && about.greatest <= 127;
  };
  return llvm::TypeSwitch<Operation *, std::optional<int>>(inner)
      .Case<arith::ExtFOp, arith::ExtSIOp>([&](auto) { return operand(); })
      .Case<arith::TruncFOp>([&](auto) { return narrow(operand()); })
      .Case<arith::SIToFPOp>(
          [&](auto) { return unary(ASHLAR_SYSTOLIC_TO_FLOAT, operand()); })
      .Case<arith::FPToSIOp>([&](auto) {
        int x = operand();
        if (!facts[size_t(x)].isWhole)
          return refuse("its epilogue cuts fractions off");
        if (type.isInteger(8) && !fitsByte(x))
          return refuse("its epilogue narrows what is not known to fit");
        return unary(ASHLAR_SYSTOLIC_TO_INTEGER, x);
      })
      .Case<arith::TruncIOp>([&](auto) {
        int x = operand();
        if (!type.isInteger(8) || !fitsByte(x))
          return refuse("its epilogue narrows what is not known to fit");
        return x;
      })
      .Default([](Operation *) { return std::nullopt; });
}

int EpilogueReader::readOp(Operation *inner) {
  Type type = inner->getResult(0).getType();
  bool isKnown =
      type.isF32() || type.isBF16() || type.isInteger(32) || type.isInteger(8);
  if (!isKnown)
    return refuse("its epilogue computes with another type than f32, bf16, i32 "
                  "and i8");
  for (auto read :
       {&EpilogueReader::readFloats, &EpilogueReader::readFunctions,
        &EpilogueReader::readIntegers, &EpilogueReader::readConversions})
    if (std::optional<int> value = (this->*read)(inner))
      return *value;
  return refuse("the vector unit has no " + inner->getName().getStringRef());
}

/// What is computed twice is computed once.
void EpilogueReader::shareValues() {
  std::vector<int> same(values.size());
  auto isSame = [](const EpilogueValue &a, const EpilogueValue &b) {
    return a.kind == b.kind && a.kind != EpilogueValue::Sum &&
           a.isInteger == b.isInteger && a.isNarrow == b.isNarrow &&
           a.operand == b.operand && a.number == b.number &&
           std::signbit(a.number) == std::signbit(b.number) &&
           a.funct == b.funct && a.actsOnIntegers == b.actsOnIntegers &&
           a.left == b.left && a.right == b.right;
  };
  for (size_t v = 0; v < values.size(); ++v) {
    for (int *operand : {&values[v].left, &values[v].right})
      if (*operand >= 0)
        *operand = same[size_t(*operand)];
    same[v] = int(v);
    for (size_t before = 0; before < v; ++before)
      if (isSame(values[before], values[v])) {
        same[v] = int(before);
        break;
      }
  }
  contraction.epilogue.result = same[size_t(contraction.epilogue.result)];
}

/// Without what the mvout does on its way: the last rounding, saturation and
/// relu. Between zero and something larger, relu comes last in either order.
int EpilogueReader::leaveToStore(int result) {
  auto isResult = [&](uint8_t funct) {
    const EpilogueValue &value = values[size_t(result)];
    return value.kind == EpilogueValue::Result && value.funct == funct;
  };
  auto immediateOf = [&] {
    return values[size_t(values[size_t(result)].right)].number;
  };
  bool narrows = !systolic::isWide(contraction.result.element);
  // The last rounding is that of the mvout.
  if (narrows && isResult(ASHLAR_SYSTOLIC_COPY) &&
      values[size_t(result)].isNarrow)
    result = values[size_t(result)].left;
  if (values[size_t(result)].isNarrow && !narrows) {
    // Narrow and wide again: it lies in the scratchpad.
    result = unary(ASHLAR_SYSTOLIC_COPY, result);
  }
  bool isS8 = contraction.result.element == Element::S8;
  while (
      isS8 &&
      ((isResult(ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE) && immediateOf() <= -128) ||
       (isResult(ASHLAR_SYSTOLIC_MINIMUM_IMMEDIATE) && immediateOf() >= 127)))
    result = values[size_t(result)].left;
  if (narrows && isResult(ASHLAR_SYSTOLIC_MINIMUM_IMMEDIATE) &&
      immediateOf() >= 0) {
    double most = immediateOf();
    int clipped = values[size_t(result)].left;
    const EpilogueValue &inner = values[size_t(clipped)];
    if (inner.kind == EpilogueValue::Result &&
        inner.funct == ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE && !inner.isNarrow &&
        values[size_t(inner.right)].number == 0) {
      bool onIntegers = inner.actsOnIntegers;
      int least = number(0, onIntegers);
      result = binary(ASHLAR_SYSTOLIC_MINIMUM, onIntegers,
                      values[size_t(clipped)].left, number(most, onIntegers));
      result = binary(ASHLAR_SYSTOLIC_MAXIMUM, onIntegers, result, least);
    }
  }
  if (narrows && !contraction.unrounded &&
      isResult(ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE) && immediateOf() == 0) {
    contraction.epilogue.relu = true;
    result = values[size_t(result)].left;
  }
  return result;
}

/// What nobody needs is not computed.
void EpilogueReader::dropUnused() {
  Epilogue &epilogue = contraction.epilogue;
  std::vector<bool> isUsed(values.size(), false);
  isUsed[size_t(epilogue.result)] = true;
  std::vector<int> place(values.size(), -1);
  for (int v = int(values.size()); v-- > 0;)
    if (isUsed[size_t(v)] && values[size_t(v)].kind == EpilogueValue::Result)
      for (int operand : {values[size_t(v)].left, values[size_t(v)].right})
        if (operand >= 0)
          isUsed[size_t(operand)] = true;
  isUsed[0] = true;
  std::vector<EpilogueValue> used;
  for (size_t v = 0; v < values.size(); ++v) {
    if (!isUsed[v])
      continue;
    place[v] = int(used.size());
    EpilogueValue value = values[v];
    if (value.left >= 0)
      value.left = place[size_t(value.left)];
    if (value.right >= 0)
      value.right = place[size_t(value.right)];
    used.push_back(value);
  }
  epilogue.result = place[size_t(epilogue.result)];
  values = used;
}

/// Leaves to the mvout what it does on its way.
Refusal EpilogueReader::finish(int result) {
  result = leaveToStore(result);
  bool isS8 = contraction.result.element == Element::S8;
  if (isS8 && !values[size_t(result)].isInteger)
    return "its epilogue stores bytes that are no integers";
  // The block itself holds what is stored.
  const EpilogueValue &last = values[size_t(result)];
  if (last.reach != Reach::Each)
    return "its epilogue does not depend on the sums";
  if (result != 0 && last.kind != EpilogueValue::Result)
    result = unary(ASHLAR_SYSTOLIC_COPY, result);
  if (result != 0)
    values[size_t(result)].isNarrow = false;
  contraction.epilogue.result = result;
  shareValues();
  dropUnused();
  if (machine.flags & ASHLAR_SYSTOLIC_EXTENDED)
    return std::nullopt;
  return leaveToTransfers();
}

/// Without a vector unit: a bias comes with the mvin, a scale, rounding,
/// saturation and relu with the mvout, and nothing else.
Refusal EpilogueReader::leaveToTransfers() {
  Epilogue &epilogue = contraction.epilogue;
  const char *why =
      "its epilogue needs a vector unit, which the machine does not have";
  int v = epilogue.result;
  auto at = [&]() -> const EpilogueValue & { return values[size_t(v)]; };
  auto immediate = [&] { return values[size_t(at().right)].number; };
  if (contraction.result.element == Element::S8) {
    // What rounds and clamps, in any order; then the scale.
    for (bool more = true; more;) {
      more = false;
      switch (at().funct) {
      case ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE:
        if (immediate() != 0 && immediate() > -128)
          return why;
        epilogue.relu |= immediate() == 0;
        more = true;
        break;
      case ASHLAR_SYSTOLIC_MINIMUM_IMMEDIATE:
        if (immediate() < 127)
          return why;
        more = true;
        break;
      case ASHLAR_SYSTOLIC_TO_INTEGER:
        more = true;
        break;
      case ASHLAR_SYSTOLIC_TO_FLOAT:
        // Of what was rounded; of the sums it comes behind the scale.
        more = values[size_t(at().left)].funct == ASHLAR_SYSTOLIC_TO_INTEGER;
        break;
      default:
        break;
      }
      if (more)
        v = at().left;
    }
    if (at().funct == ASHLAR_SYSTOLIC_MULTIPLY_IMMEDIATE &&
        !at().actsOnIntegers) {
      epilogue.scale = float(immediate());
      // The machine activates sums and scales what is left.
      if (epilogue.relu && !(epilogue.scale >= 0))
        return "its epilogue has a relu behind a negative scale, and the "
               "machine scales last";
      v = at().left;
      if (at().funct != ASHLAR_SYSTOLIC_TO_FLOAT)
        return why;
      v = at().left;
    }
  }
  if (at().funct == ASHLAR_SYSTOLIC_ADD && at().actsOnIntegers &&
      at().left == 0 &&
      values[size_t(at().right)].kind == EpilogueValue::Operand) {
    const EpilogueValue &added = values[size_t(at().right)];
    Element element = contraction.operands[added.operand].element;
    if (contraction.isSum)
      epilogue.addend = int(added.operand);
    else if (added.reach == Reach::Row && element == Element::S32)
      epilogue.bias = int(added.operand);
    else
      return why;
    v = 0;
  }
  if (v != 0)
    return why;
  values.resize(1);
  epilogue.result = 0;
  return std::nullopt;
}

Refusal EpilogueReader::read() {
  EpilogueValue sum;
  sum.isInteger = machine.input == ASHLAR_SYSTOLIC_S8;
  Facts about;
  about.isWhole = sum.isInteger;
  add(sum, about);
  int result = valueOf(op.getYield().getValue());
  if (!message.empty())
    return message;
  return finish(result);
}

Refusal ashlar::systolic::readEpilogue(tile::ContractOp op,
                                       const Machine &machine,
                                       Contraction &contraction) {
  return EpilogueReader(op, machine, contraction).read();
}
