// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ops of the tile dialect mean, in loops over single elements. It is
// what other lowerings are compared with, so it is written to be read: nothing
// is shared, reordered or kept in place.
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/Transforms/Tile/ConvertAccumulators.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_TILETOLOOPSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// Writes loops, loads and products.
class LoopWriter {
public:
  LoopWriter(Location location, OpBuilder &builder) : b(location, builder) {}

  /// A loop per size; `body` gets a point. Leaves the builder behind them.
  void forEach(ArrayRef<int64_t> sizes,
               llvm::function_ref<void(ValueRange point)> body) {
    forEach(valuesOf(sizes), body);
  }
  void forEach(ValueRange sizes,
               llvm::function_ref<void(ValueRange point)> body) {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Value> point;
    for (Value size : sizes) {
      auto loop = scf::ForOp::create(b, index(0), size, index(1));
      b.setInsertionPointToStart(loop.getBody());
      point.push_back(loop.getInductionVar());
    }
    body(point);
  }

  /// The value of `start` after `body` over all points, which gets the value so
  /// far and gives the next.
  Value sumOver(ArrayRef<int64_t> sizes, Value start,
                llvm::function_ref<Value(Value sum, ValueRange point)> body) {
    return sumOver(valuesOf(sizes), start, body);
  }
  Value sumOver(ValueRange sizes, Value start,
                llvm::function_ref<Value(Value sum, ValueRange point)> body) {
    SmallVector<Value> point;
    return sumFrom(sizes, point, start, body);
  }

  /// Constants, or, where there is one, what `open` has.
  SmallVector<Value> valuesOf(ArrayRef<int64_t> sizes,
                              ArrayRef<Value> open = {}) {
    SmallVector<Value> values;
    for (auto [i, size] : llvm::enumerate(sizes))
      values.push_back(i < open.size() && open[i] ? open[i] : index(size));
    return values;
  }

  Value load(Value memory, AffineMap map, ValueRange point) {
    return memref::LoadOp::create(b, memory, at(map, point));
  }
  void store(Value value, Value memory, AffineMap map, ValueRange point) {
    memref::StoreOp::create(b, value, memory, at(map, point));
  }

  /// Whether the place of a point lies in front of the memory's end, where it
  /// never lies in front of its beginning; without a sign, within both.
  Value isInside(Value memory, AffineMap map, ValueRange point,
                 arith::CmpIPredicate below = arith::CmpIPredicate::slt) {
    Value inside = arith::ConstantIntOp::create(b, true, 1);
    for (auto [d, place] : llvm::enumerate(at(map, point))) {
      Value end = memref::DimOp::create(b, memory, d);
      inside = arith::AndIOp::create(
          b, inside, arith::CmpIOp::create(b, below, place, end));
    }
    return inside;
  }
  /// What `body` gives where `condition` holds, else `other`.
  Value choose(Value condition, llvm::function_ref<Value()> body, Value other) {
    return scf::IfOp::create(
               b, condition,
               [&](OpBuilder &inner, Location) {
                 OpBuilder::InsertionGuard guard(b);
                 b.setInsertionPoint(inner.getInsertionBlock(),
                                     inner.getInsertionPoint());
                 scf::YieldOp::create(b, body());
               },
               [&](OpBuilder &inner, Location location) {
                 scf::YieldOp::create(inner, location, other);
               })
        .getResult(0);
  }

  /// The element at a point, zero outside of the memory.
  Value loadPadded(Value memory, AffineMap map, ValueRange point) {
    Value zero = arith::ConstantOp::create(
        b, b.getZeroAttr(cast<MemRefType>(memory.getType()).getElementType()));
    return choose(
        isInside(memory, map, point), [&] { return load(memory, map, point); },
        zero);
  }

  Value add(Value x, Value y) {
    if (isa<FloatType>(x.getType()))
      return arith::AddFOp::create(b, x, y);
    return arith::AddIOp::create(b, x, y);
  }

  /// sum + x * y, both factors as the sum's type first.
  Value addProduct(Value sum, Value x, bool xUnsigned, Value y,
                   bool yUnsigned) {
    x = extend(x, sum.getType(), xUnsigned);
    y = extend(y, sum.getType(), yUnsigned);
    if (isa<FloatType>(sum.getType()))
      return add(sum, arith::MulFOp::create(b, x, y));
    return add(sum, arith::MulIOp::create(b, x, y));
  }

  /// What `body` yields for `arguments` at a point.
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

  ImplicitLocOpBuilder b;

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  SmallVector<Value> at(AffineMap map, ValueRange point) {
    SmallVector<Value> place;
    for (AffineExpr expr : map.getResults())
      place.push_back(affine::AffineApplyOp::create(
          b, AffineMap::get(map.getNumDims(), 0, expr), point));
    return place;
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

  Value sumFrom(ValueRange sizes, SmallVector<Value> &point, Value start,
                llvm::function_ref<Value(Value sum, ValueRange point)> body) {
    if (point.size() == sizes.size())
      return body(start, point);
    auto loop =
        scf::ForOp::create(b, index(0), sizes[point.size()], index(1), start);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    point.push_back(loop.getInductionVar());
    Value next = sumFrom(sizes, point, loop.getRegionIterArg(0), body);
    point.pop_back();
    scf::YieldOp::create(b, next);
    return loop.getResult(0);
  }
};

SmallVector<Value> joined(ValueRange x, ValueRange y) {
  SmallVector<Value> both(x);
  llvm::append_range(both, y);
  return both;
}

void expandContract(tile::ContractOp op, OpBuilder &builder) {
  LoopWriter w(op.getLoc(), builder);
  Value init = op.getInit();
  if (op.getPadAttr()) {
    Value pad = arith::ConstantOp::create(w.b, *op.getPad());
    auto type = cast<MemRefType>(init.getType());
    w.forEach(type.getShape(), [&](ValueRange point) {
      memref::StoreOp::create(w.b, pad, init, point);
    });
  }
  SmallVector<Value> open = openDims(op);
  SmallVector<Value> parallel = w.valuesOf(op.getParallel(), open),
                     reduced = w.valuesOf(
                         op.getReduced(),
                         ArrayRef(open).drop_front(op.getParallel().size()));
  // Factors may end in front of their dims.
  auto read = [&](Value memory, AffineMap map, ValueRange point) {
    bool mayEnd = false;
    for (auto [own, size] : llvm::zip(open, sizesAlong(memory, map)))
      mayEnd |= size && !own;
    return mayEnd ? w.loadPadded(memory, map, point)
                  : w.load(memory, map, point);
  };
  w.forEach(parallel, [&](ValueRange at) {
    Value zero = arith::ConstantOp::create(
        w.b, w.b.getZeroAttr(op.getAccumulatorType()));
    Value sum = w.sumOver(reduced, zero, [&](Value sum, ValueRange term) {
      SmallVector<Value> point = joined(at, term);
      return w.addProduct(
          sum, read(op.getA(), op.getAMap(), point), op.getAUnsigned(),
          read(op.getB(), op.getBMap(), point), op.getBUnsigned());
    });
    SmallVector<Value> arguments = {sum};
    for (auto [i, operand] : llvm::enumerate(op.getEpilogue()))
      arguments.push_back(w.load(operand, op.getEpilogueMap(i), at));
    w.store(w.apply(op.getBody().front(), arguments), init, op.getResultMap(),
            at);
  });
}

MemRefType bufferOf(tile::AccType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Memory for `acc` with the value that `body` gives for each of its points.
Value newAccumulator(LoopWriter &w, Value acc,
                     llvm::function_ref<Value(ValueRange point)> body) {
  MemRefType type = bufferOf(cast<tile::AccType>(acc.getType()));
  Value memory = memref::AllocOp::create(w.b, type);
  w.forEach(type.getShape(), [&](ValueRange point) {
    memref::StoreOp::create(w.b, body(point), memory, point);
  });
  return memory;
}

struct InitToLoops : OpConversionPattern<tile::InitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::InitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LoopWriter w(op.getLoc(), rewriter);
    rewriter.replaceOp(op, newAccumulator(w, op.getAcc(), [&](ValueRange) {
                         return op.getValue();
                       }));
    return success();
  }
};

struct LoadToLoops : OpConversionPattern<tile::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::LoadOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LoopWriter w(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, newAccumulator(w, op.getAcc(), [&](ValueRange point) {
          return op.getPadded()
                     ? w.loadPadded(op.getMemory(), op.getMap(), point)
                     : w.load(op.getMemory(), op.getMap(), point);
        }));
    return success();
  }
};

struct AddToLoops : OpConversionPattern<tile::AddOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::AddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LoopWriter w(op.getLoc(), rewriter);
    auto element = [&](Value memory, ValueRange point) -> Value {
      return memref::LoadOp::create(w.b, memory, point);
    };
    rewriter.replaceOp(op,
                       newAccumulator(w, op.getSum(), [&](ValueRange point) {
                         return w.add(element(adaptor.getTotal(), point),
                                      element(adaptor.getPart(), point));
                       }));
    return success();
  }
};

struct MapToLoops : OpConversionPattern<tile::MapOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::MapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LoopWriter w(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, newAccumulator(w, op.getAcc(), [&](ValueRange point) {
          SmallVector<Value> arguments;
          for (unsigned i = 0; i != op.getInputs().size(); ++i) {
            Value input = adaptor.getInputs()[i];
            bool isPadded =
                op.getPadded() && isa<MemRefType>(op.getInputs()[i].getType());
            arguments.push_back(isPadded
                                    ? w.loadPadded(input, op.getMap(i), point)
                                    : w.load(input, op.getMap(i), point));
          }
          return w.apply(op.getBody().front(), arguments, point);
        }));
    return success();
  }
};

struct ReduceToLoops : OpConversionPattern<tile::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LoopWriter w(op.getLoc(), rewriter);
    ArrayRef<int64_t> shape = op.getAcc().getType().getShape();
    // The first of a row, then the others, each of which is added to it.
    Value memory =
        newAccumulator(w, op.getResult(), [&](ValueRange at) -> Value {
          return memref::LoadOp::create(w.b, adaptor.getAcc(), at);
        });
    SmallVector<AffineExpr> exprs;
    for (unsigned d = 0; d != shape.size(); ++d)
      exprs.push_back(llvm::is_contained(op.getDims(), int64_t(d))
                          ? w.b.getAffineConstantExpr(0)
                          : w.b.getAffineDimExpr(d));
    AffineMap row = AffineMap::get(shape.size(), 0, exprs, w.b.getContext());
    w.forEach(shape, [&](ValueRange at) {
      Value isLater = arith::ConstantIntOp::create(w.b, false, 1);
      for (int64_t d : op.getDims()) {
        Value zero = arith::ConstantIndexOp::create(w.b, 0);
        isLater = arith::OrIOp::create(
            w.b, isLater,
            arith::CmpIOp::create(w.b, arith::CmpIPredicate::ne, at[d], zero));
      }
      Value own = memref::LoadOp::create(w.b, adaptor.getAcc(), at);
      Value sum = w.choose(
          isLater,
          [&] {
            return w.apply(op.getBody().front(),
                           {w.load(memory, row, at), own});
          },
          own);
      w.store(sum, memory, row, at);
    });
    rewriter.replaceOp(op, memory);
    return success();
  }
};

/// In memory as a whole.
void expandDecode(tile::DecodeOp op) {
  OpBuilder builder(op);
  LoopWriter w(op.getLoc(), builder);
  auto type = cast<MemRefType>(op.getResult().getType());
  Value memory = memref::AllocOp::create(w.b, type);
  w.forEach(type.getShape(), [&](ValueRange at) {
    auto compute = [&]() -> Value {
      SmallVector<Value> arguments;
      for (auto [i, input] : llvm::enumerate(op.getInputs()))
        arguments.push_back(w.load(input, op.getMap(i), at));
      llvm::append_range(arguments, at);
      return w.apply(op.getBody().front(), arguments);
    };
    Value element;
    if (op.getPadded()) {
      Value inside = arith::ConstantIntOp::create(w.b, true, 1);
      for (auto [i, input] : llvm::enumerate(op.getInputs()))
        inside = arith::AndIOp::create(
            w.b, inside,
            w.isInside(input, op.getMap(i), at, arith::CmpIPredicate::ult));
      Value zero = arith::ConstantOp::create(
          w.b, w.b.getZeroAttr(type.getElementType()));
      element = w.choose(inside, compute, zero);
    } else {
      element = compute();
    }
    w.store(element, memory, w.b.getMultiDimIdentityMap(at.size()), at);
  });
  op.replaceAllUsesWith(memory);
  op.erase();
}

struct StepToLoops : OpConversionPattern<tile::StepOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::StepOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.isSynchronous())
      return rewriter.notifyMatchFailure(op, "expand copies first");
    LoopWriter w(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, newAccumulator(w, op.getResult(), [&](ValueRange at) {
          Value start = memref::LoadOp::create(w.b, adaptor.getAcc(), at);
          return w.sumOver(
              op.getReduced(), start, [&](Value sum, ValueRange term) {
                SmallVector<Value> point = joined(at, term);
                return w.addProduct(sum, w.load(op.getA(), op.getAMap(), point),
                                    op.getAUnsigned(),
                                    w.load(op.getB(), op.getBMap(), point),
                                    op.getBUnsigned());
              });
        }));
    return success();
  }
};

struct DrainToLoops : OpConversionPattern<tile::DrainOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::DrainOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LoopWriter w(op.getLoc(), rewriter);
    unsigned target = op.getMaps().size() - 1;
    w.forEach(op.getAcc().getType().getShape(), [&](ValueRange at) {
      OpBuilder::InsertionGuard guard(w.b);
      if (op.getClipped()) {
        auto branch = scf::IfOp::create(
            w.b, w.isInside(op.getTarget(), op.getMap(target), at),
            /*withElseRegion=*/false);
        w.b.setInsertionPointToStart(&branch.getThenRegion().front());
      }
      SmallVector<Value> arguments = {
          memref::LoadOp::create(w.b, adaptor.getAcc(), at)};
      for (auto [i, operand] : llvm::enumerate(op.getEpilogue()))
        arguments.push_back(w.load(operand, op.getMap(i), at));
      w.store(w.apply(op.getBody().front(), arguments), op.getTarget(),
              op.getMap(target), at);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct TileToLoops : ashlar::impl::TileToLoopsPassBase<TileToLoops> {
  using TileToLoopsPassBase::TileToLoopsPassBase;
  void runOnOperation() override {
    SmallVector<tile::ContractOp> contracts;
    getOperation().walk([&](tile::ContractOp op) {
      if (!unplanned || !op.getStrategyAttr())
        contracts.push_back(op);
    });
    for (tile::ContractOp op : contracts) {
      if (!isa<MemRefType>(op.getInit().getType())) {
        noteAt(op.emitOpError("expected operands in memory, found ")
                   << op.getInit().getType() << "; bufferize first",
               op.getInit().getLoc(), "the destination is here");
        return signalPassFailure();
      }
      OpBuilder builder(op);
      expandContract(op, builder);
      op.erase();
    }
    if (unplanned)
      return;
    SmallVector<tile::DecodeOp> decodes;
    getOperation().walk([&](tile::DecodeOp op) { decodes.push_back(op); });
    for (tile::DecodeOp op : decodes)
      expandDecode(op);
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](tile::AccType type) -> Type { return bufferOf(type); });
    RewritePatternSet patterns(context);
    patterns.add<InitToLoops, LoadToLoops, AddToLoops, MapToLoops,
                 ReduceToLoops, StepToLoops, DrainToLoops>(converter, context);
    if (failed(convertAccumulators(getOperation(), converter,
                                   std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
