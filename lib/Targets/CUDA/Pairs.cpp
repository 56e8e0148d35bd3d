// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of 16 bits, of which a register has two: what loops carry for steps
// would else take a register each, and be put together while steps go on.
#include "PtxWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

/// The word of which `value` is a part, from so many bits on; null: it is none.
static Value wordOf(Value value, int64_t bits) {
  auto cast = value.getDefiningOp<arith::BitcastOp>();
  auto part = cast ? cast.getIn().getDefiningOp<arith::TruncIOp>() : nullptr;
  if (!part || !part.getIn().getType().isInteger(32))
    return {};
  if (bits == 0)
    return part.getIn();
  auto shift = part.getIn().getDefiningOp<arith::ShRUIOp>();
  return shift && getConstantIntValue(shift.getRhs()) == bits ? shift.getLhs()
                                                              : Value();
}

/// Two of f32 as a word of two of `type`.
static Value roundPair(PtxWriter &w, Value low, Value high, Type type) {
  return w.write(type.isBF16() ? "cvt.rn.bf16x2.f32 $0, $1, $2;"
                               : "cvt.rn.f16x2.f32 $0, $1, $2;",
                 "=r,f,f", {high, low}, w.b.getI32Type(),
                 /*isOrdered=*/false)[0];
}

Value ashlar::cuda::packPair(PtxWriter &w, Value low, Value high) {
  if (Value word = wordOf(high, 16); word && word == wordOf(low, 0))
    return word;
  // What was rounded for this alone is so by one instruction.
  auto source = [](Value value) {
    auto rounded = value.getDefiningOp<arith::TruncFOp>();
    return rounded && rounded.getIn().getType().isF32() ? rounded.getIn()
                                                        : Value();
  };
  Value first = source(low), second = source(high);
  if (first && second)
    return roundPair(w, first, second, low.getType());
  auto bits = [&](Value value) -> Value {
    value = arith::BitcastOp::create(w.b, w.b.getI16Type(), value);
    return arith::ExtUIOp::create(w.b, w.b.getI32Type(), value);
  };
  return arith::OrIOp::create(
      w.b, bits(low), arith::ShLIOp::create(w.b, bits(high), w.word(16)));
}

static std::pair<Value, Value> unpackPair(OpBuilder &b, Location at, Value word,
                                          Type type) {
  auto part = [&](Value from) -> Value {
    Value bits = arith::TruncIOp::create(b, at, b.getI16Type(), from);
    return arith::BitcastOp::create(b, at, type, bits);
  };
  Value shift = arith::ConstantIntOp::create(b, at, 16, 32);
  return {part(word), part(arith::ShRUIOp::create(b, at, word, shift))};
}

namespace {
/// A loop, of whose values some that follow each other go in pairs.
class PairCarrier {
public:
  explicit PairCarrier(scf::ForOp loop) : loop(loop) {
    TypeRange types(loop.getInitArgs());
    for (unsigned i = 0; i != types.size(); ++i) {
      bool isFirst = i + 1 != types.size() && types[i] == types[i + 1] &&
                     (types[i].isBF16() || types[i].isF16());
      values.push_back({i, isFirst});
      hasPairs |= isFirst;
      i += isFirst;
    }
  }

  void run() {
    if (!hasPairs)
      return;
    PtxWriter front(loop);
    auto own =
        scf::ForOp::create(front.b, loop.getLowerBound(), loop.getUpperBound(),
                           loop.getStep(), packed(front, loop.getInitArgs()));
    own->setAttrs(loop->getAttrs());
    OpBuilder b = OpBuilder::atBlockBegin(own.getBody());
    SmallVector<Value> arguments = {own.getInductionVar()};
    llvm::append_range(arguments, unpacked(b, own.getRegionIterArgs()));
    Operation *end = loop.getBody()->getTerminator();
    PtxWriter back(end);
    SmallVector<Value> yielded = packed(back, end->getOperands());
    end->setOperands(yielded);
    // The builder of loops that carry values leaves the end to others.
    if (!own.getBody()->empty() &&
        own.getBody()->back().hasTrait<OpTrait::IsTerminator>())
      own.getBody()->back().erase();
    IRRewriter rewriter(loop.getContext());
    rewriter.mergeBlocks(loop.getBody(), own.getBody(), arguments);
    b.setInsertionPointAfter(own);
    loop.replaceAllUsesWith(unpacked(b, own.getResults()));
    loop.erase();
  }

private:
  SmallVector<Value> packed(PtxWriter &w, ValueRange all) {
    SmallVector<Value> some;
    for (auto [i, isPair] : values)
      some.push_back(isPair ? packPair(w, all[i], all[i + 1]) : all[i]);
    return some;
  }

  SmallVector<Value> unpacked(OpBuilder &b, ValueRange some) {
    SmallVector<Value> all;
    for (auto [value, each] : llvm::zip(some, values)) {
      if (!each.second) {
        all.push_back(value);
        continue;
      }
      Type type = loop.getInitArgs()[each.first].getType();
      auto [low, high] = unpackPair(b, loop.getLoc(), value, type);
      all.append({low, high});
    }
    return all;
  }

  scf::ForOp loop;
  /// The first of each pair, and each that goes alone.
  SmallVector<std::pair<unsigned, bool>> values;
  bool hasPairs = false;
};
} // namespace

void ashlar::cuda::carryPairs(Operation *kernel) {
  SmallVector<scf::ForOp> loops;
  kernel->walk([&](scf::ForOp loop) {
    auto holds = [](tile::ThreadStepOp step) {
      return step.getHeld().empty() ? WalkResult::advance()
                                    : WalkResult::interrupt();
    };
    if (loop.getBody()->walk(holds).wasInterrupted())
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    PairCarrier(loop).run();
}

/// Of 16 bits; what steps hold is put together in pairs of its own.
static bool isRounding(arith::TruncFOp op) {
  return op.getIn().getType().isF32() &&
         (op.getType().isF16() || op.getType().isBF16()) &&
         llvm::none_of(op->getUsers(),
                       llvm::IsaPred<tile::ThreadStepOp, scf::YieldOp>);
}

static bool isInFrontOf(Value value, Operation *op) {
  Operation *from = value.getDefiningOp();
  return !from || from->getBlock() != op->getBlock() ||
         from->isBeforeInBlock(op);
}

void ashlar::cuda::roundPairs(Operation *kernel) {
  kernel->walk([](Block *block) {
    arith::TruncFOp first;
    for (auto op :
         llvm::make_early_inc_range(block->getOps<arith::TruncFOp>())) {
      if (!isRounding(op))
        continue;
      if (!first || first.getType() != op.getType() ||
          !isInFrontOf(op.getIn(), first)) {
        first = op;
        continue;
      }
      PtxWriter w(first);
      Value word = roundPair(w, first.getIn(), op.getIn(), op.getType());
      auto [low, high] = unpackPair(w.b, op.getLoc(), word, op.getType());
      first.replaceAllUsesWith(low);
      op.replaceAllUsesWith(high);
      first.erase();
      op.erase();
      first = {};
    }
  });
}
