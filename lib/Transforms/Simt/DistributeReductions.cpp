// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of accumulators as what one thread does of them, in three stages:
// a thread combines what it has of a result, lanes of a group what each of them
// has, and what is left of a result goes through memory of the workgroup. Each
// stage is a tree, of the same form on all threads.
#include "ReductionPlan.h"
#include "ThreadPattern.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

namespace {
/// So many values of a result a thread reads and combines at once.
constexpr int64_t mostAtOnce = 8;

class Reducer {
public:
  Reducer(tile::ReduceOp op, ThreadWriter &w, const Threads &threads)
      : op(op), w(w), threads(threads), plan(op, threads, w.b),
        to(op.getResult().getType(), threads) {}

  SmallVector<Value> reduce(ValueRange own) {
    SmallVector<Value> parts;
    for (const Part &part : plan.parts)
      parts.push_back(combineLanes(part, combineOwn(part, own)));
    std::optional<SmallVector<int64_t>> found = plan.findAtHand(to, w.b);
    if (!found)
      return passOn(parts);
    return llvm::map_to_vector(*found, [&](int64_t i) { return parts[i]; });
  }

private:
  using Part = ReductionPlan::Part;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(w.b, value);
  }
  Value combine(Value x, Value y) {
    return w.apply(op.getBody().front(), {x, y});
  }

  Value combineOwn(const Part &part, ValueRange own) {
    SmallVector<Value> tree;
    for (int64_t i : part.elements) {
      Value value = own[i];
      // What goes to its own place needs nothing instead.
      if (plan.conditions[i] && (part.elements.size() != 1 || part.lanes != 0))
        value = arith::SelectOp::create(
            w.b, plan.conditions[i], value,
            arith::ConstantOp::create(w.b, plan.neutral));
      tree.push_back(value);
    }
    return combineAll(tree);
  }
  Value combineAll(SmallVector<Value> tree) {
    while (tree.size() != 1) {
      for (size_t i = 0; i != tree.size() / 2; ++i)
        tree[i] = combine(tree[2 * i], tree[2 * i + 1]);
      if (tree.size() % 2 != 0)
        tree[tree.size() / 2] = tree.back();
      tree.truncate((tree.size() + 1) / 2);
    }
    return tree[0];
  }
  /// Both lanes of a pair combine the same two, so that all end with the same.
  Value combineLanes(const Part &part, Value value) {
    for (int64_t bit = 1; bit <= part.lanes; bit *= 2)
      if (part.lanes & bit)
        value = combine(value, gpu::ShuffleOp::create(w.b, value, int32_t(bit),
                                                      int32_t(threads.lanes),
                                                      gpu::ShuffleMode::XOR)
                                   .getShuffleResult());
    return value;
  }

  /// By way of memory, in which the first parts of all results lie side by
  /// side, then the second ones, and so on.
  SmallVector<Value> passOn(ArrayRef<Value> parts) {
    Type element = op.getResult().getType().getElementType();
    int64_t used = plan.left * plan.countResults(), size = used;
    // What a back end reads as whole vectors should have been written.
    size =
        llvm::alignTo(used, 16 / std::min<int64_t>(elementBytes(element), 16));
    shared = memref::AllocOp::create(
        w.b, MemRefType::get({size}, element, MemRefLayoutAttrInterface(),
                             w.b.getI64IntegerAttr(workgroupSpace)));
    for (auto [part, value] : llvm::zip_equal(plan.parts, parts))
      store(part, value);
    fill(used, size);
    gpu::BarrierOp::create(w.b);
    int64_t count = plan.left;
    while (count > mostAtOnce)
      count = combineShared(count);
    SmallVector<Value> found;
    for (int64_t i = 0; i != to.count(); ++i) {
      Value result = number(to.safePoint(w.b, i), /*ofTerms=*/false);
      SmallVector<Value> tree;
      for (int64_t j = 0; j != count; ++j)
        tree.push_back(load(result, j));
      found.push_back(combineAll(tree));
    }
    w.closeExchange();
    return found;
  }

  void fill(int64_t from, int64_t to) {
    if (from == to)
      return;
    auto loop = scf::ForOp::create(w.b, threads.number, index(to - from),
                                   index(threads.count));
    OpBuilder::InsertionGuard guard(w.b);
    w.b.setInsertionPointToStart(loop.getBody());
    Value zero = arith::ConstantOp::create(
        w.b, w.b.getZeroAttr(op.getResult().getType().getElementType()));
    Value place =
        arith::AddIOp::create(w.b, loop.getInductionVar(), index(from));
    memref::StoreOp::create(w.b, zero, shared, place);
  }

  /// Of a point, counted along the dims of results or of terms.
  Value number(ArrayRef<Value> point, bool ofTerms) {
    ArrayRef<int64_t> shape = op.getAcc().getType().getShape();
    Value all = index(0);
    for (auto [d, place] : llvm::enumerate(point))
      if (llvm::is_contained(op.getDims(), int64_t(d)) == ofTerms)
        all = arith::AddIOp::create(
            w.b, arith::MulIOp::create(w.b, all, index(shape[d])), place);
    return all;
  }
  /// So many parts behind a place.
  Value load(Value place, int64_t parts) {
    Value from = index(parts * plan.countResults());
    return memref::LoadOp::create(
        w.b, shared, arith::AddIOp::create(w.b, place, from).getResult());
  }

  void store(const Part &part, Value value) {
    int64_t first = part.elements.front();
    Value condition = plan.conditions[first];
    if (part.lanes != 0) {
      Value bits =
          arith::AndIOp::create(w.b, threads.number, index(part.lanes));
      condition = w.both(
          arith::CmpIOp::create(w.b, arith::CmpIPredicate::eq, bits, index(0)),
          condition);
    }
    OpBuilder::InsertionGuard guard(w.b);
    if (condition) {
      auto branch = scf::IfOp::create(w.b, condition, /*withElseRegion=*/false);
      w.b.setInsertionPointToStart(branch.thenBlock());
    }
    Value place = arith::DivUIOp::create(
        w.b, number(plan.points[first], /*ofTerms=*/true), index(plan.step));
    place = arith::MulIOp::create(w.b, place, index(plan.countResults()));
    place = arith::AddIOp::create(
        w.b, place, number(plan.points[first], /*ofTerms=*/false));
    memref::StoreOp::create(w.b, value, shared, place);
  }

  /// Of `count` parts of each result the first few, each combined with those
  /// that lie `next` apart; nobody else reads what a thread writes here.
  int64_t combineShared(int64_t count) {
    int64_t next = llvm::divideCeil(count, mostAtOnce);
    auto loop = scf::ForOp::create(w.b, threads.number,
                                   index(plan.countResults() * next),
                                   index(threads.count));
    {
      OpBuilder::InsertionGuard guard(w.b);
      w.b.setInsertionPointToStart(loop.getBody());
      Value place = loop.getInductionVar();
      SmallVector<Value> tree;
      for (int64_t first = 0; first + next <= count; first += next)
        tree.push_back(load(place, first));
      Value value = combineAll(tree);
      if (int64_t rest = count % next)
        value = combineIf(value, place, count - rest, rest);
      memref::StoreOp::create(w.b, value, shared, place);
    }
    gpu::BarrierOp::create(w.b);
    return next;
  }
  /// With what lies `first` parts behind a place, where that is one of `rest`.
  Value combineIf(Value value, Value place, int64_t first, int64_t rest) {
    Value exists = arith::CmpIOp::create(w.b, arith::CmpIPredicate::ult, place,
                                         index(rest * plan.countResults()));
    auto branch = scf::IfOp::create(w.b, TypeRange(value.getType()), exists,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(w.b);
    w.b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(w.b, combine(value, load(place, first)));
    w.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(w.b, value);
    return branch.getResult(0);
  }

  tile::ReduceOp op;
  ThreadWriter &w;
  const Threads &threads;
  ReductionPlan plan;
  Share to;
  Value shared;
};

struct DistributeReduce : ThreadPattern<tile::ReduceOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadWriter w(op, rewriter);
    SmallVector<Value> results =
        threads.shuffles ? Reducer(op, w, threads).reduce(adaptor.getAcc())
                         : reduceAlone(op, adaptor.getAcc(), w);
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  /// A thread combines all terms of a result that it has. Where lanes do not
  /// exchange values, a driver may run them in turn, and keep what each has at
  /// a barrier, of which this has two.
  SmallVector<Value> reduceAlone(tile::ReduceOp op, ValueRange own,
                                 ThreadWriter &w) const {
    tile::AccType from = op.getAcc().getType();
    Share share = shareOf(op.getResult());
    Value shared = w.exchange(own, shareOf(op.getAcc()), from);
    SmallVector<OpFoldResult> basis;
    int64_t terms = 1;
    for (int64_t d : op.getDims()) {
      basis.push_back(w.b.getIndexAttr(from.getShape()[d]));
      terms *= from.getShape()[d];
    }
    SmallVector<Value> results;
    for (int64_t i = 0; i != share.count(); ++i) {
      SmallVector<Value> point = share.safePoint(w.b, i);
      Value first = memref::LoadOp::create(w.b, shared, point);
      auto loop = scf::ForOp::create(
          w.b, arith::ConstantIndexOp::create(w.b, 1),
          arith::ConstantIndexOp::create(w.b, terms),
          arith::ConstantIndexOp::create(w.b, 1), ValueRange(first));
      OpBuilder::InsertionGuard guard(w.b);
      w.b.setInsertionPointToStart(loop.getBody());
      auto place = affine::AffineDelinearizeIndexOp::create(
          w.b, loop.getInductionVar(), basis);
      SmallVector<Value> at(point);
      for (auto [d, index] : llvm::zip(op.getDims(), place.getResults()))
        at[d] = index;
      Value term = memref::LoadOp::create(w.b, shared, at);
      scf::YieldOp::create(
          w.b, w.apply(op.getBody().front(), {loop.getRegionIterArg(0), term}));
      results.push_back(loop.getResult(0));
    }
    w.closeExchange();
    return results;
  }
};
} // namespace

void simt::populateReductionPatterns(RewritePatternSet &patterns,
                                     const TypeConverter &converter,
                                     const Threads &threads) {
  patterns.add<DistributeReduce>(converter, patterns.getContext(), threads);
}
