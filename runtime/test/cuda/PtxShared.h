// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared memory of a cluster's blocks, one after another, which knows of
// each byte who wrote it and who read it last, and what of that a thread may
// count on. Threads and warps have numbers within the cluster.
//
// Warps have vector clocks: what a warp did up to its clock when it arrived at
// a barrier is before what a warp does that left the barrier. So have lanes
// within a warp. Two accesses of
// different threads, one of them a write, of which neither is before the other
// are a race. Of readers that are not ordered, two are remembered: of three or
// more a race with one of the others may stay unseen.
//
// What reads asynchronously (wgmma) sees what a thread wrote only if that
// thread executed a fence.proxy.async after the write and before what orders
// it; it reads until whoever issued it has waited for it. What writes
// asynchronously (cp.async.bulk) is an agent, a warp with one thread of its own
// that is before who waited for it.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXSHARED_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXSHARED_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ashlar::ptx {

/// How a thread touches memory: what is atomic, volatile or relaxed is no race
/// with its like.
/// An AsyncWrite brings its bytes later, by a Write.
enum class Access : uint8_t {
  Read,
  CachedRead, // ld.global.nc
  Write,
  AsyncWrite,
  StrongRead,
  StrongWrite,
  Atomic,
};

inline bool isWrite(Access how) {
  return how != Access::Read && how != Access::CachedRead &&
         how != Access::StrongRead;
}

/// What is not reported: ASHLAR_PTX_ALLOW, "races,unwritten,blocks".
struct Allowed {
  bool races = false, unwritten = false, blocks = false;
  static Allowed fromEnvironment();
};

class SharedMemory {
public:
  Allowed allowed;

  /// Of each warp and agent; what is missing is 0.
  using Clock = std::vector<uint32_t>;

  /// Of each lane of a warp.
  using Lanes = std::array<uint32_t, 32>;

  /// For so many warps; with `size` bytes no one wrote.
  void start(uint64_t size, unsigned warps);

  uint64_t size() const { return bytes.size(); }
  uint8_t *at(uint64_t offset) { return bytes.data() + offset; }

  enum class Verdict : uint8_t {
    Fine,
    NotWritten,
    UnderWay,
    Race,
    NoProxyFence,
    BeingRead,
  };
  /// `other` and `byte` say whom and where the race is with.
  Verdict touch(unsigned thread, uint64_t offset, unsigned count, Access how,
                unsigned &other, uint64_t &byte, bool &wasWrite);

  /// The thread of a new agent.
  unsigned addAgent();
  bool isAgent(unsigned thread) const { return thread / 32 >= warps; }

  /// A fence.proxy.async of the thread.
  void fenceProxy(unsigned thread);

  /// Who reads asynchronously: the threads, one of each warp, that issue and
  /// wait.
  using Reader = size_t;
  /// `isOfWarps`: each waits together with its warp.
  Reader addReader(std::vector<unsigned> threads, bool isOfWarps);
  /// Whether ordinary writes to these bytes are known to what the thread does
  /// asynchronously.
  bool isFenced(unsigned thread, uint64_t offset, unsigned count,
                unsigned &other, uint64_t &byte) const;
  /// Whole multiples of 16 bytes, read as part of the reader's group `number`
  /// (from 1 on) until finish() of it.
  Verdict readAsync(Reader reader, uint32_t number, uint64_t offset,
                    unsigned count, unsigned &other, uint64_t &byte);
  /// Its threads have waited for all groups up to `number`.
  void finish(Reader reader, uint32_t number);

  /// What the warp did so far goes to whoever joins `into`.
  void release(unsigned warp, Clock &into);
  /// What went into `from` is before what the warp does now.
  void acquire(unsigned warp, const Clock &from);
  /// The same for a single thread, which has an order with lanes of its own
  /// warp, too.
  struct Order {
    Clock warps;
    std::vector<Lanes> lanes; // by warps
  };
  void release(unsigned thread, Order &into);
  void acquire(unsigned thread, const Order &from);
  /// A point in what a thread does, and whether another comes after it.
  uint64_t mark(unsigned thread) const { return stampOf(thread); }
  bool isAfter(uint64_t mark, unsigned thread) const {
    return isBefore(mark, thread);
  }
  /// Lanes of a warp that waited for each other.
  void synchronizeLanes(unsigned warp, uint32_t mask);

private:
  /// Of an access: thread + 1, the clock of its warp and of its lane.
  using Stamp = uint64_t;
  struct Shadow {
    Stamp write, reads[2];
    uint64_t fences; // of the writer when it wrote
  };
  struct AsyncReader {
    std::vector<unsigned> threads;
    bool isOfWarps;
    std::vector<uint32_t> groups; // the last one that reads each 16 bytes
    /// By groups: what each thread had done when it had waited; none: it has
    /// not yet.
    std::vector<std::vector<Stamp>> waits;
  };

  static constexpr unsigned clockBits = 24, laneBits = 22;
  static constexpr unsigned threadAt = clockBits + laneBits;
  static unsigned threadOf(Stamp stamp) {
    return unsigned(stamp >> threadAt & 0xffff) - 1;
  }
  static uint32_t clockOf(Stamp stamp) { return stamp >> laneBits & 0xffffff; }
  static uint32_t laneClockOf(Stamp stamp) { return stamp & 0x3fffff; }
  static bool isStrong(Stamp stamp) { return stamp >> 63; }
  static constexpr Stamp underWay = Stamp(1) << 62;

  bool isOld(Stamp stamp) const { return clockOf(stamp) < first; }
  bool isBefore(Stamp stamp, unsigned thread) const;
  uint32_t clockIn(unsigned warp, unsigned of) const {
    return of < clocks[warp].size() ? clocks[warp][of] : 0;
  }
  void startClock();
  Stamp stampOf(unsigned thread) const;
  bool isFenced(const Shadow &shadow, unsigned reader) const;
  bool isRead(uint64_t offset, unsigned count, unsigned writer, unsigned &other,
              uint64_t &byte) const;

  std::vector<uint8_t> bytes;
  std::vector<Shadow> shadows;
  std::vector<Lanes> lanes; // of each thread: what it knows of its warp's
  std::vector<std::vector<Stamp>> proxyFences; // of each thread
  std::vector<AsyncReader> readers;
  std::vector<Clock> clocks;
  unsigned warps = 0;
  uint32_t first = 1, last = 1; // clocks of this cluster, used so far
};

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXSHARED_H
