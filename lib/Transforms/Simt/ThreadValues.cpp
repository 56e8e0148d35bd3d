// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadValues.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace ashlar::simt;

/// What the op makes of two numbers; nullopt: nobody asked for it so far.
static std::optional<int64_t> resultOf(Operation *op, int64_t x, int64_t y) {
  if (isa<arith::AddIOp>(op))
    return x + y;
  if (isa<arith::SubIOp>(op))
    return x - y;
  if (isa<arith::MulIOp>(op))
    return x * y;
  if (isa<arith::AndIOp>(op))
    return x & y;
  if (isa<arith::OrIOp>(op))
    return x | y;
  if (isa<arith::XOrIOp>(op))
    return x ^ y;
  if (isa<arith::DivUIOp, arith::RemUIOp>(op)) {
    if (x < 0 || y <= 0)
      return std::nullopt;
    return isa<arith::DivUIOp>(op) ? x / y : x % y;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, x, true),
                                    APInt(64, y, true));
  return std::nullopt;
}

const std::vector<int64_t> *ThreadValues::of(Value value) {
  if (auto found = known.find(value); found != known.end())
    return &found->second;
  std::vector<int64_t> all(threads.count);
  if (value == threads.number) {
    for (auto [number, one] : llvm::enumerate(all))
      one = number;
  } else if (std::optional<int64_t> one = getConstantIntValue(value)) {
    all.assign(threads.count, *one);
  } else if (!value.getDefiningOp() ||
             !evaluate(value.getDefiningOp(), value, all)) {
    return nullptr;
  }
  return &(known[value] = std::move(all));
}

bool ThreadValues::evaluate(Operation *op, Value value,
                            std::vector<int64_t> &all) {
  if (auto split = dyn_cast<affine::AffineDelinearizeIndexOp>(op)) {
    const std::vector<int64_t> *numbers = of(split.getLinearIndex());
    if (!numbers || !split.getDynamicBasis().empty())
      return false;
    ArrayRef<int64_t> sizes = split.getStaticBasis();
    if (split.hasOuterBound())
      sizes = sizes.drop_front();
    size_t place = cast<OpResult>(value).getResultNumber();
    for (auto [one, number] : llvm::zip(all, *numbers)) {
      one = number;
      for (size_t d = sizes.size(); d != place; --d)
        one /= sizes[d - 1];
      if (place != 0)
        one %= sizes[place - 1];
    }
    return true;
  }
  if (op->getNumOperands() != 2 || !of(op->getOperand(0)))
    return false;
  // The second may move what the first one points to.
  std::vector<int64_t> left = *of(op->getOperand(0));
  const std::vector<int64_t> *right = of(op->getOperand(1));
  if (!right)
    return false;
  for (auto [one, x, y] : llvm::zip(all, left, *right)) {
    std::optional<int64_t> result = resultOf(op, x, y);
    if (!result)
      return false;
    one = *result;
  }
  return true;
}
