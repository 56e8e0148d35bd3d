// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level 3 of the tile program on a machine with a matrix unit: an accumulator
// becomes registers of that unit, a step loops of their products, and a drain
// goes through memory near by to vectors, on which the epilogue runs.
#include "DrainWriter.h"
#include "ashlar/Analysis/Zeros.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "ashlar/Transforms/Tile/ConvertAccumulators.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMMATRICESPASS
#include "ashlar/Transforms/Lanes/Passes.h.inc"
} // namespace ashlar

namespace {
/// How an accumulator lies in matrices: for each place along the dims before
/// the last two a grid of them, those at its ends no larger than need be.
struct MatrixLayout {
  explicit MatrixLayout(tile::AccType type)
      : shape(type.getShape()), element(type.getElementType()),
        height(type.getRegisters()[0]), width(type.getRegisters()[1]),
        columns(shape.back()),
        rows(shape.size() < 2 ? 1 : shape[shape.size() - 2]),
        high(llvm::divideCeil(rows, height)),
        wide(llvm::divideCeil(columns, width)) {}

  int64_t elements() const { return ShapedType::getNumElements(shape); }
  int64_t count() const { return elements() / (rows * columns) * high * wide; }
  /// The element where matrix `i` begins.
  SmallVector<int64_t> begin(int64_t i) const {
    SmallVector<int64_t> place(shape.size(), 0);
    place.back() = i % wide * width;
    int64_t outside = i / wide / high;
    if (shape.size() > 1)
      place[shape.size() - 2] = i / wide % high * height;
    for (int64_t d = int64_t(shape.size()) - 3; d >= 0; --d) {
      place[d] = outside % shape[d];
      outside /= shape[d];
    }
    return place;
  }
  tile::MatrixType type(int64_t i) const {
    return tile::MatrixType::get(
        element.getContext(), std::min(height, rows - i / wide % high * height),
        std::min(width, columns - i % wide * width), element);
  }
  /// The place of an element among all of them, row by row.
  int64_t distance(ArrayRef<int64_t> place) const {
    int64_t sum = 0;
    for (auto [at, size] : llvm::zip(place, shape))
      sum = sum * size + at;
    return sum;
  }

  ArrayRef<int64_t> shape;
  Type element;
  int64_t height, width, columns, rows, high, wide;
};

class ProductWriter : VectorWriter {
public:
  ProductWriter(tile::StepOp op, OpBuilder &builder, const MatrixLayout &layout)
      : VectorWriter(op.getLoc(), builder), op(op), layout(layout),
        a(b, op.getA(), op.getAMap()), c(b, op.getB(), op.getBMap()),
        numDims(layout.shape.size()), reduced(op.getReduced().drop_back()),
        group(op.getReduced().back()) {}

  /// Fails, having said why, where the operands do not lie as a matrix does.
  FailureOr<SmallVector<Value>> run(ValueRange sums) {
    size_t terms = numDims + reduced.size();
    if (a.steps[numDims - 1] != 0 || a.steps[terms - 1] != group ||
        c.steps[terms - 1] == 0 || c.steps[numDims - 1] != group ||
        a.steps[terms] != 1 || c.steps[terms] != 1)
      return op.emitOpError("expected rows of a whose terms lie side by side, "
                            "and rows of b in groups, for a matrix unit");
    return emitLoops(0, Value(), Value(), sums);
  }

private:
  /// Loops over the reduced dims from `r` on; the bases are where the outer
  /// ones have moved a and b to.
  SmallVector<Value> emitLoops(size_t r, Value aBase, Value bBase,
                               ValueRange sums) {
    int64_t extent = reduced[r];
    bool isInnermost = r + 1 == reduced.size();
    int64_t together =
        isInnermost ? std::min<int64_t>(op.getUnroll(), extent) : 1;
    int64_t whole = extent / together * together;
    auto inside = [&](int64_t groups, Value aAt, Value bAt, ValueRange values) {
      return isInnermost ? emitProducts(groups, aAt, bAt, values)
                         : emitLoops(r + 1, aAt, bAt, values);
    };
    if (whole == together && whole == extent)
      return inside(together, aBase, bBase, sums);
    int64_t aStep = a.steps[numDims + r], bStep = c.steps[numDims + r];
    auto loop =
        scf::ForOp::create(b, index(0), index(whole), index(together), sums);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value iv = loop.getInductionVar();
      scf::YieldOp::create(b, inside(together, moved(aBase, iv, aStep),
                                     moved(bBase, iv, bStep),
                                     loop.getRegionIterArgs()));
    }
    if (whole == extent)
      return loop.getResults();
    return inside(extent - whole, indexAt(aBase, whole * aStep),
                  indexAt(bBase, whole * bStep), loop.getResults());
  }

  /// One product for each matrix of sums, over `groups` from the bases on. What
  /// several of them read is loaded once.
  SmallVector<Value> emitProducts(int64_t groups, Value aBase, Value bBase,
                                  ValueRange sums) {
    std::map<int64_t, Value> left, right;
    SmallVector<Value> results;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      SmallVector<int64_t> place = layout.begin(i);
      place.resize(numDims + reduced.size() + 1, 0);
      auto type = cast<tile::MatrixType>(sum.getType());
      Value &x = left[a.distance(place)];
      if (!x)
        x = loadRows(a, aBase, place, type.getRows(),
                     numDims > 1 ? a.steps[numDims - 2] : 0, groups * group);
      Value &y = right[c.distance(place)];
      if (!y)
        y = loadRows(c, bBase, place, groups,
                     c.steps[numDims + reduced.size() - 1],
                     type.getColumns() * group);
      results.push_back(tile::MatrixMultiplyOp::create(
          b, type, sum, x, y, op.getAUnsigned(), op.getBUnsigned()));
    }
    return results;
  }

  Value loadRows(const Line &line, Value base, ArrayRef<int64_t> place,
                 int64_t rows, int64_t stride, int64_t columns) {
    auto type =
        tile::MatrixType::get(b.getContext(), rows, columns, line.element);
    return tile::MatrixLoadOp::create(b, type, line.memory,
                                      indexAt(base, line.distance(place)),
                                      b.getI64IntegerAttr(stride));
  }

  tile::StepOp op;
  const MatrixLayout &layout;
  Line a, c;
  size_t numDims;
  ArrayRef<int64_t> reduced; ///< without the group
  int64_t group;
};

struct ConvertInit : OpConversionPattern<tile::InitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::InitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isZero(op.getValue()))
      return noteAt(
          op.emitOpError("expected zero to begin with in a matrix unit"),
          op.getValue().getLoc(), "the number is here");
    MatrixLayout layout(op.getAcc().getType());
    SmallVector<Value> matrices;
    for (int64_t i = 0; i != layout.count(); ++i)
      matrices.push_back(
          tile::MatrixZeroOp::create(rewriter, op.getLoc(), layout.type(i)));
    rewriter.replaceOpWithMultiple(op, {matrices});
    return success();
  }
};

struct ConvertStep : OpConversionPattern<tile::StepOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::StepOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.isSynchronous())
      return rewriter.notifyMatchFailure(op, "expand copies first");
    MatrixLayout layout(op.getAcc().getType());
    auto sums = ProductWriter(op, rewriter, layout).run(adaptor.getAcc());
    if (failed(sums))
      return failure();
    rewriter.replaceOpWithMultiple(op, {*sums});
    return success();
  }
};

struct ConvertDrain : OpConversionPattern<tile::DrainOp> {
  ConvertDrain(const TypeConverter &converter, MLIRContext *context,
               int64_t vectorBytes)
      : OpConversionPattern(converter, context), vectorBytes(vectorBytes) {}
  LogicalResult
  matchAndRewrite(tile::DrainOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MatrixLayout layout(op.getAcc().getType());
    RegisterLayout registers(op.getAcc().getType(), vectorBytes);
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // The last row's last vector may be longer than the row.
    auto type =
        MemRefType::get({layout.elements() + registers.wide}, layout.element);
    Value buffer;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      auto function = op->getParentOfType<func::FuncOp>();
      rewriter.setInsertionPointToStart(&function.getBody().front());
      buffer = memref::AllocaOp::create(rewriter, op.getLoc(), type,
                                        rewriter.getI64IntegerAttr(64));
    }
    auto at = [&](ArrayRef<int64_t> place) -> Value {
      return arith::ConstantIndexOp::create(b, layout.distance(place));
    };
    for (auto [i, matrix] : llvm::enumerate(adaptor.getAcc()))
      tile::MatrixStoreOp::create(b, matrix, buffer, at(layout.begin(i)),
                                  b.getI64IntegerAttr(layout.columns));
    DrainWriter(op, rewriter, registers).runRows(buffer);
    rewriter.eraseOp(op);
    return success();
  }
  int64_t vectorBytes;
};

struct FormMatrices : ashlar::impl::FormMatricesPassBase<FormMatrices> {
  using FormMatricesPassBase::FormMatricesPassBase;
  void runOnOperation() override {
    if (failed(checkOfOneWorker(getOperation())))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](tile::AccType type,
           SmallVectorImpl<Type> &matrices) -> std::optional<LogicalResult> {
          if (type.getRegisters().empty())
            return std::nullopt;
          MatrixLayout layout(type);
          for (int64_t i = 0; i != layout.count(); ++i)
            matrices.push_back(layout.type(i));
          return success();
        });
    RewritePatternSet patterns(context);
    patterns.add<ConvertInit, ConvertStep>(converter, context);
    patterns.add<ConvertDrain>(converter, context, vectorBytes);
    if (failed(convertAccumulators(getOperation(), converter,
                                   std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
