// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red. One lock for all of them, as launches of several streams run
// at once.

#include "PtxFamilies.h"
#include "PtxFloatOps.h"
#include "PtxHandlers.h"

#include <mutex>

using namespace ashlar::ptx;

namespace {

enum class Op : uint32_t { Add, Inc, Dec, Min, Max, And, Or, Xor, Exch, Cas };

template <class T> T combineWhole(Op op, T old, T b, T c) {
  switch (op) {
  case Op::Add:
    return T(uint64_t(old) + uint64_t(b));
  case Op::Inc:
    return old >= b ? T(0) : T(old + 1);
  case Op::Dec:
    return old == 0 || old > b ? b : T(old - 1);
  case Op::Min:
    return std::min(old, b);
  case Op::Max:
    return std::max(old, b);
  case Op::And:
    return old & b;
  case Op::Or:
    return old | b;
  case Op::Xor:
    return old ^ b;
  case Op::Exch:
    return b;
  case Op::Cas:
    return old == b ? c : old;
  }
  return old;
}

template <class T> T combineFloat(Op op, T old, T b) {
  if (op == Op::Min)
    return Extreme<false>::of(old, b);
  if (op == Op::Max)
    return Extreme<true>::of(old, b);
  return Plain<FloatAdd>::of(old, b);
}

uint64_t combine(Op op, Type type, uint64_t old, uint64_t b, uint64_t c) {
  auto halves = [&](auto one) {
    using T = decltype(one);
    auto at = [&](int shift) {
      return uint64_t(
          combineFloat(op, T{uint16_t(old >> shift)}, T{uint16_t(b >> shift)})
              .bits);
    };
    return at(0) | at(16) << 16;
  };
  switch (type) {
  case Type::S32:
    return uint32_t(combineWhole(op, int32_t(old), int32_t(b), int32_t(c)));
  case Type::S64:
    return uint64_t(combineWhole(op, int64_t(old), int64_t(b), int64_t(c)));
  case Type::F32:
    return bitsAs<uint32_t>(combineFloat(op, bitsAs<float>(uint32_t(old)),
                                         bitsAs<float>(uint32_t(b))));
  case Type::F64:
    return bitsAs<uint64_t>(
        combineFloat(op, bitsAs<double>(old), bitsAs<double>(b)));
  case Type::F16:
    return combineFloat(op, Half{uint16_t(old)}, Half{uint16_t(b)}).bits;
  case Type::BF16:
    return combineFloat(op, BFloat{uint16_t(old)}, BFloat{uint16_t(b)}).bits;
  case Type::F16x2:
    return halves(Half{});
  case Type::BF16x2:
    return halves(BFloat{});
  default:
    break;
  }
  if (bytesOf(type) == 2)
    return combineWhole(op, uint16_t(old), uint16_t(b), uint16_t(c));
  if (bytesOf(type) == 4)
    return combineWhole(op, uint32_t(old), uint32_t(b), uint32_t(c));
  return combineWhole(op, old, b, c);
}

/// flags: operation and type; c: what cas stores.
template <Space space>
const Instruction *atomic(Thread &t, const Instruction *i) {
  static std::mutex mutex;
  Type type = Type(i->flags >> 8);
  unsigned bytes = bytesOf(type);
  uint64_t address = t.r[i->a] + uint64_t(i->offset), old = 0;
  std::lock_guard<std::mutex> lock(mutex);
  uint8_t *at = resolve(t, i, space, address, bytes, bytes, Access::Atomic);
  std::memcpy(&old, at, bytes);
  uint64_t next = combine(Op(i->flags & 0xff), type, old, t.r[i->b], t.r[i->c]);
  std::memcpy(at, &next, bytes);
  t.r[i->dst] = old;
  return i + 1;
}

void decode(Decoder &d, bool hasResult) {
  d.takeOf({"relaxed", "acquire", "release", "acq_rel"});
  d.takeOrdering();
  Space space = Space::Generic;
  switch (d.takeOf({"global", "shared", "shared::cta", "shared::cluster"})) {
  case 0:
    space = Space::Global;
    break;
  case 1:
  case 2:
    space = Space::Shared;
    break;
  case 3:
    space = Space::Cluster;
    break;
  }
  d.take("noftz");
  size_t hints = d.takeCacheHint();
  int op = d.takeOf(
      {"add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"});
  if (op < 0)
    d.fail("expected an operation");
  Type type = d.takeType();
  if (type == Type::B128)
    d.fail("not for this type");
  if (isFloat(type) && op != int(Op::Add) && op != int(Op::Min) &&
      op != int(Op::Max))
    d.fail("of floats only .add, .min and .max");
  size_t first = hasResult ? 1 : 0;
  d.expectOperands(first + (op == int(Op::Cas) ? 3 : 2) + hints);
  Instruction made = d.make(nullptr);
  d.address(d.operand(first), made, space);
  made.run = space == Space::Global    ? atomic<Space::Global>
             : space == Space::Shared  ? atomic<Space::Shared>
             : space == Space::Cluster ? atomic<Space::Cluster>
                                       : atomic<Space::Generic>;
  made.flags = uint32_t(op) | uint32_t(type) << 8;
  made.dst = hasResult ? d.destination() : d.scratch();
  made.b = d.source(first + 1, type);
  if (op == int(Op::Cas))
    made.c = d.source(first + 2, type);
  d.emit(made);
}

void decodeAtom(Decoder &d) { decode(d, true); }
void decodeRed(Decoder &d) { decode(d, false); }

} // namespace

const Family &ashlar::ptx::atomics() {
  static const Family all = {{"atom", decodeAtom}, {"red", decodeRed}};
  return all;
}
