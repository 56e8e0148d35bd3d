// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that lanes of a warp read of each other.
#include "PtxWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

/// Bits of up to 32, as a register that lanes can read of each other.
static Value shuffleWord(OpBuilder &b, Location at, Value bits, Value offset,
                         Value clamp) {
  Type type = bits.getType(), word = b.getI32Type();
  if (type != word)
    bits = arith::ExtUIOp::create(b, at, word, bits);
  Value all = arith::ConstantIntOp::create(b, at, -1, 32);
  Value read = NVVM::ShflOp::create(b, at, word, all, bits, offset, clamp,
                                    NVVM::ShflKind::bfly, UnitAttr());
  return type == word ? read : arith::TruncIOp::create(b, at, type, read);
}

Value ashlar::cuda::writeShuffle(gpu::ShuffleOp op) {
  OpBuilder b(op);
  Location at = op.getLoc();
  Type type = op.getValue().getType();
  IntegerAttr width;
  if (op.getMode() != gpu::ShuffleMode::XOR || !type.isIntOrFloat() ||
      type.getIntOrFloatBitWidth() > 64 ||
      !matchPattern(op.getWidth(), m_Constant(&width)))
    return {};
  unsigned size = type.getIntOrFloatBitWidth();
  // Lanes of a segment, then the last lane of a warp.
  Value clamp =
      arith::ConstantIntOp::create(b, at, (32 - width.getInt()) << 8 | 31, 32);
  Type integer = b.getIntegerType(size), word = b.getI32Type();
  Value bits = op.getValue();
  if (type != integer)
    bits = arith::BitcastOp::create(b, at, integer, bits);
  Value read;
  if (size <= 32) {
    read = shuffleWord(b, at, bits, op.getOffset(), clamp);
  } else {
    Value half = arith::ConstantIntOp::create(b, at, integer, 32);
    Value low = arith::TruncIOp::create(b, at, word, bits);
    Value high = arith::TruncIOp::create(
        b, at, word, arith::ShRUIOp::create(b, at, bits, half));
    low = arith::ExtUIOp::create(
        b, at, integer, shuffleWord(b, at, low, op.getOffset(), clamp));
    high = arith::ExtUIOp::create(
        b, at, integer, shuffleWord(b, at, high, op.getOffset(), clamp));
    high = arith::ShLIOp::create(b, at, high, half);
    read = arith::OrIOp::create(b, at, high, low);
  }
  return type == integer ? read : arith::BitcastOp::create(b, at, type, read);
}
