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
  Window &window = block.windows[at->index];
  if (address < window.begin || address >= window.end ||
      count > window.end - address) {
    const Allocation *found = find(*block.allocations, address);
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
        for (const Allocation &each : *block.allocations)
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
    auto &shadow = block.shadows[found->begin];
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
                           block.shared.allowed.blocks, other);
  if (wrong)
    throw Fault(Fault::Race,
                "a race: " + std::string(wrong) + ", at " + hex(address) +
                    (other != ~0u ? ", block " + std::to_string(other) : ""));
  return window.host + (address - window.begin);
}

static uint8_t *shared(Thread &thread, uint64_t offset, unsigned count,
                       Access how) {
  SharedMemory &memory = thread.block->shared;
  if (offset > memory.size() || count > memory.size() - offset)
    throw Fault(Fault::IllegalAddress,
                spelled(how, count) + " at shared " + hex(offset) +
                    ", of which the block has " +
                    std::to_string(memory.size()) + " bytes");
  unsigned other = 0;
  uint64_t byte = 0;
  bool wasWrite = false;
  switch (
      memory.touch(thread.index, offset, count, how, other, byte, wasWrite)) {
  case SharedMemory::Verdict::Fine:
    break;
  case SharedMemory::Verdict::NotWritten:
    throw Fault(Fault::NotWritten, "a read of the shared byte " + hex(byte) +
                                       " that no thread wrote");
  case SharedMemory::Verdict::UnderWay:
    throw Fault(Fault::NotWritten, "a read of the shared byte " + hex(byte) +
                                       " that a cp.async of thread " +
                                       std::to_string(other) +
                                       " brings, for which it did not wait");
  case SharedMemory::Verdict::Race:
    throw Fault(Fault::Race, "a race: " + spelled(how, count) + " at shared " +
                                 hex(offset) + ", whose byte " + hex(byte) +
                                 " thread " + std::to_string(other) +
                                 (wasWrite ? " wrote" : " read") +
                                 " with no barrier in between");
  }
  return memory.at(offset);
}

uint8_t *ashlar::ptx::resolve(Thread &thread, const Instruction *at,
                              Space space, uint64_t address, unsigned count,
                              unsigned align, Access how) {
  if (address & (align - 1))
    throw Fault(Fault::Misaligned, spelled(how, count) + " at " + hex(address) +
                                       ", which is not aligned to " +
                                       std::to_string(align) + " bytes");
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
    return shared(thread, address, count, how);
  case Space::Local:
    if (address > thread.local.size() || count > thread.local.size() - address)
      throw Fault(Fault::IllegalAddress,
                  spelled(how, count) + " at local " + hex(address) +
                      ", of which the thread has " +
                      std::to_string(thread.local.size()) + " bytes");
    return thread.local.data() + address;
  case Space::KernelParam: {
    auto &params = thread.block->kernelParams;
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
