// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowDrain.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Divisors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

/// Lanes that share a row of a fragment, and elements that each of them has.
static constexpr int64_t lanesOfRow = 4, ofLane = 2;
/// Elements that a lane stores as one.
static constexpr int64_t together = lanesOfRow * ofLane;

RowDrain::RowDrain(tile::DrainOp op, const Share &share, const Threads &threads)
    : op(op), share(share), threads(threads), type(op.getAcc().getType()),
      map(op.getMap(op.getMaps().size() - 1)) {}

bool RowDrain::isTaken() {
  tile::FragmentAttr fragment = type.getFragment();
  if (!threads.shuffles || !fragment || !share.hasPairs() ||
      fragment.getColumns() != together || fragment.getLanes().size() < 4 ||
      fragment.getLanes().take_front(4) != ArrayRef<int64_t>{0, 2, 0, 4})
    return false;
  auto target = cast<MemRefType>(op.getTarget().getType());
  unsigned last = map.getNumDims() - 1;
  return elementBytes(target.getElementType()) == 2 &&
         type.getPart().back() % (lanesOfRow * together) == 0 &&
         type.getShape().back() % type.getPart().back() == 0 &&
         beginsRowsAt(op.getTarget(), together) &&
         map.getResults().back() == getAffineDimExpr(last, op.getContext()) &&
         llvm::none_of(
             map.getResults().drop_back(),
             [&](AffineExpr expr) { return expr.isFunctionOfDim(last); }) &&
         (!op.getClipped() || endsRowsAt(op.getTarget(), together));
}

Value RowDrain::conditionAt(ThreadWriter &w, int64_t i, ArrayRef<Value> point) {
  Value condition = share.exists(w.b, i);
  if (op.getClipped())
    condition = w.both(condition, w.isInside(op.getTarget(), map, point));
  return condition;
}

Value RowDrain::wordAt(ThreadWriter &w, int64_t i, ValueAt valueAt) {
  SmallVector<Value> point = share.point(w.b, i);
  auto make = [&]() -> Value {
    Value first = valueAt(i, point);
    Value one = arith::ConstantIndexOp::create(w.b, 1);
    point.back() = arith::AddIOp::create(w.b, point.back(), one);
    Value second = valueAt(i + 1, point);
    Value pair = vector::FromElementsOp::create(
        w.b, VectorType::get({ofLane}, first.getType()),
        ValueRange{first, second});
    Value word = vector::BitCastOp::create(
        w.b, VectorType::get({1}, w.b.getI32Type()), pair);
    return vector::ExtractOp::create(w.b, word, ArrayRef<int64_t>{0});
  };
  Value condition = conditionAt(w, i, point);
  // What comes of an epilogue's operands is read where they are alone.
  if (!condition || op.getEpilogue().empty())
    return make();
  auto branch = scf::IfOp::create(w.b, TypeRange(w.b.getI32Type()), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(w.b);
  w.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(w.b, make());
  w.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(w.b,
                       arith::ConstantIntOp::create(w.b, 0, 32).getResult());
  return branch.getResult(0);
}

void RowDrain::exchange(ThreadWriter &w, MutableArrayRef<Value> words) {
  for (int64_t bit = 1; bit != lanesOfRow; bit *= 2) {
    Value isHigh = arith::CmpIOp::create(
        w.b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(w.b, threads.number,
                              arith::ConstantIndexOp::create(w.b, bit)),
        arith::ConstantIndexOp::create(w.b, 0));
    // Words of a pair that differ in the bit: each lane gives away the one that
    // the other lane stores.
    for (int64_t i = 0; i != lanesOfRow; ++i) {
      if (i & bit)
        continue;
      Value &low = words[i], &high = words[i | bit];
      Value given = arith::SelectOp::create(w.b, isHigh, low, high);
      Value taken =
          gpu::ShuffleOp::create(w.b, given, int32_t(bit),
                                 int32_t(threads.lanes), gpu::ShuffleMode::XOR)
              .getShuffleResult();
      Value kept = arith::SelectOp::create(w.b, isHigh, high, low);
      low = arith::SelectOp::create(w.b, isHigh, taken, kept);
      high = arith::SelectOp::create(w.b, isHigh, kept, taken);
    }
  }
}

void RowDrain::store(ThreadWriter &w, int64_t i, ArrayRef<Value> words) {
  // The row of the lane's pair of fragment 0, and the columns of the fragment
  // that has its number among the four; spelled so that LLVM sees what divides
  // them.
  SmallVector<Value> point = share.point(w.b, i);
  int64_t across = type.getPart().back() / together;
  int64_t first = i / type.getFragment().getCount() % across * together;
  Value lane = arith::AndIOp::create(
      w.b, threads.number, arith::ConstantIndexOp::create(w.b, lanesOfRow - 1));
  Value column = arith::MulIOp::create(
      w.b, lane, arith::ConstantIndexOp::create(w.b, together));
  column = arith::AddIOp::create(w.b, column,
                                 arith::ConstantIndexOp::create(w.b, first));
  point.back() = arith::AddIOp::create(w.b, share.begin(w.b).back(), column);
  OpBuilder::InsertionGuard guard(w.b);
  if (Value condition = conditionAt(w, i, point)) {
    auto branch = scf::IfOp::create(w.b, condition, /*withElseRegion=*/false);
    w.b.setInsertionPointToStart(branch.thenBlock());
  }
  Type element = cast<MemRefType>(op.getTarget().getType()).getElementType();
  Value all = vector::BitCastOp::create(
      w.b, VectorType::get({together}, element),
      vector::FromElementsOp::create(
          w.b, VectorType::get({lanesOfRow}, w.b.getI32Type()), words));
  vector::StoreOp::create(w.b, all, op.getTarget(), w.at(map, point),
                          /*nontemporal=*/false, llvm::MaybeAlign(16));
}

void RowDrain::write(ThreadWriter &w, ValueAt valueAt) {
  int64_t ofFragment = type.getFragment().getCount(),
          step = lanesOfRow * ofFragment;
  for (int64_t first = 0; first != share.count(); first += step)
    for (int64_t i = first; i != first + ofFragment; i += ofLane) {
      SmallVector<Value> words;
      for (int64_t fragment = 0; fragment != lanesOfRow; ++fragment)
        words.push_back(wordAt(w, i + fragment * ofFragment, valueAt));
      exchange(w, words);
      store(w, i, words);
    }
}
