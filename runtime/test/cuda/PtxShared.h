// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared memory of a block, which knows of each byte who wrote it and who
// read it last, and what of that a thread may count on.
//
// Warps have vector clocks: what a warp did up to its clock when it arrived at
// a barrier is before what a warp does that left the barrier. Within a warp
// lanes have a clock that what synchronizes them raises. Two accesses of
// different threads, one of them a write, of which neither is before the other
// are a race. Of readers that are not ordered, two are remembered: of three or
// more a race with one of the others may stay unseen.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXSHARED_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXSHARED_H

#include <array>
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

  static constexpr unsigned maxWarps = 32;
  using Clock = std::array<uint32_t, maxWarps>;

  /// For blocks of at most so many threads; with `size` bytes no one wrote.
  void start(uint64_t size, unsigned threads);

  uint64_t size() const { return bytes.size(); }
  uint8_t *at(uint64_t offset) { return bytes.data() + offset; }

  enum class Verdict : uint8_t { Fine, NotWritten, UnderWay, Race };
  /// `other` and `byte` say whom and where the race is with.
  Verdict touch(unsigned thread, uint64_t offset, unsigned count, Access how,
                unsigned &other, uint64_t &byte, bool &wasWrite);

  /// What the warp did so far goes to whoever joins `into`.
  void release(unsigned warp, Clock &into);
  /// What went into `from` is before what the warp does now.
  void acquire(unsigned warp, const Clock &from);
  /// Lanes of a warp that waited for each other.
  void synchronizeLanes(unsigned warp, uint32_t mask);

private:
  /// Of an access: thread + 1, the clock of its warp and of its lane.
  using Stamp = uint64_t;
  struct Shadow {
    Stamp write, reads[2];
  };

  static constexpr unsigned clockBits = 24;
  static unsigned threadOf(Stamp stamp) { return (stamp >> 48 & 0x3fff) - 1; }
  static uint32_t clockOf(Stamp stamp) { return stamp >> 24 & 0xffffff; }
  static uint32_t laneClockOf(Stamp stamp) { return stamp & 0xffffff; }
  static bool isStrong(Stamp stamp) { return stamp >> 63; }
  static constexpr Stamp underWay = Stamp(1) << 62;

  bool isOld(Stamp stamp) const { return clockOf(stamp) < first; }
  bool isBefore(Stamp stamp, unsigned thread) const;

  std::vector<uint8_t> bytes;
  std::vector<Shadow> shadows;
  std::vector<uint32_t> laneClocks; // of each thread
  std::array<Clock, maxWarps> clocks;
  uint32_t first = 1, last = 1; // clocks of this block, used so far
};

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXSHARED_H
