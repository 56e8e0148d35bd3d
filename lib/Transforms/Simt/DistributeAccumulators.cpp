// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Threads.h"
#include "ashlar/Transforms/Tile/ConvertAccumulators.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace {
/// Which elements of an accumulator a thread has.
class Share {
public:
  Share(tile::AccType type, const simt::Threads &threads)
      : shape(type.getShape()), threads(threads), part(shape) {
    if (!type.getGroups().empty())
      part.assign(type.getGroups().back().getParallel().begin(),
                  type.getGroups().back().getParallel().end());
    for (auto [size, all] : llvm::zip(part, shape))
      size = size == 0 ? all : size;
  }

  int64_t count() const { return llvm::divideCeil(elements(), lanes()); }

  /// Where element i of the thread lies in the accumulator.
  SmallVector<Value> point(ImplicitLocOpBuilder &b, int64_t i) const {
    Value lane = laneNumber(b);
    SmallVector<Value> place = begin(b);
    int64_t first = i * lanes();
    if (part.back() % lanes() == 0) {
      // All lanes are in one row.
      for (size_t d = part.size(); d-- != 0;) {
        int64_t at = first % part[d];
        first /= part[d];
        Value offset = arith::ConstantIndexOp::create(b, at);
        if (d + 1 == part.size())
          offset = arith::AddIOp::create(b, lane, offset);
        place[d] = arith::AddIOp::create(b, place[d], offset);
      }
      return place;
    }
    Value number = arith::AddIOp::create(
        b, lane, arith::ConstantIndexOp::create(b, first));
    SmallVector<OpFoldResult> basis;
    for (int64_t size : part)
      basis.push_back(b.getIndexAttr(size));
    auto inside = affine::AffineDelinearizeIndexOp::create(b, number, basis);
    for (auto [d, offset] : llvm::enumerate(inside.getResults()))
      place[d] = arith::AddIOp::create(b, place[d], offset);
    return place;
  }

  /// Whether the thread has an element i: null where all threads have.
  Value exists(ImplicitLocOpBuilder &b, int64_t i) const {
    Value condition;
    auto require = [&](Value one) {
      condition = condition ? arith::AndIOp::create(b, condition, one) : one;
    };
    if ((i + 1) * lanes() > elements())
      require(arith::CmpIOp::create(
          b, arith::CmpIPredicate::slt, laneNumber(b),
          arith::ConstantIndexOp::create(b, elements() - i * lanes())));
    // Groups at the end may have less of it, or nothing.
    bool isWhole = groupCount() * lanes() == threads.count;
    for (size_t d = 0; d != part.size(); ++d)
      isWhole &= shape[d] % part[d] == 0;
    if (!isWhole)
      for (auto [place, size] : llvm::zip(point(b, i), shape))
        require(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place,
                                      arith::ConstantIndexOp::create(b, size)));
    return condition;
  }

  /// The same where it exists, elsewhere the first: to be read without harm.
  SmallVector<Value> safePoint(ImplicitLocOpBuilder &b, int64_t i) const {
    SmallVector<Value> place = point(b, i);
    if (Value condition = exists(b, i)) {
      Value zero = arith::ConstantIndexOp::create(b, 0);
      for (Value &one : place)
        one = arith::SelectOp::create(b, condition, one, zero);
    }
    return place;
  }

private:
  /// Of one group: all threads, where no groups are named.
  int64_t lanes() const {
    return part == shape && groupCount() == 1 &&
                   threads.count % threads.lanes == 0 && !isGrouped()
               ? threads.count
               : threads.lanes;
  }
  bool isGrouped() const { return part != shape; }
  int64_t elements() const {
    int64_t all = 1;
    for (int64_t size : part)
      all *= size;
    return all;
  }
  int64_t groupCount() const {
    int64_t all = 1;
    for (auto [size, whole] : llvm::zip(part, shape))
      all *= llvm::divideCeil(whole, size);
    return all;
  }
  Value laneNumber(ImplicitLocOpBuilder &b) const {
    if (lanes() == threads.count)
      return threads.number;
    return arith::RemUIOp::create(b, threads.number,
                                  arith::ConstantIndexOp::create(b, lanes()));
  }
  /// Of the group's part.
  SmallVector<Value> begin(ImplicitLocOpBuilder &b) const {
    if (lanes() == threads.count)
      return SmallVector<Value>(part.size(),
                                arith::ConstantIndexOp::create(b, 0));
    Value group = arith::DivUIOp::create(
        b, threads.number, arith::ConstantIndexOp::create(b, lanes()));
    SmallVector<OpFoldResult> basis;
    for (auto [size, whole] : llvm::zip(part, shape))
      basis.push_back(b.getIndexAttr(llvm::divideCeil(whole, size)));
    auto numbers = affine::AffineDelinearizeIndexOp::create(b, group, basis);
    SmallVector<Value> place;
    for (auto [number, size] : llvm::zip(numbers.getResults(), part))
      place.push_back(arith::MulIOp::create(
          b, number, arith::ConstantIndexOp::create(b, size)));
    return place;
  }

  SmallVector<int64_t> shape;
  const simt::Threads &threads;
  SmallVector<int64_t> part;
};

/// Loads, products and bodies at points.
class Writer {
public:
  Writer(Operation *op, OpBuilder &builder) : b(op->getLoc(), builder) {}

  SmallVector<Value> at(AffineMap map, ValueRange point) {
    SmallVector<Value> place;
    for (AffineExpr expr : map.getResults())
      place.push_back(affine::AffineApplyOp::create(
          b, AffineMap::get(map.getNumDims(), 0, expr), point));
    return place;
  }
  Value load(Value memory, AffineMap map, ValueRange point) {
    return memref::LoadOp::create(b, memory, at(map, point));
  }
  Value isInside(Value memory, AffineMap map, ValueRange point) {
    Value inside;
    for (auto [d, place] : llvm::enumerate(at(map, point))) {
      Value end = memref::DimOp::create(b, memory, d);
      Value one =
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, end);
      inside = inside ? arith::AndIOp::create(b, inside, one) : one;
    }
    return inside;
  }
  Value both(Value x, Value y) {
    return !x ? y : !y ? x : arith::AndIOp::create(b, x, y);
  }
  Value extend(Value value, Type wide, bool isUnsigned) {
    if (value.getType() == wide)
      return value;
    if (isa<FloatType>(wide))
      return arith::ExtFOp::create(b, wide, value);
    if (isUnsigned)
      return arith::ExtUIOp::create(b, wide, value);
    return arith::ExtSIOp::create(b, wide, value);
  }
  Value multiplyAdd(Value x, Value y, Value sum) {
    if (!isa<FloatType>(sum.getType()))
      return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
    return math::FmaOp::create(b, x, y, sum);
  }
  Value loadPadded(Value memory, AffineMap map, ValueRange point) {
    Value inside = isInside(memory, map, point);
    if (!inside)
      return load(memory, map, point);
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    auto branch =
        scf::IfOp::create(b, TypeRange(element), inside, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, load(memory, map, point));
    b.setInsertionPointToStart(branch.elseBlock());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
    scf::YieldOp::create(b, zero);
    return branch.getResult(0);
  }
  Value apply(Block &body, ValueRange arguments, ValueRange point = {}) {
    IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    for (Operation &op : body.without_terminator())
      if (auto index = dyn_cast<tile::IndexOp>(op))
        mapping.map(index.getResult(), point[index.getDim()]);
      else
        b.clone(op, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

  /// What all threads have of an accumulator, where each can read all of it
  /// until `closeExchange`.
  Value exchange(ValueRange values, const Share &share, tile::AccType type) {
    MemRefType memory = MemRefType::get(
        type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(),
        b.getI64IntegerAttr(simt::workgroupSpace));
    Value shared = memref::AllocOp::create(b, memory);
    for (auto [i, value] : llvm::enumerate(values)) {
      SmallVector<Value> point = share.point(b, i);
      OpBuilder::InsertionGuard guard(b);
      if (Value condition = share.exists(b, i)) {
        auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      memref::StoreOp::create(b, value, shared, point);
    }
    gpu::BarrierOp::create(b);
    return shared;
  }
  /// Before the memory is written again.
  void closeExchange() { gpu::BarrierOp::create(b); }

  ImplicitLocOpBuilder b;
};

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
    Writer w(op, rewriter);
    Share share = shareOf(op.getAcc());
    SmallVector<SmallVector<Value>> points;
    for (int64_t i = 0; i != share.count(); ++i)
      points.push_back(share.point(w.b, i));
    SmallVector<Value> terms;
    SmallVector<Value> sums =
        sumOver(op, w, points, terms, SmallVector<Value>(adaptor.getAcc()));
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }

private:
  /// Loops over the reduced dims from that behind `terms` on.
  SmallVector<Value> sumOver(tile::StepOp op, Writer &w,
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
    Writer w(op, rewriter);
    Share share = shareOf(op.getAcc());
    SmallVector<Value> values;
    for (int64_t i = 0; i != share.count(); ++i) {
      SmallVector<Value> point = share.safePoint(w.b, i);
      values.push_back(op.getPadded()
                           ? w.loadPadded(op.getMemory(), op.getMap(), point)
                           : w.load(op.getMemory(), op.getMap(), point));
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
    Writer w(op, rewriter);
    tile::AccType type = op.getAcc().getType();
    Share share = shareOf(op.getAcc());
    // What other threads have is exchanged first; the rest is at hand.
    SmallVector<Value> shared(op.getInputs().size());
    bool exchanges = false;
    for (auto [j, input] : llvm::enumerate(op.getInputs())) {
      auto acc = dyn_cast<tile::AccType>(input.getType());
      if (!acc || isOwn(acc, type, op.getMap(j)))
        continue;
      shared[j] = w.exchange(adaptor.getInputs()[j], shareOf(input), acc);
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
          arguments.push_back(op.getPadded()
                                  ? w.loadPadded(input, op.getMap(j), point)
                                  : w.load(input, op.getMap(j), point));
      }
      values.push_back(w.apply(op.getBody().front(), arguments, point));
    }
    if (exchanges)
      w.closeExchange();
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }

private:
  /// Each thread reads what it has itself.
  static bool isOwn(tile::AccType from, tile::AccType to, AffineMap map) {
    return from.getShape() == to.getShape() &&
           from.getGroups() == to.getGroups() && map.isIdentity();
  }
};

struct DistributeReduce : ThreadPattern<tile::ReduceOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Writer w(op, rewriter);
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
    Writer w(op, rewriter);
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
