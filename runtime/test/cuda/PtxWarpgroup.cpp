// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxWarpgroup.h"

#include "PtxDecoder.h"

#include <algorithm>

using namespace ashlar::ptx;

namespace {

std::string spelled(const Thread &thread, uint32_t slot) {
  return registerName(*thread.frames.back()->code->function, slot);
}

} // namespace

void RegisterWatch::fence(const Thread &thread) {
  if (depth != thread.frames.size()) {
    if (isUnderWay())
      throw Fault(Fault::NotWritten,
                  "wgmma.fence in another function than the wgmma.mma_async "
                  "that are under way");
    depth = thread.frames.size();
    registers.assign(thread.frames.back()->registers.size(), {});
  }
  ++fences;
}

void RegisterWatch::access(const Thread &thread, const Instruction *at) {
  if (thread.frames.size() != depth)
    return;
  Registers all = thread.block->program->registersOf(*at);
  for (size_t k = 0; k < all.count; ++k) {
    Register &each = registers[all.slots[k]];
    if (each.group > done)
      throw Fault(Fault::NotWritten,
                  spelled(thread, all.slots[k]) +
                      " is used by a wgmma.mma_async that no "
                      "wgmma.wait_group has waited for");
    each.touched = fences;
  }
}

void RegisterWatch::leave(const Thread &thread) {
  if (thread.frames.size() != depth)
    return;
  if (isUnderWay())
    throw Fault(Fault::NotWritten,
                "the function ends while a wgmma.mma_async is under way");
  depth = 0;
}

void RegisterWatch::use(const Thread &thread, uint32_t slot, uint32_t shape,
                        bool isResult) {
  Register &each = registers[slot];
  auto fail = [&](const std::string &why) {
    throw Fault(Fault::Race, "thread " + std::to_string(thread.index) + ", " +
                                 spelled(thread, slot) + ": " + why);
  };
  if (each.touched == fences)
    fail("no wgmma.fence between another access to the register and "
         "wgmma.mma_async");
  bool isUnderWay = each.group > done;
  if (isUnderWay && !isResult && each.shape)
    fail("read as A while a wgmma.mma_async writes it");
  if (isUnderWay && isResult && !each.shape)
    fail("an accumulator while a wgmma.mma_async reads it as A");
  if (isResult && each.shape && each.shape != shape && each.fences == fences)
    fail("no wgmma.fence between operations of different shapes on one "
         "accumulator");
  each.group = used = openGroup();
  each.fences = fences;
  each.shape = isResult ? shape : 0;
}

Warpgroup &ashlar::ptx::warpgroupOf(Block &block, unsigned number) {
  for (Warpgroup &each : block.warpgroups)
    if (each.number == number)
      return each;
  throw Fault(Fault::Race, "no wgmma.fence before the first wgmma.mma_async");
}

const Instruction *ashlar::ptx::waitForGroup(Thread &t, const Instruction *i) {
  if ((t.index / 128 + 1) * 128 > t.block->threads.size())
    throw Fault(Fault::Divergence,
                "a warpgroup of " +
                    std::to_string(t.block->threads.size() % 128) +
                    " threads; it has 128");
  t.state = Thread::AtGroup;
  t.pc = i;
  return nullptr;
}

bool ashlar::ptx::openGroups(Block &block) {
  bool isAny = false;
  for (size_t first = 0; first + 128 <= block.threads.size(); first += 128) {
    Thread *threads[128];
    bool isAll = true;
    for (size_t k = 0; k < 128; ++k) {
      threads[k] = &block.threads[first + k];
      isAll &= threads[k]->state == Thread::AtGroup;
    }
    if (!isAll)
      continue;
    const Instruction *at = threads[0]->pc;
    for (Thread *each : threads)
      if (each->pc != at)
        throw Fault(Fault::Divergence,
                    "threads " + std::to_string(first) + " and " +
                        std::to_string(each->index) +
                        " of a warpgroup are at different instructions: " +
                        block.program->quote(at->line) + "; " +
                        block.program->quote(each->pc->line));
    try {
      if (!at->group(block, threads, at))
        continue;
    } catch (const Fault &fault) {
      throw Fault(fault.kind, "threads " + std::to_string(first) + "-" +
                                  std::to_string(first + 127) + ", " +
                                  block.program->quote(at->line) + ": " +
                                  fault.what());
    }
    for (Thread *each : threads) {
      each->state = Thread::Ready;
      each->pc = at + 1;
    }
    isAny = true;
  }
  return isAny;
}

namespace {

bool fence(Block &block, Thread *const *threads, const Instruction *) {
  for (int k = 0; k < 128; ++k) {
    Thread &each = *threads[k];
    if (!each.watch)
      each.watch = std::make_unique<RegisterWatch>();
    each.watch->fence(each);
  }
  unsigned number = threads[0]->index / 128, first = threads[0]->number;
  for (const Warpgroup &each : block.warpgroups)
    if (each.number == number)
      return true;
  block.warpgroups.push_back(
      {number, block.cluster->shared.addReader(
                   {first, first + 32, first + 64, first + 96}, true)});
  return true;
}

bool commit(Block &, Thread *const *threads, const Instruction *) {
  for (int k = 0; k < 128; ++k)
    if (threads[k]->watch)
      ++threads[k]->watch->committed;
  return true;
}

/// All but the last `count` groups.
bool waitForProducts(Block &block, Thread *const *threads,
                     const Instruction *i) {
  for (int k = 0; k < 128; ++k)
    if (RegisterWatch *watch = threads[k]->watch.get())
      if (watch->committed > i->count)
        watch->done = std::max(watch->done, watch->committed - i->count);
  if (threads[0]->watch)
    block.cluster->shared.finish(
        warpgroupOf(block, threads[0]->index / 128).reader,
        threads[0]->watch->done);
  return true;
}

/// How many registers a thread has before any setmaxnreg: as many as the
/// launch's bounds leave it, in steps of eight.
uint32_t registersAtLaunch(const Block &block) {
  const Function &kernel = *block.kernel->function;
  uint32_t most =
      65536u / uint32_t(block.threads.size()) / std::max(1u, kernel.minBlocks);
  return (kernel.maxRegisters ? kernel.maxRegisters : std::min(255u, most)) /
         8 * 8;
}

/// count: registers; flags: gives back instead of taking.
bool setRegisters(Block &block, Thread *const *threads, const Instruction *i) {
  uint32_t first = registersAtLaunch(block);
  auto &registers = block.groupRegisters;
  registers.resize((block.threads.size() + 127) / 128, first);
  uint32_t &own = registers[threads[0]->index / 128];
  bool isOther = i->flags ? i->count > own : i->count < own;
  if (isOther && block.kernel->function->maxRegisters)
    throw Fault(Fault::Limit, "setmaxnreg to " + std::to_string(i->count) +
                                  " registers of a thread that has " +
                                  std::to_string(own));
  uint32_t used = 0;
  for (uint32_t each : registers)
    used += each;
  if (used - own + i->count > first * uint32_t(registers.size()))
    return false;
  own = i->count;
  return true;
}

void decodeSetMaxRegisters(Decoder &d) {
  const std::string &target = d.owner().module().target;
  if (target != "sm_90a" && target != "sm_100a")
    d.fail("setmaxnreg needs .target sm_90a or sm_100a");
  int kind = d.takeOf({"inc", "dec"});
  if (kind < 0 || !d.take("sync") || !d.take("aligned") ||
      d.takeType() != Type::U32)
    d.fail("expected .inc or .dec with .sync.aligned.u32");
  d.expectOperands(1);
  Instruction made = d.make(waitForGroup);
  made.group = setRegisters;
  made.flags = kind == 1;
  made.count = uint32_t(d.operand(0).integer);
  if (d.operand(0).kind != Operand::Integer || made.count < 24 ||
      made.count > 256 || made.count % 8)
    d.fail("expected 24 to 256 registers, a multiple of 8");
  d.emit(made);
}

void decodeWgmma(Decoder &d) {
  int kind = d.takeOf({"fence", "commit_group", "wait_group", "mma_async"});
  if (kind < 0 || !d.take("sync") || !d.take("aligned"))
    d.fail("expected .fence, .commit_group, .wait_group or .mma_async with "
           ".sync.aligned");
  if (d.owner().module().target != "sm_90a")
    d.fail("wgmma needs .target sm_90a");
  if (kind == 3)
    return decodeMmaAsync(d);
  d.expectOperands(kind == 2 ? 1 : 0);
  Instruction made = d.make(waitForGroup);
  made.group = kind == 0 ? fence : kind == 1 ? commit : waitForProducts;
  if (kind == 2) {
    if (d.operand(0).kind != Operand::Integer)
      d.fail("expected a number of groups");
    made.count = uint32_t(d.operand(0).integer);
  }
  d.emit(made);
}

} // namespace

const Family &ashlar::ptx::warpgroups() {
  static const Family all = {{"wgmma", decodeWgmma},
                             {"setmaxnreg", decodeSetMaxRegisters}};
  return all;
}
