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

void SharedMemory::start(uint64_t size, unsigned count) {
  // Stamps of earlier clusters are older than the clocks of this one.
  first = last + 1;
  if (first > (1u << clockBits) / 2) {
    std::fill(shadows.begin(), shadows.end(), Shadow{});
    first = 1;
  }
  last = first;
  bytes.assign(size, 0xff);
  shadows.resize(size);
  lanes.clear();
  proxyFences.assign(count * 32, {});
  readers.clear();
  warps = count;
  // No warp knows anything of another.
  clocks.clear();
  for (unsigned warp = 0; warp < warps; ++warp)
    startClock();
}

void SharedMemory::startClock() {
  clocks.emplace_back(clocks.size() + 1, 0);
  clocks.back().back() = first;
  for (unsigned lane = 0; lane < 32; ++lane) {
    lanes.emplace_back();
    lanes.back().fill(0);
    lanes.back()[lane] = 1;
  }
}

unsigned SharedMemory::addAgent() {
  startClock();
  proxyFences.resize(clocks.size() * 32);
  return unsigned(clocks.size() - 1) * 32;
}

void SharedMemory::release(unsigned warp, Clock &into) {
  Clock &own = clocks[warp];
  ++own[warp];
  last = std::max(last, own[warp]);
  into.resize(std::max(into.size(), own.size()));
  for (size_t i = 0; i < own.size(); ++i)
    into[i] = std::max(into[i], own[i]);
}

void SharedMemory::acquire(unsigned warp, const Clock &from) {
  Clock &own = clocks[warp];
  own.resize(std::max(own.size(), from.size()));
  for (size_t i = 0; i < from.size(); ++i)
    if (i != warp)
      own[i] = std::max(own[i], from[i]);
}

static void join(SharedMemory::Lanes &into, const SharedMemory::Lanes &from) {
  for (size_t lane = 0; lane < into.size(); ++lane)
    into[lane] = std::max(into[lane], from[lane]);
}

void SharedMemory::release(unsigned thread, Order &into) {
  unsigned warp = thread / 32;
  release(warp, into.warps);
  into.lanes.resize(std::max<size_t>(into.lanes.size(), warp + 1));
  ++lanes[thread][thread % 32];
  join(into.lanes[warp], lanes[thread]);
}

void SharedMemory::acquire(unsigned thread, const Order &from) {
  unsigned warp = thread / 32;
  acquire(warp, from.warps);
  if (warp < from.lanes.size())
    join(lanes[thread], from.lanes[warp]);
}

void SharedMemory::synchronizeLanes(unsigned warp, uint32_t mask) {
  Lanes joined{};
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) {
      ++lanes[warp * 32 + lane][lane];
      join(joined, lanes[warp * 32 + lane]);
    }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1)
      lanes[warp * 32 + lane] = joined;
}

bool SharedMemory::isBefore(Stamp stamp, unsigned thread) const {
  unsigned other = threadOf(stamp);
  if (other == thread)
    return true;
  if (other / 32 == thread / 32)
    return laneClockOf(stamp) < lanes[thread][other % 32];
  return clockOf(stamp) < clockIn(thread / 32, other / 32);
}

SharedMemory::Stamp SharedMemory::stampOf(unsigned thread) const {
  return Stamp(thread + 1) << threadAt |
         Stamp(clocks[thread / 32][thread / 32]) << laneBits |
         lanes[thread][thread % 32];
}

void SharedMemory::fenceProxy(unsigned thread) {
  proxyFences[thread].push_back(stampOf(thread));
}

SharedMemory::Reader SharedMemory::addReader(std::vector<unsigned> threads,
                                             bool isOfWarps) {
  readers.push_back({std::move(threads), isOfWarps, {}, {}});
  readers.back().groups.assign(bytes.size() / 16 + 1, 0);
  return readers.size() - 1;
}

void SharedMemory::finish(Reader reader, uint32_t number) {
  AsyncReader &of = readers[reader];
  of.waits.resize(std::max<size_t>(of.waits.size(), number + 1));
  std::vector<Stamp> stamps;
  for (unsigned thread : of.threads)
    stamps.push_back(stampOf(thread));
  for (uint32_t each = number; each > 0 && of.waits[each].empty(); --each)
    of.waits[each] = stamps;
}

/// Whether the first fence after the write is before what the reader does.
bool SharedMemory::isFenced(const Shadow &shadow, unsigned reader) const {
  unsigned writer = threadOf(shadow.write);
  const auto &fences = proxyFences[writer];
  return isAgent(writer) || (fences.size() > shadow.fences &&
                             isBefore(fences[shadow.fences], reader));
}

bool SharedMemory::isFenced(unsigned thread, uint64_t offset, unsigned count,
                            unsigned &other, uint64_t &byte) const {
  if (allowed.races)
    return true;
  for (byte = offset; byte < offset + count; ++byte) {
    const Shadow &shadow = shadows[byte];
    if (isOld(shadow.write) || (shadow.write & underWay) ||
        isFenced(shadow, thread))
      continue;
    other = threadOf(shadow.write);
    return false;
  }
  return true;
}

SharedMemory::Verdict SharedMemory::readAsync(Reader reader, uint32_t number,
                                              uint64_t offset, unsigned count,
                                              unsigned &other, uint64_t &byte) {
  AsyncReader &of = readers[reader];
  Shadow before{~Stamp(0), {0, 0}, 0};
  for (byte = offset; byte < offset + count; ++byte) {
    const Shadow &shadow = shadows[byte];
    if (shadow.write == before.write && shadow.fences == before.fences)
      continue;
    before = shadow;
    if (isOld(shadow.write)) {
      if (!allowed.unwritten)
        return Verdict::NotWritten;
      continue;
    }
    other = threadOf(shadow.write);
    for (unsigned thread : of.threads) {
      if (!allowed.races && !isBefore(shadow.write, thread))
        return Verdict::Race;
      if (shadow.write & underWay)
        return Verdict::UnderWay;
      if (!allowed.races && !isFenced(shadow, thread))
        return Verdict::NoProxyFence;
    }
  }
  for (uint64_t at = offset / 16; at <= (offset + count - 1) / 16; ++at)
    of.groups[at] = number;
  return Verdict::Fine;
}

/// By a group for which none of its threads has waited before the writer does
/// what it does now. A group is the warpgroup's: it is done for all at once.
bool SharedMemory::isRead(uint64_t offset, unsigned count, unsigned writer,
                          unsigned &other, uint64_t &byte) const {
  for (const AsyncReader &of : readers)
    for (uint64_t at = offset / 16; at <= (offset + count - 1) / 16; ++at) {
      uint32_t number = of.groups[at];
      if (!number)
        continue;
      bool isDone = false,
           isWaited = number < of.waits.size() && !of.waits[number].empty();
      for (size_t k = 0; isWaited && k < of.threads.size(); ++k)
        isDone |= (of.isOfWarps && of.threads[k] / 32 == writer / 32) ||
                  isBefore(of.waits[number][k], writer);
      if (isDone)
        continue;
      other = of.threads[0];
      byte = std::max(offset, at * 16);
      return true;
    }
  return false;
}

SharedMemory::Verdict SharedMemory::touch(unsigned thread, uint64_t offset,
                                          unsigned count, Access how,
                                          unsigned &other, uint64_t &byte,
                                          bool &wasWrite) {
  bool strong = how >= Access::StrongRead;
  bool writes = isWrite(how);
  bool reads = !writes || how == Access::Atomic;
  unsigned warp = thread / 32;
  Stamp mine = Stamp(strong) << 63 | stampOf(thread);
  uint64_t fences = proxyFences[thread].size();
  if (how == Access::AsyncWrite)
    mine |= underWay;
  if (writes && !allowed.races && isRead(offset, count, thread, other, byte))
    return Verdict::BeingRead;
  // LLVM's back end reads what lies between neighbours along with them.
  bool isWidened =
      !writes && count >= 8 &&
      std::any_of(shadows.begin() + offset, shadows.begin() + offset + count,
                  [&](const Shadow &shadow) { return !isOld(shadow.write); });
  // Bytes that were touched together are as the one before.
  Shadow before{~Stamp(0), {0, 0}, 0}, after{};
  for (uint64_t at = offset; at < offset + count; ++at) {
    Shadow &shadow = shadows[at];
    if (shadow.write == before.write && shadow.reads[0] == before.reads[0] &&
        shadow.reads[1] == before.reads[1] && shadow.fences == before.fences) {
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
      if (reads && isOld(shadow.write) && !allowed.unwritten && !isWidened) {
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
      after = shadow = {mine, {0, 0}, fences};
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
