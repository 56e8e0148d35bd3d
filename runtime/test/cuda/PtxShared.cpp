// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxShared.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace ashlar::ptx;

Allowed Allowed::fromEnvironment() {
  const char *given = std::getenv("ASHLAR_PTX_ALLOW");
  Allowed made;
  made.races = given && std::strstr(given, "races");
  made.unwritten = given && std::strstr(given, "unwritten");
  made.blocks = given && std::strstr(given, "blocks");
  return made;
}

void SharedMemory::start(uint64_t size, unsigned threads) {
  // Stamps of earlier blocks are older than the clocks of this one.
  first = last + 1;
  if (first > (1u << clockBits) / 2) {
    std::fill(shadows.begin(), shadows.end(), Shadow{});
    first = 1;
  }
  last = first;
  bytes.assign(size, 0xff);
  shadows.resize(size);
  laneClocks.assign(threads, 1);
  // No warp knows anything of another.
  for (Clock &each : clocks)
    each.fill(0);
  for (unsigned warp = 0; warp < maxWarps; ++warp)
    clocks[warp][warp] = first;
}

void SharedMemory::release(unsigned warp, Clock &into) {
  Clock &own = clocks[warp];
  ++own[warp];
  last = std::max(last, own[warp]);
  for (unsigned i = 0; i < maxWarps; ++i)
    into[i] = std::max(into[i], own[i]);
}

void SharedMemory::acquire(unsigned warp, const Clock &from) {
  Clock &own = clocks[warp];
  for (unsigned i = 0; i < maxWarps; ++i)
    if (i != warp)
      own[i] = std::max(own[i], from[i]);
}

void SharedMemory::synchronizeLanes(unsigned warp, uint32_t mask) {
  uint32_t latest = 0;
  size_t base = warp * 32,
         count = std::min<size_t>(32, laneClocks.size() - base);
  for (size_t lane = 0; lane < count; ++lane)
    if (mask >> lane & 1)
      latest = std::max(latest, laneClocks[base + lane]);
  for (size_t lane = 0; lane < count; ++lane)
    if (mask >> lane & 1)
      laneClocks[base + lane] = latest + 1;
}

bool SharedMemory::isBefore(Stamp stamp, unsigned thread) const {
  unsigned other = threadOf(stamp);
  if (other == thread)
    return true;
  if (other / 32 == thread / 32)
    return laneClockOf(stamp) < laneClocks[thread];
  return clockOf(stamp) < clocks[thread / 32][other / 32];
}

SharedMemory::Verdict SharedMemory::touch(unsigned thread, uint64_t offset,
                                          unsigned count, Access how,
                                          unsigned &other, uint64_t &byte,
                                          bool &wasWrite) {
  bool strong = how >= Access::StrongRead;
  bool writes = isWrite(how);
  bool reads = !writes || how == Access::Atomic;
  unsigned warp = thread / 32;
  Stamp mine = Stamp(strong) << 63 | Stamp(thread + 1) << 48 |
               Stamp(clocks[warp][warp]) << 24 | laneClocks[thread];
  if (how == Access::AsyncWrite)
    mine |= underWay;
  // Bytes that were touched together are as the one before.
  Shadow before{~Stamp(0), {0, 0}}, after{};
  for (uint64_t at = offset; at < offset + count; ++at) {
    Shadow &shadow = shadows[at];
    if (shadow.write == before.write && shadow.reads[0] == before.reads[0] &&
        shadow.reads[1] == before.reads[1]) {
      shadow = after;
      continue;
    }
    before = shadow;
    auto races = [&](Stamp stamp, bool isWrite) {
      if (allowed.races || isOld(stamp) || isBefore(stamp, thread) ||
          (strong && isStrong(stamp)))
        return false;
      other = threadOf(stamp);
      byte = at;
      wasWrite = isWrite;
      return true;
    };
    if (shadow.write != mine) {
      if (reads && isOld(shadow.write) && !allowed.unwritten) {
        byte = at;
        return Verdict::NotWritten;
      }
      if (races(shadow.write, true))
        return Verdict::Race;
      if (reads && (shadow.write & underWay)) {
        other = threadOf(shadow.write);
        byte = at;
        return Verdict::UnderWay;
      }
    }
    if (writes) {
      if (races(shadow.reads[0], false) || races(shadow.reads[1], false))
        return Verdict::Race;
      after = shadow = {mine, {0, 0}};
      continue;
    }
    auto isReplaced = [&](Stamp stamp) {
      return isOld(stamp) || isBefore(stamp, thread);
    };
    bool isFirst =
        isReplaced(shadow.reads[0]) || (!isReplaced(shadow.reads[1]) &&
                                        threadOf(shadow.reads[0]) / 32 == warp);
    shadow.reads[isFirst ? 0 : 1] = mine;
    after = shadow;
  }
  return Verdict::Fine;
}
