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
  return affine::AffineDelinearizeIndexOp::create(
             b, number, getAsIndexOpFoldResult(b.getContext(), sizes))
      .getResults();
}

Share::Share(tile::AccType type, const Threads &threads)
    : shape(type.getShape()), part(type.getPart()), threads(threads),
      fragment(type.getFragment()) {
  if (fragment || !type.getGroups().empty())
    return;
  // At least three of four threads should have something to do.
  auto isBusy = [&] {
    int64_t all = llvm::alignTo(elements(), lanes() * piece);
    return 4 * elements() >= 3 * all;
  };
  piece = threads.piece;
  while (piece > 1 && (part.back() % piece != 0 || !isBusy()))
    piece /= 2;
}

int64_t Share::lanes() const {
  if (fragment)
    return fragment.getThreads();
  return part == shape ? threads.count : threads.lanes;
}

int64_t Share::elements() const { return ShapedType::getNumElements(part); }

int64_t Share::groupCount() const {
  int64_t all = 1;
  for (auto [size, whole] : llvm::zip(part, shape))
    all *= llvm::divideCeil(whole, size);
  return all;
}

int64_t Share::count() const {
  if (fragment)
    return elements() / (fragment.getRows() * fragment.getColumns()) *
           fragment.getCount();
  return llvm::divideCeil(elements(), lanes() * piece) * piece;
}

Value Share::laneNumber(ImplicitLocOpBuilder &b) const {
  if (lanes() == threads.count)
    return threads.number;
  return arith::RemUIOp::create(b, threads.number, index(b, lanes()));
}

/// What the bits of a number add up to along one side; runs of bits that move
/// twice as far each are one product.
static Value sumOfBits(ImplicitLocOpBuilder &b, Value number,
                       ArrayRef<int64_t> steps, unsigned side) {
  Value sum;
  for (size_t bit = 0; 2 * bit < steps.size();) {
    size_t end = bit + 1;
    int64_t step = steps[2 * bit + side];
    while (2 * end < steps.size() &&
           steps[2 * end + side] == 2 * steps[2 * (end - 1) + side])
      ++end;
    if (step != 0) {
      Value part =
          b.createOrFold<arith::DivUIOp>(number, index(b, int64_t(1) << bit));
      if (2 * end < steps.size())
        part = arith::RemUIOp::create(b, part,
                                      index(b, int64_t(1) << (end - bit)));
      part = b.createOrFold<arith::MulIOp>(part, index(b, step));
      sum = sum ? arith::AddIOp::create(b, sum, part) : part;
    }
    bit = end;
  }
  return sum ? sum : index(b, 0);
}

static int64_t sumOfBits(int64_t number, ArrayRef<int64_t> steps,
                         unsigned side) {
  int64_t sum = 0;
  for (size_t bit = 0; 2 * bit < steps.size(); ++bit)
    sum += ((number >> bit) & 1) * steps[2 * bit + side];
  return sum;
}

/// Of value i of this thread, in its group's part.
SmallVector<Value> Share::inFragments(ImplicitLocOpBuilder &b,
                                      int64_t i) const {
  int64_t across = part.back() / fragment.getColumns();
  int64_t copy = i / fragment.getCount(), own = i % fragment.getCount();
  Value lane = laneNumber(b);
  auto place = [&](unsigned side, int64_t from) {
    from += sumOfBits(own, fragment.getRegisters(), side);
    return Value(arith::AddIOp::create(
        b, sumOfBits(b, lane, fragment.getLanes(), side), index(b, from)));
  };
  Value row = place(0, copy / across * fragment.getRows()),
        column = place(1, copy % across * fragment.getColumns());
  SmallVector<Value> inside;
  if (part.size() > 2)
    inside = delinearize(b, row, ArrayRef(part).drop_back());
  else if (part.size() == 2)
    inside.push_back(row);
  inside.push_back(column);
  return inside;
}

int64_t Share::rowAlone(int64_t i) const {
  int64_t across = part.back() / fragment.getColumns();
  return i / fragment.getCount() / across * fragment.getRowsAlone().getCount() +
         fragment.getRowAlone(i % fragment.getCount());
}

SmallVector<Value> Share::begin(ImplicitLocOpBuilder &b) const {
  if (lanes() == threads.count)
    return SmallVector<Value>(part.size(), index(b, 0));
  Value group = arith::DivUIOp::create(b, threads.number, index(b, lanes()));
  // Groups beyond the last part have another's, of which they store nothing:
  // units read operands without asking.
  if (groupCount() * lanes() < threads.count)
    group = arith::RemUIOp::create(b, group, index(b, groupCount()));
  SmallVector<int64_t> counts;
  for (auto [size, whole] : llvm::zip(part, shape))
    counts.push_back(llvm::divideCeil(whole, size));
  SmallVector<Value> place = delinearize(b, group, counts);
  for (auto [number, size] : llvm::zip(place, part))
    number = arith::MulIOp::create(b, number, index(b, size));
  return place;
}

SmallVector<Value> Share::inPiece(ImplicitLocOpBuilder &b,
                                  SmallVector<Value> place, int64_t i) const {
  if (i % piece != 0)
    place.back() = arith::AddIOp::create(b, place.back(), index(b, i % piece));
  return place;
}

SmallVector<Value> Share::point(ImplicitLocOpBuilder &b, int64_t i) const {
  if (i % piece != 0)
    return inPiece(b, point(b, i - i % piece), i);
  Value lane = laneNumber(b);
  if (piece != 1)
    lane = arith::MulIOp::create(b, lane, index(b, piece));
  SmallVector<Value> place = begin(b), inside;
  int64_t first = i * lanes();
  if (fragment) {
    inside = inFragments(b, i);
  } else if (part.back() % (lanes() * piece) == 0) {
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
  i -= i % piece;
  if (!fragment && (i + piece) * lanes() > elements())
    require(isLess(b, laneNumber(b), elements() / piece - i / piece * lanes()));
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
  SmallVector<Value> place = point(b, i - i % piece);
  if (Value condition = exists(b, i))
    for (Value &one : place)
      one = arith::SelectOp::create(b, condition, one, index(b, 0));
  return inPiece(b, place, i);
}
