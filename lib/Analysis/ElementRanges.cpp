// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between which bounds the elements of tensors lie: exactly for the few numbers
// that shapes are computed from, as one range for all elements of others.
// Bodies of ops are run on ranges (BodyRanges) by upstream's interfaces.
#include "ashlar/Analysis/ElementRanges.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace ashlar;

/// Sizes are computed by few steps on few numbers: what takes more is a range
/// of its own.
static constexpr int64_t maximumElements = 256, maximumWork = 4096;
static constexpr unsigned maximumDepth = 128;

static constexpr double infinity = std::numeric_limits<double>::infinity();

static unsigned bitsOf(Type type) {
  return ConstantIntRanges::getStorageBitwidth(type);
}

ElementRange ElementRange::any(Type type) {
  return {ConstantIntRanges::maxRange(bitsOf(type)), -infinity, infinity};
}

ElementRange ElementRange::constant(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    APInt value = integer.getValue();
    return {ConstantIntRanges::constant(value)};
  }
  ElementRange result = any(Float32Type::get(attribute.getContext()));
  auto number = dyn_cast<FloatAttr>(attribute);
  if (number && !number.getValue().isNaN())
    result.low = result.high = number.getValueAsDouble();
  return result;
}

static ElementRange unite(const ElementRange &x, const ElementRange &y) {
  bool isSame = x.copyOf == y.copyOf && x.more == y.more;
  return {x.integer.rangeUnion(y.integer), std::min(x.low, y.low),
          std::max(x.high, y.high), isSame ? x.copyOf : Value(),
          isSame ? x.more : 0};
}

/// The integer that a range is, if it is one.
static std::optional<int64_t> constantIn(const ElementRange &range) {
  std::optional<APInt> known = range.integer.getConstantValue();
  return known && known->getSignificantBits() <= 64
             ? std::optional(known->getSExtValue())
             : std::nullopt;
}

/// Remembers that `range` is `of` and a number more, where adding it never
/// leaves the type.
static void noteSum(ElementRange &range, const ElementRange &of, int64_t more) {
  int64_t low, high, sum;
  unsigned bits = of.integer.smin().getBitWidth();
  if (!of.copyOf || bits > 64 ||
      llvm::AddOverflow(of.integer.smin().getSExtValue(), more, low) ||
      llvm::AddOverflow(of.integer.smax().getSExtValue(), more, high) ||
      llvm::AddOverflow(of.more, more, sum) || !llvm::isIntN(bits, low) ||
      !llvm::isIntN(bits, high))
    return;
  range.copyOf = of.copyOf;
  range.more = sum;
}

/// What a float of less than 64 bits may have been rounded to.
static ElementRange rounded(double low, double high, Type type) {
  ElementRange result = ElementRange::any(type);
  if (std::isnan(low) || std::isnan(high))
    return result;
  double slack = type.isF64() ? 1e-15 : type.isF32() ? 1e-6 : 1e-2;
  result.low = low - std::abs(low) * slack;
  result.high = high + std::abs(high) * slack;
  return result;
}

namespace ashlar {
/// The ranges of a body's values, for one place or for all of them.
class BodyRanges {
public:
  BodyRanges(ElementRanges &ranges,
             llvm::function_ref<ElementRange(unsigned)> indexOf)
      : ranges(ranges), indexOf(indexOf) {}

  void set(Value value, ElementRange range) {
    scope.insert_or_assign(value, range);
  }
  ElementRange get(Value value) {
    if (auto it = scope.find(value); it != scope.end())
      return it->second;
    Attribute attribute;
    if (matchPattern(value, m_Constant(&attribute)) &&
        isa<IntegerAttr, FloatAttr>(attribute))
      return ElementRange::constant(attribute);
    return ElementRange::any(value.getType());
  }

  /// What the body yields.
  SmallVector<ElementRange> run(Block &body) {
    for (Operation &op : body.without_terminator()) {
      if (op.hasTrait<OpTrait::ConstantLike>())
        continue; // get() reads it
      if (auto index = dyn_cast<linalg::IndexOp>(op))
        set(index, indexOf(index.getDim()));
      else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
        set(extract, element(extract));
      else if (op.getNumRegions() == 0 && op.getNumResults() == 1 &&
               isa<FloatType>(op.getResult(0).getType()))
        set(op.getResult(0), floatResult(op));
      else if (op.getNumRegions() == 0 && op.getNumResults() == 1)
        set(op.getResult(0), integerResult(op));
    }
    SmallVector<ElementRange> yielded;
    for (Value value : body.getTerminator()->getOperands())
      yielded.push_back(get(value));
    return yielded;
  }

private:
  ElementRange element(tensor::ExtractOp op) {
    ArrayRef<ElementRange> all = ranges.evaluate(op.getTensor());
    auto type = dyn_cast<RankedTensorType>(op.getTensor().getType());
    if (all.empty() || !type)
      return ElementRange::any(op.getType());
    int64_t place = 0;
    for (auto [index, dim] : llvm::zip(op.getIndices(), type.getShape())) {
      std::optional<APInt> at = get(index).integer.getConstantValue();
      if (!at || at->uge(dim))
        return all.size() == 1 ? all[0] : uniteAll(all);
      place = place * dim + at->getZExtValue();
    }
    return all.size() == 1 ? all[0] : all[place];
  }

  static ElementRange uniteAll(ArrayRef<ElementRange> all) {
    ElementRange result = all.front();
    for (const ElementRange &other : all.drop_front())
      result = unite(result, other);
    return result;
  }

  ElementRange floatResult(Operation &op) {
    Type type = op.getResult(0).getType();
    SmallVector<ElementRange> x;
    for (Value operand : op.getOperands())
      x.push_back(get(operand));
    auto corners = [&](auto function) {
      double low = infinity, high = -infinity;
      for (double a : {x[0].low, x[0].high})
        for (double b : {x[1].low, x[1].high}) {
          double value = function(a, b);
          if (std::isnan(value))
            return ElementRange::any(type);
          low = std::min(low, value);
          high = std::max(high, value);
        }
      return rounded(low, high, type);
    };
    auto monotone = [&](double (*function)(double)) {
      ElementRange result = ElementRange::any(type);
      result.low = function(x[0].low);
      result.high = function(x[0].high);
      return result;
    };
    return llvm::TypeSwitch<Operation *, ElementRange>(&op)
        .Case<arith::AddFOp>([&](auto) {
          return corners([](double a, double b) { return a + b; });
        })
        .Case<arith::SubFOp>([&](auto) {
          return corners([](double a, double b) { return a - b; });
        })
        .Case<arith::MulFOp>([&](auto) {
          return corners([](double a, double b) { return a * b; });
        })
        .Case<arith::DivFOp>([&](auto) {
          if (x[1].low <= 0 && x[1].high >= 0)
            return ElementRange::any(type);
          return corners([](double a, double b) { return a / b; });
        })
        .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) {
          return corners([](double a, double b) { return std::max(a, b); });
        })
        .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) {
          return corners([](double a, double b) { return std::min(a, b); });
        })
        .Case<math::CeilOp>([&](auto) { return monotone(std::ceil); })
        .Case<math::FloorOp>([&](auto) { return monotone(std::floor); })
        .Case<math::TruncOp>([&](auto) { return monotone(std::trunc); })
        .Case<math::RoundEvenOp>([&](auto) { return monotone(std::nearbyint); })
        .Case<math::RoundOp>([&](auto) {
          ElementRange result = monotone(std::round);
          result.low -= 1;
          result.high += 1;
          return result;
        })
        .Case<arith::ExtFOp>([&](auto) { return x[0]; })
        .Case<arith::TruncFOp>(
            [&](auto) { return rounded(x[0].low, x[0].high, type); })
        .Case<arith::SIToFPOp>([&](auto) {
          return rounded(x[0].integer.smin().roundToDouble(true),
                         x[0].integer.smax().roundToDouble(true), type);
        })
        .Case<arith::UIToFPOp>([&](auto) {
          return rounded(x[0].integer.umin().roundToDouble(false),
                         x[0].integer.umax().roundToDouble(false), type);
        })
        .Case([&](arith::SelectOp select) {
          if (std::optional<APInt> known = x[0].integer.getConstantValue())
            return known->isZero() ? x[2] : x[1];
          return unite(x[1], x[2]);
        })
        .Default([&](Operation *) { return ElementRange::any(type); });
  }

  /// Whether a comparison is the same for all floats in the ranges.
  static std::optional<bool> compare(arith::CmpFPredicate predicate,
                                     const ElementRange &x,
                                     const ElementRange &y) {
    bool isBelow = x.high<y.low, isAbove = x.low> y.high;
    // Ranges without bounds may stand for what is no number.
    if (!std::isfinite(x.low + x.high + y.low + y.high))
      return std::nullopt;
    switch (predicate) {
    case arith::CmpFPredicate::UNO:
      return false;
    case arith::CmpFPredicate::ORD:
      return true;
    case arith::CmpFPredicate::OGT:
    case arith::CmpFPredicate::UGT:
    case arith::CmpFPredicate::OGE:
    case arith::CmpFPredicate::UGE:
      return isAbove   ? std::optional(true)
             : isBelow ? std::optional(false)
                       : std::nullopt;
    case arith::CmpFPredicate::OLT:
    case arith::CmpFPredicate::ULT:
    case arith::CmpFPredicate::OLE:
    case arith::CmpFPredicate::ULE:
      return isBelow   ? std::optional(true)
             : isAbove ? std::optional(false)
                       : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  ElementRange integerResult(Operation &op) {
    Value value = op.getResult(0);
    ElementRange result = ElementRange::any(value.getType());
    SmallVector<ElementRange> x;
    SmallVector<IntegerValueRange> operands;
    for (Value operand : op.getOperands()) {
      x.push_back(get(operand));
      operands.emplace_back(x.back().integer);
    }
    if (auto compared = dyn_cast<arith::CmpFOp>(op)) {
      if (auto same = compare(compared.getPredicate(), x[0], x[1]))
        result.integer = ConstantIntRanges::constant(APInt(1, *same));
      return result;
    }
    unsigned bits = bitsOf(value.getType());
    if (isa<arith::FPToSIOp>(op) && bits <= 32) {
      // Towards zero.
      double limit = std::ldexp(1.0, bits - 1), low = std::trunc(x[0].low),
             high = std::trunc(x[0].high);
      if (low >= -limit && high < limit)
        result.integer = ConstantIntRanges::fromSigned(
            APInt(bits, int64_t(low), true), APInt(bits, int64_t(high), true));
      return result;
    }
    if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
      double limit = std::ldexp(1.0, bits - 2);
      if (x[0].low > -limit && x[0].high < limit)
        result.integer = ConstantIntRanges::fromSigned(
            APInt(bits, int64_t(std::floor(x[0].low)), true),
            APInt(bits, int64_t(std::ceil(x[0].high)), true));
      return result;
    }
    auto inferable = dyn_cast<InferIntRangeInterface>(op);
    if (!inferable)
      return result;
    inferable.inferResultRangesFromOptional(
        operands, [&](Value of, const IntegerValueRange &range) {
          if (of == value && !range.isUninitialized())
            result.integer = range.getValue();
        });
    copy(op, x, result);
    return result;
  }

  /// Where an op gives one of its operands, whatever that is, or a number more
  /// than it; and what is between two that differ so.
  static void copy(Operation &op, ArrayRef<ElementRange> x,
                   ElementRange &result) {
    if (isa<arith::SubIOp>(op) && x[0].copyOf && x[0].copyOf == x[1].copyOf) {
      int64_t between;
      if (!llvm::SubOverflow(x[0].more, x[1].more, between))
        result.integer = ConstantIntRanges::constant(
            APInt(result.integer.smin().getBitWidth(), between, true, true));
      return;
    }
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      std::optional<int64_t> left = constantIn(x[0]), right = constantIn(x[1]);
      bool isSum = isa<arith::AddIOp>(op);
      if (right && (isSum || *right != std::numeric_limits<int64_t>::min()))
        noteSum(result, x[0], isSum ? *right : -*right);
      else if (left && isSum)
        noteSum(result, x[1], *left);
      return;
    }
    if (const ElementRange *same = copied(op, x, result)) {
      result.copyOf = same->copyOf;
      result.more = same->more;
    }
  }

  /// The operand that an op gives as it is, or null.
  static const ElementRange *copied(Operation &op, ArrayRef<ElementRange> x,
                                    const ElementRange &result) {
    auto is = [](const ElementRange &range, int64_t value) {
      return constantIn(range) == value;
    };
    using Choice = const ElementRange *;
    return llvm::TypeSwitch<Operation *, Choice>(&op)
        .Case<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp,
              arith::TruncIOp>([&](auto) {
          auto bits = [&](const ElementRange &range) {
            return range.integer.smin().sextOrTrunc(64) ==
                       x[0].integer.smin().sextOrTrunc(64) &&
                   range.integer.smax().sextOrTrunc(64) ==
                       x[0].integer.smax().sextOrTrunc(64);
          };
          return bits(result) ? &x[0] : Choice();
        })
        .Case<arith::MulIOp>([&](auto) {
          return is(x[1], 1) ? &x[0] : is(x[0], 1) ? &x[1] : Choice();
        })
        .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
              arith::CeilDivSIOp>(
            [&](auto) { return is(x[1], 1) ? &x[0] : Choice(); })
        .Case<arith::MaxSIOp>([&](auto) {
          return x[0].integer.smin().sge(x[1].integer.smax())   ? &x[0]
                 : x[1].integer.smin().sge(x[0].integer.smax()) ? &x[1]
                                                                : Choice();
        })
        .Case<arith::MinSIOp>([&](auto) {
          return x[0].integer.smax().sle(x[1].integer.smin())   ? &x[0]
                 : x[1].integer.smax().sle(x[0].integer.smin()) ? &x[1]
                                                                : Choice();
        })
        .Case([&](arith::SelectOp) {
          if (std::optional<APInt> known = x[0].integer.getConstantValue())
            return known->isZero() ? &x[2] : &x[1];
          return x[1].copyOf == x[2].copyOf && x[1].more == x[2].more
                     ? &x[1]
                     : Choice();
        })
        .Default([](Operation *) { return Choice(); });
  }

  ElementRanges &ranges;
  llvm::function_ref<ElementRange(unsigned)> indexOf;
  DenseMap<Value, ElementRange> scope;
};
} // namespace ashlar

void ElementRanges::note(Value value, int64_t low, int64_t high) {
  noted[value] = {low, high};
  // What was found without it may be found better.
  known.clear();
}

ArrayRef<ElementRange> ElementRanges::evaluate(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  if (depth == maximumDepth)
    return {};
  ++depth;
  Elements elements = compute(value);
  --depth;
  return known[value] = std::move(elements);
}

/// The elements of `source` at the places that those of a tensor come from.
ElementRanges::Elements
ElementRanges::pick(Value source, ArrayRef<int64_t> shape,
                    llvm::function_ref<int64_t(ArrayRef<int64_t>)> place) {
  Elements from(evaluate(source));
  int64_t count = ShapedType::getNumElements(shape);
  if (from.size() <= 1 || count > maximumElements)
    return from.size() <= 1 ? from : Elements();
  Elements result;
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i != count; ++i) {
    int64_t at = place(index);
    if (at < 0 || at >= int64_t(from.size()))
      return {};
    result.push_back(from[at]);
    for (int64_t d = shape.size() - 1; d >= 0; --d) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return result;
}

namespace {
/// The steps of a linalg op's loops: of all, and of those that do not stand for
/// a dim of the result.
struct LoopSteps {
  int64_t all = 1, folds = 1;
  bool isFew = true; ///< of all
};
} // namespace

/// Nothing where those that do not stand for a dim are too many.
static std::optional<LoopSteps> countSteps(linalg::LinalgOp op,
                                           ArrayRef<int64_t> loops) {
  LoopSteps steps;
  for (auto [loop, kind] : llvm::zip(loops, op.getIteratorTypesArray())) {
    steps.isFew &= !llvm::MulOverflow(steps.all, loop, steps.all) &&
                   steps.all <= maximumWork;
    if (kind != utils::IteratorType::parallel &&
        (llvm::MulOverflow(steps.folds, loop, steps.folds) ||
         steps.folds > maximumWork))
      return std::nullopt;
  }
  return steps;
}

/// What the op's body reads of each operand; empty: not known.
static SmallVector<SmallVector<ElementRange, 1>>
operandsOf(linalg::LinalgOp op, ElementRanges &ranges) {
  SmallVector<SmallVector<ElementRange, 1>> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Attribute scalar;
    operands.emplace_back();
    if (isa<RankedTensorType>(operand.get().getType())) {
      if (op.payloadUsesValueFromOperand(&operand))
        llvm::append_range(operands.back(), ranges.evaluate(operand.get()));
    } else if (matchPattern(operand.get(), m_Constant(&scalar)) &&
               isa<IntegerAttr, FloatAttr>(scalar)) {
      operands.back().push_back(ElementRange::constant(scalar));
    } else {
      operands.back().push_back(ElementRange::any(operand.get().getType()));
    }
  }
  return operands;
}

/// The next index in row-major order.
static void advance(SmallVectorImpl<int64_t> &index, ArrayRef<int64_t> sizes) {
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    if (++index[d] < sizes[d])
      return;
    index[d] = 0;
  }
}

/// Which element of a tensor an index of the loops reads.
static int64_t placeOf(AffineMap map, ArrayRef<int64_t> index, Type tensor) {
  int64_t place = 0;
  for (auto [at, dim] :
       llvm::zip(map.compose(index), cast<RankedTensorType>(tensor).getShape()))
    place = place * dim + at;
  return place;
}

/// Runs the body for each index. False: a result has too many elements.
static bool
runAllSteps(linalg::LinalgOp op, ArrayRef<int64_t> loops, int64_t steps,
            ElementRanges &known,
            SmallVectorImpl<SmallVector<ElementRange, 1>> &operands) {
  Block &body = *op.getBlock();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned inputs = op.getNumDpsInputs();
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto shaped = dyn_cast<RankedTensorType>(op->getOperand(i).getType());
    int64_t count = shaped ? shaped.getNumElements() : 1;
    if (i >= inputs && count > maximumElements)
      return false;
    if (operand.empty())
      operand.push_back(ElementRange::any(body.getArgument(i).getType()));
    if (i >= inputs && operand.size() == 1)
      operand.resize(count, ElementRange(operand[0]));
  }
  SmallVector<int64_t> index(loops.size(), 0);
  for (int64_t step = 0; step != steps; ++step, advance(index, loops)) {
    auto indexOf = [&](unsigned dim) -> ElementRange {
      return {ConstantIntRanges::constant(APInt(64, index[dim]))};
    };
    BodyRanges ranges(known, indexOf);
    SmallVector<int64_t> places;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      places.push_back(operand.size() > 1 ? placeOf(maps[i], index,
                                                    op->getOperand(i).getType())
                                          : 0);
      ranges.set(body.getArgument(i), operand[places.back()]);
    }
    for (auto [i, range] : llvm::enumerate(ranges.run(body)))
      operands[inputs + i][places[inputs + i]] = range;
  }
  return true;
}

/// One element stands for all, be it where it may; `folds` of them come
/// together in one.
static SmallVector<ElementRange>
runForAny(linalg::LinalgOp op, ArrayRef<int64_t> loops, int64_t folds,
          ElementRanges &known,
          ArrayRef<SmallVector<ElementRange, 1>> operands) {
  Block &body = *op.getBlock();
  SmallVector<ElementRange> all;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    all.push_back(operand.empty()
                      ? ElementRange::any(body.getArgument(i).getType())
                      : operand[0]);
    for (const ElementRange &other :
         ArrayRef(operand).drop_front(operand.empty() ? 0 : 1))
      all.back() = unite(all.back(), other);
    // One of several elements is a copy of nothing.
    if (operand.size() > 1)
      all.back().copyOf = {};
  }
  for (int64_t step = 0; step != folds; ++step) {
    auto indexOf = [&](unsigned dim) -> ElementRange {
      return {ConstantIntRanges::fromUnsigned(APInt(64, 0),
                                              APInt(64, loops[dim] - 1))};
    };
    BodyRanges ranges(known, indexOf);
    for (auto [i, range] : llvm::enumerate(all))
      ranges.set(body.getArgument(i), range);
    for (auto [i, range] : llvm::enumerate(ranges.run(body)))
      all[op.getNumDpsInputs() + i] = range;
  }
  return all;
}

ElementRanges::Elements ElementRanges::computeGeneric(Operation *operation,
                                                      unsigned result) {
  auto op = cast<linalg::LinalgOp>(operation);
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  auto type =
      dyn_cast<RankedTensorType>(operation->getResult(result).getType());
  if (!type || !op.hasPureTensorSemantics() ||
      llvm::any_of(loops, ShapedType::isDynamic) || loops.size() > 16)
    return {};
  std::optional<LoopSteps> steps = countSteps(op, loops);
  if (!steps || llvm::is_contained(loops, 0))
    return {};
  SmallVector<Elements> operands = operandsOf(op, *this);
  unsigned number = op.getNumDpsInputs() + result;
  if (steps->isFew && type.getNumElements() <= maximumElements)
    return runAllSteps(op, loops, steps->all, *this, operands)
               ? operands[number]
               : Elements();
  return {runForAny(op, loops, steps->folds, *this, operands)[number]};
}

/// What a contraction's body may yield, whatever its sums are.
ElementRanges::Elements ElementRanges::computeContract(Operation *operation,
                                                       unsigned result) {
  auto op = cast<tile::ContractOp>(operation);
  auto pad = dyn_cast_or_null<IntegerAttr>(op.getPad().value_or(TypedAttr()));
  if (result != 0 || (op.getPad() && !pad))
    return {};
  BodyRanges ranges(*this, [](unsigned) {
    return ElementRange{ConstantIntRanges::maxRange(64)};
  });
  Block &body = op.getBody().front();
  for (auto [i, operand] : llvm::enumerate(op.getEpilogue())) {
    ArrayRef<ElementRange> elements = evaluate(operand);
    ElementRange all =
        elements.empty()
            ? ElementRange::any(body.getArgument(unsigned(i) + 1).getType())
            : elements.front();
    for (const ElementRange &other :
         elements.drop_front(elements.empty() ? 0 : 1))
      all = unite(all, other);
    all.copyOf = {};
    ranges.set(body.getArgument(unsigned(i) + 1), all);
  }
  ElementRange yielded = ranges.run(body).front();
  yielded.copyOf = {};
  return {pad ? unite(yielded, ElementRange::constant(pad)) : yielded};
}

/// In one dimension, as shapes are put together.
static SmallVector<ElementRange, 1> elementsOf(tensor::ConcatOp concat,
                                               ElementRanges &ranges) {
  SmallVector<ElementRange, 1> elements;
  RankedTensorType type = concat.getResultType();
  if (type.getRank() != 1 || type.getNumElements() > maximumElements)
    return {};
  for (Value part : concat.getInputs()) {
    ArrayRef<ElementRange> own = ranges.evaluate(part);
    int64_t count = cast<RankedTensorType>(part.getType()).getNumElements();
    for (int64_t i = 0; i != count; ++i)
      elements.push_back(own.empty() ? ElementRange::any(type.getElementType())
                                     : own[own.size() == 1 ? 0 : i]);
  }
  return elements;
}

/// Those of either branch.
static SmallVector<ElementRange, 1>
elementsOf(scf::IfOp branches, unsigned number, ElementRanges &ranges) {
  if (branches.getThenRegion().empty() || branches.getElseRegion().empty())
    return {};
  SmallVector<ElementRange, 1> then(
      ranges.evaluate(branches.thenYield().getOperand(number)));
  ArrayRef<ElementRange> other =
      ranges.evaluate(branches.elseYield().getOperand(number));
  if (then.size() != other.size())
    return {};
  for (auto [x, y] : llvm::zip(then, other))
    x = unite(x, y);
  return then;
}

static SmallVector<ElementRange, 1> elementsOf(tensor::PadOp pad,
                                               ElementRanges &ranges) {
  Value fill = pad.getConstantPaddingValue();
  Attribute constant;
  ArrayRef<ElementRange> inner = ranges.evaluate(pad.getSource());
  if (!fill || !matchPattern(fill, m_Constant(&constant)) ||
      !isa<IntegerAttr, FloatAttr>(constant) || inner.empty())
    return {};
  ElementRange all = ElementRange::constant(constant);
  for (const ElementRange &element : inner)
    all = unite(all, element);
  all.copyOf = {};
  return {all};
}

ElementRanges::Elements ElementRanges::compute(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0 ||
      !type.getElementType().isIntOrIndexOrFloat())
    return {};
  if (auto it = noted.find(value); it != noted.end()) {
    auto [low, high] = it->second;
    return {{ConstantIntRanges::fromSigned(APInt(64, low, true),
                                           APInt(64, high, true)),
             0, 0, type.getNumElements() == 1 ? value : Value()}};
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  ArrayRef<int64_t> shape = type.getShape();
  if (type.getNumElements() <= maximumElements)
    if (DenseElementsAttr constant = constants.evaluate(value)) {
      Elements elements;
      if (constant.isSplat())
        return {ElementRange::constant(constant.getSplatValue<Attribute>())};
      for (Attribute element : constant.getValues<Attribute>())
        elements.push_back(ElementRange::constant(element));
      return elements;
    }
  return llvm::TypeSwitch<Operation *, Elements>(op)
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(
          [&](auto reshape) {
            return Elements(evaluate(reshape->getOperand(0)));
          })
      .Case([&](tensor::ExtractSliceOp slice) {
        auto from = dyn_cast<RankedTensorType>(slice.getSource().getType());
        bool isKnown =
            from && from.getRank() == type.getRank() &&
            llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic) &&
            llvm::none_of(slice.getStaticStrides(), ShapedType::isDynamic);
        return pick(slice.getSource(), shape, [&](ArrayRef<int64_t> index) {
          int64_t place = 0;
          for (unsigned d = 0; isKnown && d != index.size(); ++d)
            place = place * from.getDimSize(d) + slice.getStaticOffsets()[d] +
                    index[d] * slice.getStaticStrides()[d];
          return isKnown ? place : int64_t(-1);
        });
      })
      .Case([&](tensor::ConcatOp concat) { return elementsOf(concat, *this); })
      .Case([&](scf::IfOp branches) {
        return elementsOf(branches, cast<OpResult>(value).getResultNumber(),
                          *this);
      })
      .Case([&](tile::ContractOp) {
        return computeContract(op, cast<OpResult>(value).getResultNumber());
      })
      .Case([&](tensor::PadOp pad) { return elementsOf(pad, *this); })
      .Case([&](linalg::LinalgOp) {
        return computeGeneric(op, cast<OpResult>(value).getResultNumber());
      })
      .Default([](Operation *) { return Elements(); });
}
