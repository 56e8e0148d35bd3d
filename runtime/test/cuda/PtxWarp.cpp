// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lanes of a warp do together: shuffles, votes, reductions.

#include "PtxBarrier.h"
#include "PtxHandlers.h"

#include <algorithm>

using namespace ashlar::ptx;

namespace {

/// dst, a, b, c; the mask in `count`; the second result in `offset`.
const Instruction *waitForLanes(Thread &t, const Instruction *i) {
  uint32_t mask = uint32_t(t.r[i->count]);
  if (!(mask >> t.lane() & 1))
    throw Fault(Fault::Divergence, "lane " + std::to_string(t.lane()) +
                                       " is not in its own mask " + hex(mask));
  t.mask = mask;
  t.state = Thread::AtWarp;
  t.pc = i;
  return nullptr;
}

const Instruction *waitForAny(Thread &t, const Instruction *i) {
  t.mask = 0;
  t.state = Thread::AtWarp;
  t.pc = i;
  return nullptr;
}

template <class Do> void each(uint32_t mask, Do what) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1)
      what(lane);
}

enum class Shuffle : uint32_t { Up, Down, Bfly, Idx };

void shuffle(Block &, Thread *const *lanes, uint32_t mask,
             const Instruction *i) {
  uint32_t values[32], results[32], inRange = 0;
  each(mask, [&](unsigned lane) {
    values[lane] = get<uint32_t>(*lanes[lane], i->a);
  });
  each(mask, [&](unsigned lane) {
    const Thread &t = *lanes[lane];
    int by = int(t.r[i->b] & 31);
    uint32_t c = uint32_t(t.r[i->c]), segment = c >> 8 & 31;
    int self = int(lane), from = 0;
    int most = int((lane & segment) | (c & 31 & ~segment));
    int least = int(lane & segment);
    bool isIn = false;
    switch (Shuffle(i->flags)) {
    case Shuffle::Up:
      from = self - by;
      isIn = from >= most;
      break;
    case Shuffle::Down:
      from = self + by;
      isIn = from <= most;
      break;
    case Shuffle::Bfly:
      from = self ^ by;
      isIn = from <= most;
      break;
    case Shuffle::Idx:
      from = least | (by & ~int(segment) & 31);
      isIn = from <= most;
      break;
    }
    if (!isIn)
      from = self;
    if (!(mask >> from & 1))
      throw Fault(Fault::Divergence,
                  "lane " + std::to_string(lane) + " takes the value of lane " +
                      std::to_string(from) + ", which does not take part");
    results[lane] = values[from];
    inRange |= uint32_t(isIn) << lane;
  });
  each(mask, [&](unsigned lane) {
    lanes[lane]->r[i->dst] = results[lane];
    lanes[lane]->r[i->offset] = inRange >> lane & 1;
  });
}

void vote(Block &, Thread *const *lanes, uint32_t mask, const Instruction *i) {
  uint32_t ballot = 0;
  each(mask, [&](unsigned lane) {
    ballot |= uint32_t(lanes[lane]->r[i->a] != 0) << lane;
  });
  uint64_t result = i->flags == 0   ? ballot == mask
                    : i->flags == 1 ? ballot != 0
                    : i->flags == 2 ? ballot == 0 || ballot == mask
                                    : uint64_t(ballot);
  each(mask, [&](unsigned lane) { lanes[lane]->r[i->dst] = result; });
}

/// flags: 0 any, 1 all; plus 2 for 64 bits.
void match(Block &, Thread *const *lanes, uint32_t mask, const Instruction *i) {
  uint64_t values[32], cut = i->flags & 2 ? ~0ull : 0xffffffff;
  each(mask, [&](unsigned lane) { values[lane] = lanes[lane]->r[i->a] & cut; });
  each(mask, [&](unsigned lane) {
    uint32_t same = 0;
    each(mask, [&](unsigned other) {
      same |= uint32_t(values[other] == values[lane]) << other;
    });
    bool isAll = same == mask;
    lanes[lane]->r[i->dst] = i->flags & 1 ? (isAll ? mask : 0) : same;
    lanes[lane]->r[i->offset] = isAll;
  });
}

enum class Reduce : uint32_t { Add, Min, Max, And, Or, Xor };

template <class T>
void reduce(Block &, Thread *const *lanes, uint32_t mask,
            const Instruction *i) {
  bool isFirst = true;
  T result = 0;
  each(mask, [&](unsigned lane) {
    T value = get<T>(*lanes[lane], i->a);
    if (isFirst) {
      result = value;
      isFirst = false;
      return;
    }
    switch (Reduce(i->flags)) {
    case Reduce::Add:
      result = T(uint32_t(result) + uint32_t(value));
      break;
    case Reduce::Min:
      result = std::min(result, value);
      break;
    case Reduce::Max:
      result = std::max(result, value);
      break;
    case Reduce::And:
      result &= value;
      break;
    case Reduce::Or:
      result |= value;
      break;
    case Reduce::Xor:
      result ^= value;
      break;
    }
  });
  each(mask, [&](unsigned lane) { set(*lanes[lane], i->dst, result); });
}

void tellActive(Block &, Thread *const *lanes, uint32_t mask,
                const Instruction *i) {
  each(mask, [&](unsigned lane) { set(*lanes[lane], i->dst, mask); });
}

void elect(Block &, Thread *const *lanes, uint32_t mask, const Instruction *i) {
  uint32_t leader = uint32_t(__builtin_ctz(mask));
  each(mask, [&](unsigned lane) {
    lanes[lane]->r[i->dst] = leader;
    lanes[lane]->r[i->offset] = lane == leader;
  });
}

void synchronize(Block &block, Thread *const *lanes, uint32_t mask,
                 const Instruction *) {
  block.cluster->shared.synchronizeLanes(
      lanes[__builtin_ctz(mask)]->number / 32, mask);
}

void takeSync(Decoder &d) {
  if (!d.take("sync"))
    d.fail("expected .sync");
}

Instruction makeWarp(Decoder &d, WarpHandler run) {
  Instruction made = d.make(waitForLanes);
  made.warp = run;
  return made;
}

int64_t secondResult(Decoder &d) {
  const Operand &to = d.operand(0);
  return to.second.empty() ? d.scratch() : d.destination(to.second[0]);
}

void decodeShfl(Decoder &d) {
  takeSync(d);
  int mode = d.takeOf({"up", "down", "bfly", "idx"});
  if (mode < 0 || d.takeType() != Type::B32)
    d.fail("expected .up, .down, .bfly or .idx of .b32");
  d.expectOperands(5);
  Instruction made = makeWarp(d, shuffle);
  made.flags = uint32_t(mode);
  made.dst = d.destination();
  made.offset = secondResult(d);
  made.a = d.source(1, Type::B32);
  made.b = d.source(2, Type::B32);
  made.c = d.source(3, Type::B32);
  made.count = d.source(4, Type::B32);
  d.emit(made);
}

void decodeVote(Decoder &d) {
  takeSync(d);
  int mode = d.takeOf({"all", "any", "uni", "ballot"});
  d.takeType();
  if (mode < 0)
    d.fail("expected .all, .any, .uni or .ballot");
  d.expectOperands(3);
  Instruction made = makeWarp(d, vote);
  made.flags = uint32_t(mode);
  made.dst = d.destination();
  made.a = d.source(1, Type::Pred);
  made.count = d.source(2, Type::B32);
  d.emit(made);
}

void decodeMatch(Decoder &d) {
  takeSync(d);
  int mode = d.takeOf({"any", "all"});
  Type type = d.takeType();
  if (mode < 0)
    d.fail("expected .any or .all");
  d.expectOperands(3);
  Instruction made = makeWarp(d, match);
  made.flags = uint32_t(mode) | (bytesOf(type) == 8 ? 2 : 0);
  made.dst = d.destination();
  made.offset = secondResult(d);
  made.a = d.source(1, type);
  made.count = d.source(2, Type::B32);
  d.emit(made);
}

void decodeRedux(Decoder &d) {
  takeSync(d);
  int op = d.takeOf({"add", "min", "max", "and", "or", "xor"});
  Type type = d.takeType();
  if (op < 0 || bytesOf(type) != 4 || type == Type::F32)
    d.fail("expected an operation on whole numbers");
  d.expectOperands(3);
  Instruction made =
      makeWarp(d, type == Type::S32 ? reduce<int32_t> : reduce<uint32_t>);
  made.flags = uint32_t(op);
  made.dst = d.destination();
  made.a = d.source(1, type);
  made.count = d.source(2, Type::B32);
  d.emit(made);
}

void decodeActiveMask(Decoder &d) {
  d.takeType();
  d.expectOperands(1);
  Instruction made = d.make(waitForAny);
  made.warp = tellActive;
  made.dst = d.destination();
  d.emit(made);
}

void decodeElect(Decoder &d) {
  takeSync(d);
  d.expectOperands(2);
  Instruction made = makeWarp(d, elect);
  made.dst = d.destination();
  made.offset = secondResult(d);
  made.count = d.source(1, Type::B32);
  d.emit(made);
}

} // namespace

void ashlar::ptx::decodeWarpSync(Decoder &d) {
  d.expectOperands(1);
  Instruction made = makeWarp(d, synchronize);
  made.count = d.source(0, Type::B32);
  d.emit(made);
}

const Family &ashlar::ptx::warpwide() {
  static const Family all = {{"shfl", decodeShfl},
                             {"vote", decodeVote},
                             {"match", decodeMatch},
                             {"redux", decodeRedux},
                             {"activemask", decodeActiveMask},
                             {"elect", decodeElect}};
  return all;
}
