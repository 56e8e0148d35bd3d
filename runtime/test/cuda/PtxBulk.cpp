// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxBulk.h"

#include "PtxHandlers.h"
#include "PtxTensorMap.h"

#include <algorithm>

using namespace ashlar::ptx;

bool ashlar::ptx::deliver(Cluster &cluster) {
  auto &copies = cluster.copies;
  if (copies.empty())
    return false;
  size_t which = ++cluster.delivered * 7919 % copies.size();
  BulkCopy copy = std::move(copies[which]);
  copies.erase(copies.begin() + long(which));
  try {
    touchShared(cluster, copy.agent, copy.to, unsigned(copy.bytes.size()),
                Access::Write);
    std::copy(copy.bytes.begin(), copy.bytes.end(), cluster.shared.at(copy.to));
    Mbarrier *mbarrier = cluster.mbarriers.find(copy.mbarrier);
    if (!mbarrier)
      throw Fault(Fault::NotWritten, "its mbarrier is gone");
    cluster.shared.release(copy.agent, mbarrier->arriving);
    expectBytes(cluster, *mbarrier, -int64_t(copy.bytes.size()));
  } catch (const Fault &fault) {
    throw Fault(fault.kind, cluster.blocks[0]->program->quote(copy.line) +
                                ": what the copy of " +
                                nameOfThread(cluster, copy.thread) +
                                " brings: " + fault.what());
  }
  return true;
}

void ashlar::ptx::expectBulkDone(const Thread &t) {
  if (t.bulk.used > t.bulk.done)
    throw Fault(Fault::Race, "the thread ends while its cp.async.bulk reads "
                             "shared memory; no cp.async.bulk.wait_group");
}

namespace {

/// Where cp.async.bulk finds its operands and what it does. more: the fields
/// in their order; then slots of coordinates.
struct Bulk {
  enum Way : uint32_t { ToShared, ToGlobal, WithinCluster } way;
  uint32_t isCluster; // addresses of shared memory may be another block's
  uint32_t rank;      // 0: no tensor
  uint32_t shared, sharedOffset;
  uint32_t global, globalOffset; // or the tensor map's address
  uint32_t mbarrier, mbarrierOffset;
  uint32_t size;                  // a slot
  uint32_t isMulticast, maskSlot; // of blocks
  uint32_t target, targetOffset;  // of WithinCluster
  static constexpr size_t size_ = 14;
};
static_assert(sizeof(Bulk) == Bulk::size_ * sizeof(uint32_t));

uint64_t at(const Thread &t, uint32_t slot, uint32_t offset) {
  return t.r[slot] + uint64_t(int64_t(int32_t(offset)));
}

/// Of an operand for which a generic address of shared memory is as good.
uint64_t sharedAt(const Thread &t, uint32_t slot, uint32_t offset) {
  uint64_t address = at(t, slot, offset), top = address >> window::shift;
  return top == window::shared ? address & window::mask : address;
}

void expectAligned(uint64_t address, uint64_t to, const char *what) {
  if (address % to)
    throw Fault(Fault::Misaligned, std::string(what) + " at " + hex(address) +
                                       ", which is not aligned to " +
                                       std::to_string(to) + " bytes");
}

/// The map at a generic address of global, constant or parameter space.
TensorMap mapAt(Thread &t, const Instruction *i, uint64_t address) {
  expectAligned(address & window::mask, 64, "a tensor map");
  uint64_t top = address >> window::shift;
  if (top != 0 && top != window::kernelParam)
    throw Fault(Fault::IllegalAddress,
                "a tensor map at " + hex(address) +
                    ", which is neither global nor a parameter");
  TensorMap map;
  std::memcpy(
      &map,
      resolve(t, i, Space::Generic, address, sizeof(map), 1, Access::Read),
      sizeof(map));
  if (!map.isWhole())
    throw Fault(Fault::IllegalAddress,
                "what is at " + hex(address) +
                    " is no tensor map of cuTensorMapEncodeTiled");
  return map;
}

/// The box at these coordinates, as it lies in shared memory from `start` on:
/// visit(bytes from there, global address, bytes of the tensor among
/// `rowBytes` from `skipped` on); nothing of a row is in the tensor: 0 bytes.
template <class Visit>
void eachRow(const TensorMap &map, const int64_t (&from)[5], Visit visit) {
  uint64_t rows = map.boxBytes() / map.rowBytes();
  int64_t size = int64_t(map.last[0]) + 1, bytes = map.elementBytes();
  int64_t begin = std::max<int64_t>(0, from[0]),
          end = std::min<int64_t>(size, from[0] + map.box[0]);
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t rest = row, address = map.address;
    bool isIn = begin < end;
    for (unsigned k = 1; k < map.rank; ++k) {
      int64_t coordinate =
          from[k] + int64_t(rest % map.rowsOf(k)) * map.elementStrides[k];
      rest /= map.rowsOf(k);
      isIn &= coordinate >= 0 && coordinate <= int64_t(map.last[k]);
      address += uint64_t(coordinate) * map.strides[k - 1];
    }
    visit(row * map.rowBytes(), address + uint64_t(begin * bytes),
          isIn ? unsigned((end - begin) * bytes) : 0u,
          unsigned((begin - from[0]) * bytes));
  }
}

/// Where a byte of the box is, from `start` on.
uint64_t swizzled(const TensorMap &map, uint64_t start, uint64_t byte) {
  uint64_t address = start + byte;
  return (address ^ ((address >> 7 & (map.swizzleUnits() - 1)) << 4)) - start;
}

void expectKnown(const TensorMap &map, uint32_t rank) {
  if (map.rank != rank)
    throw Fault(Fault::IllegalAddress,
                "a tensor map of " + std::to_string(map.rank) +
                    " dimensions for " + std::to_string(rank));
  if (map.interleave)
    throw Fault(Fault::Limit,
                "the interpreter does not know interleaved layouts");
  if (map.swizzle && map.rowBytes() != 16 * map.swizzleUnits())
    throw Fault(Fault::Limit,
                "the interpreter does not know boxes that are narrower than "
                "their swizzle");
}

/// What NaN of a type is, where the map asks for it.
void fillRow(const TensorMap &map, uint8_t *row) {
  uint64_t nan = 0;
  switch (map.elementBytes()) {
  case 2:
    nan = 0x7fff;
    break;
  case 4:
    nan = 0x7fffffff;
    break;
  case 8:
    nan = 0x7fffffffffffffff;
    break;
  }
  for (unsigned byte = 0; byte < map.rowBytes(); byte += map.elementBytes())
    std::memcpy(row + byte, &nan, map.elementBytes());
}

/// Sends the bytes to one block's shared memory, both addresses within it.
void send(Thread &t, const Instruction *i, uint64_t to, uint64_t mbarrierAt_,
          const std::vector<uint8_t> &bytes, bool isCluster) {
  Cluster &cluster = *t.block->cluster;
  Mbarrier &mbarrier = mbarrierAt(t, mbarrierAt_, isCluster);
  if (!mbarrier.isPublished)
    throw Fault(Fault::Race,
                "an mbarrier whose initialization no fence.mbarrier_init or "
                "fence.proxy.async of " +
                    nameOfThread(cluster, mbarrier.owner) + " made known");
  BulkCopy copy;
  copy.to = offsetInCluster(*t.block, to, unsigned(bytes.size()), isCluster,
                            Access::Write);
  copy.mbarrier = mbarrier.at;
  if (copy.to / cluster.sharedStride != mbarrier.at / cluster.sharedStride)
    throw Fault(Fault::IllegalAddress,
                "an mbarrier of another block than the copy's");
  cluster.mbarriers.expectNone(copy.to, unsigned(bytes.size()));
  expectFenced(cluster, t.number, copy.to, unsigned(bytes.size()));
  touchShared(cluster, t.number, copy.to, unsigned(bytes.size()),
              Access::AsyncWrite);
  if (!mbarrier.agent)
    mbarrier.agent = cluster.shared.addAgent();
  SharedMemory::Order order;
  cluster.shared.release(t.number, order);
  cluster.shared.acquire(mbarrier.agent, order);
  copy.agent = mbarrier.agent;
  copy.thread = t.number;
  copy.line = i->line;
  copy.bytes = bytes;
  cluster.copies.push_back(std::move(copy));
}

/// Shared memory of the thread's block that its next group reads.
const uint8_t *readShared(Thread &t, uint64_t address, unsigned count) {
  if (!t.bulk.hasReader) {
    t.bulk.reader = t.block->cluster->shared.addReader({t.number}, false);
    t.bulk.hasReader = true;
  }
  t.bulk.used = t.bulk.committed + 1;
  return resolveAsync(*t.block, t.bulk.reader, t.bulk.used, address, count);
}

void copyToShared(Thread &t, const Instruction *i, const Bulk &b,
                  const std::vector<uint8_t> &bytes, uint64_t to) {
  uint64_t mbarrier = sharedAt(t, b.mbarrier, b.mbarrierOffset);
  if (!b.isMulticast)
    return send(t, i, to, mbarrier, bytes, b.isCluster);
  uint64_t mask = t.r[b.maskSlot] & 0xffff,
           within = (1ull << window::rankShift) - 1;
  for (uint64_t rank = 0; rank < 16; ++rank)
    if (mask >> rank & 1) {
      uint64_t tag = (rank + 1) << window::rankShift;
      send(t, i, (to & within) | tag, (mbarrier & within) | tag, bytes, true);
    }
}

void copyTensor(Thread &t, const Instruction *i, const Bulk &b) {
  TensorMap map = mapAt(t, i, at(t, b.global, b.globalOffset));
  expectKnown(map, b.rank);
  int64_t from[5] = {};
  for (uint32_t k = 0; k < b.rank; ++k)
    from[k] = int32_t(t.r[i->more[Bulk::size_ + k]]);
  uint64_t shared = sharedAt(t, b.shared, b.sharedOffset);
  expectAligned(shared, 128, "a box in shared memory");
  uint64_t size = map.boxBytes();
  std::vector<uint8_t> row(map.rowBytes());
  // Byte by byte only where units are exchanged.
  auto eachUnit = [&](uint64_t start, auto visit) {
    for (unsigned byte = 0; byte < map.rowBytes(); byte += 16)
      visit(swizzled(map, shared, start + byte), byte,
            std::min(16u, map.rowBytes() - byte));
  };
  if (b.way == Bulk::ToShared) {
    std::vector<uint8_t> bytes(size);
    eachRow(map, from,
            [&](uint64_t start, uint64_t address, unsigned count,
                unsigned skipped) {
              std::fill(row.begin(), row.end(), 0);
              if (map.fill && count < map.rowBytes())
                fillRow(map, row.data());
              if (count)
                std::memcpy(row.data() + skipped,
                            resolve(t, i, Space::Global, address, count, 1,
                                    Access::Read),
                            count);
              eachUnit(start, [&](uint64_t to, unsigned byte, unsigned n) {
                std::memcpy(&bytes[to], &row[byte], n);
              });
            });
    return copyToShared(t, i, b, bytes, shared);
  }
  const uint8_t *bytes = readShared(t, shared, unsigned(size));
  eachRow(
      map, from,
      [&](uint64_t start, uint64_t address, unsigned count, unsigned skipped) {
        eachUnit(start, [&](uint64_t to, unsigned byte, unsigned n) {
          std::memcpy(&row[byte], &bytes[to], n);
        });
        if (count)
          std::memcpy(
              resolve(t, i, Space::Global, address, count, 1, Access::Write),
              row.data() + skipped, count);
      });
}

void copyPlain(Thread &t, const Instruction *i, const Bulk &b) {
  uint64_t size = uint32_t(t.r[b.size]);
  expectAligned(size, 16, "a size");
  if (size == 0)
    return;
  uint64_t shared = sharedAt(t, b.shared, b.sharedOffset);
  expectAligned(shared, 16, "shared memory");
  if (b.way == Bulk::WithinCluster) {
    uint64_t to = sharedAt(t, b.target, b.targetOffset);
    expectAligned(to, 16, "shared memory");
    const uint8_t *from = readShared(t, shared, unsigned(size));
    std::vector<uint8_t> bytes(from, from + size);
    // It is the mbarrier that tells when it was read, of which the reader
    // knows nothing: here it was read at once.
    t.block->cluster->shared.finish(t.bulk.reader, t.bulk.used);
    t.bulk.done = std::max(t.bulk.done, t.bulk.used);
    return send(t, i, to, sharedAt(t, b.mbarrier, b.mbarrierOffset), bytes,
                true);
  }
  uint64_t global = at(t, b.global, b.globalOffset);
  expectAligned(global, 16, "global memory");
  if (b.way == Bulk::ToShared) {
    const uint8_t *from =
        resolve(t, i, Space::Global, global, unsigned(size), 16, Access::Read);
    return copyToShared(t, i, b, std::vector<uint8_t>(from, from + size),
                        shared);
  }
  const uint8_t *from = readShared(t, shared, unsigned(size));
  std::memcpy(
      resolve(t, i, Space::Global, global, unsigned(size), 16, Access::Write),
      from, size);
}

const Instruction *copyBulk(Thread &t, const Instruction *i) {
  Bulk b;
  std::memcpy(&b, i->more, sizeof(b));
  if (b.rank)
    copyTensor(t, i, b);
  else
    copyPlain(t, i, b);
  return i + 1;
}

const Instruction *commit(Thread &t, const Instruction *i) {
  ++t.bulk.committed;
  return i + 1;
}

/// All but the last `count` groups.
const Instruction *waitForGroups(Thread &t, const Instruction *i) {
  if (t.bulk.committed > i->count) {
    t.bulk.done = std::max(t.bulk.done, t.bulk.committed - i->count);
    if (t.bulk.hasReader)
      t.block->cluster->shared.finish(t.bulk.reader, t.bulk.done);
  }
  return i + 1;
}

const Instruction *checkMap(Thread &t, const Instruction *i) {
  mapAt(t, i, t.r[i->a] + uint64_t(i->offset));
  return i + 1;
}

const Instruction *nothing(Thread &, const Instruction *i) { return i + 1; }

void addressInto(Decoder &d, size_t operand, Space space, uint32_t &slot,
                 uint32_t &offset) {
  Instruction made;
  d.address(d.operand(operand), made, space);
  slot = made.a;
  offset = uint32_t(made.offset);
}

/// [map, {x, y}]: the coordinates' slots.
void coordinatesOf(Decoder &d, size_t operand, uint32_t rank,
                   std::vector<uint32_t> &more) {
  const Operand &of = d.operand(operand);
  if (of.elements.size() != 2 || of.elements[1].kind != Operand::Vector ||
      of.elements[1].elements.size() != rank)
    d.fail("expected a tensor map and " + std::to_string(rank) +
           " coordinates in braces");
  for (const Operand &each : of.elements[1].elements)
    more.push_back(d.source(each, Type::S32));
}

} // namespace

void ashlar::ptx::decodePrefetchTensorMap(Decoder &d) {
  Space space = Space::Generic;
  bool isParam = d.takeOf({"const", "param"}) == 1;
  if (isParam)
    space = Space::Param;
  d.expectOperands(1);
  Instruction made = d.make(checkMap);
  d.address(d.operand(0), made, space);
  if (isParam)
    made.offset += int64_t(window::kernelParam << window::shift);
  d.emit(made);
}

void ashlar::ptx::decodeBulk(Decoder &d) {
  if (d.take("commit_group")) {
    d.expectOperands(0);
    return d.emit(d.make(commit));
  }
  if (d.take("wait_group")) {
    d.take("read");
    d.expectOperands(1);
    if (d.operand(0).kind != Operand::Integer)
      d.fail("expected a number of groups");
    Instruction made = d.make(waitForGroups);
    made.count = uint32_t(d.operand(0).integer);
    return d.emit(made);
  }
  bool isPrefetch = d.take("prefetch");
  Bulk b{};
  std::vector<uint32_t> coordinates;
  if (d.take("tensor")) {
    int rank = d.takeOf({"1d", "2d", "3d", "4d", "5d"});
    if (rank < 0)
      d.fail("expected .1d to .5d");
    b.rank = uint32_t(rank + 1);
    d.take("tile");
  }
  size_t hints = d.takeCacheHint();
  if (isPrefetch) {
    if (!d.take("L2") || !d.take("global"))
      d.fail("expected .L2.global");
    d.expectOperands((b.rank ? 1 : 2) + hints);
    if (b.rank)
      coordinatesOf(d, 0, b.rank, coordinates);
    return d.emit(d.make(nothing));
  }
  int to = d.takeNextOf({"shared::cluster", "shared::cta", "global"}),
      from = d.takeNextOf({"shared::cta", "global"});
  if (to < 0 || from < 0 || (to == 2 && from == 1) || (to == 1 && from == 0))
    d.fail("expected the spaces of target and source");
  b.way = to == 2     ? Bulk::ToGlobal
          : from == 1 ? Bulk::ToShared
                      : Bulk::WithinCluster;
  b.isCluster = to == 0;
  if (b.way == Bulk::WithinCluster && b.rank)
    d.fail("a tensor is in global memory");
  bool isToGlobal = b.way == Bulk::ToGlobal;
  if (!d.take(isToGlobal ? "bulk_group" : "mbarrier::complete_tx::bytes"))
    d.fail(std::string("expected ") +
           (isToGlobal ? ".bulk_group" : ".mbarrier::complete_tx::bytes"));
  b.isMulticast = b.way == Bulk::ToShared && d.take("multicast::cluster");
  if (b.isMulticast && !b.isCluster)
    d.fail("expected .shared::cluster");
  // target, source, size unless the map has it, mbarrier, mask
  size_t next = 2, all = 2 + (b.rank ? 0u : 1u) + (isToGlobal ? 0u : 1u) +
                         (b.isMulticast ? 1u : 0u) + hints;
  d.expectOperands(all);
  Space sharedSpace = b.isCluster ? Space::Cluster : Space::Shared,
        globalSpace = b.rank ? Space::Generic : Space::Global;
  size_t globalAt = isToGlobal ? 0 : 1, sharedAtOperand = isToGlobal ? 1 : 0;
  if (b.way == Bulk::WithinCluster) {
    addressInto(d, 0, Space::Cluster, b.target, b.targetOffset);
    addressInto(d, 1, Space::Shared, b.shared, b.sharedOffset);
  } else {
    if (b.rank)
      coordinatesOf(d, globalAt, b.rank, coordinates);
    addressInto(d, globalAt, globalSpace, b.global, b.globalOffset);
    addressInto(d, sharedAtOperand, sharedSpace, b.shared, b.sharedOffset);
  }
  if (!b.rank)
    b.size = d.source(next++, Type::U32);
  if (!isToGlobal)
    addressInto(d, next++, b.isCluster ? Space::Cluster : Space::Shared,
                b.mbarrier, b.mbarrierOffset);
  if (b.isMulticast)
    b.maskSlot = d.source(next++, Type::U16);
  Instruction made = d.make(copyBulk);
  std::vector<uint32_t> more(Bulk::size_);
  std::memcpy(more.data(), &b, sizeof(b));
  more.insert(more.end(), coordinates.begin(), coordinates.end());
  made.more = d.list(std::move(more));
  d.emit(made);
}
