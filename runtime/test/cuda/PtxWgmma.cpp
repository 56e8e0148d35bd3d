// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma.mma_async: D, 64 x N, in the registers of a warpgroup; A there or in
// shared memory, B in shared memory, as a matrix descriptor says. The manual's
// "Shared Memory Matrix Layout", in units of 16 bytes, u along the direction
// that lies together and v across it, S units of a swizzle's width:
//   K-major:  S > 1: u + S (v % 8), every 8 v at the stride offset
//             S = 1: (v % 8), every 8 v at the stride offset, u at the leading
//   MN-major: S > 1: u % S + S (v % 8), every 8 v at the stride offset, every
//                    S u at the leading offset
//             S = 1: (v % 8), every 8 v at the leading offset, u at the stride
// A swizzle of S units then exchanges units of 16 bytes: address bits from 4 on
// are combined with those from 7 on.
// Sums are f64, rounded once, as mma.sync's are.

#include "PtxElements.h"
#include "PtxWarpgroup.h"

#include <algorithm>

using namespace ashlar::ptx;

namespace {

struct Descriptor {
  uint64_t start, leading, stride, base, units; // units: S
};

Descriptor parseDescriptor(uint64_t bits) {
  static constexpr uint64_t unknown =
      3ull << 14 | 3ull << 30 | 7ull << 46 | 0x3ffull << 52;
  if (bits & unknown)
    throw Fault(Fault::IllegalAddress,
                "a matrix descriptor " + hex(bits) +
                    ", of which bits are set that it has not");
  auto field = [&](int from) { return (bits >> from & 0x3fff) << 4; };
  static constexpr uint64_t units[] = {1, 8, 4, 2};
  return {field(0), field(16), field(32), bits >> 49 & 7, units[bits >> 62]};
}

uint64_t addressOf(const Descriptor &d, bool isKMajor, uint64_t u, uint64_t v) {
  uint64_t at = d.start;
  if (isKMajor)
    at += d.units == 1 ? u * d.leading + v % 8 * 16 + v / 8 * d.stride
                       : (u + d.units * (v % 8)) * 16 + v / 8 * d.stride;
  else
    at += d.units == 1 ? u * d.stride + v % 8 * 16 + v / 8 * d.leading
                       : (u % d.units + d.units * (v % 8)) * 16 +
                             v / 8 * d.stride + u / d.units * d.leading;
  // Where the pattern does not start at a multiple of its size, the base
  // offset says in which of its lines.
  return at ^ (((at >> 7) - d.base & (d.units - 1)) << 4);
}

/// more: what `Product` holds; then slots of D and of A.
struct Product {
  Element a, b;
  uint32_t n, registersA, registersD; // registersA: 0: A is in shared memory
  enum Sum : uint32_t { Whole, Single, Half } sum;
  uint32_t isSaturated, negatesA, negatesB, isMnMajorA, isMnMajorB;
  static constexpr size_t size = 11;
  int k() const { return int(32 / bytesOf(a)); }
};

/// rows x k elements, row by row.
void readMatrix(Block &block, const Warpgroup &group, uint32_t number,
                uint64_t descriptor, Element element, int rows, int k,
                bool isMnMajor, bool isNegated, std::vector<double> &to) {
  Descriptor d = parseDescriptor(descriptor);
  int each = int(16 / bytesOf(element)),
      perRegister = elementsPerRegister(element);
  to.resize(size_t(rows * k));
  int us = (isMnMajor ? rows : k) / each, vs = isMnMajor ? k : rows;
  for (int v = 0; v < vs; ++v)
    for (int u = 0; u < us; ++u) {
      const uint8_t *bytes =
          resolveAsync(block, group.reader, number,
                       addressOf(d, !isMnMajor, uint64_t(u), uint64_t(v)), 16);
      uint32_t words[4];
      std::memcpy(words, bytes, 16);
      for (int e = 0; e < each; ++e) {
        double value =
            valueOf(element, words[e / perRegister], e % perRegister);
        int row = isMnMajor ? u * each + e : v,
            column = isMnMajor ? v : u * each + e;
        to[size_t(row * k + column)] = isNegated ? -value : value;
      }
    }
}

void expectSame(Thread *const *threads, uint32_t slot, const char *what) {
  for (int k = 1; k < 128; ++k)
    if (threads[k]->r[slot] != threads[0]->r[slot])
      throw Fault(Fault::Divergence, std::string(what) + " of thread " +
                                         std::to_string(threads[k]->index) +
                                         " is " + hex(threads[k]->r[slot]) +
                                         ", that of thread " +
                                         std::to_string(threads[0]->index) +
                                         " " + hex(threads[0]->r[slot]));
}

/// a, b: descriptors; c: scale-d.
bool multiply(Block &block, Thread *const *threads, const Instruction *i) {
  Product p;
  std::memcpy(&p, i->more, sizeof(p));
  static_assert(sizeof(p) == Product::size * sizeof(uint32_t));
  const uint32_t *d = i->more + Product::size, *a = d + p.registersD;
  const Warpgroup &group = warpgroupOf(block, threads[0]->index / 128);
  uint32_t number = threads[0]->watch->openGroup();
  int n = int(p.n), k = p.k(), each = elementsPerRegister(p.a);
  for (int t = 0; t < 128; ++t) {
    Thread &thread = *threads[t];
    if (thread.watch->depth != thread.frames.size())
      throw Fault(Fault::Race,
                  "no wgmma.fence in the function before wgmma.mma_async");
    for (uint32_t j = 0; j < p.registersA; ++j)
      thread.watch->use(thread, a[j], 0, false);
    for (uint32_t j = 0; j < p.registersD; ++j)
      thread.watch->use(thread, d[j], p.n << 8 | uint32_t(k), true);
  }
  expectSame(threads, i->b, "the descriptor of B");
  expectSame(threads, i->c, "scale-d");

  static thread_local std::vector<double> left, right, sum;
  readMatrix(block, group, number, threads[0]->r[i->b], p.b, n, k, p.isMnMajorB,
             p.negatesB, right);
  if (p.registersA) {
    left.resize(size_t(64 * k));
    for (int t = 0; t < 128; ++t)
      for (int j = 0; j < 4; ++j)
        for (int e = 0; e < each; ++e) {
          int row = t / 32 * 16 + t % 32 / 4 + 8 * (j & 1),
              column = 4 * each * (j / 2) + t % 4 * each + e;
          double value = valueOf(p.a, threads[t]->r[a[j]], e);
          left[size_t(row * k + column)] = p.negatesA ? -value : value;
        }
  } else {
    expectSame(threads, i->a, "the descriptor of A");
    readMatrix(block, group, number, threads[0]->r[i->a], p.a, 64, k,
               p.isMnMajorA, p.negatesA, left);
  }
  bool isAdded = threads[0]->r[i->c];
  sum.assign(size_t(64 * n), 0);
  // Element e of a thread's part of D.
  auto place = [&](int t, int e) -> double & {
    return sum[size_t((t / 32 * 16 + t % 32 / 4 + 8 * (e / 2 % 2)) * n +
                      e / 4 * 8 + t % 4 * 2 + e % 2)];
  };
  for (int t = 0; isAdded && t < 128; ++t)
    for (int e = 0; e < n / 2; ++e) {
      const uint64_t *r = threads[t]->r;
      place(t, e) =
          p.sum == Product::Half    ? valueOf(Element::Half, r[d[e / 2]], e % 2)
          : p.sum == Product::Whole ? double(int32_t(r[d[e]]))
                                    : double(bitsAs<float>(uint32_t(r[d[e]])));
    }
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < n; ++column) {
      const double *x = &left[size_t(row * k)], *y = &right[size_t(column * k)];
      double product = sum[size_t(row * n + column)];
      for (int at = 0; at < k; ++at)
        product += x[at] * y[at];
      sum[size_t(row * n + column)] = product;
    }
  for (int t = 0; t < 128; ++t)
    for (int e = 0; e < n / 2; ++e) {
      uint64_t *r = threads[t]->r;
      double value = place(t, e);
      if (p.sum == Product::Half) {
        uint64_t bits = fromDouble<Half>(value, Rounding::Nearest).bits;
        r[d[e / 2]] = e % 2 ? r[d[e / 2]] | bits << 16 : bits;
      } else if (p.sum == Product::Single) {
        r[d[e]] = bitsAs<uint32_t>(canonical(float(value)));
      } else if (p.isSaturated) {
        r[d[e]] = uint32_t(
            int32_t(std::max(-2147483648.0, std::min(2147483647.0, value))));
      } else {
        r[d[e]] = uint32_t(int64_t(value));
      }
    }
  return true;
}

/// "m64n128k16": 128 and 16.
bool takeShape(Decoder &d, uint32_t &n, uint32_t &k) {
  for (const std::string &each : d.statement().modifiers) {
    unsigned columns = 0, depth = 0;
    int end = 0;
    if (std::sscanf(each.c_str(), "m64n%uk%u%n", &columns, &depth, &end) == 2 &&
        size_t(end) == each.size()) {
      n = columns;
      k = depth;
      return d.take(each);
    }
  }
  return false;
}

int64_t immediate(Decoder &d, size_t i, int64_t one, int64_t other,
                  const char *what) {
  const Operand &of = d.operand(i);
  if (of.kind != Operand::Integer || (of.integer != one && of.integer != other))
    d.fail(std::string("expected ") + std::to_string(one) + " or " +
           std::to_string(other) + " as " + what);
  return of.integer;
}

} // namespace

void ashlar::ptx::decodeMmaAsync(Decoder &d) {
  Product p{};
  uint32_t k = 0;
  if (!takeShape(d, p.n, k))
    d.fail("expected a shape .m64nNkK");
  p.isSaturated = d.take("satfinite");
  int sum = d.takeNextOf({"s32", "f32", "f16"});
  if (sum < 0)
    d.fail("expected a result of .f32, .f16 or .s32");
  p.sum = Product::Sum(sum);
  p.a = takeElement(d);
  p.b = takeElement(d);
  bool isWholeA = isWhole(p.a), isTwoBytes = bytesOf(p.a) == 2;
  if (bytesOf(p.a) != bytesOf(p.b) || isWholeA != isWhole(p.b) ||
      (bytesOf(p.a) != 1 && p.a != p.b))
    d.fail("A and B of types that do not go together");
  if (isWholeA != (p.sum == Product::Whole) || (p.isSaturated && !isWholeA))
    d.fail("sums of whole numbers are .s32, and they alone saturate");
  if (p.sum == Product::Half &&
      (p.a == Element::BFloat || p.a == Element::TF32))
    d.fail("expected a result of .f32");
  if (k != uint32_t(p.k()) || p.n % 8 || p.n == 0 || p.n > 256 ||
      (isWholeA && p.n > 24 && p.n % 16))
    d.fail("a shape that these types do not have");
  // D, A, B, scale-d, then what the types have.
  bool isInRegisters = d.operands() > 1 && d.operand(1).kind == Operand::Vector;
  d.expectOperands(4 + (isWholeA ? 0u : 2u) +
                   (isTwoBytes ? isInRegisters ? 1u : 2u : 0u));
  p.registersD = p.sum == Product::Half ? p.n / 4 : p.n / 2;
  p.registersA = isInRegisters ? 4 : 0;
  if (!isWholeA) {
    p.negatesA = immediate(d, 4, 1, -1, "imm-scale-a") < 0;
    p.negatesB = immediate(d, 5, 1, -1, "imm-scale-b") < 0;
  }
  if (isTwoBytes && !isInRegisters)
    p.isMnMajorA = uint32_t(immediate(d, 6, 0, 1, "imm-trans-a"));
  if (isTwoBytes)
    p.isMnMajorB =
        uint32_t(immediate(d, isInRegisters ? 6 : 7, 0, 1, "imm-trans-b"));
  std::vector<uint32_t> more(Product::size);
  std::memcpy(more.data(), &p, sizeof(p));
  addSlots(d, 0, p.registersD, true, more);
  if (isInRegisters)
    addSlots(d, 1, 4, false, more);
  d.hideRegisters();
  Instruction made = d.make(waitForGroup);
  made.group = multiply;
  made.a = isInRegisters ? uint32_t(special::Zero) : d.source(1, Type::B64);
  made.b = d.source(2, Type::B64);
  made.c = d.source(3, Type::Pred);
  made.more = d.list(std::move(more));
  d.emit(made);
}
