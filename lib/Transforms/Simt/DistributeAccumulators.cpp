// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on accumulators as what one thread does of them.
#include "BoxStores.h"
#include "RowDrain.h"
#include "ThreadPattern.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Divisors.h"
#include "ashlar/Transforms/Tile/ConvertAccumulators.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ashlar;
using ashlar::simt::RowDrain;
using ashlar::simt::Share;
using ashlar::simt::ThreadPattern;
using ashlar::simt::ThreadWriter;

/// On ops: of each operand in memory, how many neighbours along its last dim,
/// from multiples of that on, lie so that one access may move them. It is found
/// out before loops change, whose counters say so.
static constexpr llvm::StringLiteral togetherAttrName = "tile.together";

/// Of a memory at a map; `clipped`: some may not exist, but then none of them
/// do.
static int64_t countTogether(Value memory, AffineMap map, bool clipped) {
  constexpr int64_t accessBytes = 16;
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (!type || type.getMemorySpace() || type.getElementTypeBitWidth() < 8 ||
      map.getNumResults() == 0)
    return 1;
  unsigned last = map.getNumDims() - 1;
  if (map.getResults().back() != getAffineDimExpr(last, map.getContext()) ||
      llvm::any_of(map.getResults().drop_back(),
                   [&](AffineExpr expr) { return expr.isFunctionOfDim(last); }))
    return 1;
  int64_t count =
      std::max<int64_t>(1, accessBytes / elementBytes(type.getElementType()));
  while (count > 1 && (!beginsRowsAt(memory, count) ||
                       (clipped && !endsRowsAt(memory, count))))
    count /= 2;
  return count;
}

static void noteTogether(Operation *kernel) {
  kernel->walk([](Operation *op) {
    SmallVector<int64_t> counts;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      counts.push_back(
          countTogether(load.getMemory(), load.getMap(), load.getPadded()));
    else if (auto map = dyn_cast<tile::MapOp>(op))
      for (auto [j, input] : llvm::enumerate(map.getInputs()))
        counts.push_back(countTogether(input, map.getMap(j), map.getPadded()));
    else if (auto drain = dyn_cast<tile::DrainOp>(op))
      counts.push_back(countTogether(drain.getTarget(),
                                     drain.getMap(drain.getMaps().size() - 1),
                                     drain.getClipped()));
    else
      return;
    op->setAttr(togetherAttrName,
                DenseI64ArrayAttr::get(op->getContext(), counts));
  });
}

/// What a thread's share has of that; 1: each element has its own access.
static int64_t togetherOf(Operation *op, unsigned i, const Share &share) {
  auto counts = op->getAttrOfType<DenseI64ArrayAttr>(togetherAttrName);
  return counts ? std::min(counts[i], share.together()) : 1;
}

namespace {
struct DistributeInit : ThreadPattern<tile::InitOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::InitOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values(shareOf(op.getAcc()).count(), op.getValue());
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct DistributeAdd : ThreadPattern<tile::AddOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::AddOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool isFloat = isa<FloatType>(op.getSum().getType().getElementType());
    SmallVector<Value> sums;
    for (auto [x, y] : llvm::zip(adaptor.getTotal(), adaptor.getPart()))
      sums.push_back(
          isFloat
              ? arith::AddFOp::create(rewriter, op.getLoc(), x, y).getResult()
              : arith::AddIOp::create(rewriter, op.getLoc(), x, y).getResult());
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

struct DistributeStep : ThreadPattern<tile::StepOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::StepOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getAcc().getType().getFragment())
      return rewriteUnits(op, adaptor, rewriter);
    if (!op.isSynchronous())
      return rewriter.notifyMatchFailure(op, "rings are shared first");
    ThreadWriter w(op, rewriter);
    Share share = shareOf(op.getAcc());
    SmallVector<SmallVector<Value>> points;
    for (int64_t i = 0; i != share.count(); ++i)
      points.push_back(share.safePoint(w.b, i));
    SmallVector<Value> terms;
    SmallVector<Value> sums =
        sumOver(op, w, points, terms, SmallVector<Value>(adaptor.getAcc()));
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }

private:
  /// A unit multiplies fragments, which the target knows.
  LogicalResult rewriteUnits(tile::StepOp op, OneToNOpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
    bool holds = op.holdsA();
    if ((!holds && !op.getA().getDefiningOp<tile::SlotOfOp>()) ||
        !op.getB().getDefiningOp<tile::SlotOfOp>())
      return rewriter.notifyMatchFailure(op, "a unit reads shared rings");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Share share = shareOf(op.getAcc());
    ValueRange sums = adaptor.getAcc();
    auto step = tile::ThreadStepOp::create(
        b, sums.getTypes(), share.laneNumber(b), share.begin(b), sums,
        holds ? adaptor.getA() : ValueRange(), holds ? Value() : op.getA(),
        op.getAOffsets(), op.getB(), op.getBOffsets(), op.getAcc().getType(),
        op.getReduced(), op.getAMap(), op.getBMap(), op.getAUnsigned(),
        op.getBUnsigned(), op->hasAttr(simt::asynchronousAttrName));
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{
                                           SmallVector<Value>(step.getSums())});
    return success();
  }

  /// Loops over the reduced dims from that behind `terms` on.
  SmallVector<Value> sumOver(tile::StepOp op, ThreadWriter &w,
                             ArrayRef<SmallVector<Value>> points,
                             SmallVectorImpl<Value> &terms,
                             SmallVector<Value> sums) const {
    ArrayRef<int64_t> reduced = op.getReduced();
    if (terms.size() == reduced.size()) {
      for (auto [point, sum] : llvm::zip(points, sums)) {
        SmallVector<Value> all(point);
        llvm::append_range(all, terms);
        Type type = sum.getType();
        Value x = w.extend(w.load(op.getA(), op.getAMap(), all), type,
                           op.getAUnsigned());
        Value y = w.extend(w.load(op.getB(), op.getBMap(), all), type,
                           op.getBUnsigned());
        sum = w.multiplyAdd(x, y, sum);
      }
      return sums;
    }
    Value zero = arith::ConstantIndexOp::create(w.b, 0);
    Value end = arith::ConstantIndexOp::create(w.b, reduced[terms.size()]);
    Value one = arith::ConstantIndexOp::create(w.b, 1);
    auto loop = scf::ForOp::create(w.b, zero, end, one, sums);
    OpBuilder::InsertionGuard guard(w.b);
    w.b.setInsertionPointToStart(loop.getBody());
    terms.push_back(loop.getInductionVar());
    SmallVector<Value> inner = sumOver(
        op, w, points, terms, SmallVector<Value>(loop.getRegionIterArgs()));
    terms.pop_back();
    scf::YieldOp::create(w.b, inner);
    return SmallVector<Value>(loop.getResults());
  }
};

struct DistributeSettle : ThreadPattern<tile::SettleOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::SettleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto settled = tile::ThreadSettleOp::create(
        rewriter, op.getLoc(), adaptor.getAcc().getTypes(), adaptor.getAcc(),
        op.getPending());
    rewriter.replaceOpWithMultiple(
        op, SmallVector<SmallVector<Value>>{
                SmallVector<Value>(settled.getResults())});
    return success();
  }
};

struct DistributeLoad : ThreadPattern<tile::LoadOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::LoadOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadWriter w(op, rewriter, op.getAcc().getType().getShape());
    Share share = shareOf(op.getAcc());
    SmallVector<Value> values;
    if (int64_t together = togetherOf(op, 0, share); together != 1)
      values = w.loadPieces(op.getMemory(), op.getMap(), share, op.getPadded(),
                            together);
    for (int64_t i = values.size(); i != share.count(); ++i) {
      SmallVector<Value> point = share.safePoint(w.b, i);
      values.push_back(
          w.load(op.getMemory(), op.getMap(), point, op.getPadded()));
    }
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct DistributeMap : ThreadPattern<tile::MapOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::MapOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadWriter w(op, rewriter, op.getAcc().getType().getShape());
    Share share = shareOf(op.getAcc());
    // What other threads have is exchanged first; the rest is at hand.
    SmallVector<Value> shared(op.getInputs().size());
    bool exchanges = false;
    for (auto [j, input] : llvm::enumerate(op.getInputs())) {
      if (!isExchanged(op, j))
        continue;
      shared[j] = w.exchange(adaptor.getInputs()[j], shareOf(input),
                             cast<tile::AccType>(input.getType()));
      exchanges = true;
    }
    // All of a thread's loads are under way together.
    SmallVector<SmallVector<Value>> loaded(op.getInputs().size());
    for (auto [j, input] : llvm::enumerate(op.getInputs()))
      if (int64_t together = togetherOf(op, j, share); together != 1)
        loaded[j] =
            w.loadPieces(input, op.getMap(j), share, op.getPadded(), together);
    SmallVector<Value> values;
    for (int64_t i = 0; i != share.count(); ++i) {
      SmallVector<Value> point = share.safePoint(w.b, i);
      SmallVector<Value> arguments;
      for (auto [j, input] : llvm::enumerate(op.getInputs())) {
        if (shared[j])
          arguments.push_back(w.load(shared[j], op.getMap(j), point));
        else if (isOfRows(op, j))
          arguments.push_back(adaptor.getInputs()[j][share.rowAlone(i)]);
        else if (isa<tile::AccType>(input.getType()))
          arguments.push_back(adaptor.getInputs()[j][i]);
        else if (!loaded[j].empty())
          arguments.push_back(loaded[j][i]);
        else
          arguments.push_back(
              w.load(input, op.getMap(j), point, op.getPadded()));
      }
      values.push_back(w.apply(op.getBody().front(), arguments, point));
    }
    if (exchanges)
      w.closeExchange();
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct DistributeDrain : ThreadPattern<tile::DrainOp> {
  DistributeDrain(const TypeConverter &converter, MLIRContext *context,
                  const simt::Threads &threads, const simt::BoxStores &stores)
      : ThreadPattern(converter, context, threads), stores(stores) {}
  LogicalResult
  matchAndRewrite(tile::DrainOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadWriter w(op, rewriter, op.getAcc().getType().getShape());
    Share share = shareOf(op.getAcc());
    auto ownAt = [&](int64_t i, ArrayRef<Value> point) {
      return valueAt(op, w, adaptor.getAcc()[i], point);
    };
    if (RowDrain rows(op, share, threads); rows.isTaken()) {
      if (stores.has(op))
        stores.write(op, share, rows, w, ownAt);
      else
        rows.write(w, ownAt);
      rewriter.eraseOp(op);
      return success();
    }
    AffineMap target = op.getMap(op.getMaps().size() - 1);
    // Neighbours are stored as one.
    int64_t together = share.hasPairs() && storesPairs(op, target)
                           ? 2
                           : togetherOf(op, 0, share);
    for (int64_t i = 0; i != share.count(); i += together) {
      SmallVector<Value> point = share.point(w.b, i);
      Value condition = share.exists(w.b, i);
      if (op.getClipped())
        condition =
            w.both(condition, w.isInside(op.getTarget(), target, point));
      OpBuilder::InsertionGuard guard(w.b);
      if (condition) {
        auto branch =
            scf::IfOp::create(w.b, condition, /*withElseRegion=*/false);
        w.b.setInsertionPointToStart(&branch.getThenRegion().front());
      }
      Value first = valueAt(op, w, adaptor.getAcc()[i], point);
      SmallVector<Value> place = w.at(target, point);
      if (together == 1) {
        memref::StoreOp::create(w.b, first, op.getTarget(), place);
        continue;
      }
      SmallVector<Value> all = {first};
      Value column = point.back();
      for (int64_t j = 1; j != together; ++j) {
        point.back() = arith::AddIOp::create(
            w.b, column, arith::ConstantIndexOp::create(w.b, j));
        all.push_back(valueAt(op, w, adaptor.getAcc()[i + j], point));
      }
      Value row = vector::FromElementsOp::create(
          w.b, VectorType::get({together}, first.getType()), all);
      Value whole = share.hasPairs() ? Value(op.getTarget())
                                     : w.wholeOf(op.getTarget(), place);
      vector::StoreOp::create(
          w.b, row, whole, place,
          /*nontemporal=*/false,
          llvm::MaybeAlign(uint64_t(together * elementBytes(first.getType()))));
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static Value valueAt(tile::DrainOp op, ThreadWriter &w, Value sum,
                       ValueRange point) {
    SmallVector<Value> arguments = {sum};
    for (auto [j, operand] : llvm::enumerate(op.getEpilogue()))
      arguments.push_back(w.load(operand, op.getMap(j), point));
    return w.apply(op.getBody().front(), arguments);
  }

  /// Whether two neighbours of the accumulator, from an even one on, are such
  /// in memory, and both lie in it or neither.
  static bool storesPairs(tile::DrainOp op, AffineMap map) {
    unsigned last = map.getNumDims() - 1;
    return beginsRowsAt(op.getTarget(), 2) &&
           map.getResults().back() == getAffineDimExpr(last, op.getContext()) &&
           llvm::none_of(
               map.getResults().drop_back(),
               [&](AffineExpr expr) { return expr.isFunctionOfDim(last); }) &&
           (!op.getClipped() || endsRowsAt(op.getTarget(), 2));
  }

  const simt::BoxStores &stores;
};
} // namespace

LogicalResult ashlar::simt::distributeAccumulators(Operation *kernel,
                                                   const Threads &threads,
                                                   const BoxStores &stores) {
  MLIRContext *context = kernel->getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [&](tile::AccType type, SmallVectorImpl<Type> &results) {
        results.append(Share(type, threads).count(), type.getElementType());
        return success();
      });
  noteTogether(kernel);
  RewritePatternSet patterns(context);
  patterns.add<DistributeInit, DistributeLoad, DistributeAdd, DistributeMap,
               DistributeSettle, DistributeStep>(converter, context, threads);
  patterns.add<DistributeDrain>(converter, context, threads, stores);
  populateReductionPatterns(patterns, converter, threads);
  return convertAccumulators(kernel, converter, std::move(patterns));
}
