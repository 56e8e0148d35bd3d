// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured ops as accumulators: what a group of threads has of them at a
// time, and loops around it. What lies beyond the end of a dim is masked.
#include "BoxView.h"
#include "CutKernel.h"
#include "ashlar/Analysis/Combinations.h"
#include "ashlar/Analysis/VectorBodies.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "ashlar/Transforms/Tile/MemoryUses.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_TILEGENERICSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
class GenericTiler {
public:
  GenericTiler(linalg::GenericOp op, int64_t most)
      : op(op), b(op.getLoc(), op), most(most),
        ranges(op.getStaticLoopRanges()), isReduced(op.getNumLoops()) {
    for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      isReduced[d] = kind == utils::IteratorType::reduction;
  }

  /// Why it stays as it is; empty: it need not.
  std::string whyNot() {
    if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0)
      return "expected loops over memory";
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (type && !type.getElementType().isIntOrFloat())
        return "expected elements that are integers or floats";
      if (!isLinear(mapOf(&operand)))
        return "expected operands that lie at sums of multiples of dims";
    }
    for (Operation &inner : *op.getBlock())
      if (inner.getNumRegions() != 0)
        return "expected a body without branches";
    for (unsigned out = 0; out != op.getNumDpsInits(); ++out) {
      AffineMap map = mapOf(op.getDpsInitOperand(out));
      if (!map.isProjectedPermutation())
        return "expected results that lie at dims of the loops";
      for (unsigned d = 0; d != ranges.size(); ++d)
        if (map.isFunctionOfDim(d) == isReduced[d])
          return "expected each result to lie at all parallel dims, and at no "
                 "other";
      if (op.getNumReductionLoops() == 0)
        continue;
      std::optional<Combination> found = combinationOf(op, out);
      if (!found || llvm::any_of(op.getRegionOutputArgs(), [&](Value before) {
            return found->term == before || reads(found->term, before);
          }))
        return "expected reductions by one op that may go in any order";
      combinations.push_back(*found);
    }
    return "";
  }

  void run() {
    chooseTiles();
    if (!llvm::is_contained(ranges, 0)) {
      auto loops = cast<linalg::LinalgOp>(op.getOperation());
      for (Range range : loops.createLoopRanges(b, b.getLoc()))
        extents.push_back(range.size);
      at.assign(ranges.size(), b.getIndexAttr(0));
      for (unsigned d = 0; d != ranges.size(); ++d)
        dims.push_back(d);
      emitParallel(0);
    }
    op.erase();
  }

private:
  AffineMap mapOf(OpOperand *operand) {
    return op.getMatchingIndexingMap(operand);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value valueOf(OpFoldResult place) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), place);
  }

  /// A power of two, where one divides the range: all threads have as much.
  static int64_t tileOf(int64_t range, int64_t most, bool isLast) {
    int64_t size = boxSize(range, most);
    // Of divisors that are hardly less one of whole vectors.
    for (int64_t step : {8, 4})
      if (int64_t vectors = boxSize(range / step, most / step);
          isLast && most >= 16 * step && range % step == 0 &&
          range / step % vectors == 0 && 5 * vectors * step >= 4 * size) {
        size = vectors * step;
        break;
      }
    int64_t even =
        std::min<int64_t>(llvm::bit_floor(uint64_t(most)), range & -range);
    return size != range && 2 * even >= size ? even : size;
  }

  /// Innermost dims first, as many of them as an accumulator may have.
  void chooseTiles() {
    constexpr int64_t mostOfOpen = 32;
    int64_t left = most;
    tiles.resize(ranges.size());
    for (unsigned d = ranges.size(); d-- != 0;) {
      tiles[d] = ShapedType::isDynamic(ranges[d])
                     ? std::min(left, largestOf(d).value_or(mostOfOpen))
                     : tileOf(ranges[d], left, d + 1 == ranges.size());
      left /= std::max<int64_t>(1, tiles[d]);
    }
  }

  /// Of a dim of which boxes have as much as there is; nullopt: not known.
  std::optional<int64_t> largestOf(unsigned d) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()))
        for (auto [i, expr] : llvm::enumerate(mapOf(&operand).getResults()))
          if (expr == b.getAffineDimExpr(d))
            if (OpFoldResult size = findDim(operand.get(), i))
              return isParameter(size) ? std::nullopt : largestSize(size);
    return std::nullopt;
  }
  static bool isParameter(OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value && parameterOf(value);
  }

  bool isCut(unsigned d) {
    return ShapedType::isDynamic(ranges[d]) || tiles[d] < ranges[d];
  }
  bool hasEdge(unsigned d) { return d != whole && isUneven(d); }
  /// Whether tiles of the dim are not all of one size.
  bool isUneven(unsigned d) {
    return ShapedType::isDynamic(ranges[d]) || ranges[d] % tiles[d] != 0;
  }
  bool hasEdge(bool ofReduced) {
    return llvm::any_of(dims, [&](unsigned d) {
      return bool(isReduced[d]) == ofReduced && hasEdge(d);
    });
  }

  /// How many points of the present tile exist; null: all.
  OpFoldResult countIn(unsigned d) {
    return hasEdge(d) ? countBefore(b, b.getLoc(), tiles[d], at[d], extents[d])
                      : OpFoldResult();
  }

  /// Of the present tile.
  BoxView view(OpOperand *operand) {
    return viewOfBox(b, operand->get(), mapOf(operand), at, dims, tiles,
                     [&](unsigned d) { return countIn(d); });
  }

  //===-- Values ----------------------------------------------------------===//
  SmallVector<int64_t> shapeOf(bool ofResults) {
    SmallVector<int64_t> shape(tiles);
    for (unsigned d : dims)
      if (ofResults && isReduced[d])
        shape[d] = 1;
    return shape;
  }
  tile::AccType typeOf(Type element, bool ofResults) {
    return tile::AccType::get(b.getContext(), shapeOf(ofResults), element, {},
                              {}, {});
  }
  Type elementOf(OpOperand *out) {
    return cast<MemRefType>(out->get().getType()).getElementType();
  }
  AffineMap identity() { return b.getMultiDimIdentityMap(dims.size()); }

  /// The ops of the body that `value` is made by, in their order.
  SmallVector<Operation *> opsOf(Value value) {
    SetVector<Operation *> found;
    SmallVector<Value> open = {value};
    while (!open.empty()) {
      Operation *made = open.pop_back_val().getDefiningOp();
      if (made && made->getBlock() == op.getBlock() && found.insert(made))
        llvm::append_range(open, made->getOperands());
    }
    SmallVector<Operation *> all(found.getArrayRef());
    llvm::sort(
        all, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    return all;
  }

  bool reads(Value value, Value argument) {
    return llvm::any_of(opsOf(value), [&](Operation *inner) {
      return llvm::is_contained(inner->getOperands(), argument);
    });
  }

  /// A map of accumulators and memory whose body `write` writes.
  Value map(tile::AccType type, ValueRange inputs, ArrayRef<AffineMap> maps,
            llvm::function_ref<Value(ValueRange)> write) {
    auto made = tile::MapOp::create(b, type, inputs,
                                    b.getAffineMapArrayAttr(maps), padded());
    fillBody(made.getBody(), inputs, write);
    return made;
  }
  bool padded() { return hasEdge(false) || hasEdge(true); }

  void fillBody(Region &region, ValueRange inputs,
                llvm::function_ref<Value(ValueRange)> write) {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> types;
    for (Value input : inputs)
      types.push_back(
          isa<tile::AccType>(input.getType())
              ? cast<tile::AccType>(input.getType()).getElementType()
              : cast<MemRefType>(input.getType()).getElementType());
    Block *body = b.createBlock(
        &region, {}, types, SmallVector<Location>(types.size(), b.getLoc()));
    tile::YieldOp::create(b, write(body->getArguments()));
  }

  /// What the op's body makes of the present tile: `value`, a result of it or
  /// what is reduced. Beyond the end of a reduced dim: `neutral`, if there is
  /// one.
  Value emitBody(Value value, TypedAttr neutral) {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    SmallVector<BlockArgument> arguments;
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (argument != value && !reads(value, argument))
        continue;
      if (!isa<MemRefType>(operand.get().getType())) {
        mapping.map(argument, operand.get());
        continue;
      }
      BoxView part = view(&operand);
      inputs.push_back(part.memory);
      maps.push_back(part.map);
      arguments.push_back(argument);
    }
    SmallVector<Value> begins;
    for (OpFoldResult begin : at)
      begins.push_back(valueOf(begin));
    SmallVector<Value> ends(dims.size());
    for (unsigned d : dims)
      if (hasEdge(d))
        ends[d] = valueOf(countIn(d));
    return map(typeOf(value.getType(), false), inputs, maps,
               [&](ValueRange elements) {
                 mapping.map(arguments, elements);
                 for (Operation *inner : opsOf(value))
                   emitInner(inner, begins, ends, mapping);
                 Value made = mapping.lookupOrDefault(value);
                 for (unsigned d : dims)
                   if (neutral && isReduced[d] && ends[d])
                     made = chooseInside(d, ends[d], made, neutral);
                 return made;
               });
  }
  void emitInner(Operation *inner, ArrayRef<Value> begins, ArrayRef<Value> ends,
                 IRMapping &mapping) {
    auto place = dyn_cast<linalg::IndexOp>(inner);
    if (!place) {
      b.clone(*inner, mapping);
      return;
    }
    unsigned d = place.getDim();
    Value own = tile::IndexOp::create(b, b.getIndexType(), d);
    // A point beyond the end is the last one: what the body reads by its place
    // is there then.
    if (ends[d]) {
      Value last = arith::SubIOp::create(b, ends[d], index(1));
      own = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, own, last),
                                   index(0));
    }
    mapping.map(place.getResult(),
                arith::AddIOp::create(b, begins[d], own).getResult());
  }
  Value chooseInside(unsigned d, Value end, Value value, TypedAttr neutral) {
    Value place = tile::IndexOp::create(b, b.getIndexType(), d);
    Value isInside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, end);
    Value other = arith::ConstantOp::create(b, neutral);
    return arith::SelectOp::create(b, isInside, value, other);
  }

  Value combineAll(const Combination &by, Value x, Value y) {
    return map(cast<tile::AccType>(x.getType()), {x, y},
               {identity(), identity()},
               [&](ValueRange both) { return by.write(b, both[0], both[1]); });
  }

  void drain(Value acc, OpOperand *out) {
    BoxView target = view(out);
    auto made =
        tile::DrainOp::create(b, acc, /*epilogue=*/ValueRange(), target.memory,
                              b.getAffineMapArrayAttr({target.map}),
                              /*clipped=*/hasEdge(false));
    fillBody(made.getBody(), acc, [](ValueRange x) { return x[0]; });
  }

  //===-- Loops -----------------------------------------------------------===//
  /// Loops over the tiles of a dim that carry `values`. Where no other dim has
  /// an edge, whole tiles have a loop without masks.
  SmallVector<Value>
  emitLoop(unsigned d, ValueRange values,
           llvm::function_ref<SmallVector<Value>(ValueRange)> emit) {
    bool isAlone = llvm::count_if(dims, [&](unsigned other) {
                     return isUneven(other);
                   }) == 1;
    if (!isUneven(d) || !isAlone)
      return emitLoop(d, b.getIndexAttr(0), extents[d], values, emit);
    OpFoldResult end = affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), b.getAffineSymbolExpr(0).floorDiv(tiles[d]) * tiles[d],
        {extents[d]});
    whole = d;
    SmallVector<Value> next = emitLoop(d, b.getIndexAttr(0), end, values, emit);
    whole = std::nullopt;
    return emitLoop(d, end, extents[d], next, emit);
  }
  SmallVector<Value>
  emitLoop(unsigned d, OpFoldResult begin, OpFoldResult end, ValueRange values,
           llvm::function_ref<SmallVector<Value>(ValueRange)> emit) {
    auto loop = scf::ForOp::create(b, valueOf(begin), valueOf(end),
                                   index(tiles[d]), values);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    OpFoldResult outside = at[d];
    at[d] = loop.getInductionVar();
    SmallVector<Value> next = emit(loop.getRegionIterArgs());
    at[d] = outside;
    if (!values.empty())
      scf::YieldOp::create(b, next);
    return loop.getResults();
  }

  void emitParallel(unsigned d) {
    while (d != dims.size() && (isReduced[d] || !isCut(d)))
      ++d;
    if (d == dims.size()) {
      combinations.empty() ? emitElements() : emitReductions();
      return;
    }
    (void)emitLoop(d, {}, [&](ValueRange) {
      emitParallel(d + 1);
      return SmallVector<Value>();
    });
  }

  void emitElements() {
    SmallVector<Value> all;
    for (Value value : op.getBlock()->getTerminator()->getOperands())
      all.push_back(emitBody(value, {}));
    for (auto [acc, out] : llvm::zip_equal(
             all, llvm::make_pointer_range(op.getDpsInitsMutable())))
      drain(acc, out);
  }

  /// Each element of the accumulators takes every so many-th term; then those
  /// of a result are combined, and with what lies in memory.
  void emitReductions() {
    SmallVector<Value> totals;
    for (const Combination &each : combinations) {
      Value neutral = arith::ConstantOp::create(b, each.neutral);
      totals.push_back(
          tile::InitOp::create(b, typeOf(each.term.getType(), false), neutral));
    }
    totals = emitReduced(0, totals);
    SmallVector<int64_t> reduced;
    for (unsigned d : dims)
      if (isReduced[d])
        reduced.push_back(d);
    SmallVector<Value> results;
    for (unsigned i = 0; i != combinations.size(); ++i) {
      const Combination &each = combinations[i];
      tile::AccType type = typeOf(each.term.getType(), true);
      auto own = tile::ReduceOp::create(b, type, totals[i],
                                        b.getDenseI64ArrayAttr(reduced));
      fillBody(
          own.getBody(), SmallVector<Value>(2, totals[i]),
          [&](ValueRange both) { return each.write(b, both[0], both[1]); });
      BoxView before = view(op.getDpsInitOperand(i));
      Value old = tile::LoadOp::create(b, type, before.memory, before.map,
                                       /*padded=*/hasEdge(false));
      results.push_back(combineAll(each, old, own));
    }
    for (auto [i, result] : llvm::enumerate(results))
      drain(result, op.getDpsInitOperand(i));
  }

  SmallVector<Value> emitReduced(unsigned d, ValueRange totals) {
    while (d != dims.size() && (!isReduced[d] || !isCut(d)))
      ++d;
    if (d != dims.size())
      return emitLoop(d, totals, [&](ValueRange inner) {
        return emitReduced(d + 1, inner);
      });
    SmallVector<Value> next;
    for (auto [each, total] : llvm::zip_equal(combinations, totals))
      next.push_back(
          combineAll(each, total, emitBody(each.term, each.neutral)));
    return next;
  }

  linalg::GenericOp op;
  ImplicitLocOpBuilder b;
  int64_t most;
  SmallVector<int64_t> ranges, tiles;
  SmallVector<char> isReduced;
  SmallVector<Combination> combinations;
  SmallVector<OpFoldResult> extents, at;
  SmallVector<unsigned> dims;
  std::optional<unsigned> whole; ///< the dim of which present tiles are whole
};

struct TileGenerics : ashlar::impl::TileGenericsPassBase<TileGenerics> {
  using TileGenericsPassBase::TileGenericsPassBase;

  /// Whether all that the function does becomes accumulators.
  bool isWhole(ArrayRef<linalg::GenericOp> ops) {
    for (linalg::GenericOp op : ops)
      if (std::string why = GenericTiler(op, elements).whyNot(); !why.empty()) {
        remark::missed(op.getLoc(), about(op, "Generic", "tile"))
            << "each part of its kernel is one thread's work: " << why;
        return false;
      }
    Operation *other = nullptr;
    getOperation().getBody().walk([&](Operation *op) {
      // What was planned for one thread is not whole for many.
      auto contract = dyn_cast<tile::ContractOp>(op);
      bool isOneThreads = contract && (!contract.getStrategyAttr() ||
                                       !contract.getStrategyAttr().isShared());
      auto alloc = dyn_cast<memref::AllocOp>(op);
      bool isKnown = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                     (alloc && alloc.getType().hasStaticShape()) ||
                     isa<linalg::GenericOp, linalg::YieldOp>(op) ||
                     isa<tile::TileDialect>(op->getDialect()) ||
                     op->getParentOfType<tile::ContractOp>() ||
                     op->getParentOfType<linalg::GenericOp>() ||
                     isMemoryEffectFree(op);
      if (!isOneThreads && isKnown)
        return WalkResult::advance();
      other = op;
      return WalkResult::interrupt();
    });
    if (other)
      remark::missed(other->getLoc(), about(other, "Generic", "tile"))
          << "each part of its kernel is one thread's work: "
          << other->getName().getStringRef()
          << (isa<tile::ContractOp>(other) ? " was planned for one"
                                           : " has no form for many");
    return !other;
  }

  void runOnOperation() override {
    if (elements < 1 || elements > 1 << 24) {
      getOperation().emitError("expected 'elements' of 1 to 16777216, found ")
          << elements.getValue();
      return signalPassFailure();
    }
    if (whole)
      return formWhole();
    tileAll(genericsOf());
  }

private:
  SmallVector<linalg::GenericOp> genericsOf() {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    return ops;
  }

  /// Of the dims in the places of a map that has each of them once; empty: it
  /// has not.
  static SmallVector<unsigned> orderOf(AffineMap map) {
    SmallVector<unsigned> order;
    for (AffineExpr expr : map.getResults())
      for (unsigned d = 0; d != map.getNumDims(); ++d)
        if (expr.isFunctionOfDim(d)) {
          if (llvm::is_contained(order, d))
            return {};
          order.push_back(d);
        }
    if (order.size() != map.getNumDims())
      order.clear();
    return order;
  }

  /// Loops of a reduction in the order in which its largest input lies, so that
  /// what is innermost in tiles is so in memory.
  static linalg::GenericOp orderLoops(linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      return op;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      SmallVector<unsigned> order = orderOf(map);
      if (order.empty())
        continue;
      if (llvm::is_sorted(order))
        return op;
      IRRewriter rewriter(op);
      FailureOr<linalg::GenericOp> moved =
          linalg::interchangeGenericOp(rewriter, op, order);
      return succeeded(moved) ? *moved : op;
    }
    return op;
  }

  /// What is done once, such as what follows the sum of a whole tensor, is a
  /// loop of one iteration: threads know loops alone.
  static void giveLoops(func::FuncOp function) {
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) {
      if (op.getNumLoops() == 0 && op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (linalg::GenericOp op : ops) {
      OpBuilder b(op);
      SmallVector<AffineMap> maps;
      bool hasMemory = false;
      for (OpOperand &operand : op->getOpOperands()) {
        AffineMap map = op.getMatchingIndexingMap(&operand);
        SmallVector<AffineExpr> place(map.getResults());
        auto type = dyn_cast<MemRefType>(operand.get().getType());
        if (type && type.getRank() == 0) {
          operand.set(memref::ExpandShapeOp::create(
              b, op.getLoc(), ArrayRef<int64_t>{1}, operand.get(),
              ArrayRef<ReassociationIndices>()));
          place.push_back(b.getAffineDimExpr(0));
          hasMemory = true;
        }
        maps.push_back(AffineMap::get(1, 0, place, b.getContext()));
      }
      if (!hasMemory)
        continue;
      op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
      op.setIteratorTypesAttr(b.getArrayAttr(linalg::IteratorTypeAttr::get(
          b.getContext(), utils::IteratorType::parallel)));
    }
  }

  /// Of memory that said how far loops go, and nothing else, there is no need
  /// any more.
  static void eraseUnread(func::FuncOp function) {
    SmallVector<Operation *> unread;
    do {
      for (Operation *op : unread)
        op->erase();
      unread.clear();
      function.walk([&](Operation *op) {
        if (isa<memref::AllocOp, ViewLikeOpInterface>(op) && op->use_empty())
          unread.push_back(op);
      });
    } while (!unread.empty());
  }

  void tileAll(ArrayRef<linalg::GenericOp> ops) {
    for (linalg::GenericOp op : ops) {
      op = orderLoops(op);
      GenericTiler tiler(op, elements);
      std::string why = tiler.whyNot();
      if (why.empty())
        tiler.run();
      else
        remark::missed(op.getLoc(), about(op, "Generic", "tile"))
            << "stays loops over single elements: " << why;
    }
  }

  /// All of the function, or nothing of it: then it is one thread's.
  void formWhole() {
    func::FuncOp function = getOperation();
    OwningOpRef<func::FuncOp> before = function.clone();
    boundAllocations(function);
    giveLoops(function);
    SmallVector<linalg::GenericOp> ops = genericsOf();
    if (isWhole(ops)) {
      tileAll(ops);
      eraseUnread(function);
      int64_t bytes = memory == 0 ? 0 : sharedBytes(function);
      if (bytes <= memory) {
        function->setAttr(threadsAttrName, UnitAttr::get(&getContext()));
        return;
      }
      remark::missed(function.getLoc(), about(function, "Generic", "tile"))
          << "each part of its kernel is one thread's work: "
          << remark::metric("Bytes", bytes)
          << " bytes of shared memory would be in use at one time, of "
          << remark::metric("MostBytes", memory.getValue());
    }
    function.getBody().takeBody(before->getBody());
    function.walk([](tile::ContractOp op) {
      if (op.getStrategyAttr() && op.getStrategyAttr().isShared())
        op.removeStrategyAttr();
    });
  }
};
} // namespace
