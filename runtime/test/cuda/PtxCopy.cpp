// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async: what it brings is there when its thread has waited for it. Until
// then the bytes are under way, and who reads them is told so.

#include "PtxHandlers.h"

#include <algorithm>

using namespace ashlar::ptx;

namespace {

/// a, offset: target; b, more[0]: source; c: bytes of it, the rest is zero, all
/// of it where the predicate more[2] says so; count: bytes.
const Instruction *copyAsync(Thread &t, const Instruction *i) {
  uint64_t to = t.r[i->a] + uint64_t(i->offset);
  uint64_t from = t.r[i->b] + uint64_t(int64_t(int32_t(i->more[0])));
  uint32_t given = uint32_t(std::min<uint64_t>(t.r[i->c], i->count));
  if (i->more[1] && t.r[i->more[2]])
    given = 0;
  PendingCopy made;
  made.to = to;
  made.size = i->count;
  if (given)
    std::memcpy(
        made.bytes,
        resolve(t, i, Space::Global, from, given, i->count, Access::Read),
        given);
  std::fill(made.bytes + given, made.bytes + i->count, 0);
  resolve(t, i, Space::Shared, to, i->count, i->count, Access::AsyncWrite);
  t.copies.push_back(made);
  return i + 1;
}

const Instruction *commit(Thread &t, const Instruction *i) {
  uint32_t group = ++t.copyGroups;
  for (PendingCopy &each : t.copies)
    if (!each.group)
      each.group = group;
  return i + 1;
}

/// All but the last `count` groups; flags: what no group has, too.
const Instruction *waitForCopies(Thread &t, const Instruction *i) {
  std::vector<PendingCopy> left;
  for (const PendingCopy &each : t.copies) {
    bool isDone =
        i->flags ? true : each.group && each.group + i->count <= t.copyGroups;
    if (!isDone) {
      left.push_back(each);
      continue;
    }
    std::memcpy(
        resolve(t, i, Space::Shared, each.to, each.size, 1, Access::Write),
        each.bytes, each.size);
  }
  t.copies = std::move(left);
  return i + 1;
}

/// cp.async.mbarrier.arrive: what the thread copies is there when the phase
/// ends; here it comes at once, as who does not wait for the phase races
/// anyway. flags: arrives as one that the phase expects.
const Instruction *arriveWithCopies(Thread &t, const Instruction *i) {
  for (const PendingCopy &each : t.copies)
    std::memcpy(
        resolve(t, i, Space::Shared, each.to, each.size, 1, Access::Write),
        each.bytes, each.size);
  t.copies.clear();
  Mbarrier &mbarrier =
      mbarrierAt(t, (t.r[i->a] + uint64_t(i->offset)) & window::mask, false);
  t.block->cluster->shared.release(t.number, mbarrier.arriving);
  if (i->flags)
    arriveAt(*t.block->cluster, mbarrier, 1);
  return i + 1;
}

void decodeArriveWithCopies(Decoder &d) {
  if (!d.take("arrive"))
    d.fail("expected .arrive");
  Instruction made = d.make(arriveWithCopies);
  made.flags = d.take("noinc");
  Space space =
      d.takeOf({"shared", "shared::cta"}) >= 0 ? Space::Shared : Space::Generic;
  if (d.takeType() != Type::B64)
    d.fail("expected .b64");
  d.expectOperands(1);
  d.address(d.operand(0), made, space);
  d.emit(made);
}

void decodeCopy(Decoder &d) {
  if (!d.take("async"))
    d.fail("expected .async");
  if (d.take("bulk"))
    return decodeBulk(d);
  if (d.take("mbarrier"))
    return decodeArriveWithCopies(d);
  if (d.take("commit_group")) {
    d.expectOperands(0);
    return d.emit(d.make(commit));
  }
  bool isAll = d.take("wait_all");
  if (isAll || d.take("wait_group")) {
    d.expectOperands(isAll ? 0 : 1);
    Instruction made = d.make(waitForCopies);
    made.flags = isAll;
    if (!isAll) {
      if (d.operand(0).kind != Operand::Integer)
        d.fail("expected a number of groups");
      made.count = uint32_t(d.operand(0).integer);
    }
    return d.emit(made);
  }
  bool isWide = d.take("cg");
  if (!isWide && !d.take("ca"))
    d.fail("expected .ca or .cg");
  if (d.takeOf({"shared", "shared::cta"}) < 0 || !d.take("global"))
    d.fail("expected .shared.global");
  d.takeOf({"L2::64B", "L2::128B", "L2::256B"});
  size_t hints = d.takeCacheHint();
  d.expectOperands(3 + hints, 5 + hints);
  if (d.operand(2).kind != Operand::Integer)
    d.fail("expected a number of bytes");
  Instruction made = d.make(copyAsync), source;
  Space shared = Space::Shared, global = Space::Global;
  d.address(d.operand(0), made, shared);
  d.address(d.operand(1), source, global);
  made.b = source.a;
  made.count = uint32_t(d.operand(2).integer);
  if (made.count != 16 && (isWide || (made.count != 4 && made.count != 8)))
    d.fail("copies of this size there are not");
  made.c = d.constant(made.count);
  std::vector<uint32_t> more = {uint32_t(source.offset), 0, 0};
  for (size_t at = 3; at < d.operands() - hints; ++at) {
    const Operand &each = d.operand(at);
    if (each.kind == Operand::Register && each.type == Type::Pred) {
      more[1] = 1;
      more[2] = d.source(each, Type::Pred);
    } else {
      made.c = d.source(each, Type::U32);
    }
  }
  made.more = d.list(std::move(more));
  d.emit(made);
}

} // namespace

const Family &ashlar::ptx::copying() {
  static const Family all = {{"cp", decodeCopy}};
  return all;
}
