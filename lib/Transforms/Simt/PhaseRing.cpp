// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PhaseRing.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

static Value index(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}
static Value word(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

PhaseRing::PhaseRing(ImplicitLocOpBuilder &b, tile::RingType type, Value memory,
                     int64_t sharers, const Threads &threads)
    : type(type), memory(memory), sharers(sharers), threads(threads) {
  phases = memref::AllocOp::create(
      b, MemRefType::get({2 * slots()}, b.getI64Type(),
                         MemRefLayoutAttrInterface(),
                         b.getI64IntegerAttr(workgroupSpace)));
  turn = memref::AllocOp::create(b, MemRefType::get({}, b.getI32Type()));
  auto first = memref::StoreOp::create(b, word(b, 0), turn);
  first->setAttr(onceAttrName, b.getStringAttr("begin"));
}

PhaseRing::Turn PhaseRing::next(ImplicitLocOpBuilder &b) const {
  Value now = memref::LoadOp::create(b, turn);
  Value later = arith::AddIOp::create(b, now, word(b, 1));
  auto is = [&](arith::CmpIPredicate how, Value one, int64_t other) -> Value {
    return arith::CmpIOp::create(b, how, one, word(b, other));
  };
  Value isEnd = is(arith::CmpIPredicate::eq, later, 2 * slots()),
        isOdd = is(arith::CmpIPredicate::uge, now, slots());
  memref::StoreOp::create(
      b, arith::SelectOp::create(b, isEnd, word(b, 0), later), turn);
  Value slot = arith::SelectOp::create(
      b, isOdd, arith::SubIOp::create(b, now, word(b, slots())), now);
  return {arith::IndexCastOp::create(b, b.getIndexType(), slot),
          arith::ExtUIOp::create(b, b.getI32Type(), isOdd)};
}

Value PhaseRing::freeOf(ImplicitLocOpBuilder &b, Value slot) const {
  return arith::AddIOp::create(b, slot, index(b, slots()));
}

void PhaseRing::forEachWord(
    ImplicitLocOpBuilder &b,
    llvm::function_ref<void(Value, bool isFull)> visit) const {
  for (int64_t i = 0; i != 2 * slots(); ++i)
    visit(index(b, i), i < slots());
}

void PhaseRing::begin(ImplicitLocOpBuilder &b) const {
  forEachWord(b, [&](Value word, bool isFull) {
    int64_t groups = threads.count / threads.lanes;
    tile::PhaseBeginOp::create(b, phases, word, isFull ? 1 : groups * sharers);
  });
}

void PhaseRing::end(ImplicitLocOpBuilder &b) const {
  forEachWord(
      b, [&](Value word, bool) { tile::PhaseEndOp::create(b, phases, word); });
}

void PhaseRing::fill(ImplicitLocOpBuilder &b, const TensorBox &box,
                     int64_t map) const {
  auto [slot, parity] = next(b);
  // The turn in front of the first one is over from the beginning.
  Value before = arith::XOrIOp::create(b, parity, word(b, 1));
  tile::PhaseWaitOp::create(b, phases, freeOf(b, slot), before, isShared());
  int64_t each = box.numElements(), all = each * sharers;
  tile::PhaseArriveOp::create(b, phases, slot, /*peer=*/Value(),
                              all * box.copies *
                                  elementBytes(type.getElementType()));
  Value place = arith::MulIOp::create(b, slot, index(b, pitch()));
  SmallVector<Value> at;
  for (auto [one, before] : llvm::zip_equal(box.at, box.before)) {
    at.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), one));
    if (before != 0)
      at.back() = arith::SubIOp::create(b, at.back(), index(b, before));
  }
  int64_t to = 0;
  if (isShared()) {
    Value rank = tile::ClusterRankOp::create(b, b.getIndexType());
    auto times = [&](int64_t step) {
      return arith::MulIOp::create(b, rank, index(b, step));
    };
    at[box.shared] =
        arith::AddIOp::create(b, at[box.shared], times(box.box[box.shared]));
    place = arith::AddIOp::create(b, place, times(each));
    to = (int64_t(1) << sharers) - 1;
  }
  Value first = at.back();
  for (int64_t i = 0; i != box.copies; ++i) {
    if (i != 0)
      at.back() = arith::AddIOp::create(b, first, index(b, i * box.box.back()));
    tile::ThreadBoxCopyOp::create(
        b, box.tensor, at, memory,
        arith::AddIOp::create(b, place, index(b, i * all)), phases, slot, map,
        to);
  }
}

Value PhaseRing::take(ImplicitLocOpBuilder &b) const {
  auto [slot, parity] = next(b);
  tile::PhaseWaitOp::create(b, phases, slot, parity);
  return arith::MulIOp::create(b, slot, index(b, pitch()));
}

void PhaseRing::release(ImplicitLocOpBuilder &b, Value place) const {
  Value slot = arith::DivUIOp::create(b, place, index(b, pitch()));
  Value lane =
      arith::RemUIOp::create(b, threads.number, index(b, threads.lanes));
  // As many lanes as there are workgroups to hear of it.
  Value speaks = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lane,
                                       index(b, sharers));
  auto branch = scf::IfOp::create(b, speaks, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  tile::PhaseArriveOp::create(b, phases, freeOf(b, slot),
                              isShared() ? lane : Value(), /*expecting=*/0);
}
