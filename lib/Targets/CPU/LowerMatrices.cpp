// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerMatrices.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
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

static int64_t rowBytes(tile::MatrixType type) {
  return type.getColumns() * type.getElementType().getIntOrFloatBitWidth() / 8;
}

/// The largest tile register there is: Intel 64 and IA-32 Architectures
/// Software Developer's Manual, volume 1, 18.1, palette 1.
static bool fitsTile(tile::MatrixType type) {
  return type.getRows() <= 16 && rowBytes(type) <= 64;
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
    return "llvm.x86.tdpbf16ps.internal";
  if (sum.isInteger(32) && factor.isInteger(8) && op.getGroup() == 4 &&
      has("amx-int8"))
    return std::string("llvm.x86.tdpb") + (op.getAUnsigned() ? "u" : "s") +
           (op.getBUnsigned() ? "u" : "s") + "d.internal";
  return "";
}

namespace {
// Tile registers. LLVM configures them: it is told each one's size where it is
// made.

/// Rows, then bytes of one.
void appendSize(ImplicitLocOpBuilder &b, tile::MatrixType type,
                SmallVectorImpl<Value> &operands) {
  for (int64_t size : {type.getRows(), rowBytes(type)})
    operands.push_back(
        LLVM::ConstantOp::create(b, b.getI16Type(), b.getI16IntegerAttr(size)));
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

Value callForTile(ImplicitLocOpBuilder &b, StringRef name,
                  ArrayRef<Value> operands) {
  return LLVM::CallIntrinsicOp::create(
             b, LLVM::LLVMX86AMXType::get(b.getContext()),
             b.getStringAttr(name), operands)
      .getResults();
}

struct ZeroTile : OpConversionPattern<tile::MatrixZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixZeroOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> operands;
    appendSize(b, op.getResult().getType(), operands);
    rewriter.replaceOp(op,
                       callForTile(b, "llvm.x86.tilezero.internal", operands));
    return success();
  }
};

struct LoadTile : OpConversionPattern<tile::MatrixLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixLoadOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> operands;
    appendSize(b, op.getResult().getType(), operands);
    appendPlace(b, op.getMemory(), op.getPlace(), op.getStride(), operands);
    rewriter.replaceOp(
        op, callForTile(b, "llvm.x86.tileloadd64.internal", operands));
    return success();
  }
};

struct StoreTile : OpConversionPattern<tile::MatrixStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MatrixStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> operands;
    appendSize(b, op.getValue().getType(), operands);
    appendPlace(b, op.getMemory(), op.getPlace(), op.getStride(), operands);
    operands.push_back(adaptor.getValue());
    LLVM::CallIntrinsicOp::create(
        b, b.getStringAttr("llvm.x86.tilestored64.internal"), operands);
    rewriter.eraseOp(op);
    return success();
  }
};

struct MultiplyTiles : OpConversionPattern<tile::MatrixMultiplyOp> {
  MultiplyTiles(const TypeConverter &converter, MLIRContext *context,
                ArrayRef<std::string> features)
      : OpConversionPattern(converter, context), features(features) {}
  LogicalResult
  matchAndRewrite(tile::MatrixMultiplyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> operands;
    appendSize(b, op.getAcc().getType(), operands);
    SmallVector<Value> left;
    appendSize(b, op.getA().getType(), left);
    llvm::append_values(operands, left.back(), adaptor.getAcc(), adaptor.getA(),
                        adaptor.getB());
    rewriter.replaceOp(
        op, callForTile(b, productIntrinsic(op, features), operands));
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

struct LowerMatrices : PassWrapper<LowerMatrices, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMatrices)
  explicit LowerMatrices(std::vector<std::string> features)
      : features(std::move(features)) {}
  StringRef getName() const override { return "ashlar-cpu-lower-matrices"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, LLVM::LLVMDialect, memref::MemRefDialect,
                tile::TileDialect, vector::VectorDialect>();
  }

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
    if (inTiles) {
      converter.addConversion([](tile::MatrixType type) -> Type {
        return LLVM::LLVMX86AMXType::get(type.getContext());
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
  std::vector<std::string> features;
};
} // namespace

std::unique_ptr<Pass>
ashlar::cpu::createLowerMatricesPass(std::vector<std::string> features) {
  return std::make_unique<LowerMatrices>(std::move(features));
}
