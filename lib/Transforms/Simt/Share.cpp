// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Share.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

static Value index(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static Value isLess(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, index(b, y));
}

static SmallVector<Value> delinearize(ImplicitLocOpBuilder &b, Value number,
                                      ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> basis;
  for (int64_t size : sizes)
    basis.push_back(b.getIndexAttr(size));
  return affine::AffineDelinearizeIndexOp::create(b, number, basis)
      .getResults();
}

Share::Share(tile::AccType type, const Threads &threads)
    : shape(type.getShape()), part(shape), threads(threads) {
  if (!type.getGroups().empty())
    part.assign(type.getGroups().back().getParallel().begin(),
                type.getGroups().back().getParallel().end());
  for (auto [size, all] : llvm::zip(part, shape))
    size = size == 0 ? all : size;
}

int64_t Share::lanes() const {
  return part == shape ? threads.count : threads.lanes;
}

int64_t Share::elements() const {
  int64_t all = 1;
  for (int64_t size : part)
    all *= size;
  return all;
}

int64_t Share::groupCount() const {
  int64_t all = 1;
  for (auto [size, whole] : llvm::zip(part, shape))
    all *= llvm::divideCeil(whole, size);
  return all;
}

int64_t Share::count() const { return llvm::divideCeil(elements(), lanes()); }

Value Share::laneNumber(ImplicitLocOpBuilder &b) const {
  if (lanes() == threads.count)
    return threads.number;
  return arith::RemUIOp::create(b, threads.number, index(b, lanes()));
}

SmallVector<Value> Share::begin(ImplicitLocOpBuilder &b) const {
  if (lanes() == threads.count)
    return SmallVector<Value>(part.size(), index(b, 0));
  Value group = arith::DivUIOp::create(b, threads.number, index(b, lanes()));
  SmallVector<int64_t> counts;
  for (auto [size, whole] : llvm::zip(part, shape))
    counts.push_back(llvm::divideCeil(whole, size));
  SmallVector<Value> place = delinearize(b, group, counts);
  for (auto [number, size] : llvm::zip(place, part))
    number = arith::MulIOp::create(b, number, index(b, size));
  return place;
}

SmallVector<Value> Share::point(ImplicitLocOpBuilder &b, int64_t i) const {
  Value lane = laneNumber(b);
  SmallVector<Value> place = begin(b), inside;
  int64_t first = i * lanes();
  if (part.back() % lanes() == 0) {
    // All lanes are in one row.
    inside.resize(part.size());
    for (size_t d = part.size(); d-- != 0;) {
      inside[d] = index(b, first % part[d]);
      first /= part[d];
    }
    inside.back() = arith::AddIOp::create(b, lane, inside.back());
  } else {
    Value number = arith::AddIOp::create(b, lane, index(b, first));
    inside = delinearize(b, number, part);
  }
  for (auto [one, offset] : llvm::zip(place, inside))
    one = arith::AddIOp::create(b, one, offset);
  return place;
}

Value Share::exists(ImplicitLocOpBuilder &b, int64_t i) const {
  Value condition;
  auto require = [&](Value one) {
    condition = condition ? arith::AndIOp::create(b, condition, one) : one;
  };
  if ((i + 1) * lanes() > elements())
    require(isLess(b, laneNumber(b), elements() - i * lanes()));
  // There may be more groups than parts, and parts at the end may be smaller.
  if (groupCount() * lanes() < threads.count)
    require(isLess(b, threads.number, groupCount() * lanes()));
  bool isEven = true;
  for (auto [size, all] : llvm::zip(part, shape))
    isEven &= all % size == 0;
  if (!isEven)
    for (auto [place, size] : llvm::zip(point(b, i), shape))
      require(isLess(b, place, size));
  return condition;
}

SmallVector<Value> Share::safePoint(ImplicitLocOpBuilder &b, int64_t i) const {
  SmallVector<Value> place = point(b, i);
  if (Value condition = exists(b, i))
    for (Value &one : place)
      one = arith::SelectOp::create(b, condition, one, index(b, 0));
  return place;
}
