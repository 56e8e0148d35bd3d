// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Targets/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_LOWERDOTSPASS
#include "ashlar/Targets/CPU/Passes.h.inc"
} // namespace ashlar

namespace {
/// An instruction in its three widths.
struct DotInstruction {
  std::string name;   ///< of LLVM's intrinsic, without the width
  bool swaps = false; ///< it takes b first
};

struct LowerDots : ashlar::impl::LowerDotsPassBase<LowerDots> {
  using LowerDotsPassBase::LowerDotsPassBase;
  void runOnOperation() override {
    SmallVector<tile::DotOp> dots;
    getOperation().walk([&](tile::DotOp op) { dots.push_back(op); });
    for (tile::DotOp op : dots) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      std::optional<DotInstruction> instruction = find(op);
      Value sum = instruction    ? call(b, op, *instruction)
                  : hasWords(op) ? multiplyWords(b, op)
                                 : expand(b, op);
      op.getResult().replaceAllUsesWith(sum);
      op.erase();
    }
  }

private:
  bool has(StringRef feature) const {
    return llvm::is_contained(features, feature);
  }

  std::optional<DotInstruction> find(tile::DotOp op) const {
    Type acc = op.getAcc().getType().getElementType();
    Type factor = op.getA().getType().getElementType();
    bool anyWidth = has("avx512vl");
    if (acc.isF32() && factor.isBF16() && op.getGroup() == 2 && anyWidth &&
        has("avx512bf16"))
      return DotInstruction{"llvm.x86.avx512bf16.dpbf16ps."};
    // Unsigned bytes times signed ones.
    if (acc.isInteger(32) && factor.isInteger(8) && op.getGroup() == 4 &&
        op.getAUnsigned() != op.getBUnsigned() && anyWidth && has("avx512vnni"))
      return DotInstruction{"llvm.x86.avx512.vpdpbusd.", op.getBUnsigned()};
    return std::nullopt;
  }

  /// Four bytes of any sign go as two pairs of 16 bits each, whose products and
  /// sums are exact. The halves of a are the same for all of b's registers, and
  /// the other way round.
  bool hasWords(tile::DotOp op) const {
    return op.getAcc().getType().getElementType().isInteger(32) &&
           op.getA().getType().getElementType().isInteger(8) &&
           op.getGroup() == 4 && has("avx2") &&
           (lanesOfRegister(op) < 16 || has("avx512bw"));
  }

  /// Of the narrowest register that holds all sums.
  static int64_t lanesOfRegister(tile::DotOp op) {
    constexpr int64_t fewest = 4;
    int64_t sums = op.getAcc().getType().getDimSize(0);
    return std::max<int64_t>(fewest, llvm::PowerOf2Ceil(sums));
  }

  /// The even or odd bytes, as words.
  static Value words(ImplicitLocOpBuilder &b, Value bytes, bool odd,
                     bool isUnsigned) {
    int64_t count = cast<VectorType>(bytes.getType()).getDimSize(0) / 2;
    auto type = VectorType::get({count}, b.getI16Type());
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(
          b, DenseElementsAttr::get(type, b.getI16IntegerAttr(value)));
    };
    Value pairs = vector::BitCastOp::create(b, type, bytes);
    if (!odd && isUnsigned)
      return arith::AndIOp::create(b, pairs, constant(0xff));
    if (!odd)
      pairs = arith::ShLIOp::create(b, pairs, constant(8));
    if (isUnsigned)
      return arith::ShRUIOp::create(b, pairs, constant(8));
    return arith::ShRSIOp::create(b, pairs, constant(8));
  }

  Value multiplyWords(ImplicitLocOpBuilder &b, tile::DotOp op) const {
    VectorType type = op.getAcc().getType();
    int64_t lanes = lanesOfRegister(op);
    auto wide = VectorType::get({lanes}, type.getElementType());
    Value sum = widen(b, op.getAcc(), lanes);
    Value left = widen(b, op.getA(), lanes * 4);
    Value right = widen(b, op.getB(), lanes * 4);
    bool adds = has("avx512vnni") && has("avx512vl");
    std::string name =
        adds          ? "llvm.x86.avx512.vpdpwssd." + std::to_string(lanes * 32)
        : lanes == 16 ? "llvm.x86.avx512.pmaddw.d.512"
        : lanes == 8  ? "llvm.x86.avx2.pmadd.wd"
                      : "llvm.x86.sse2.pmadd.wd";
    for (bool odd : {false, true}) {
      SmallVector<Value> operands;
      if (adds)
        operands.push_back(sum);
      operands.push_back(words(b, left, odd, op.getAUnsigned()));
      operands.push_back(words(b, right, odd, op.getBUnsigned()));
      Value result = LLVM::CallIntrinsicOp::create(
                         b, wide, b.getStringAttr(name), operands)
                         .getResults();
      sum = adds ? result : Value(arith::AddIOp::create(b, sum, result));
    }
    return narrow(b, sum, type);
  }

  static Value narrow(ImplicitLocOpBuilder &b, Value sum, VectorType type) {
    if (sum.getType() == type)
      return sum;
    return vector::ExtractStridedSliceOp::create(
        b, sum, ArrayRef<int64_t>{0}, type.getShape(), ArrayRef<int64_t>{1});
  }

  static Value widen(ImplicitLocOpBuilder &b, Value value, int64_t lanes) {
    auto type = cast<VectorType>(value.getType());
    if (type.getDimSize(0) == lanes)
      return value;
    auto wide = VectorType::get({lanes}, type.getElementType());
    Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(wide));
    return vector::InsertStridedSliceOp::create(
        b, value, zeros, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  }

  static Value call(ImplicitLocOpBuilder &b, tile::DotOp op,
                    const DotInstruction &instruction) {
    VectorType type = op.getAcc().getType();
    int64_t lanes = lanesOfRegister(op);
    auto wide = VectorType::get({lanes}, type.getElementType());
    Value first = op.getA(), second = op.getB();
    if (instruction.swaps)
      std::swap(first, second);
    Value operands[] = {widen(b, op.getAcc(), lanes),
                        widen(b, first, lanes * op.getGroup()),
                        widen(b, second, lanes * op.getGroup())};
    assert((lanes == 4 || lanes == 8 || lanes == 16) &&
           "registers of 16, 32 or 64 bytes");
    std::string name = instruction.name + std::to_string(lanes * 32);
    Value sum =
        LLVM::CallIntrinsicOp::create(b, wide, b.getStringAttr(name), operands)
            .getResults();
    return narrow(b, sum, type);
  }

  /// Term after term.
  static Value expand(ImplicitLocOpBuilder &b, tile::DotOp op) {
    Value sum = op.getAcc();
    VectorType type = op.getAcc().getType();
    auto terms = [&](Value factors, int64_t term, bool isUnsigned) -> Value {
      SmallVector<int64_t> lanes;
      for (int64_t i = 0; i != type.getDimSize(0); ++i)
        lanes.push_back(i * op.getGroup() + term);
      // As numbers without a meaning: where a machine has no bf16, LLVM would
      // take the lanes apart through f32 and a call of compiler-rt.
      auto given = cast<VectorType>(factors.getType());
      Type bits = b.getIntegerType(given.getElementTypeBitWidth());
      Value chosen = vector::BitCastOp::create(b, given.clone(bits), factors);
      chosen = vector::ShuffleOp::create(b, chosen, chosen, lanes);
      chosen = vector::BitCastOp::create(
          b, VectorType::get(type.getShape(), given.getElementType()), chosen);
      if (chosen.getType() == type)
        return chosen;
      if (isa<FloatType>(type.getElementType()))
        return arith::ExtFOp::create(b, type, chosen);
      if (isUnsigned)
        return arith::ExtUIOp::create(b, type, chosen);
      return arith::ExtSIOp::create(b, type, chosen);
    };
    for (int64_t term = 0; term != op.getGroup(); ++term) {
      Value x = terms(op.getA(), term, op.getAUnsigned());
      Value y = terms(op.getB(), term, op.getBUnsigned());
      if (isa<FloatType>(type.getElementType()))
        sum = vector::FMAOp::create(b, x, y, sum);
      else
        sum = arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
    }
    return sum;
  }
};
} // namespace
