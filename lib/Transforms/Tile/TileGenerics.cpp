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
#include "ashlar/Transforms/Tile/MemoryUses.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include "mlir/Analysis/SliceAnalysis.h"
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

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_TILEGENERICSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// What one output of a reduction is combined by.
struct Combination {
  Value term;    ///< of the body: what joins the value so far
  Operation *op; ///< of the body: the two in one
  TypedAttr neutral;
};

/// Of a chain of one op, whose order does not matter.
std::optional<Combination> combinationOf(linalg::GenericOp op, unsigned out) {
  SmallVector<Operation *, 4> chain;
  Value term = matchReduction(op.getRegionOutputArgs(), out, chain);
  if (!term || chain.size() != 1)
    return std::nullopt;
  std::optional<TypedAttr> neutral = neutralOf(chain[0]);
  if (!neutral)
    return std::nullopt;
  return Combination{term, chain[0], *neutral};
}

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
  static int64_t tileOf(int64_t range, int64_t most) {
    int64_t size = boxSize(range, most);
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
      tiles[d] = ShapedType::isDynamic(ranges[d]) ? std::min(left, mostOfOpen)
                                                  : tileOf(ranges[d], left);
      left /= std::max<int64_t>(1, tiles[d]);
    }
  }

  bool isCut(unsigned d) {
    return ShapedType::isDynamic(ranges[d]) || tiles[d] < ranges[d];
  }
  bool hasEdge(unsigned d) {
    return ShapedType::isDynamic(ranges[d]) || ranges[d] % tiles[d] != 0;
  }
  bool hasEdge(bool ofReduced) {
    return llvm::any_of(dims, [&](unsigned d) {
      return bool(isReduced[d]) == ofReduced && hasEdge(d);
    });
  }

  /// How many points of the present tile exist; null: all.
  OpFoldResult countIn(unsigned d) {
    if (!hasEdge(d))
      return {};
    return affine::makeComposedFoldedAffineMin(
        b, b.getLoc(),
        AffineMap::get(1, 1,
                       {b.getAffineConstantExpr(tiles[d]),
                        b.getAffineSymbolExpr(0) - b.getAffineDimExpr(0)},
                       b.getContext()),
        {at[d], extents[d]});
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

  /// `before` and `term`, combined as the op combines an output.
  Value combine(const Combination &by, Value before, Value term) {
    IRMapping mapping;
    for (Value operand : by.op->getOperands())
      mapping.map(operand, operand == by.term ? term : before);
    return b.clone(*by.op, mapping)->getResult(0);
  }
  Value combineAll(const Combination &by, Value x, Value y) {
    return map(cast<tile::AccType>(x.getType()), {x, y},
               {identity(), identity()},
               [&](ValueRange both) { return combine(by, both[0], both[1]); });
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
  /// A loop over the tiles of a dim that carries `values`.
  SmallVector<Value>
  emitLoop(unsigned d, ValueRange values,
           llvm::function_ref<SmallVector<Value>(ValueRange)> emit) {
    auto loop = scf::ForOp::create(b, index(0), valueOf(extents[d]),
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
          [&](ValueRange both) { return combine(each, both[0], both[1]); });
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

  /// Loops of a reduction in the order in which its largest input lies, so that
  /// what is innermost in tiles is so in memory.
  static linalg::GenericOp orderLoops(linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      return op;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (!map.isPermutation())
        continue;
      if (map.isIdentity())
        return op;
      SmallVector<unsigned> order;
      for (AffineExpr expr : map.getResults())
        order.push_back(cast<AffineDimExpr>(expr).getPosition());
      IRRewriter rewriter(op);
      FailureOr<linalg::GenericOp> moved =
          linalg::interchangeGenericOp(rewriter, op, order);
      return succeeded(moved) ? *moved : op;
    }
    return op;
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
    SmallVector<linalg::GenericOp> ops = genericsOf();
    OwningOpRef<func::FuncOp> before = function.clone();
    boundAllocations(function);
    if (isWhole(ops)) {
      tileAll(ops);
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
