// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is at an address, and whether it may be touched.

#include "PtxThread.h"

using namespace ashlar::ptx;

std::string ashlar::ptx::hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

static std::string spelled(Access how, unsigned count) {
  return std::string(isWrite(how) ? "a write of " : "a read of ") +
         std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

static uint8_t *global(Thread &thread, const Instruction *at, uint64_t address,
                       unsigned count, Access how) {
  Block &block = *thread.block;
  Cluster &cluster = *block.cluster;
  Window &window = cluster.windows[at->index];
  if (address < window.begin || address >= window.end ||
      count > window.end - address) {
    const Allocation *found = find(*cluster.allocations, address);
    if (!found || count > found->end - address) {
      std::string what = spelled(how, count) + " at " + hex(address);
      if (found)
        what += ", of which the allocation from " + hex(found->begin) +
                " on has " + std::to_string(found->end - address) + " left";
      else if (address < 4096)
        what += ", a null pointer";
      else if (address < Memory::beyond)
        what += ", which is none of the device's; is it the host's?";
      else if (const Allocation *before = nullptr; true) {
        for (const Allocation &each : *cluster.allocations)
          if (each.end <= address)
            before = &each;
        what += before
                    ? ", which is no allocation's; " +
                          std::to_string(address - before->end) +
                          " bytes after the end of the one from " +
                          hex(before->begin) + " on, of " +
                          std::to_string(before->end - before->begin) + " bytes"
                    : ", which is no allocation's";
      }
      throw Fault(Fault::IllegalAddress, what);
    }
    auto &shadow = cluster.shadows[found->begin];
    if (!shadow)
      shadow = std::make_unique<GlobalShadow>(found->end - found->begin);
    window = {found->begin, found->end, found->host, found->isReadOnly,
              shadow.get()};
  }
  if (window.isReadOnly && isWrite(how))
    throw Fault(Fault::IllegalAddress,
                "a write to constant memory at " + hex(address));
  uint32_t other = ~0u;
  const char *wrong =
      window.shadow->touch(address - window.begin, count, how, block.index,
                           cluster.shared.allowed.blocks, other);
  if (wrong)
    throw Fault(Fault::Race,
                "a race: " + std::string(wrong) + ", at " + hex(address) +
                    (other != ~0u ? ", block " + std::to_string(other) : ""));
  return window.host + (address - window.begin);
}

std::string ashlar::ptx::nameOfThread(const Cluster &cluster, unsigned number) {
  if (cluster.shared.isAgent(number))
    return "a cp.async.bulk";
  unsigned each = cluster.warpsOfBlock * 32;
  std::string name = "thread " + std::to_string(number % each);
  if (cluster.blocks.size() > 1)
    name += " of block " + std::to_string(number / each) + " of the cluster";
  return name;
}

uint64_t ashlar::ptx::offsetInCluster(const Block &block, uint64_t address,
                                      unsigned count, bool isOfCluster,
                                      Access how) {
  const Cluster &cluster = *block.cluster;
  uint64_t tag = address >> window::rankShift,
           offset = address & ((1ull << window::rankShift) - 1),
           rank = tag ? tag - 1 : block.rank;
  if (rank >= cluster.blocks.size() || offset > cluster.sharedBytes ||
      count > cluster.sharedBytes - offset)
    throw Fault(Fault::IllegalAddress,
                spelled(how, count) + " at shared " + hex(address) +
                    ", of which the block has " +
                    std::to_string(cluster.sharedBytes) + " bytes");
  if (rank == block.rank)
    return rank * cluster.sharedStride + offset;
  if (!isOfCluster)
    throw Fault(Fault::IllegalAddress,
                spelled(how, count) + " at shared " + hex(address) +
                    ", which is another block's, without .shared::cluster");
  for (const Thread &each : cluster.blocks[rank]->threads)
    if (each.state != Thread::Exited)
      return rank * cluster.sharedStride + offset;
  throw Fault(Fault::IllegalAddress, spelled(how, count) + " at shared " +
                                         hex(address) + " of block " +
                                         std::to_string(rank) +
                                         " of the cluster, which has ended");
}

/// `access`: "a write of 4 bytes". Of `byte` only the place within its block is
/// told.
static void report(const Cluster &cluster, SharedMemory::Verdict verdict,
                   const std::string &access, unsigned other, uint64_t byte,
                   bool wasWrite) {
  std::string thread = nameOfThread(cluster, other),
              at = "the shared byte " + hex(byte % cluster.sharedStride);
  switch (verdict) {
  case SharedMemory::Verdict::Fine:
    return;
  case SharedMemory::Verdict::NotWritten:
    throw Fault(Fault::NotWritten, "a read of " + at + " that no thread wrote");
  case SharedMemory::Verdict::UnderWay:
    throw Fault(Fault::NotWritten, "a read of " + at + " that a cp.async of " +
                                       thread +
                                       " brings, for which it did not wait");
  case SharedMemory::Verdict::Race:
    throw Fault(Fault::Race, "a race: " + access + ", of which " + thread +
                                 (wasWrite ? " wrote " : " read ") + at +
                                 " with no barrier in between");
  case SharedMemory::Verdict::NoProxyFence:
    throw Fault(Fault::Race,
                "an asynchronous access to " + at + " that " + thread +
                    " wrote without a fence.proxy.async between the write and "
                    "the barrier");
  case SharedMemory::Verdict::BeingRead:
    throw Fault(Fault::Race, "a race: " + access + ", of which " + at +
                                 " is read asynchronously for " + thread +
                                 " and on, with no wait for it and barrier in "
                                 "between");
  }
}

void ashlar::ptx::touchShared(Cluster &cluster, unsigned thread,
                              uint64_t offset, unsigned count, Access how) {
  unsigned other = 0;
  uint64_t byte = 0;
  bool wasWrite = false;
  auto verdict =
      cluster.shared.touch(thread, offset, count, how, other, byte, wasWrite);
  if (verdict != SharedMemory::Verdict::Fine)
    report(cluster, verdict,
           spelled(how, count) + " at shared " +
               hex(offset % cluster.sharedStride),
           other, byte, wasWrite);
}

void ashlar::ptx::expectFenced(Cluster &cluster, unsigned thread,
                               uint64_t offset, unsigned count) {
  unsigned other = 0;
  uint64_t byte = 0;
  if (!cluster.shared.isFenced(thread, offset, count, other, byte))
    report(cluster, SharedMemory::Verdict::NoProxyFence, "", other, byte, true);
}

static uint8_t *shared(Thread &thread, uint64_t address, unsigned count,
                       Access how, bool isOfCluster) {
  Cluster &cluster = *thread.block->cluster;
  uint64_t offset =
      offsetInCluster(*thread.block, address, count, isOfCluster, how);
  cluster.mbarriers.expectNone(offset, count);
  touchShared(cluster, thread.number, offset, count, how);
  return cluster.shared.at(offset);
}

const uint8_t *ashlar::ptx::resolveAsync(Block &block,
                                         SharedMemory::Reader reader,
                                         uint32_t group, uint64_t address,
                                         unsigned count) {
  Cluster &cluster = *block.cluster;
  uint64_t offset = offsetInCluster(block, address, count, false, Access::Read);
  unsigned other = 0;
  uint64_t byte = 0;
  auto verdict =
      cluster.shared.readAsync(reader, group, offset, count, other, byte);
  if (verdict != SharedMemory::Verdict::Fine)
    report(cluster, verdict,
           "an asynchronous read of " + std::to_string(count) +
               " bytes at shared " + hex(address),
           other, byte, true);
  return cluster.shared.at(offset);
}

uint8_t *ashlar::ptx::resolve(Thread &thread, const Instruction *at,
                              Space space, uint64_t address, unsigned count,
                              unsigned align, Access how) {
  if (address & (align - 1))
    throw Fault(Fault::Misaligned, spelled(how, count) + " at " + hex(address) +
                                       ", which is not aligned to " +
                                       std::to_string(align) + " bytes");
  bool isOfCluster = space == Space::Generic || space == Space::Cluster;
  if (space == Space::Generic) {
    uint64_t top = address >> window::shift;
    if (top == 0) {
      space = Space::Global;
    } else {
      address &= window::mask;
      space = top == window::shared        ? Space::Shared
              : top == window::local       ? Space::Local
              : top == window::kernelParam ? Space::KernelParam
                                           : Space::Generic;
    }
  }
  switch (space) {
  case Space::Global:
  case Space::Const:
    return global(thread, at, address, count, how);
  case Space::Shared:
  case Space::Cluster:
    return shared(thread, address, count, how, isOfCluster);
  case Space::Local:
    if (address > thread.local.size() || count > thread.local.size() - address)
      throw Fault(Fault::IllegalAddress,
                  spelled(how, count) + " at local " + hex(address) +
                      ", of which the thread has " +
                      std::to_string(thread.local.size()) + " bytes");
    return thread.local.data() + address;
  case Space::KernelParam: {
    auto &params = thread.block->cluster->kernelParams;
    if (isWrite(how))
      throw Fault(Fault::IllegalAddress, "a write to the kernel's parameters");
    if (address > params.size() || count > params.size() - address)
      throw Fault(Fault::IllegalAddress,
                  spelled(how, count) + " at parameter byte " + hex(address) +
                      ", of which the kernel has " +
                      std::to_string(params.size()));
    return params.data() + address;
  }
  case Space::Param: {
    Frame &frame = *thread.frames.back();
    if (address > frame.params.size() || count > frame.params.size() - address)
      throw Fault(Fault::IllegalAddress,
                  spelled(how, count) + " at parameter byte " + hex(address));
    return frame.params.data() + address;
  }
  case Space::Generic:
    break;
  }
  throw Fault(Fault::IllegalAddress, spelled(how, count) + " at " +
                                         hex(address) +
                                         ", which is in no space");
}
