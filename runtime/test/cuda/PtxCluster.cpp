// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// barrier.cluster, mapa, getctarank.

#include "PtxCluster.h"

#include "PtxHandlers.h"

using namespace ashlar::ptx;

bool ashlar::ptx::openCluster(Cluster &cluster) {
  ClusterBarrier &barrier = cluster.barrier;
  bool isAny = false;
  for (auto &block : cluster.blocks)
    for (const Thread &each : block->threads) {
      if (each.state == Thread::Exited)
        continue;
      if (each.clusterPhase != barrier.phase)
        return false;
      isAny = true;
    }
  if (!isAny)
    return false;
  barrier.arrived = barrier.arriving;
  ++barrier.phase;
  for (auto &block : cluster.blocks)
    for (Thread &each : block->threads)
      if (each.state == Thread::AtCluster)
        each.state = Thread::Ready;
  return true;
}

namespace {

/// flags: whether it releases.
const Instruction *arrive(Thread &t, const Instruction *i) {
  Cluster &cluster = *t.block->cluster;
  if (t.clusterPhase)
    throw Fault(Fault::Divergence,
                "a second barrier.cluster.arrive with no barrier.cluster.wait "
                "in between");
  t.clusterPhase = cluster.barrier.phase;
  if (i->flags)
    cluster.shared.release(t.number, cluster.barrier.arriving);
  return i + 1;
}

const Instruction *wait(Thread &t, const Instruction *i) {
  Cluster &cluster = *t.block->cluster;
  if (!t.clusterPhase)
    throw Fault(Fault::Divergence,
                "barrier.cluster.wait without barrier.cluster.arrive");
  if (t.clusterPhase == cluster.barrier.phase) {
    t.state = Thread::AtCluster;
    t.pc = i;
    return nullptr;
  }
  t.clusterPhase = 0;
  cluster.shared.acquire(t.number, cluster.barrier.arrived);
  return i + 1;
}

/// a: an address; b: a rank; flags: whether the address is a generic one.
const Instruction *mapAddress(Thread &t, const Instruction *i) {
  uint64_t address = t.r[i->a], rank = uint32_t(t.r[i->b]), high = 0;
  if (i->flags) {
    high = address & ~window::mask;
    if (high >> window::shift != window::shared)
      throw Fault(Fault::IllegalAddress,
                  "mapa of " + hex(address) + ", which is not shared");
    address &= window::mask;
  }
  size_t blocks = t.block->cluster->blocks.size();
  if (rank >= blocks)
    throw Fault(Fault::IllegalAddress, "mapa to block " + std::to_string(rank) +
                                           " of a cluster of " +
                                           std::to_string(blocks));
  uint64_t offset = address & ((1ull << window::rankShift) - 1);
  t.r[i->dst] = high | (rank + 1) << window::rankShift | offset;
  return i + 1;
}

const Instruction *rankOf(Thread &t, const Instruction *i) {
  uint64_t tag = (t.r[i->a] & window::mask) >> window::rankShift;
  t.r[i->dst] = tag ? tag - 1 : t.block->rank;
  return i + 1;
}

void decodeMapa(Decoder &d) {
  bool isShared = d.take("shared::cluster");
  Type type = d.takeType();
  d.expectOperands(3);
  Instruction made = d.make(mapAddress);
  made.flags = !isShared;
  made.dst = d.destination();
  made.a = d.source(1, type);
  made.b = d.source(2, Type::U32);
  d.emit(made);
}

void decodeGetRank(Decoder &d) {
  d.take("shared::cluster");
  emitPlain(d, rankOf, d.takeType(), 2);
}

} // namespace

void ashlar::ptx::decodeClusterBarrier(Decoder &d) {
  int kind = d.takeOf({"arrive", "wait"});
  if (kind < 0)
    d.fail("expected .arrive or .wait");
  bool isRelaxed = kind == 0 && d.take("relaxed");
  d.take(kind == 0 ? "release" : "acquire");
  d.take("aligned");
  d.expectOperands(0);
  Instruction made = d.make(kind == 0 ? arrive : wait);
  made.flags = !isRelaxed;
  d.emit(made);
}

const Family &ashlar::ptx::clusters() {
  static const Family all = {{"mapa", decodeMapa},
                             {"getctarank", decodeGetRank}};
  return all;
}
