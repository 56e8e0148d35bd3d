// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level 3 of the tile program on a machine whose accumulators are vector
// registers: an accumulator becomes one vector per row and register, a step a
// loop of multiply-adds, a drain the epilogue on vectors. The registers of an
// edge are masked.
#include "DrainWriter.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "ashlar/Transforms/Tile/ConvertAccumulators.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <map>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_VECTORIZESTEPSPASS
#include "ashlar/Transforms/Lanes/Passes.h.inc"
} // namespace ashlar

namespace {
class StepWriter : VectorWriter {
public:
  StepWriter(tile::StepOp op, OpBuilder &builder, const RegisterLayout &layout)
      : VectorWriter(op.getLoc(), builder), op(op), layout(layout),
        a(b, op.getA(), op.getAMap()), c(b, op.getB(), op.getBMap()),
        numDims(layout.shape.size()), reduced(op.getReduced()) {
    if (op.getGrouped()) {
      group = reduced.back();
      reduced = reduced.drop_back();
    }
  }

  SmallVector<Value> run(ValueRange sums) {
    // What is short is written out, one more dim in part. Windows of lanes
    // overlap, and what is loaded is used again; rows of scalars would only
    // stay in registers for too long.
    lanesOfA = hasLanes(a);
    int64_t limit = lanesOfA ? maximumWindow : op.getUnroll(), terms = 1;
    written = reduced.size();
    while (written != 0 && terms * reduced[written - 1] <= limit)
      terms *= reduced[--written];
    return emitLoops(0, Value(), Value(), sums);
  }

private:
  static constexpr int64_t maximumWindow = 27;

  /// Loops over the reduced dims from `r` on; the bases are where the outer
  /// ones have moved a and b to.
  SmallVector<Value> emitLoops(size_t r, Value aBase, Value bBase,
                               ValueRange sums) {
    if (r == written) {
      SmallVector<Value> values(sums);
      emitWindow(aBase, bBase, values);
      return values;
    }
    int64_t unroll = 1, extent = reduced[r];
    if (r + 1 == written && written == reduced.size())
      unroll = std::min<int64_t>(op.getUnroll(), extent);
    int64_t whole = extent / unroll * unroll;
    int64_t aStep = a.steps[numDims + r], bStep = c.steps[numDims + r];
    SmallVector<Value> all(sums);
    addChains(unroll, all);
    auto loop =
        scf::ForOp::create(b, index(0), index(whole), index(unroll), all);
    SmallVector<Value> results(loop.getResults());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value iv = loop.getInductionVar();
      SmallVector<Value> inner =
          emitPart(r, unroll, moved(aBase, iv, aStep), moved(bBase, iv, bStep),
                   loop.getRegionIterArgs());
      scf::YieldOp::create(b, inner);
    }
    joinChains(results);
    if (whole != extent)
      results = emitPart(r, extent - whole, indexAt(aBase, whole * aStep),
                         indexAt(bBase, whole * bStep), results);
    return results;
  }

  /// `count` terms along `r` from the bases on.
  SmallVector<Value> emitPart(size_t r, int64_t count, Value aBase, Value bBase,
                              ValueRange sums) {
    if (r + 1 != reduced.size() || count == 1)
      return emitLoops(r + 1, aBase, bBase, sums);
    SmallVector<Value> values(sums);
    MutableArrayRef<Value> rest(values);
    SmallVector<int64_t> point(reduced.size(), 0);
    for (point[r] = 0; point[r] != count; ++point[r]) {
      int64_t chain = point[r] % (sums.size() / layout.count());
      emitTerm(point, aBase, bBase,
               rest.slice(chain * layout.count(), layout.count()));
    }
    return values;
  }

  /// A few sums wait for each other's additions: as many terms as are written
  /// out go to several sums of each place, which begin with zero.
  void addChains(int64_t terms, SmallVectorImpl<Value> &sums) {
    constexpr int64_t enough = 8;
    int64_t chains = 1;
    while (2 * chains <= terms && chains * layout.count() < enough)
      chains *= 2;
    for (int64_t i = layout.count(); i != chains * layout.count(); ++i) {
      Type type = sums[i % layout.count()].getType();
      sums.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
    }
  }

  void joinChains(SmallVectorImpl<Value> &sums) {
    bool isFloat = isa<FloatType>(layout.element());
    for (int64_t size = sums.size(); size != layout.count(); size /= 2)
      for (int64_t i = 0; i != size / 2; ++i) {
        Value x = sums[i], y = sums[i + size / 2];
        sums[i] = isFloat ? arith::AddFOp::create(b, x, y).getResult()
                          : arith::AddIOp::create(b, x, y).getResult();
      }
    sums.truncate(layout.count());
  }

  /// All terms of the dims that have no loops. Where windows of lanes overlap,
  /// each vector of a is loaded once and goes to all sums that it is part of.
  void emitWindow(Value aBase, Value bBase, SmallVectorImpl<Value> &sums) {
    struct Product {
      int64_t distance;
      SmallVector<int64_t> point;
      int64_t element;
    };
    SmallVector<Product> products;
    SmallVector<int64_t> point(reduced.size(), 0);
    auto collect = [&](auto &self, size_t r) -> void {
      if (r == reduced.size()) {
        for (int64_t i = 0; i != layout.count(); ++i) {
          SmallVector<int64_t> place = layout.begin(i);
          llvm::append_range(place, point);
          products.push_back({a.distance(place), point, i});
        }
        return;
      }
      for (point[r] = 0; point[r] != reduced[r]; ++point[r])
        self(self, r + 1);
      point[r] = 0;
    };
    collect(collect, written);
    if (lanesOfA)
      llvm::stable_sort(products, [](const Product &x, const Product &y) {
        return x.distance < y.distance;
      });
    for (const Product &product : products)
      emitProduct(product.point, product.element, aBase, bBase, sums);
  }

  /// One product for each element of the accumulator.
  void emitTerm(ArrayRef<int64_t> point, Value aBase, Value bBase,
                MutableArrayRef<Value> sums) {
    emitPrefetch(point, bBase);
    for (int64_t i = 0; i != layout.count(); ++i)
      emitProduct(point, i, aBase, bBase, sums);
  }

  /// Asks for the part of b's row that a later term reads: into the memory
  /// behind the nearest, which would not hold all that is under way.
  void emitPrefetch(ArrayRef<int64_t> point, Value bBase) {
    if (op.getAhead() == 0)
      return;
    int64_t step = c.steps[numDims + reduced.size() - 1];
    for (int64_t i = 0; i != layout.vectors; ++i) {
      SmallVector<int64_t> place = layout.begin(i);
      llvm::append_range(place, point);
      int64_t distance = c.distance(place) + int64_t(op.getAhead()) * step;
      Value from = baseOf(c, bBase, place);
      memref::PrefetchOp::create(b, c.memory,
                                 ValueRange{indexAt(from, distance)},
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
    }
  }

  void emitProduct(ArrayRef<int64_t> point, int64_t i, Value aBase, Value bBase,
                   MutableArrayRef<Value> sums) {
    SmallVector<int64_t> place = layout.begin(i);
    llvm::append_range(place, point);
    if (op.getGrouped()) {
      sums[i] = tile::DotOp::create(
          b, sums[i].getType(), sums[i], groupOfA(aBase, place, i),
          groupsOfB(bBase, place, i), op.getAUnsigned(), op.getBUnsigned());
      return;
    }
    Value left = factor(a, aBase, place, i, op.getAUnsigned());
    Value right = factor(c, bBase, place, i, op.getBUnsigned());
    if (isa<FloatType>(layout.element())) {
      sums[i] = vector::FMAOp::create(b, left, right, sums[i]);
      return;
    }
    Value product = arith::MulIOp::create(b, left, right);
    sums[i] = arith::AddIOp::create(b, sums[i], product);
  }

  /// One group of a for all lanes of register `i`.
  Value groupOfA(Value base, ArrayRef<int64_t> place, int64_t i) {
    int64_t distance = a.distance(place);
    base = baseOf(a, base, place);
    Value &value = valueAt(a, base, distance, layout.lanes(i));
    if (value)
      return value;
    auto loadType = VectorType::get({group}, a.element);
    Value few = vector::LoadOp::create(b, loadType, a.memory,
                                       ValueRange{indexAt(base, distance)});
    // The group travels as one number.
    unsigned bits = group * a.element.getIntOrFloatBitWidth();
    Type number = b.getIntegerType(bits);
    few = vector::BitCastOp::create(b, VectorType::get({1}, number), few);
    few = vector::ExtractOp::create(b, few, 0);
    few = vector::BroadcastOp::create(
        b, VectorType::get({layout.lanes(i)}, number), few);
    return value = vector::BitCastOp::create(
               b, VectorType::get({layout.lanes(i) * group}, a.element), few);
  }

  /// The groups of b for the lanes of register `i`; panels are whole vectors.
  Value groupsOfB(Value base, ArrayRef<int64_t> place, int64_t i) {
    int64_t distance = c.distance(place), lanes = layout.lanes(i) * group;
    base = baseOf(c, base, place);
    Value &value = valueAt(c, base, distance, lanes);
    if (!value)
      value = load(c, indexAt(base, distance), /*step=*/1, lanes,
                   layout.used(i) * group);
    return value;
  }

  /// Whether the lanes of a register are different elements of the operand.
  bool hasLanes(const Line &line) const {
    return line.steps[numDims - 1] != 0 || line.isOpen(numDims - 1);
  }

  /// `base`, moved by what is a value of how far `place` lies from it.
  Value baseOf(Line &line, Value base, ArrayRef<int64_t> place) {
    Value far = line.openDistance(place);
    if (!far || !base)
      return base ? base : far;
    Value &moved = bases[{b.getInsertionBlock(), base.getAsOpaquePointer(),
                          far.getAsOpaquePointer()}];
    if (!moved)
      moved = sum(base, far);
    return moved;
  }

  /// Where what was loaded from a place in this block is kept.
  Value &valueAt(const Line &line, Value base, int64_t distance, int64_t kind) {
    return loaded[{b.getInsertionBlock(), line.memory.getAsOpaquePointer(),
                   base ? base.getAsOpaquePointer() : nullptr, distance, kind}];
  }

  /// What register `i` needs of an operand, loaded once per base.
  Value factor(Line &line, Value base, ArrayRef<int64_t> place, int64_t i,
               bool isUnsigned) {
    int64_t distance = line.distance(place);
    bool isOne = !hasLanes(line);
    base = baseOf(line, base, place);
    VectorType type = layout.type(i);
    int64_t used = isOne ? layout.lanes(i) : layout.used(i);
    Value &value = valueAt(line, base, distance, layout.lanes(i) << 32 | used);
    if (value)
      return value;
    Value at = indexAt(base, distance);
    Type wide = layout.element();
    if (isOne) {
      Value scalar = memref::LoadOp::create(b, line.memory, ValueRange{at});
      scalar = extend(scalar, wide, isUnsigned);
      return value = vector::BroadcastOp::create(b, type, scalar);
    }
    value = loadAlong(line, at, numDims - 1, layout.lanes(i), used);
    return value = extend(value, type, isUnsigned);
  }

  Value extend(Value value, Type wide, bool isUnsigned) {
    if (value.getType() == wide)
      return value;
    if (isa<FloatType>(getElementTypeOrSelf(wide)))
      return arith::ExtFOp::create(b, wide, value);
    if (isUnsigned)
      return arith::ExtUIOp::create(b, wide, value);
    return arith::ExtSIOp::create(b, wide, value);
  }

  tile::StepOp op;
  const RegisterLayout &layout;
  Line a, c;
  size_t numDims;
  ArrayRef<int64_t> reduced; ///< without the group
  int64_t group = 1;
  bool lanesOfA = false;
  size_t written = 0; ///< reduced dims from here on have no loops
  /// By block, line, base, distance, lanes and how many count; never iterated.
  std::map<
      std::tuple<const void *, const void *, const void *, int64_t, int64_t>,
      Value>
      loaded;
  /// By block, base and what it was moved by; never iterated.
  std::map<std::tuple<const void *, const void *, const void *>, Value> bases;
};

/// Patterns that know how wide a register is.
template <typename Op> struct RegisterPattern : OpConversionPattern<Op> {
  RegisterPattern(const TypeConverter &converter, MLIRContext *context,
                  int64_t vectorBytes)
      : OpConversionPattern<Op>(converter, context), vectorBytes(vectorBytes) {}
  RegisterLayout layoutOf(Value acc) const {
    return RegisterLayout(cast<tile::AccType>(acc.getType()), vectorBytes);
  }
  int64_t vectorBytes;
};

struct ConvertInit : RegisterPattern<tile::InitOp> {
  using RegisterPattern::RegisterPattern;
  LogicalResult
  matchAndRewrite(tile::InitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RegisterLayout layout = layoutOf(op.getAcc());
    SmallVector<Value> registers;
    for (int64_t i = 0; i != layout.count(); ++i)
      registers.push_back(vector::BroadcastOp::create(
          rewriter, op.getLoc(), layout.type(i), op.getValue()));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct ConvertAdd : RegisterPattern<tile::AddOp> {
  using RegisterPattern::RegisterPattern;
  LogicalResult
  matchAndRewrite(tile::AddOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> sums;
    bool isFloat = isa<FloatType>(op.getSum().getType().getElementType());
    for (auto [total, part] : llvm::zip(adaptor.getTotal(), adaptor.getPart()))
      sums.push_back(
          isFloat ? arith::AddFOp::create(rewriter, op.getLoc(), total, part)
                        .getResult()
                  : arith::AddIOp::create(rewriter, op.getLoc(), total, part)
                        .getResult());
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

struct ConvertStep : RegisterPattern<tile::StepOp> {
  using RegisterPattern::RegisterPattern;
  LogicalResult
  matchAndRewrite(tile::StepOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.isSynchronous())
      return rewriter.notifyMatchFailure(op, "expand copies first");
    RegisterLayout layout = layoutOf(op.getAcc());
    SmallVector<Value> sums =
        StepWriter(op, rewriter, layout).run(adaptor.getAcc());
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

struct ConvertDrain : RegisterPattern<tile::DrainOp> {
  using RegisterPattern::RegisterPattern;
  LogicalResult
  matchAndRewrite(tile::DrainOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RegisterLayout layout = layoutOf(op.getAcc());
    ValueRange sums = adaptor.getAcc();
    DrainWriter(op, rewriter, layout).run([&](int64_t i) { return sums[i]; });
    rewriter.eraseOp(op);
    return success();
  }
};

struct VectorizeSteps : ashlar::impl::VectorizeStepsPassBase<VectorizeSteps> {
  using VectorizeStepsPassBase::VectorizeStepsPassBase;
  void runOnOperation() override {
    if (failed(checkOfOneWorker(getOperation())))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    int64_t bytes = vectorBytes;
    converter.addConversion(
        [bytes](tile::AccType type, SmallVectorImpl<Type> &registers)
            -> std::optional<LogicalResult> {
          RegisterLayout layout(type, bytes);
          for (int64_t i = 0; i != layout.count(); ++i)
            registers.push_back(layout.type(i));
          return success();
        });
    RewritePatternSet patterns(context);
    patterns.add<ConvertInit, ConvertAdd, ConvertStep, ConvertDrain>(
        converter, context, bytes);
    if (failed(convertAccumulators(getOperation(), converter,
                                   std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
