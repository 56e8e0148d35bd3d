// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AllocateTiles.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Targets/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_LOWERMATRICESPASS
#include "ashlar/Targets/CPU/Passes.h.inc"
} // namespace ashlar
using namespace ashlar::cpu;

static int64_t rowBytes(tile::MatrixType type) {
  return type.getColumns() * type.getElementType().getIntOrFloatBitWidth() / 8;
}

static bool fitsTile(tile::MatrixType type) {
  return type.getRows() <= largestTile.rows &&
         rowBytes(type) <= largestTile.rowBytes;
}

/// The instruction for a product; empty: none.
static std::string productIntrinsic(tile::MatrixMultiplyOp op,
                                    ArrayRef<std::string> features) {
  auto has = [&](StringRef name) { return llvm::is_contained(features, name); };
  Type sum = op.getAcc().getType().getElementType();
  Type factor = op.getA().getType().getElementType();
  if (!fitsTile(op.getAcc().getType()) || !fitsTile(op.getA().getType()) ||
      !fitsTile(op.getB().getType()) ||
      factor != op.getB().getType().getElementType())
    return "";
  if (sum.isF32() && factor.isBF16() && op.getGroup() == 2 && has("amx-bf16"))
    return "llvm.x86.tdpbf16ps";
  if (sum.isInteger(32) && factor.isInteger(8) && op.getGroup() == 4 &&
      has("amx-int8"))
    return std::string("llvm.x86.tdpb") + (op.getAUnsigned() ? "u" : "s") +
           (op.getBUnsigned() ? "u" : "s") + "d";
  return "";
}

namespace {
// Tile registers, by number: which one holds a matrix stands on the operations
// while they are lowered.

constexpr StringLiteral tilesAttrName = "cpu.tiles";

/// The register of the `i`th of the operation's matrices.
Value tileOf(ImplicitLocOpBuilder &b, Operation *op, unsigned i) {
  auto tiles = op->getAttrOfType<DenseI64ArrayAttr>(tilesAttrName);
  return LLVM::ConstantOp::create(b, b.getI8Type(),
                                  b.getI8IntegerAttr(int8_t(tiles[i])));
}

void noteTiles(Operation *op, const TileAllocation &allocation,
               ArrayRef<Value> matrices) {
  SmallVector<int64_t> tiles;
  for (Value matrix : matrices) {
    assert(allocation.registers.contains(matrix) && "each has a register");
    tiles.push_back(allocation.registers.lookup(matrix));
  }
  op->setAttr(tilesAttrName, Builder(op).getDenseI64ArrayAttr(tiles));
}

void noteTiles(func::FuncOp kernel, const TileAllocation &allocation) {
  kernel.walk([&](Operation *op) {
    if (isa<tile::MatrixZeroOp, tile::MatrixLoadOp>(op))
      noteTiles(op, allocation, op->getResult(0));
    else if (auto store = dyn_cast<tile::MatrixStoreOp>(op))
      noteTiles(op, allocation, store.getValue());
    else if (auto product = dyn_cast<tile::MatrixMultiplyOp>(op))
      noteTiles(op, allocation,
                {product.getAcc(), product.getA(), product.getB()});
  });
}

/// Where a row begins, and the bytes to the next.
void appendPlace(ImplicitLocOpBuilder &b, Value memory, Value place,
                 int64_t stride, SmallVectorImpl<Value> &operands) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memory);
  Value from = arith::AddIOp::create(b, metadata.getOffset(), place);
  Value size = arith::ConstantIndexOp::create(b, bytes);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  from = arith::AddIOp::create(b, base, arith::MulIOp::create(b, from, size));
  from = arith::IndexCastOp::create(b, b.getI64Type(), from);
  operands.push_back(LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), from));
  operands.push_back(LLVM::ConstantOp::create(
      b, b.getI64Type(), b.getI64IntegerAttr(stride * bytes)));
}

void call(ImplicitLocOpBuilder &b, StringRef name, ArrayRef<Value> operands) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), operands);
}

/// Palette 1's memory layout, volume 2A, LDTILECFG: bytes of a row from byte
/// 16 on, two for each register, and rows from byte 48 on, one for each.
SmallVector<int8_t> bytesOf(const TileConfiguration &configuration) {
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (auto [i, shape] : llvm::enumerate(configuration)) {
    bytes[16 + 2 * i] = int8_t(shape.rowBytes);
    bytes[48 + i] = int8_t(shape.rows);
  }
  return bytes;
}

/// The configurations lie on the stack, from the kernel's beginning on, and
/// the registers are given back at its end.
void configureTiles(func::FuncOp kernel, const TileAllocation &allocation) {
  SmallVector<std::pair<TileConfiguration, Value>> written;
  for (const auto &place : allocation.places) {
    const TileConfiguration &configuration = place.second;
    auto *known = llvm::find_if(
        written, [&](const auto &each) { return each.first == configuration; });
    if (known == written.end()) {
      auto b = ImplicitLocOpBuilder::atBlockBegin(kernel.getLoc(),
                                                  &kernel.getBody().front());
      SmallVector<int8_t> bytes = bytesOf(configuration);
      auto type = VectorType::get({int64_t(bytes.size())}, b.getI8Type());
      Value one =
          LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(1));
      Value memory = LLVM::AllocaOp::create(
          b, LLVM::LLVMPointerType::get(b.getContext()), type, one,
          /*alignment=*/64);
      Value content = LLVM::ConstantOp::create(
          b, type, DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes)));
      LLVM::StoreOp::create(b, content, memory, /*alignment=*/64);
      written.push_back({configuration, memory});
      known = &written.back();
    }
    ImplicitLocOpBuilder b(place.first->getLoc(), place.first);
    call(b, "llvm.x86.ldtilecfg", known->second);
  }
  kernel.walk([](func::ReturnOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    call(b, "llvm.x86.tilerelease", {});
  });
}

struct ZeroTile : OpConversionPattern<tile::MatrixZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixZeroOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    call(b, "llvm.x86.tilezero", tileOf(b, op, 0));
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

struct LoadTile : OpConversionPattern<tile::MatrixLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixLoadOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> operands = {tileOf(b, op, 0)};
    appendPlace(b, op.getMemory(), op.getPlace(), op.getStride(), operands);
    call(b, "llvm.x86.tileloadd64", operands);
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

struct StoreTile : OpConversionPattern<tile::MatrixStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixStoreOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> operands = {tileOf(b, op, 0)};
    appendPlace(b, op.getMemory(), op.getPlace(), op.getStride(), operands);
    call(b, "llvm.x86.tilestored64", operands);
    rewriter.eraseOp(op);
    return success();
  }
};

struct MultiplyTiles : OpConversionPattern<tile::MatrixMultiplyOp> {
  MultiplyTiles(const TypeConverter &converter, MLIRContext *context,
                ArrayRef<std::string> features)
      : OpConversionPattern(converter, context), features(features) {}
  LogicalResult
  matchAndRewrite(tile::MatrixMultiplyOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    call(b, productIntrinsic(op, features),
         {tileOf(b, op, 0), tileOf(b, op, 1), tileOf(b, op, 2)});
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
  ArrayRef<std::string> features;
};

// Vectors, one for each row.

VectorType rowType(tile::MatrixType type) {
  return VectorType::get({type.getColumns()}, type.getElementType());
}

/// Where row `i` begins.
Value rowAt(ImplicitLocOpBuilder &b, Value place, int64_t i, int64_t stride) {
  Value distance = arith::ConstantIndexOp::create(b, i * stride);
  return arith::AddIOp::create(b, place, distance);
}

struct ZeroRows : OpConversionPattern<tile::MatrixZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixZeroOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    tile::MatrixType type = op.getResult().getType();
    Value row = arith::ConstantOp::create(rewriter, op.getLoc(),
                                          rewriter.getZeroAttr(rowType(type)));
    SmallVector<Value> rows(type.getRows(), row);
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
  }
};

struct LoadRows : OpConversionPattern<tile::MatrixLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixLoadOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    tile::MatrixType type = op.getResult().getType();
    SmallVector<Value> rows;
    for (int64_t i = 0; i != type.getRows(); ++i)
      rows.push_back(vector::LoadOp::create(
          b, rowType(type), op.getMemory(),
          ValueRange{rowAt(b, op.getPlace(), i, op.getStride())}));
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
  }
};

struct StoreRows : OpConversionPattern<tile::MatrixStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixStoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    for (auto [i, row] : llvm::enumerate(adaptor.getValue()))
      vector::StoreOp::create(
          b, row, op.getMemory(),
          ValueRange{rowAt(b, op.getPlace(), i, op.getStride())});
    rewriter.eraseOp(op);
    return success();
  }
};

struct MultiplyRows : OpConversionPattern<tile::MatrixMultiplyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixMultiplyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t columns = op.getAcc().getType().getColumns(), group = op.getGroup();
    SmallVector<Value> rows;
    for (auto [sum, left] : llvm::zip(adaptor.getAcc(), adaptor.getA())) {
      for (auto [k, right] : llvm::enumerate(adaptor.getB())) {
        // The group for all columns.
        SmallVector<int64_t> lanes;
        for (int64_t i = 0; i != columns * group; ++i)
          lanes.push_back(k * group + i % group);
        Value terms = vector::ShuffleOp::create(b, left, left, lanes);
        sum = tile::DotOp::create(b, sum.getType(), sum, terms, right,
                                  op.getAUnsigned(), op.getBUnsigned());
      }
      rows.push_back(sum);
    }
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
  }
};

struct LowerMatrices : ashlar::impl::LowerMatricesPassBase<LowerMatrices> {
  using LowerMatricesPassBase::LowerMatricesPassBase;
  void runOnOperation() override {
    bool hasProducts = false, inTiles = true;
    getOperation().walk([&](tile::MatrixMultiplyOp op) {
      hasProducts = true;
      inTiles &= !productIntrinsic(op, features).empty();
    });
    if (!hasProducts)
      return;
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    RewritePatternSet patterns(context);
    if (inTiles && allocate()) {
      // What a register holds is no value.
      converter.addConversion(
          [](tile::MatrixType,
             SmallVectorImpl<Type> &) -> std::optional<LogicalResult> {
            return success();
          });
      patterns.add<ZeroTile, LoadTile, StoreTile>(converter, context);
      patterns.add<MultiplyTiles>(converter, context, features);
    } else {
      converter.addConversion(
          [](tile::MatrixType type,
             SmallVectorImpl<Type> &rows) -> std::optional<LogicalResult> {
            rows.append(type.getRows(), rowType(type));
            return success();
          });
      patterns.add<ZeroRows, LoadRows, StoreRows, MultiplyRows>(converter,
                                                                context);
    }
    ConversionTarget target(*context);
    target.addIllegalOp<tile::MatrixZeroOp, tile::MatrixLoadOp,
                        tile::MatrixStoreOp, tile::MatrixMultiplyOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }

private:
  /// Whether each matrix has got a register.
  bool allocate() {
    func::FuncOp kernel = getOperation();
    std::string why;
    FailureOr<TileAllocation> allocation = allocateTiles(kernel, why);
    if (failed(allocation)) {
      remark::missed(kernel.getLoc(), about(kernel, "TileRegisters", "emit"))
          << "multiplies on vectors, not in tile registers: " << why;
      return false;
    }
    noteTiles(kernel, *allocation);
    configureTiles(kernel, *allocation);
    return true;
  }
};
} // namespace
