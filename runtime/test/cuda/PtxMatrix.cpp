// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices that a warp holds in parts: mma.sync, ldmatrix, stmatrix,
// movmatrix, by the manual's figures of who holds what. With g = lane / 4 and
// t = lane % 4, registers of E elements:
//   A, 16 x k: register j has row g + 8 (j & 1), columns 4 E (j / 2) + t E on
//   B, k x 8:  register j has rows 4 E j + t E on, column g
//   C, 16 x 8: element i has row g + 8 (i / 2), column 2 t + (i & 1)
// How a GPU rounds within a sum is its own; here products and sums are f64,
// rounded once. Compare with a tolerance.

#include "PtxBarrier.h"
#include "PtxElements.h"
#include "PtxHandlers.h"

#include <algorithm>

using namespace ashlar::ptx;

namespace {

const Instruction *waitForWarp(Thread &t, const Instruction *i) {
  t.mask = ~0u;
  t.state = Thread::AtWarp;
  t.pc = i;
  return nullptr;
}

void expectWholeWarp(uint32_t mask) {
  if (mask != ~0u)
    throw Fault(Fault::Divergence,
                "a matrix of a warp with lanes " + hex(mask) + " only");
}

/// more: types of A and B, registers of A and of C, whether C is f16, whether
/// it is whole and whether it saturates; then slots of D, A, B, C.
struct Shape {
  Element a, b;
  uint32_t registersA, registersC;
  bool isHalf, isWhole, isSaturated;
  static constexpr uint32_t size = 7;
};

void multiply(Block &, Thread *const *lanes, uint32_t mask,
              const Instruction *i) {
  expectWholeWarp(mask);
  const uint32_t *more = i->more;
  Shape shape{Element(more[0]), Element(more[1]), more[2],      more[3],
              bool(more[4]),    bool(more[5]),    bool(more[6])};
  const uint32_t *d = more + Shape::size, *a = d + shape.registersC,
                 *b = a + shape.registersA, *c = b + shape.registersA / 2;
  int each = elementsPerRegister(shape.a);
  int k = 2 * each * int(shape.registersA);
  static thread_local double left[16][32], right[32][8], sum[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    const uint64_t *r = lanes[lane]->r;
    int g = lane / 4, t = lane % 4;
    for (int j = 0; j < int(shape.registersA); ++j)
      for (int e = 0; e < each; ++e)
        left[g + 8 * (j & 1)][4 * each * (j / 2) + t * each + e] =
            valueOf(shape.a, r[a[j]], e);
    for (int j = 0; j < int(shape.registersA) / 2; ++j)
      for (int e = 0; e < each; ++e)
        right[4 * each * j + t * each + e][g] = valueOf(shape.b, r[b[j]], e);
    for (int e = 0; e < 4; ++e) {
      uint64_t bits = shape.isHalf ? r[c[e / 2]] >> (16 * (e & 1)) : r[c[e]];
      sum[g + 8 * (e / 2)][2 * t + (e & 1)] =
          shape.isHalf    ? toFloat(Half{uint16_t(bits)})
          : shape.isWhole ? double(int32_t(bits))
                          : double(bitsAs<float>(uint32_t(bits)));
    }
  }
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n)
      for (int at = 0; at < k; ++at)
        sum[m][n] += left[m][at] * right[at][n];
  for (int lane = 0; lane < 32; ++lane) {
    uint64_t *r = lanes[lane]->r;
    int g = lane / 4, t = lane % 4;
    uint32_t bits[4];
    for (int e = 0; e < 4; ++e) {
      double value = sum[g + 8 * (e / 2)][2 * t + (e & 1)];
      if (shape.isHalf)
        bits[e] = fromDouble<Half>(value, Rounding::Nearest).bits;
      else if (!shape.isWhole)
        bits[e] = bitsAs<uint32_t>(canonical(float(value)));
      else if (shape.isSaturated)
        bits[e] = uint32_t(
            int32_t(std::max(-2147483648.0, std::min(2147483647.0, value))));
      else
        bits[e] = uint32_t(int64_t(value));
    }
    if (shape.isHalf) {
      r[d[0]] = bits[0] | bits[1] << 16;
      r[d[1]] = bits[2] | bits[3] << 16;
    } else {
      for (int e = 0; e < 4; ++e)
        r[d[e]] = bits[e];
    }
  }
}

void decodeMma(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned"))
    d.fail("expected .sync.aligned");
  int shape = d.takeOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  if (shape < 0 || !d.take("row") || !d.take("col"))
    d.fail("a shape or a layout that the interpreter does not know");
  bool isSaturated = d.take("satfinite");
  int k = 4 << shape;
  // D, A, B, C: their order is that of the modifiers.
  int result = d.takeOf({"s32", "f32"});
  bool isHalf = result < 0;
  if (isHalf && !d.take("f16"))
    d.fail("expected a result of .f32, .f16 or .s32");
  Element a = takeElement(d), b = takeElement(d);
  if (d.takeOf({"s32", "f32"}) != result || (isHalf && !d.take("f16")))
    d.fail("C of another type than D");
  int each = elementsPerRegister(a);
  if (elementsPerRegister(b) != each)
    d.fail("A and B of different widths");
  bool isOfWhole = isWhole(a);
  if (isOfWhole != (result == 0))
    d.fail("sums of whole numbers are .s32");
  uint32_t registersA = uint32_t(k / (2 * each));
  if (registersA != 2 && registersA != 4)
    d.fail("a shape that these types do not have");
  uint32_t registersC = isHalf ? 2 : 4;
  d.expectOperands(4);
  Instruction made = d.make(waitForWarp);
  made.warp = multiply;
  std::vector<uint32_t> more = {uint32_t(a), uint32_t(b), registersA,
                                registersC,  isHalf,      isOfWhole,
                                isSaturated};
  addSlots(d, 0, registersC, true, more);
  addSlots(d, 1, registersA, false, more);
  addSlots(d, 2, registersA / 2, false, more);
  addSlots(d, 3, registersC, false, more);
  made.more = d.list(std::move(more));
  d.emit(made);
}

/// The row of 16 bytes that a lane names.
uint8_t *rowOf(Thread &t, const Instruction *i, Access how) {
  return resolve(t, i, Space(i->c), t.r[i->a] + uint64_t(i->offset), 16, 16,
                 how);
}

/// count: matrices; flags: transposed. more: slots.
void loadMatrices(Block &, Thread *const *lanes, uint32_t mask,
                  const Instruction *i) {
  expectWholeWarp(mask);
  uint16_t elements[4][8][8];
  for (uint32_t m = 0; m < i->count; ++m)
    for (uint32_t row = 0; row < 8; ++row)
      std::memcpy(elements[m][row], rowOf(*lanes[8 * m + row], i, Access::Read),
                  16);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t m = 0; m < i->count; ++m) {
      uint32_t g = lane / 4, t = lane % 4 * 2;
      auto &of = elements[m];
      uint32_t low = i->flags ? of[t][g] : of[g][t],
               high = i->flags ? of[t + 1][g] : of[g][t + 1];
      lanes[lane]->r[i->more[m]] = low | high << 16;
    }
}

void storeMatrices(Block &, Thread *const *lanes, uint32_t mask,
                   const Instruction *i) {
  expectWholeWarp(mask);
  uint16_t elements[4][8][8];
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t m = 0; m < i->count; ++m) {
      uint32_t g = lane / 4, t = lane % 4 * 2;
      auto &of = elements[m];
      uint32_t bits = uint32_t(lanes[lane]->r[i->more[m]]);
      (i->flags ? of[t][g] : of[g][t]) = uint16_t(bits);
      (i->flags ? of[t + 1][g] : of[g][t + 1]) = uint16_t(bits >> 16);
    }
  for (uint32_t m = 0; m < i->count; ++m)
    for (uint32_t row = 0; row < 8; ++row)
      std::memcpy(rowOf(*lanes[8 * m + row], i, Access::Write),
                  elements[m][row], 16);
}

void transpose(Block &, Thread *const *lanes, uint32_t mask,
               const Instruction *i) {
  expectWholeWarp(mask);
  uint16_t elements[8][8];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t bits = uint32_t(lanes[lane]->r[i->a]);
    elements[lane / 4][lane % 4 * 2] = uint16_t(bits);
    elements[lane / 4][lane % 4 * 2 + 1] = uint16_t(bits >> 16);
  }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t g = lane / 4, t = lane % 4 * 2;
    lanes[lane]->r[i->dst] = elements[t][g] | uint32_t(elements[t + 1][g])
                                                  << 16;
  }
}

void decodeMatrixAccess(Decoder &d, bool isLoad) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8"))
    d.fail("expected .sync.aligned.m8n8");
  int number = d.takeOf({"x1", "x2", "x4"});
  bool isTransposed = d.take("trans");
  Space space =
      d.takeOf({"shared", "shared::cta"}) >= 0 ? Space::Shared : Space::Generic;
  if (number < 0 || d.takeType() != Type::B16)
    d.fail("expected .x1, .x2 or .x4 of .b16");
  d.expectOperands(2);
  Instruction made = d.make(waitForWarp);
  d.address(d.operand(isLoad ? 1 : 0), made, space);
  made.warp = isLoad ? loadMatrices : storeMatrices;
  made.c = uint32_t(space);
  made.count = 1u << number;
  made.flags = isTransposed;
  std::vector<uint32_t> more;
  addSlots(d, isLoad ? 0 : 1, made.count, isLoad, more);
  made.more = d.list(std::move(more));
  d.emit(made);
}

void decodeLoadMatrix(Decoder &d) { decodeMatrixAccess(d, true); }
void decodeStoreMatrix(Decoder &d) { decodeMatrixAccess(d, false); }

void decodeMoveMatrix(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") ||
      !d.take("trans") || d.takeType() != Type::B16)
    d.fail("expected .sync.aligned.m8n8.trans.b16");
  d.expectOperands(2);
  Instruction made = d.make(waitForWarp);
  made.warp = transpose;
  made.dst = d.destination();
  made.a = d.source(1, Type::B32);
  d.emit(made);
}

} // namespace

const Family &ashlar::ptx::matrices() {
  static const Family all = {{"mma", decodeMma},
                             {"ldmatrix", decodeLoadMatrix},
                             {"stmatrix", decodeStoreMatrix},
                             {"movmatrix", decodeMoveMatrix}};
  return all;
}
