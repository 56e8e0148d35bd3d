// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on accumulators as what one thread does of them.
#include "ThreadWriter.h"
#include "ashlar/Transforms/Tile/ConvertAccumulators.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;
using ashlar::simt::Share;
using ashlar::simt::ThreadWriter;

namespace {
template <typename Op> struct ThreadPattern : OpConversionPattern<Op> {
  ThreadPattern(const TypeConverter &converter, MLIRContext *context,
                const simt::Threads &threads)
      : OpConversionPattern<Op>(converter, context), threads(threads) {}
  Share shareOf(Value acc) const {
    return Share(cast<tile::AccType>(acc.getType()), threads);
  }
  const simt::Threads &threads;
};

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

struct DistributeLoad : ThreadPattern<tile::LoadOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::LoadOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadWriter w(op, rewriter);
    Share share = shareOf(op.getAcc());
    SmallVector<Value> values;
    for (int64_t i = 0; i != share.count(); ++i) {
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
    ThreadWriter w(op, rewriter);
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
    SmallVector<Value> values;
    for (int64_t i = 0; i != share.count(); ++i) {
      SmallVector<Value> point = share.safePoint(w.b, i);
      SmallVector<Value> arguments;
      for (auto [j, input] : llvm::enumerate(op.getInputs())) {
        if (shared[j])
          arguments.push_back(w.load(shared[j], op.getMap(j), point));
        else if (isa<tile::AccType>(input.getType()))
          arguments.push_back(adaptor.getInputs()[j][i]);
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

struct DistributeReduce : ThreadPattern<tile::ReduceOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadWriter w(op, rewriter);
    tile::AccType from = op.getAcc().getType();
    Share share = shareOf(op.getResult());
    Value shared = w.exchange(adaptor.getAcc(), shareOf(op.getAcc()), from);
    SmallVector<int64_t> sizes;
    for (int64_t d : op.getDims())
      sizes.push_back(from.getShape()[d]);
    int64_t terms = 1;
    for (int64_t size : sizes)
      terms *= size;
    SmallVector<Value> results;
    for (int64_t i = 0; i != share.count(); ++i) {
      SmallVector<Value> point = share.safePoint(w.b, i);
      Value first = memref::LoadOp::create(w.b, shared, point);
      auto loop = scf::ForOp::create(
          w.b, arith::ConstantIndexOp::create(w.b, 1),
          arith::ConstantIndexOp::create(w.b, terms),
          arith::ConstantIndexOp::create(w.b, 1), ValueRange(first));
      {
        OpBuilder::InsertionGuard guard(w.b);
        w.b.setInsertionPointToStart(loop.getBody());
        SmallVector<OpFoldResult> basis;
        for (int64_t size : sizes)
          basis.push_back(w.b.getIndexAttr(size));
        auto place = affine::AffineDelinearizeIndexOp::create(
            w.b, loop.getInductionVar(), basis);
        SmallVector<Value> at(point);
        for (auto [d, index] : llvm::zip(op.getDims(), place.getResults()))
          at[d] = index;
        Value term = memref::LoadOp::create(w.b, shared, at);
        scf::YieldOp::create(w.b, w.apply(op.getBody().front(),
                                          {loop.getRegionIterArg(0), term}));
      }
      results.push_back(loop.getResult(0));
    }
    w.closeExchange();
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct DistributeDrain : ThreadPattern<tile::DrainOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::DrainOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadWriter w(op, rewriter);
    Share share = shareOf(op.getAcc());
    AffineMap target = op.getMap(op.getMaps().size() - 1);
    for (auto [i, sum] : llvm::enumerate(adaptor.getAcc())) {
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
      SmallVector<Value> arguments = {sum};
      for (auto [j, operand] : llvm::enumerate(op.getEpilogue()))
        arguments.push_back(w.load(operand, op.getMap(j), point));
      memref::StoreOp::create(w.b, w.apply(op.getBody().front(), arguments),
                              op.getTarget(), w.at(target, point));
    }
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

LogicalResult ashlar::simt::distributeAccumulators(Operation *kernel,
                                                   const Threads &threads) {
  MLIRContext *context = kernel->getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [&](tile::AccType type, SmallVectorImpl<Type> &results) {
        results.append(Share(type, threads).count(), type.getElementType());
        return success();
      });
  RewritePatternSet patterns(context);
  patterns.add<DistributeInit, DistributeLoad, DistributeAdd, DistributeMap,
               DistributeReduce, DistributeStep, DistributeDrain>(
      converter, context, threads);
  return convertAccumulators(kernel, converter, std::move(patterns));
}
