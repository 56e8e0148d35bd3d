// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatchAttention.h"
#include "Dispatches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

SmallVector<Operation *> AttentionMatch::ops() const {
  SmallVector<Operation *> result = {scores};
  if (hide)
    result.push_back(hide);
  llvm::append_range(
      result, ArrayRef<Operation *>{maximum, powers, sum, weights, values});
  return result;
}

/// Whether all loops are parallel but, with `reduces`, the last.
static bool runsOverRows(linalg::GenericOp op, bool reduces) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  if (iterators.empty() || op->getNumResults() != 1 ||
      !op.hasPureTensorSemantics())
    return false;
  utils::IteratorType last =
      reduces ? utils::IteratorType::reduction : utils::IteratorType::parallel;
  return iterators.back() == last &&
         llvm::all_of(ArrayRef(iterators).drop_back(),
                      linalg::isParallelIterator);
}

/// Whether operand `i` is read at the row, or at the place.
static bool isAt(linalg::GenericOp op, unsigned i, bool row) {
  AffineMap map = op.getIndexingMapsArray()[i];
  return map ==
         AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext())
             .getMajorSubMap(op.getNumLoops() - row);
}

/// What is yielded.
static Value yielded(linalg::GenericOp op) {
  return op.getBody()->getTerminator()->getOperand(0);
}

/// Whether `value` is `of`, in a wider type where that is narrow.
static bool isWidened(Value value, Value of) {
  if (auto wide = value.getDefiningOp<arith::ExtFOp>())
    value = wide.getIn();
  return value == of;
}

/// One operand along rows, combined into one number by `Op`, from `start` on.
template <typename Op>
static bool reducesRows(linalg::GenericOp op,
                        function_ref<bool(const APFloat &)> isStart) {
  if (!op || !runsOverRows(op, /*reduces=*/true) || op.getNumDpsInputs() != 1 ||
      !isAt(op, 0, /*row=*/false) || !isAt(op, 1, /*row=*/true))
    return false;
  auto combine = yielded(op).getDefiningOp<Op>();
  Value in = op.getBody()->getArgument(0), out = op.getBody()->getArgument(1);
  if (!combine ||
      !((isWidened(combine.getLhs(), in) && combine.getRhs() == out) ||
        (isWidened(combine.getRhs(), in) && combine.getLhs() == out)))
    return false;
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  FloatAttr start;
  return fill && matchPattern(fill.getInputs()[0], m_Constant(&start)) &&
         isStart(start.getValue());
}

/// Whether `value` is `of`, or, where that is `special`, `instead`; tells which
/// of the two.
static bool isOrReplaced(Value value, Value of,
                         function_ref<bool(const APFloat &)> special,
                         function_ref<bool(const APFloat &)> instead,
                         bool &replaces) {
  replaces = false;
  if (value == of)
    return true;
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                        : arith::CmpFOp();
  FloatAttr number, other;
  replaces = compare && compare.getPredicate() == arith::CmpFPredicate::OEQ &&
             compare.getLhs() == of && select.getFalseValue() == of &&
             matchPattern(compare.getRhs(), m_Constant(&number)) &&
             matchPattern(select.getTrueValue(), m_Constant(&other)) &&
             special(number.getValue()) && instead(other.getValue());
  return replaces;
}

static bool isZero(const APFloat &x) { return x.isZero(); }
static bool isOne(const APFloat &x) { return x.isExactlyValue(1); }
static bool isLowest(const APFloat &x) {
  return x.isInfinity() && x.isNegative();
}

/// Two operands, the first at its place and the second at its row.
static bool readsRows(linalg::GenericOp op) {
  return op && runsOverRows(op, /*reduces=*/false) &&
         op.getNumDpsInputs() == 2 && isAt(op, 0, /*row=*/false) &&
         isAt(op, 1, /*row=*/true) && isAt(op, 2, /*row=*/false);
}

/// Whether the exponential of an operand less its row's maximum is all.
static bool isPower(linalg::GenericOp op, bool &zeroRows) {
  auto exp = yielded(op).getDefiningOp<math::ExpOp>();
  auto distance =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  return distance &&
         isWidened(distance.getLhs(), op.getBody()->getArgument(0)) &&
         isOrReplaced(distance.getRhs(), op.getBody()->getArgument(1), isLowest,
                      isZero, zeroRows);
}

/// The quotient of an operand and its row's sum, null where none is computed.
static Value findQuotient(linalg::GenericOp op, bool &zeroRows) {
  for (auto divide : op.getBody()->getOps<arith::DivFOp>())
    if (divide.getLhs() == op.getBody()->getArgument(0) &&
        isOrReplaced(divide.getRhs(), op.getBody()->getArgument(1), isZero,
                     isOne, zeroRows))
      return divide;
  return {};
}

/// Whether what comes out needs the operands for nothing but `quotient`.
static bool dependsOnAlone(linalg::GenericOp op, Value quotient) {
  SmallVector<Value> open = {yielded(op)};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (value == quotient)
      continue;
    Operation *from = value.getDefiningOp();
    if (!from)
      return false;
    if (from->getBlock() == op.getBody() && seen.insert(from).second)
      llvm::append_range(open, from->getOperands());
  }
  return true;
}

static bool isReadBy(Operation *op, ArrayRef<Operation *> readers) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return llvm::is_contained(readers, user);
  });
}

/// A contraction of floats that leaves nothing beside its result.
static bool isPlain(tile::ContractOp op) {
  return op && !op.getPad() && !op.getUnrounded() &&
         isa<FloatType>(op.getAccumulatorType()) && op->getNumResults() == 1;
}

/// Whether dims of the weights but the last are parallel ones, bare.
static bool hasRows(tile::ContractOp values) {
  AffineMap map = values.getAMap();
  unsigned parallel = values.getParallel().size();
  auto shape = cast<RankedTensorType>(values.getA().getType()).getShape();
  for (auto [expr, size] : llvm::zip(map.getResults().drop_back(), shape)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!(dim && dim.getPosition() < parallel) &&
        !(isa<AffineConstantExpr>(expr) && size == 1))
      return false;
  }
  return llvm::none_of(llvm::seq(parallel), [&](unsigned d) {
    return map.getResults().back().isFunctionOfDim(d);
  });
}

std::optional<AttentionMatch> ashlar::matchAttention(tile::ContractOp values) {
  AttentionMatch m;
  m.values = values;
  if (!isPlain(values) || !hasRows(values))
    return std::nullopt;
  m.weights = values.getA().getDefiningOp<linalg::GenericOp>();
  if (!readsRows(m.weights))
    return std::nullopt;
  bool zeroSums, zeroScores;
  m.normalized = findQuotient(m.weights, zeroSums);
  m.powers = m.weights.getDpsInputs()[0].getDefiningOp<linalg::GenericOp>();
  m.sum = m.weights.getDpsInputs()[1].getDefiningOp<linalg::GenericOp>();
  if (!m.normalized || !dependsOnAlone(m.weights, m.normalized) ||
      !reducesRows<arith::AddFOp>(m.sum, isZero) || !readsRows(m.powers) ||
      m.sum.getDpsInputs()[0] != m.powers.getResult(0) ||
      !isPower(m.powers, zeroScores) || zeroScores != zeroSums)
    return std::nullopt;
  m.zeroRows = zeroSums;
  Value scores = m.powers.getDpsInputs()[0];
  m.maximum = m.powers.getDpsInputs()[1].getDefiningOp<linalg::GenericOp>();
  if (!reducesRows<arith::MaximumFOp>(m.maximum, isLowest) ||
      m.maximum.getDpsInputs()[0] != scores)
    return std::nullopt;
  Type type = getElementTypeOrSelf(scores);
  m.type = getElementTypeOrSelf(m.maximum.getResult(0));
  for (linalg::GenericOp op : {m.powers, m.sum})
    if (getElementTypeOrSelf(op.getResult(0)) != m.type)
      return std::nullopt;
  m.scores = scores.getDefiningOp<tile::ContractOp>();
  if (auto hide = scores.getDefiningOp<linalg::GenericOp>();
      hide && runsOverRows(hide, /*reduces=*/false) &&
      isAt(hide, hide.getNumDpsInputs(), /*row=*/false))
    for (auto [i, input] : llvm::enumerate(hide.getDpsInputs()))
      if (auto contract = input.getDefiningOp<tile::ContractOp>();
          contract && isAt(hide, i, /*row=*/false) &&
          llvm::is_contained({type, m.type}, getElementTypeOrSelf(input))) {
        m.hide = hide;
        m.scores = contract;
      }
  if (!isPlain(m.scores) || !m.scores.getResultMap().isIdentity())
    return std::nullopt;
  SmallVector<Operation *> ops = m.ops();
  if (llvm::any_of(ops, deviceOf))
    return std::nullopt;
  for (Operation *op : ArrayRef(ops).drop_back())
    if (op->getBlock() != values->getBlock() || !isReadBy(op, ops))
      return std::nullopt;
  // A step may be read by the ones behind it in its role alone, and the last
  // product reads nothing but weights.
  for (Operation *op : ArrayRef(ops).drop_back())
    if (op != m.weights && llvm::is_contained(op->getUsers(), values))
      return std::nullopt;
  if (!m.weights->hasOneUse() || !m.maximum->hasOneUse() ||
      !m.sum->hasOneUse() || (m.hide && !m.scores->hasOneUse()))
    return std::nullopt;
  return m;
}
