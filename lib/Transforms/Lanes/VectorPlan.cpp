// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VectorPlan.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/VectorBodies.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ashlar;

/// Bytes of the widest number in a body.
static int64_t widestBytes(Block &body) {
  int64_t widest = 1;
  auto see = [&](TypeRange types) {
    for (Type type : types)
      widest = std::max(widest, elementBytes(type));
  };
  see(body.getArgumentTypes());
  // Places are as wide as what they become.
  for (Operation &op : body.without_terminator())
    if (!op.getResultTypes().front().isIndex())
      see(op.getResultTypes());
  return widest;
}

/// Places of elements are vectors, too, as far as they become numbers at once.
static bool hasVectorBody(Block &body) {
  Block::BlockArgListType arguments = body.getArguments();
  return llvm::all_of(arguments,
                      [](BlockArgument argument) {
                        return argument.getType().isIntOrFloat() &&
                               !argument.getType().isInteger(1);
                      }) &&
         llvm::all_of(body.without_terminator(), [](Operation &op) {
           return isa<linalg::IndexOp>(op) || runsOnVectors(op);
         });
}

static std::optional<VectorOperand> describe(Value memref, AffineMap map) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)) ||
      !isLinear(map))
    return std::nullopt;
  VectorOperand operand{memref, map, {}};
  SmallVector<int64_t> point(map.getNumDims(), 0);
  SmallVector<int64_t> origin = map.compose(point);
  for (unsigned dim = 0; dim != map.getNumDims(); ++dim) {
    point[dim] = 1;
    std::optional<int64_t> step = 0;
    for (auto [from, to, stride] :
         llvm::zip(origin, map.compose(point), strides)) {
      if (from == to)
        continue;
      if (ShapedType::isDynamic(stride))
        step = std::nullopt;
      else if (step)
        *step += (to - from) * stride;
    }
    operand.steps.push_back(step);
    point[dim] = 0;
  }
  return operand;
}

/// Whether one vector of the operand along `dim` is a plain load or one value.
static bool isDense(const VectorOperand &operand, unsigned dim) {
  return operand.steps[dim] == 0 || operand.steps[dim] == 1;
}

/// Vectors go along the dim in which memory is contiguous: preferably the
/// result's, otherwise a summed one, otherwise the result's with gathers.
static bool chooseVectorDim(linalg::GenericOp op, VectorPlan &plan) {
  ArrayRef<VectorOperand> inputs = plan.inputs;
  auto allStep = [&](unsigned dim, int64_t step) {
    return llvm::all_of(plan.outputs, [&](const VectorOperand &output) {
      return output.steps[dim] == step;
    });
  };
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  auto extent = [&](unsigned dim) {
    return ShapedType::isDynamic(plan.ranges[dim]) ? int64_t(64)
                                                   : plan.ranges[dim];
  };
  int best = -1, bestScore = 0;
  for (unsigned dim = 0; dim != plan.ranges.size(); ++dim) {
    bool parallel = iterators[dim] == utils::IteratorType::parallel;
    unsigned dense = llvm::count_if(inputs, [&](const VectorOperand &operand) {
      return isDense(operand, dim);
    });
    bool known = llvm::all_of(inputs, [&](const VectorOperand &operand) {
      return operand.steps[dim].has_value();
    });
    bool moves = llvm::any_of(inputs, [&](const VectorOperand &operand) {
      return operand.steps[dim] != 0;
    });
    int score = 0;
    if (parallel && allStep(dim, 1) && known)
      score = dense == inputs.size() ? 4 : 2;
    else if (!parallel && moves && dense == inputs.size() && allStep(dim, 0))
      score = 3;
    // Short rows fill few lanes.
    if (score && extent(dim) < 4)
      score = 1;
    if (score > bestScore) {
      best = dim;
      bestScore = score;
    }
  }
  if (best < 0)
    return false;
  plan.vectorDim = best;
  plan.vectorIsReduced = iterators[best] != utils::IteratorType::parallel;
  return true;
}

/// The largest divisor of `extent` up to `limit`, or `limit` where that is
/// much smaller.
static int64_t rowsAtOnce(int64_t extent, int64_t limit) {
  if (ShapedType::isDynamic(extent))
    return std::max<int64_t>(1, limit);
  limit = std::max<int64_t>(1, std::min(extent, limit));
  for (int64_t rows = limit; 3 * rows > 2 * limit; --rows)
    if (extent % rows == 0)
      return rows;
  return limit;
}

/// Register tiles for ops that sum: dims along which some operand is loaded
/// once for several results.
static void chooseRows(VectorPlan &plan, int64_t registers) {
  if (plan.reduced.empty() && !plan.vectorIsReduced)
    return;
  int64_t budget = (registers >= 32 ? 24 : 12) / int64_t(plan.outputs.size());
  int64_t extent = plan.ranges[plan.vectorDim];
  bool isLong = ShapedType::isDynamic(extent) || extent >= 2 * plan.lanes;
  plan.vectors = isLong ? 2 : 1;
  ArrayRef<VectorOperand> inputs = plan.inputs;
  // Along a good row dim, an operand that needs vector loads stays the same.
  auto reuse = [&](unsigned dim) {
    int score = 0;
    for (const VectorOperand &operand : inputs)
      if (operand.steps[dim] == 0)
        score += operand.steps[plan.vectorDim] == 0 ? 1 : 2;
    return score;
  };
  SmallVector<unsigned> candidates(plan.outer);
  llvm::erase_if(candidates, [&](unsigned dim) {
    return plan.ranges[dim] == 1 || (inputs.size() > 1 && reuse(dim) == 0);
  });
  llvm::stable_sort(
      candidates, [&](unsigned x, unsigned y) { return reuse(x) > reuse(y); });
  if (inputs.size() == 1)
    budget = std::min<int64_t>(budget, 8);
  int64_t left = budget / plan.vectors;
  for (unsigned dim : candidates) {
    if (left < 2 || plan.rows.size() == 2)
      break;
    // Leave room for a second dim where there are too few vectors in a row.
    int64_t limit =
        plan.rows.empty() && plan.vectors == 1 && candidates.size() > 1
            ? std::min<int64_t>(left, 8)
            : left;
    int64_t rows = rowsAtOnce(plan.ranges[dim], limit);
    if (rows < 2)
      continue;
    plan.rows.emplace_back(dim, rows);
    left /= rows;
  }
  if (isLong && left >= 2 &&
      plan.ranges[plan.vectorDim] >= plan.lanes * plan.vectors * 2)
    plan.vectors *= 2;
  for (auto [dim, rows] : plan.rows)
    llvm::erase(plan.outer, dim);
}

/// Long sums of floats go through partial sums of about 256 terms.
static void choosePartialSums(VectorPlan &plan) {
  constexpr int64_t terms = 256;
  if (plan.vectorIsReduced || plan.reduced.empty() ||
      llvm::none_of(plan.combiners, llvm::IsaPred<arith::AddFOp>))
    return;
  int64_t inner = 1;
  for (unsigned dim : ArrayRef(plan.reduced).drop_front())
    if (ShapedType::isDynamic(plan.ranges[dim]))
      return;
    else
      inner *= plan.ranges[dim];
  int64_t extent = plan.ranges[plan.reduced.front()];
  if (ShapedType::isDynamic(extent) || inner == 0 || extent * inner <= terms)
    return;
  int64_t steps = std::max<int64_t>(1, terms / inner);
  while (extent % steps != 0)
    --steps;
  if (steps * inner >= 32)
    plan.partialSteps = steps;
}

/// How two partial results of each output combine; none where that is not one
/// op for one of them.
static SmallVector<Operation *, 1> findCombiners(linalg::GenericOp op) {
  SmallVector<Operation *, 1> result;
  for (unsigned i = 0; i != op.getNumDpsInits(); ++i) {
    SmallVector<Operation *> found;
    if (!matchReduction(op.getRegionOutputArgs(), i, found) ||
        found.size() != 1 || !linalg::getCombinerOpKind(found[0]) ||
        !arith::getNeutralElement(found[0]))
      return {};
    result.push_back(found[0]);
  }
  return result;
}

std::optional<VectorPlan> ashlar::planVectors(linalg::GenericOp op,
                                              int64_t vectorBytes,
                                              int64_t registers) {
  VectorPlan plan;
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      op.getNumDpsInits() == 0 || !hasVectorBody(*op.getBody()))
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<VectorOperand> described =
        describe(operand.get(), op.getMatchingIndexingMap(&operand));
    if (!described)
      return std::nullopt;
    if (op.isDpsInput(&operand)) {
      plan.inputs.push_back(*described);
      continue;
    }
    if (described->map != result)
      return std::nullopt;
    plan.outputs.push_back(*described);
    plan.readsOutput |= op.payloadUsesValueFromOperand(&operand);
  }
  plan.ranges = op.getStaticLoopRanges();
  plan.lanes = vectorBytes / widestBytes(*op.getBody());
  if (!chooseVectorDim(op, plan))
    return std::nullopt;
  int64_t extent = plan.ranges[plan.vectorDim];
  if (!ShapedType::isDynamic(extent))
    plan.lanes = std::min<int64_t>(
        plan.lanes, llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1)));
  if (plan.lanes < 2)
    return std::nullopt;
  for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (dim == plan.vectorDim)
      continue;
    if (iterator == utils::IteratorType::parallel)
      plan.outer.push_back(dim);
    else
      plan.reduced.push_back(dim);
  }
  if (op.getNumReductionLoops() != 0)
    plan.combiners = findCombiners(op);
  if (plan.vectorIsReduced && plan.combiners.empty())
    return std::nullopt;
  choosePartialSums(plan);
  chooseRows(plan, registers);
  return plan;
}
