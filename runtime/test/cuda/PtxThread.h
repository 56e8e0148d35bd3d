// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a running block and of its threads, which instructions change.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXTHREAD_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXTHREAD_H

#include "PtxBulk.h"
#include "PtxCluster.h"
#include "PtxGlobal.h"
#include "PtxMbarrier.h"
#include "PtxNumbers.h"
#include "PtxProgram.h"
#include "PtxShared.h"
#include "PtxWarpgroup.h"

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
/// Addresses of shared::cluster: from that bit on the block's rank, plus one.
/// Without it they are the thread's own block's.
constexpr unsigned rankShift = 24;
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
  enum State : uint8_t {
    Ready,
    AtBarrier,
    AtWarp,
    AtGroup,
    AtCluster,
    AtMbarrier,
    Exited
  };

  uint64_t *r = nullptr; // registers of the innermost frame
  Block *block = nullptr;
  const Instruction *pc = nullptr; // where to go on, or what it waits at
  uint32_t index = 0;              // within the block
  uint32_t number = 0; // within the cluster, each block from a whole warp on
  State state = Ready;
  uint8_t barrier = 0;   // that it waits at
  uint32_t expected = 0; // threads there; 0: all
  uint32_t mask = 0;     // of the warp's lanes that it waits for
  uint8_t *params = nullptr;
  std::vector<uint8_t> local;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<PendingCopy> copies;
  uint32_t copyGroups = 0;
  /// Since its first wgmma.fence; null: there was none.
  std::unique_ptr<RegisterWatch> watch;
  BulkGroups bulk;
  uint64_t clusterPhase = 0; // of barrier.cluster.arrive; 0: none
  /// Of the mbarrier.try_wait that it waits at: where that is, and the phase.
  uint64_t mbarrier = 0, mbarrierPhase = 0;
  bool hasTimedOut = false; // the last one that it waited at

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
  Cluster *cluster = nullptr;
  uint32_t index = 0, rank = 0; // within the grid and within the cluster
  uint32_t at[3] = {0, 0, 0};
  std::vector<Thread> threads;
  Barrier barriers[16];
  std::vector<Warpgroup> warpgroups;    // those that executed a wgmma.fence
  std::vector<uint32_t> groupRegisters; // of a thread, after setmaxnreg
  uint64_t steps = 0; // instructions executed so far, for %clock
};

/// Blocks that run together, and what they share.
struct Cluster {
  std::shared_ptr<const Allocations> allocations;
  std::vector<Window> windows; // of each instruction
  std::unordered_map<uint64_t, std::unique_ptr<GlobalShadow>> shadows;
  std::vector<uint8_t> kernelParams;
  /// Of all blocks, each from rank * sharedStride on.
  SharedMemory shared;
  uint64_t sharedBytes = 0, sharedStride = 0; // of a block
  std::vector<std::unique_ptr<Block>> blocks;
  uint32_t warpsOfBlock = 0;
  ClusterBarrier barrier;
  Mbarriers mbarriers;
  std::vector<BulkCopy> copies;
  uint64_t delivered = 0; // of them so far
  uint64_t phases = 0;    // of mbarriers that ended so far
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

/// Shared memory of the block that a group of asynchronous operations reads.
const uint8_t *resolveAsync(Block &block, SharedMemory::Reader reader,
                            uint32_t group, uint64_t address, unsigned count);

/// Where a shared address is within the cluster's shared memory. Faults where
/// `count` bytes are not there.
uint64_t offsetInCluster(const Block &block, uint64_t address, unsigned count,
                         bool isOfCluster, Access how);
/// An access to bytes of the cluster's shared memory by the thread of that
/// number. Faults.
void touchShared(Cluster &cluster, unsigned thread, uint64_t offset,
                 unsigned count, Access how);
/// What is about to be accessed asynchronously for the thread was written by
/// ordinary stores only before a fence.proxy.async. Faults.
void expectFenced(Cluster &cluster, unsigned thread, uint64_t offset,
                  unsigned count);
/// "thread 5", "thread 5 of block 1 of the cluster".
std::string nameOfThread(const Cluster &cluster, unsigned number);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXTHREAD_H
