// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves, packing and changes of space.

#include "PtxHandlers.h"

using namespace ashlar::ptx;

namespace {

const Instruction *move(Thread &t, const Instruction *i) {
  t.r[i->dst] = t.r[i->a];
  return i + 1;
}
const Instruction *moveWide(Thread &t, const Instruction *i) {
  t.r[i->dst] = t.r[i->a];
  t.r[i->dst + 1] = t.r[i->a + 1];
  return i + 1;
}
const Instruction *clock(Thread &t, const Instruction *i) {
  t.r[i->dst] = ++t.block->steps;
  return i + 1;
}

/// flags: bits of a part; the lowest first. Of 128 bits in two slots.
const Instruction *packParts(Thread &t, const Instruction *i) {
  uint64_t out[2] = {0, 0},
           mask = i->flags == 64 ? ~0ull : (1ull << i->flags) - 1;
  for (uint32_t k = 0; k < i->count; ++k) {
    uint32_t at = k * i->flags;
    out[at / 64] |= (t.r[i->slots[k]] & mask) << (at % 64);
  }
  t.r[i->dst] = out[0];
  if (i->c)
    t.r[i->dst + 1] = out[1];
  return i + 1;
}
const Instruction *unpackParts(Thread &t, const Instruction *i) {
  uint64_t in[2] = {t.r[i->a], i->c ? t.r[i->a + 1] : 0};
  uint64_t mask = i->flags == 64 ? ~0ull : (1ull << i->flags) - 1;
  for (uint32_t k = 0; k < i->count; ++k) {
    uint32_t at = k * i->flags;
    t.r[i->slots[k]] = in[at / 64] >> (at % 64) & mask;
  }
  return i + 1;
}

/// Where the address of a place is needed as a generic one, cvta follows.
void decodeMov(Decoder &d) {
  Type type = d.takeType();
  d.expectOperands(2);
  const Operand &to = d.operand(0), &from = d.operand(1);
  bool packs = from.kind == Operand::Vector;
  if (packs || to.kind == Operand::Vector) {
    const Operand &parts = packs ? from : to;
    Instruction made = d.make(packs ? packParts : unpackParts);
    uint32_t bits = 8 * bytesOf(type);
    made.count = uint32_t(parts.elements.size());
    if (made.count == 0 || bits % made.count)
      d.fail("a vector that does not fit");
    made.flags = bits / made.count;
    made.c = bits == 128;
    std::vector<uint32_t> slots;
    for (const Operand &each : parts.elements)
      slots.push_back(packs ? d.source(each, type) : d.destination(each));
    made.slots = d.list(std::move(slots));
    if (packs)
      made.dst = d.destination();
    else
      made.a = d.source(1, type);
    return d.emit(made);
  }
  if (from.kind == Operand::Clock) {
    Instruction made = d.make(clock);
    made.dst = d.destination();
    return d.emit(made);
  }
  if (from.kind == Operand::Name)
    d.fail("'" + from.name +
           "' is no variable; calls by address are not known");
  emitPlain(d, type == Type::B128 ? moveWide : move, type, 2);
}

/// flags: the window; to generic addresses, or back.
const Instruction *toGeneric(Thread &t, const Instruction *i) {
  t.r[i->dst] = t.r[i->a] | uint64_t(i->flags) << window::shift;
  return i + 1;
}
const Instruction *fromGeneric(Thread &t, const Instruction *i) {
  uint64_t address = t.r[i->a];
  if (address >> window::shift != i->flags)
    throw Fault(Fault::IllegalAddress, "cvta.to of the generic address " +
                                           hex(address) +
                                           ", which is in another space");
  t.r[i->dst] = address & window::mask;
  return i + 1;
}

uint32_t takeWindow(Decoder &d) {
  switch (d.takeOf({"global", "const", "shared", "shared::cta", "local",
                    "param", "param::entry", "shared::cluster"})) {
  case 0:
  case 1:
    return 0;
  case 2:
  case 3:
  case 7:
    return uint32_t(window::shared);
  case 4:
    return uint32_t(window::local);
  case 5:
  case 6:
    return uint32_t(window::kernelParam);
  }
  d.fail("expected a space");
}

void decodeCvta(Decoder &d) {
  bool isBack = d.take("to");
  uint32_t which = takeWindow(d);
  Type type = d.takeType();
  if (bytesOf(type) != 8)
    d.fail("addresses have 64 bits");
  // A null pointer stays one on its way to the global space.
  emitPlain(d, isBack ? fromGeneric : toGeneric, type, 2, which);
}

/// flags: the window. Global is what no other has.
const Instruction *isSpace(Thread &t, const Instruction *i) {
  t.r[i->dst] = t.r[i->a] >> window::shift == i->flags;
  return i + 1;
}
void decodeIsSpace(Decoder &d) {
  uint32_t which = takeWindow(d);
  emitPlain(d, isSpace, Type::B64, 2, which);
}

} // namespace

const Family &ashlar::ptx::moving() {
  static const Family all = {
      {"mov", decodeMov}, {"cvta", decodeCvta}, {"isspacep", decodeIsSpace}};
  return all;
}
