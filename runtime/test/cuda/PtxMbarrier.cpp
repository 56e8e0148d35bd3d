// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxMbarrier.h"

#include "PtxHandlers.h"

using namespace ashlar::ptx;

void Mbarriers::publish(unsigned thread) {
  for (auto &[at, each] : all)
    each.isPublished |= each.owner == thread;
}

void Mbarriers::expectNoneOf(uint64_t offset, unsigned count) const {
  auto next = all.lower_bound(offset + count);
  if (next != all.begin() && (--next)->first + size > offset)
    throw Fault(Fault::Race, "an ordinary access to an mbarrier");
}

Mbarrier &ashlar::ptx::mbarrierAt(Thread &t, uint64_t address,
                                  bool isOfCluster) {
  Cluster &cluster = *t.block->cluster;
  if (address % Mbarriers::size)
    throw Fault(Fault::Misaligned, "an mbarrier at shared " + hex(address) +
                                       ", which is not aligned to 8 bytes");
  uint64_t at = offsetInCluster(*t.block, address, Mbarriers::size, isOfCluster,
                                Access::Atomic);
  Mbarrier *found = cluster.mbarriers.find(at);
  if (!found)
    throw Fault(Fault::NotWritten,
                "no mbarrier was initialized at shared " + hex(address));
  if (!cluster.shared.isAfter(found->mark, t.number) &&
      !cluster.shared.allowed.races)
    throw Fault(Fault::Race, "a race: an mbarrier that " +
                                 nameOfThread(cluster, found->owner) +
                                 " initialized with no barrier in between");
  return *found;
}

static void endPhase(Cluster &cluster, Mbarrier &mbarrier) {
  if (mbarrier.pending || mbarrier.bytes)
    return;
  ++mbarrier.phase;
  ++cluster.phases;
  mbarrier.pending = mbarrier.expected;
  mbarrier.arrived = mbarrier.arriving;
  for (auto &block : cluster.blocks)
    for (Thread &each : block->threads)
      if (each.state == Thread::AtMbarrier && each.mbarrier == mbarrier.at)
        each.state = Thread::Ready;
}

void ashlar::ptx::arriveAt(Cluster &cluster, Mbarrier &mbarrier,
                           uint32_t count) {
  if (count > mbarrier.pending)
    throw Fault(Fault::Limit, std::to_string(count) +
                                  " arrive at an mbarrier whose phase "
                                  "expects " +
                                  std::to_string(mbarrier.pending) + " more");
  mbarrier.pending -= count;
  endPhase(cluster, mbarrier);
}

void ashlar::ptx::expectBytes(Cluster &cluster, Mbarrier &mbarrier,
                              int64_t bytes) {
  mbarrier.bytes += bytes;
  if (mbarrier.bytes > Mbarriers::most || mbarrier.bytes < -Mbarriers::most)
    throw Fault(Fault::Limit, "an mbarrier that waits for " +
                                  std::to_string(mbarrier.bytes) + " bytes; " +
                                  std::to_string(Mbarriers::most) + " at most");
  if (bytes < 0)
    endPhase(cluster, mbarrier);
}

namespace {

/// Where an instruction's mbarrier is. a, offset: the address; c: its space.
uint64_t addressOf(Thread &t, const Instruction *i, bool &isOfCluster) {
  uint64_t address = t.r[i->a] + uint64_t(i->offset);
  isOfCluster = Space(i->c) == Space::Cluster;
  if (Space(i->c) != Space::Generic)
    return address;
  if (address >> window::shift != window::shared)
    throw Fault(Fault::IllegalAddress,
                "an mbarrier at " + hex(address) + ", which is not shared");
  return address & window::mask;
}

Mbarrier &mbarrierOf(Thread &t, const Instruction *i) {
  bool isOfCluster = false;
  uint64_t address = addressOf(t, i, isOfCluster);
  return mbarrierAt(t, address, isOfCluster);
}

/// b: how many it expects.
const Instruction *init(Thread &t, const Instruction *i) {
  Cluster &cluster = *t.block->cluster;
  bool isOfCluster = false;
  uint64_t address = addressOf(t, i, isOfCluster);
  if (address % Mbarriers::size)
    throw Fault(Fault::Misaligned, "an mbarrier at shared " + hex(address) +
                                       ", which is not aligned to 8 bytes");
  uint64_t at =
      offsetInCluster(*t.block, address, Mbarriers::size, false, Access::Write);
  uint32_t count = uint32_t(t.r[i->b]);
  if (count == 0 || count > Mbarriers::most)
    throw Fault(Fault::Limit,
                "an mbarrier for " + std::to_string(count) + " that arrive");
  cluster.mbarriers.expectNone(at, Mbarriers::size);
  touchShared(cluster, t.number, at, Mbarriers::size, Access::Write);
  Mbarrier &made = cluster.mbarriers.add(at);
  made.at = at;
  made.expected = made.pending = count;
  made.owner = t.number;
  made.mark = cluster.shared.mark(t.number);
  return i + 1;
}

const Instruction *invalidate(Thread &t, const Instruction *i) {
  Cluster &cluster = *t.block->cluster;
  uint64_t at = mbarrierOf(t, i).at;
  touchShared(cluster, t.number, at, Mbarriers::size, Access::Write);
  cluster.mbarriers.remove(at);
  return i + 1;
}

/// In flags.
enum : uint32_t {
  Relaxed = 1,
  Expects = 2,    // bytes, in b
  Drops = 4,      // from the phases to come, too
  Keeps = 8,      // does not end the phase
  IsParity = 16,  // what is waited for
  OnlyTests = 32, // does not wait
};

/// The phase and what was pending, as a thread may wait for it.
uint64_t stateOf(const Mbarrier &mbarrier) {
  return mbarrier.phase << 20 | mbarrier.pending;
}

/// b: bytes or how many.
const Instruction *arrive(Thread &t, const Instruction *i) {
  Cluster &cluster = *t.block->cluster;
  Mbarrier &mbarrier = mbarrierOf(t, i);
  uint32_t given = uint32_t(t.r[i->b]), count = i->flags & Expects ? 1 : given;
  if (count == 0)
    throw Fault(Fault::Limit, "an arrival of none at an mbarrier");
  if (!(i->flags & Relaxed))
    cluster.shared.release(t.number, mbarrier.arriving);
  if (i->flags & Expects)
    expectBytes(cluster, mbarrier, given);
  if ((i->flags & Keeps) && count >= mbarrier.pending)
    throw Fault(Fault::Limit, "mbarrier.arrive.noComplete ends the phase");
  t.r[i->dst] = stateOf(mbarrier);
  if (i->flags & Drops) {
    if (count > mbarrier.expected)
      throw Fault(Fault::Limit, "an mbarrier that expects fewer than none");
    mbarrier.expected -= count;
  }
  arriveAt(cluster, mbarrier, count);
  return i + 1;
}

/// flags: whether bytes have come instead; b: bytes.
const Instruction *tellBytes(Thread &t, const Instruction *i) {
  Mbarrier &mbarrier = mbarrierOf(t, i);
  int64_t bytes = uint32_t(t.r[i->b]);
  expectBytes(*t.block->cluster, mbarrier, i->flags ? -bytes : bytes);
  return i + 1;
}

/// b: a state or a parity.
const Instruction *wait(Thread &t, const Instruction *i) {
  Cluster &cluster = *t.block->cluster;
  Mbarrier &mbarrier = mbarrierOf(t, i);
  uint64_t given = t.r[i->b];
  if ((i->flags & IsParity) && uint32_t(given) > 1)
    throw Fault(Fault::Limit, "a parity of " + std::to_string(uint32_t(given)));
  bool isDone = i->flags & IsParity ? (mbarrier.phase & 1) != (given & 1)
                                    : mbarrier.phase != given >> 20;
  if (isDone) {
    if (!(i->flags & Relaxed))
      cluster.shared.acquire(t.number, mbarrier.arrived);
    t.r[i->dst] = 1;
    t.hasTimedOut = false;
    return i + 1;
  }
  // Time may be up at any time: every other time it is.
  if (t.hasTimedOut && !(i->flags & OnlyTests)) {
    t.state = Thread::AtMbarrier;
    t.mbarrier = mbarrier.at;
    t.pc = i;
    return nullptr;
  }
  t.hasTimedOut = !(i->flags & OnlyTests);
  t.r[i->dst] = 0;
  t.pc = i + 1; // others have their turn
  return nullptr;
}

const Instruction *pendingCount(Thread &t, const Instruction *i) {
  t.r[i->dst] = t.r[i->a] & Mbarriers::most;
  return i + 1;
}

void addressOfMbarrier(Decoder &d, size_t operand, Instruction &into,
                       bool isCluster) {
  Space space = Space::Generic;
  switch (d.takeOf({"shared", "shared::cta", "shared::cluster"})) {
  case 0:
  case 1:
    space = Space::Shared;
    break;
  case 2:
    if (!isCluster)
      d.fail("not for another block's mbarrier");
    space = Space::Cluster;
    break;
  }
  d.address(d.operand(operand), into, space);
  into.c = uint32_t(space);
}

void takeB64(Decoder &d) {
  if (d.takeType() != Type::B64)
    d.fail("expected .b64");
}

void decodeInit(Decoder &d, bool isInit) {
  takeB64(d);
  d.expectOperands(isInit ? 2 : 1);
  Instruction made = d.make(isInit ? init : invalidate);
  addressOfMbarrier(d, 0, made, false);
  if (isInit)
    made.b = d.source(1, Type::U32);
  d.emit(made);
}

void decodeArrive(Decoder &d, bool isDrop) {
  Instruction made = d.make(arrive);
  bool expects = d.take("expect_tx"), keeps = d.take("noComplete");
  int order = d.takeOf({"release", "relaxed"});
  d.takeOf({"cta", "cluster"});
  made.flags = (order == 1 ? Relaxed : 0u) | (expects ? Expects : 0u) |
               (isDrop ? Drops : 0u) | (keeps ? Keeps : 0u);
  takeB64(d);
  d.expectOperands(expects || keeps ? 3 : 2, 3);
  addressOfMbarrier(d, 1, made, true);
  if (Space(made.c) == Space::Cluster && d.operand(0).kind != Operand::Sink)
    d.fail("expected '_' for the state of another block's mbarrier");
  made.dst = d.destination();
  made.b = d.operands() > 2 ? d.source(2, Type::U32) : d.constant(1);
  d.emit(made);
}

void decodeBytes(Decoder &d, bool haveCome) {
  d.take("relaxed");
  d.takeOf({"cta", "cluster"});
  takeB64(d);
  d.expectOperands(2);
  Instruction made = d.make(tellBytes);
  made.flags = haveCome;
  addressOfMbarrier(d, 0, made, true);
  made.b = d.source(1, Type::U32);
  d.emit(made);
}

void decodeWait(Decoder &d, bool isTest) {
  Instruction made = d.make(wait);
  bool isParity = d.take("parity");
  int order = d.takeOf({"acquire", "relaxed"});
  d.takeOf({"cta", "cluster"});
  made.flags = (order == 1 ? Relaxed : 0u) | (isParity ? IsParity : 0u) |
               (isTest ? OnlyTests : 0u);
  takeB64(d);
  d.expectOperands(3, isTest ? 3 : 4);
  addressOfMbarrier(d, 1, made, false);
  made.dst = d.destination();
  made.b = d.source(2, isParity ? Type::U32 : Type::B64);
  if (d.operands() > 3)
    d.source(3, Type::U32); // how long
  d.emit(made);
}

void decodeMbarrier(Decoder &d) {
  switch (d.takeOf({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                    "complete_tx", "test_wait", "try_wait", "pending_count"})) {
  case 0:
    return decodeInit(d, true);
  case 1:
    return decodeInit(d, false);
  case 2:
    return decodeArrive(d, false);
  case 3:
    return decodeArrive(d, true);
  case 4:
    return decodeBytes(d, false);
  case 5:
    return decodeBytes(d, true);
  case 6:
    return decodeWait(d, true);
  case 7:
    return decodeWait(d, false);
  case 8:
    takeB64(d);
    return emitPlain(d, pendingCount, Type::B64, 2);
  }
  d.fail("an operation on mbarriers that the interpreter does not know");
}

} // namespace

const Family &ashlar::ptx::mbarriers() {
  static const Family all = {{"mbarrier", decodeMbarrier}};
  return all;
}
