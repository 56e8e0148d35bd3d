// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VisibleKeys.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

/// In front of conversions between types of floats, which keep what has no
/// weight.
static Value withoutConversions(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isLowest(Value value) {
  FloatAttr number;
  return matchPattern(withoutConversions(value), m_Constant(&number)) &&
         number.getValue().isInfinity() && number.getValue().isNegative();
}

namespace {
class ConditionReader {
public:
  explicit ConditionReader(unsigned rank) : rank(rank) { keys.rank = rank; }

  /// A score is hidden where the condition does not hold, or, `isInverse`,
  /// where it does.
  void require(Value condition, bool isInverse) {
    Operation *op = condition.getDefiningOp();
    if (!op)
      return void(keys.isComplete = false);
    if (isInverse ? isa<arith::OrIOp>(op) : isa<arith::AndIOp>(op)) {
      require(op->getOperand(0), isInverse);
      require(op->getOperand(1), isInverse);
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      arith::CmpIPredicate how = compare.getPredicate();
      keys.isComplete &=
          read(compare, isInverse ? arith::invertPredicate(how) : how);
    } else {
      keys.isComplete = false;
    }
  }

  VisibleKeys keys;

private:
  /// Of key <= place, or of place <= key, in all spellings of signed numbers;
  /// whether it is such.
  bool read(arith::CmpIOp compare, arith::CmpIPredicate how) {
    AffineExpr low = placeOf(compare.getLhs()),
               high = placeOf(compare.getRhs());
    if (!low || !high)
      return false;
    int64_t beyond = 0; // low <= high + beyond
    switch (how) {
    case arith::CmpIPredicate::sle:
      break;
    case arith::CmpIPredicate::slt:
      beyond = -1;
      break;
    case arith::CmpIPredicate::sge:
      std::swap(low, high);
      break;
    case arith::CmpIPredicate::sgt:
      std::swap(low, high);
      beyond = -1;
      break;
    default:
      return false;
    }
    // What the key has to be at most, or at least.
    AffineExpr key = getAffineDimExpr(rank - 1, compare.getContext());
    unsigned symbols = keys.symbols.size();
    AffineExpr rest = simplifyAffineExpr(high + beyond - low, rank, symbols);
    AffineExpr most = simplifyAffineExpr(rest + key, rank, symbols),
               least = simplifyAffineExpr(key - rest, rank, symbols);
    if (!most.isFunctionOfDim(rank - 1))
      keys.to.push_back(most + 1);
    else if (!least.isFunctionOfDim(rank - 1))
      keys.from.push_back(least);
    else
      return false;
    return true;
  }

  /// A sum of places, constants and sizes that a caller chooses; null: it is
  /// something else.
  AffineExpr placeOf(Value value) {
    MLIRContext *context = value.getContext();
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return getAffineConstantExpr(number.getSExtValue(), context);
    if (parameterOf(value)) {
      auto at = llvm::find(keys.symbols, value);
      unsigned symbol = at - keys.symbols.begin();
      if (at == keys.symbols.end())
        keys.symbols.push_back(value);
      return getAffineSymbolExpr(symbol, context);
    }
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    if (auto index = dyn_cast<tile::IndexOp>(op))
      return getAffineDimExpr(index.getDim(), context);
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return {};
    AffineExpr x = placeOf(op->getOperand(0)), y = placeOf(op->getOperand(1));
    if (!x || !y)
      return {};
    return isa<arith::AddIOp>(op) ? x + y : x - y;
  }

  unsigned rank;
};
} // namespace

/// The choice between a score and none, and whether it is of none where its
/// condition holds.
static arith::SelectOp findChoice(Value score, bool &isInverse) {
  auto choice = withoutConversions(score).getDefiningOp<arith::SelectOp>();
  if (!choice)
    return {};
  isInverse = isLowest(choice.getTrueValue());
  return isInverse || isLowest(choice.getFalseValue()) ? choice
                                                       : arith::SelectOp();
}

VisibleKeys ashlar::findVisibleKeys(tile::AttentionOp op) {
  ConditionReader reader(op.getScoresParallel().size());
  bool isInverse;
  if (arith::SelectOp choice = findChoice(
          op.getHide().front().getTerminator()->getOperand(0), isInverse)) {
    reader.keys.isComplete = true;
    reader.require(choice.getCondition(), isInverse);
  }
  return reader.keys;
}

AffineExpr VisibleKeys::ofRows(AffineExpr term, unsigned row, int64_t count,
                               bool largest) const {
  AffineExpr first = getAffineDimExpr(row, term.getContext()),
             next = term.replace(first, first + 1);
  auto step = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(next - term, rank, symbols.size()));
  bool isGrowing = step && step.getValue() > 0;
  return isGrowing == largest ? term.replace(first, first + (count - 1)) : term;
}

Value ashlar::takeVisible(Value score) {
  bool isInverse;
  arith::SelectOp choice = findChoice(score, isInverse);
  if (!choice)
    return score;
  Value own = isInverse ? choice.getFalseValue() : choice.getTrueValue();
  bool isAll = score == choice.getResult();
  choice.getResult().replaceAllUsesWith(own);
  choice.erase();
  return isAll ? own : score;
}
