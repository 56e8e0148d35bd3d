// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxBarrier.h"

#include <map>

using namespace ashlar::ptx;

void ashlar::ptx::arriveAtBarrier(Thread &thread, const Instruction *at) {
  uint32_t id = uint32_t(thread.r[at->a]);
  uint32_t count = uint32_t(thread.r[at->b]);
  uint32_t all = uint32_t(thread.block->threads.size());
  if (id > 15)
    throw Fault(Fault::Divergence,
                "barrier " + std::to_string(id) + "; there are 16");
  if (at->b != special::Zero && (count == 0 || count % 32 || count > all))
    throw Fault(Fault::Divergence,
                "a barrier for " + std::to_string(count) +
                    " threads; expected warps of the block's " +
                    std::to_string(all) + " threads");
  Barrier &barrier = thread.block->barriers[id];
  uint32_t expected = count ? count : all;
  if (barrier.expected && barrier.expected != expected)
    throw Fault(Fault::Divergence, "barrier " + std::to_string(id) + " for " +
                                       std::to_string(expected) +
                                       " threads, where others wait "
                                       "for " +
                                       std::to_string(barrier.expected));
  barrier.expected = expected;
  thread.barrier = uint8_t(id);
}

void ashlar::ptx::passBarrier(Thread &thread) {
  Barrier &barrier = thread.block->barriers[thread.barrier];
  ++barrier.arrived;
  thread.block->cluster->shared.release(thread.number / 32, barrier.clock);
}

static void open(Block &block, unsigned id,
                 const std::vector<Thread *> &waiting) {
  Barrier &barrier = block.barriers[id];
  uint32_t sum = 0;
  std::map<unsigned, uint32_t> masks;
  std::map<unsigned, const Instruction *> places;
  for (Thread *each : waiting) {
    unsigned warp = each->number / 32;
    masks[warp] |= 1u << each->lane();
    auto [place, isFirst] = places.try_emplace(warp, each->pc);
    if (!isFirst && place->second != each->pc &&
        (each->pc->flags & barrierAligned))
      throw Fault(Fault::Divergence,
                  "threads of warp " + std::to_string(each->index / 32) +
                      " are at different instructions of the aligned barrier " +
                      std::to_string(id) + ": " +
                      block.program->quote(place->second->line) + "; " +
                      block.program->quote(each->pc->line));
    if (each->pc->flags >> barrierReduces)
      sum += each->r[each->pc->c] != 0;
  }
  SharedMemory &shared = block.cluster->shared;
  for (auto [warp, mask] : masks)
    shared.release(warp, barrier.clock);
  for (auto [warp, mask] : masks) {
    shared.acquire(warp, barrier.clock);
    shared.synchronizeLanes(warp, mask);
  }
  for (Thread *each : waiting) {
    switch (each->pc->flags >> barrierReduces) {
    case 1:
      each->r[each->pc->dst] = sum;
      break;
    case 2:
      each->r[each->pc->dst] = sum == waiting.size();
      break;
    case 3:
      each->r[each->pc->dst] = sum > 0;
      break;
    }
    each->state = Thread::Ready;
    ++each->pc;
  }
  barrier = Barrier();
}

bool ashlar::ptx::openBarriers(Block &block) {
  std::vector<Thread *> waiting[16];
  for (Thread &each : block.threads)
    if (each.state == Thread::AtBarrier)
      waiting[each.barrier].push_back(&each);
  bool isAny = false;
  for (unsigned id = 0; id < 16; ++id) {
    const Barrier &barrier = block.barriers[id];
    if (!barrier.expected ||
        waiting[id].size() + barrier.arrived < barrier.expected)
      continue;
    open(block, id, waiting[id]);
    isAny = true;
  }
  return isAny;
}

bool ashlar::ptx::openWarp(Block &block, unsigned warp) {
  Thread *lanes[32] = {};
  uint32_t there = 0;
  size_t first = warp * 32,
         count = std::min<size_t>(32, block.threads.size() - first);
  for (size_t k = 0; k < count; ++k) {
    lanes[k] = &block.threads[first + k];
    there |= 1u << k;
  }
  bool isAny = false;
  for (size_t k = 0; k < count; ++k) {
    Thread &leader = *lanes[k];
    if (leader.state != Thread::AtWarp)
      continue;
    uint32_t mask = leader.mask & there, same = 0, stuck = 0;
    for (size_t j = 0; j < count; ++j) {
      const Thread &each = *lanes[j];
      stuck |= uint32_t(each.state != Thread::Ready) << j;
      if (each.state == Thread::AtWarp && each.pc == leader.pc &&
          each.mask == leader.mask)
        same |= 1u << j;
    }
    // activemask asks who is here when no other can come.
    if (leader.mask == 0) {
      if (stuck != there)
        continue;
      mask = same;
    }
    if ((same & mask) != mask)
      continue;
    const Instruction *at = leader.pc;
    try {
      at->warp(block, lanes, mask, at);
    } catch (const Fault &fault) {
      throw Fault(fault.kind, "warp " + std::to_string(warp) + ", " +
                                  block.program->quote(at->line) + ": " +
                                  fault.what());
    }
    for (size_t j = 0; j < count; ++j)
      if (mask >> j & 1) {
        lanes[j]->state = Thread::Ready;
        lanes[j]->pc = at + 1;
      }
    isAny = true;
  }
  return isAny;
}

/// "0-31, 40"
static std::string spelled(const std::vector<uint32_t> &numbers) {
  std::string text;
  for (size_t k = 0; k < numbers.size();) {
    size_t end = k;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1)
      ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[k]);
    if (end > k)
      text += "-" + std::to_string(numbers[end]);
    k = end + 1;
    if (text.size() > 100 && k < numbers.size())
      return text + "...";
  }
  return text;
}

Fault ashlar::ptx::deadlock(const Cluster &cluster) {
  std::string text = "threads wait for others that do not come:";
  for (auto &block : cluster.blocks) {
    std::map<std::pair<int, const Instruction *>, std::vector<uint32_t>> groups;
    for (const Thread &each : block->threads)
      groups[{each.state, each.pc}].push_back(each.index);
    if (cluster.blocks.size() > 1)
      text += " block " + std::to_string(block->rank) + " of the cluster:";
    for (auto &[where, threads] : groups) {
      text += where.first == Thread::Exited ? " exited, " : " waiting, ";
      text += "threads " + spelled(threads) + " at " +
              block->program->quote(where.second->line) + ";";
    }
  }
  text.pop_back();
  return Fault(Fault::Divergence, text);
}
