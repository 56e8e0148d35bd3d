// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SensitiveOps.h"
#include "HalfRange.h"
#include "ashlar/Analysis/Reshapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir;
using namespace ashlar;

static constexpr PrecisionRule rules[] = {
    {"contraction", true, true, "products of low operands, summed up in f32"},
    {"elementwise", true, true, "computed in f32, rounded where it is stored"},
    {"selection", true, true, "a maximum or minimum rounds nothing"},
    {"sum", true, false,
     "summed or multiplied up in f32; the result stays f32"},
    {"statistic", false, false, "computed from sums alone"},
    {"centring", false, false,
     "subtracts what a reduction found, as softmax and normalisations do: "
     "what is left may be much smaller"},
    {"exponential", false, false,
     "exp, log and powers turn absolute errors into relative ones or back"},
    {"periodic", false, false, "sine, cosine and tangent of large arguments"},
    {"decision", false, false, "makes integers or booleans out of floats"},
    {"range", false, false, "works with constants beyond the type's range"},
};

ArrayRef<PrecisionRule> ashlar::allPrecisionRules() { return rules; }

static const PrecisionRule &rule(StringRef name) {
  for (const PrecisionRule &candidate : rules)
    if (name == candidate.name)
      return candidate;
  llvm_unreachable("no such rule");
}

bool ashlar::isContraction(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || op.getNumResults() != 1 ||
      op.hasIndexSemantics() || op.getBody()->getOperations().size() != 3)
    return false;
  for (BlockArgument argument : op.getBody()->getArguments())
    if (!argument.getType().isF32())
      return false;
  auto add = op.getBody()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  Value sum = op.getRegionOutputArgs()[0];
  if (!add || (add.getLhs() != sum && add.getRhs() != sum))
    return false;
  auto product = (add.getLhs() == sum ? add.getRhs() : add.getLhs())
                     .getDefiningOp<arith::MulFOp>();
  auto isInput = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getArgNumber() < 2;
  };
  return product && isInput(product.getLhs()) && isInput(product.getRhs()) &&
         product.getLhs() != product.getRhs();
}

bool ashlar::isSelection(linalg::GenericOp op) {
  auto &operations = op.getBody()->getOperations();
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() == 0 || operations.size() != 2 ||
      !isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
           arith::MinNumFOp>(operations.front()))
    return false;
  Value in = op.getBody()->getArgument(0), out = op.getRegionOutputArgs()[0];
  auto sides = operations.front().getOperands();
  return (sides[0] == in && sides[1] == out) ||
         (sides[0] == out && sides[1] == in);
}

static bool isFloat(Type type) { return getElementTypeOrSelf(type).isF32(); }

/// x - mean(x), x - max(x): x is whole, the other is spread over it.
bool SensitiveOps::subtractsReduced(linalg::GenericOp op) const {
  auto operandOf = [&](Value value) -> OpOperand * {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != op.getBody() ||
        argument.getArgNumber() >= op.getNumDpsInputs())
      return nullptr;
    return op.getDpsInputOperand(argument.getArgNumber());
  };
  for (auto subtraction : op.getBody()->getOps<arith::SubFOp>())
    for (Value side : subtraction->getOperands())
      if (OpOperand *operand = operandOf(side))
        if (reduced.contains(behindReshapes(operand->get())))
          return true;
  return false;
}

/// 1 / (1 + exp(-x)) is between zero and one, and no steeper than x / 4.
static bool isSigmoid(math::ExpOp exponential) {
  return llvm::all_of(exponential->getUsers(), [](Operation *user) {
    return isa<arith::AddFOp>(user) &&
           llvm::any_of(
               user->getOperands(),
               [](Value side) { return matchPattern(side, m_OneFloat()); }) &&
           llvm::all_of(user->getUsers(), [&](Operation *reader) {
             return isa<arith::DivFOp>(reader) &&
                    reader->getOperand(1) == user->getResult(0);
           });
  });
}

/// Whether a constant that the body works with exceeds f16.
static bool worksBeyondHalf(linalg::GenericOp op) {
  auto exceeds = [](Value value) {
    APFloat constant(0.0f);
    return isFloat(value.getType()) &&
           matchPattern(value, m_ConstantFloat(&constant)) &&
           exceedsHalf(constant);
  };
  return llvm::any_of(op.getDpsInputs(), exceeds) ||
         op.walk([&](Operation *inner) {
             return llvm::any_of(inner->getOperands(), exceeds)
                        ? WalkResult::interrupt()
                        : WalkResult::advance();
           }).wasInterrupted();
}

const PrecisionRule &SensitiveOps::classify(linalg::GenericOp op,
                                            NumberType low) {
  if (isContraction(op))
    return rule("contraction");
  bool isReduction = op.getNumReductionLoops() != 0;
  bool anyFloat = false, anyOther = false;
  bool onlyReduced = !isReduction, onlySummed = !isReduction;
  for (Value input : op.getDpsInputs()) {
    if (!isFloat(input.getType()) || isConstantBehindReshapes(input))
      continue;
    anyFloat = true;
    onlyReduced &= reduced.contains(behindReshapes(input));
    onlySummed &= summed.contains(behindReshapes(input));
  }
  op.walk([&](tensor::ExtractOp) { onlyReduced = onlySummed = false; });
  onlyReduced &= anyFloat;
  onlySummed &= anyFloat;
  if (isReduction || onlyReduced)
    reduced.insert(op->result_begin(), op->result_end());
  if ((isReduction && !isSelection(op)) || onlySummed)
    summed.insert(op->result_begin(), op->result_end());
  if (low == NumberType::F16 && worksBeyondHalf(op))
    return rule("range");
  for (Type type : op->getResultTypes())
    anyOther |= !isa<FloatType>(getElementTypeOrSelf(type));
  if (anyFloat && anyOther)
    return rule("decision");
  if (isSelection(op))
    return rule("selection");
  bool exponential = false, periodic = false;
  op.walk([&](Operation *inner) {
    if (auto exp = dyn_cast<math::ExpOp>(inner))
      exponential |= !isSigmoid(exp);
    exponential |=
        isa<math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op,
            math::Log10Op, math::Log1pOp, math::PowFOp, math::FPowIOp>(inner);
    periodic |= isa<math::SinOp, math::CosOp, math::TanOp>(inner);
  });
  if (exponential)
    return rule("exponential");
  if (periodic)
    return rule("periodic");
  if (isReduction)
    return rule("sum");
  if (onlySummed)
    return rule("statistic");
  if (subtractsReduced(op))
    return rule("centring");
  return rule("elementwise");
}
