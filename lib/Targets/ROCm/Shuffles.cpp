// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that lanes of a wave read of each other. Rows are 16 lanes: within one
// an operand comes from another lane by itself (DPP), across rows RDNA has an
// instruction, and CDNA the crossbar of the LDS. Numbers of controls: "MI300
// ISA" and "RDNA3 ISA", data parallel processing.
#include "ThreadWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar::rocm;

Value ashlar::rocm::readOtherRow(ImplicitLocOpBuilder &b, Value word) {
  auto lanes = [&](uint32_t numbers) -> Value {
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(b.getI32Type(), APInt(32, numbers)));
  };
  return ROCDL::PermlaneX16Op::create(b, word.getType(), word, word,
                                      lanes(0x76543210), lanes(0xfedcba98),
                                      /*fi=*/false, /*boundControl=*/true);
}

namespace {
enum Control : uint32_t {
  QuadPermute = 0,
  RotateRow = 0x120, ///< + lanes
  MirrorHalfRow = 0x141,
  XorRow = 0x160 ///< + mask; RDNA alone
};

class WordExchange {
public:
  WordExchange(gpu::ShuffleOp op, Chip chip)
      : b(op.getLoc(), op), chip(chip), offset(op.getOffset()) {
    IntegerAttr known;
    if (matchPattern(offset, m_Constant(&known)))
      mask = uint32_t(known.getInt());
  }

  /// Of 32 bits.
  Value operator()(Value bits) {
    return mask ? exchange(bits, *mask) : fromLane(bits);
  }

private:
  Value exchange(Value bits, uint32_t mask) {
    if (mask >= 32)
      return fromLane(bits);
    if (mask >= 16)
      return chip.isRDNA() ? exchange(readOtherRow(b, bits), mask - 16)
                           : swizzle(bits, mask);
    if (mask >= 4 && chip.isRDNA())
      return control(bits, XorRow + mask);
    if (mask >= 8)
      return exchange(control(bits, RotateRow + 8), mask - 8);
    if (mask >= 4)
      return exchange(control(bits, MirrorHalfRow), 7 - mask);
    if (mask == 0)
      return bits;
    uint32_t lanes = QuadPermute;
    for (uint32_t lane = 0; lane != 4; ++lane)
      lanes |= (lane ^ mask) << 2 * lane;
    return control(bits, lanes);
  }

  Value control(Value bits, uint32_t how) {
    constexpr uint32_t all = 0xf;
    return ROCDL::DPPUpdateOp::create(b, bits.getType(), bits, bits, how, all,
                                      all, /*boundCtrl=*/true);
  }

  /// Of 32 lanes, those whose numbers differ in the mask's bits.
  Value swizzle(Value bits, uint32_t mask) {
    return ROCDL::DsSwizzleOp::create(b, bits.getType(), bits,
                                      word(mask << 10 | 0x1f));
  }

  Value fromLane(Value bits) {
    Type type = b.getI32Type();
    Value lane = ROCDL::MbcntLoOp::create(b, type, word(-1), word(0),
                                          ArrayAttr(), ArrayAttr());
    if (!chip.isRDNA())
      lane = ROCDL::MbcntHiOp::create(b, type, word(-1), lane, ArrayAttr(),
                                      ArrayAttr());
    Value other = arith::XOrIOp::create(b, lane, offset);
    Value address = arith::ShLIOp::create(b, other, word(2));
    return ROCDL::DsBpermuteOp::create(b, type, address, bits);
  }

  Value word(int64_t value) {
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(b.getI32Type(), APInt(32, uint64_t(value) & ~0u)));
  }

  ImplicitLocOpBuilder b;
  Chip chip;
  Value offset;
  std::optional<uint32_t> mask;
};
} // namespace

Value ashlar::rocm::writeShuffle(gpu::ShuffleOp op, Chip chip) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type type = op.getValue().getType();
  if (op.getMode() != gpu::ShuffleMode::XOR || !type.isIntOrFloat() ||
      type.getIntOrFloatBitWidth() > 64)
    return {};
  unsigned size = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(size), word = b.getI32Type();
  Value bits = op.getValue();
  if (type != integer)
    bits = arith::BitcastOp::create(b, integer, bits);
  WordExchange exchange(op, chip);
  if (size == 32) {
    bits = exchange(bits);
  } else if (size < 32) {
    bits = exchange(arith::ExtUIOp::create(b, word, bits));
    bits = arith::TruncIOp::create(b, integer, bits);
  } else {
    Value half = arith::ConstantIntOp::create(b, integer, 32);
    Value high = arith::ShRUIOp::create(b, bits, half);
    auto part = [&](Value of) -> Value {
      Value read = exchange(arith::TruncIOp::create(b, word, of));
      return arith::ExtUIOp::create(b, integer, read);
    };
    Value low = part(bits);
    high = arith::ShLIOp::create(b, part(high), half);
    bits = arith::OrIOp::create(b, high, low);
  }
  return type == integer ? bits : arith::BitcastOp::create(b, type, bits);
}
