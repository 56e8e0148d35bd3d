// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a running block and of its threads, which instructions change.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXTHREAD_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXTHREAD_H

#include "PtxGlobal.h"
#include "PtxNumbers.h"
#include "PtxProgram.h"
#include "PtxShared.h"

#include <atomic>

namespace ashlar::ptx {

/// A kernel did what it must not.
struct Fault : std::runtime_error {
  enum Kind {
    IllegalAddress,
    Misaligned,
    NotWritten, // or under way
    Race,
    Divergence,
    Limit,
    Trap,
    BadLaunch,
  };
  Kind kind;
  Fault(Kind kind, const std::string &what)
      : std::runtime_error(what), kind(kind) {}
};

/// Generic addresses of shared, local and parameter space: their top byte says
/// which, the rest is the address there.
namespace window {
constexpr unsigned shift = 56;
constexpr uint64_t shared = 1, local = 2, kernelParam = 4;
constexpr uint64_t mask = (1ull << shift) - 1;
} // namespace window

struct Frame {
  const Code *code = nullptr;
  std::vector<uint64_t> registers;
  std::vector<uint8_t> params;
  uint64_t localBase = 0;
  const Instruction *call = nullptr;
};

/// What a cp.async brings when its thread waits for it.
struct PendingCopy {
  uint64_t to = 0;
  uint32_t size = 0, group = 0; // 0: not committed
  uint8_t bytes[16];
};

struct Thread {
  enum State : uint8_t { Ready, AtBarrier, AtWarp, Exited };

  uint64_t *r = nullptr; // registers of the innermost frame
  Block *block = nullptr;
  const Instruction *pc = nullptr; // where to go on, or what it waits at
  uint32_t index = 0;              // within the block
  State state = Ready;
  uint8_t barrier = 0;   // that it waits at
  uint32_t expected = 0; // threads there; 0: all
  uint32_t mask = 0;     // of the warp's lanes that it waits for
  uint8_t *params = nullptr;
  std::vector<uint8_t> local;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<PendingCopy> copies;
  uint32_t copyGroups = 0;

  unsigned lane() const { return index % 32; }
};

struct Barrier {
  uint32_t expected = 0, arrived = 0; // arrived without waiting
  uint32_t reduced = 0;
  SharedMemory::Clock clock{};
};

/// Where a load or store last was.
struct Window {
  uint64_t begin = 1, end = 0;
  uint8_t *host = nullptr;
  bool isReadOnly = false;
  GlobalShadow *shadow = nullptr;
};

struct Block {
  const Program *program = nullptr;
  const Code *kernel = nullptr;
  std::shared_ptr<const Allocations> allocations;
  std::vector<Window> windows; // of each instruction
  std::unordered_map<uint64_t, std::unique_ptr<GlobalShadow>> shadows;
  uint32_t index = 0; // within the grid
  SharedMemory shared;
  std::vector<uint8_t> kernelParams;
  std::vector<Thread> threads;
  Barrier barriers[16];
  uint64_t steps = 0; // instructions executed so far, for %clock
};

template <class T> T get(const Thread &thread, uint32_t slot) {
  T value;
  std::memcpy(&value, &thread.r[slot], sizeof(T));
  return value;
}
template <class T> void set(Thread &thread, uint32_t slot, T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  thread.r[slot] = bits;
}

/// A number as text: "0x40".
std::string hex(uint64_t value);

/// Where `count` bytes at `address` are on the host. Faults where they are not
/// within their space, are not aligned to `align` or race.
uint8_t *resolve(Thread &thread, const Instruction *at, Space space,
                 uint64_t address, unsigned count, unsigned align, Access how);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXTHREAD_H
