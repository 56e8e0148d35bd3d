// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention whose groups hold scores and sums from one tile of keys to the
// next: Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018; that weights are the second product's operand where they are: Dao,
// "FlashAttention-2", 2023.
#include "BoxView.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Tile/StaticStrides.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDHELDATTENTIONPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// The dims of one product, where the present box begins and how long it is.
struct Box {
  SmallVector<OpFoldResult> at;
  SmallVector<int64_t> extents, sizes;
  /// Of accumulators: rows and columns.
  unsigned row = 0, column = 0;

  bool hasEdge(unsigned d) const { return sizes[d] % extents[d] != 0; }
};

/// What is copied of an operand, and the slot that has it.
struct Operand {
  Value memory;
  AffineMap map;
  tile::HopAttr hop;
  tile::CopyOp copy;
};

class Expander {
public:
  explicit Expander(tile::AttentionOp op)
      : op(op), b(op.getLoc(), op), type(op.getScoreType()),
        rank(op.getScoresParallel().size()), keyDim(*op.getKeyLoop()),
        columns(AffineMap::getMultiDimIdentityMap(2, op.getContext())),
        rowsAlone(AffineMap::get(
            2, 0, {b.getAffineDimExpr(0), b.getAffineConstantExpr(0)},
            op.getContext())) {}

  void run() {
    makeBoxes();
    makeOperands();
    emitGrid();
    makeRings();
    copy(queries, scores);
    tile::WaitOp::create(b, queries.copy.getToken());
    lowest = number(APFloat::getInf(semantics(), /*Negative=*/true));
    zero = number(APFloat::getZero(semantics()));
    tile::AccType sums = typeOf(values, type, op.getStrategyAttr());
    Value start[] = {tile::InitOp::create(b, sums, zero),
                     tile::InitOp::create(b, sums.getRowsAlone(), lowest),
                     tile::InitOp::create(b, sums.getRowsAlone(), zero)};
    auto loop = scf::ForOp::create(b, index(0), index(values.sizes[keyDim]),
                                   index(values.extents[keyDim]), start);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      scf::YieldOp::create(
          b, step(loop.getInductionVar(), loop.getRegionIterArgs()));
    }
    tile::ReleaseOp::create(b, queries.copy.getSlot(), ValueRange());
    finish(loop.getResult(0), loop.getResult(2));
    op.erase();
  }

private:
  //===-- What there is
  //----------------------------------------------------===//

  const llvm::fltSemantics &semantics() {
    return cast<FloatType>(type).getFloatSemantics();
  }
  Value number(const APFloat &value) {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value valueOf(OpFoldResult place) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), place);
  }

  void makeBoxes() {
    ArrayRef<int64_t> parallel = op.getParallel();
    values.sizes =
        llvm::to_vector(llvm::concat<const int64_t>(parallel, op.getReduced()));
    values.extents = values.sizes;
    values.column = parallel.size() - 1;
    for (unsigned d = 0; d != values.sizes.size(); ++d)
      for (tile::LevelKind kind :
           {tile::LevelKind::Grid, tile::LevelKind::Loop})
        if (int64_t tile = op.getTile(kind, d))
          values.extents[d] = tile;
    for (unsigned d = 0; d != values.column; ++d)
      if (values.extents[d] > 1)
        values.row = d;
    values.at.assign(values.sizes.size(), b.getIndexAttr(0));
    scores.sizes = llvm::to_vector(llvm::concat<const int64_t>(
        op.getScoresParallel(), op.getScoresReduced()));
    scores.extents = scores.sizes;
    scores.column = rank - 1;
    scores.extents[rank - 1] = values.extents[keyDim];
    scores.at.assign(scores.sizes.size(), b.getIndexAttr(0));
    for (auto [i, expr] :
         llvm::enumerate(op.getWeightsMap().getResults().drop_back()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        scores.extents[i] = values.extents[dim.getPosition()];
        if (dim.getPosition() == values.row)
          scores.row = i;
      }
  }

  void makeOperands() {
    auto make = [&](Value memory, AffineMap map, tile::StrategyAttr strategy,
                    tile::OperandKind kind) {
      return Operand{
          memory, map, strategy.getHop(kind, tile::HopKind::Ring), {}};
    };
    SmallVector<AffineMap> maps(
        op.getScoresMaps().getAsValueRange<AffineMapAttr>());
    tile::StrategyAttr strategy = op.getScoresStrategyAttr();
    queries = make(op.getQueries(), maps[0], strategy, tile::OperandKind::A);
    keys = make(op.getKeys(), maps[1], strategy, tile::OperandKind::B);
    weighed = make(op.getValues(), op.getValuesMap(), op.getStrategyAttr(),
                   tile::OperandKind::B);
  }

  //===-- The loops of workers
  //---------------------------------------------===//

  void emitGrid() {
    SmallVector<OpFoldResult> from, to, step;
    SmallVector<unsigned> cut;
    for (unsigned d = 0; d != op.getParallel().size(); ++d)
      if (values.extents[d] < values.sizes[d]) {
        cut.push_back(d);
        from.push_back(b.getIndexAttr(0));
        to.push_back(b.getIndexAttr(values.sizes[d]));
        step.push_back(b.getIndexAttr(values.extents[d]));
      }
    if (cut.empty())
      return;
    auto forall =
        scf::ForallOp::create(b, from, to, step, ValueRange(), std::nullopt);
    forall->setAttr("tile.scope", b.getStringAttr(scope()));
    b.setInsertionPoint(forall.getTerminator());
    for (auto [d, place] : llvm::zip(cut, forall.getInductionVars()))
      values.at[d] = place;
    for (auto [i, expr] :
         llvm::enumerate(op.getWeightsMap().getResults().drop_back()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        scores.at[i] = values.at[dim.getPosition()];
  }
  StringRef scope() {
    for (auto level : op.getLevelsAttr().getAsRange<tile::LevelAttr>())
      if (level.getKind() == tile::LevelKind::Grid)
        return level.getScope();
    return "";
  }

  //===-- Rings
  //------------------------------------------------------------===//

  tile::RingType ringOf(const Operand &operand, const Box &box) {
    SmallVector<unsigned> dims(operand.map.getNumDims());
    std::iota(dims.begin(), dims.end(), 0);
    SmallVector<int64_t> shape;
    for (AffineExpr expr : operand.map.getResults())
      shape.push_back(
          BoxReach(expr, dims, ArrayRef(box.extents).take_front(dims.size()))
              .length);
    tile::LayoutAttr layout = operand.hop.getLayout();
    if (layout && !layout.whyNot(shape).empty())
      layout = nullptr;
    return tile::RingType::get(
        b.getContext(), operand.hop.getSlots(), shape,
        cast<MemRefType>(operand.memory.getType()).getElementType(),
        b.getStringAttr(operand.hop.getMemory()), layout);
  }

  void makeRings() {
    for (auto [operand, box] :
         {std::pair(&queries, &scores), std::pair(&keys, &scores),
          std::pair(&weighed, &values)})
      rings[operand] = tile::AllocOp::create(b, ringOf(*operand, *box));
  }

  BoxView view(Value memory, AffineMap map, const Box &box,
               ArrayRef<unsigned> dims, bool &padded) {
    SmallVector<int64_t> extents;
    for (unsigned d : dims)
      extents.push_back(box.extents[d]);
    return viewOfBox(
        b, memory, map, ArrayRef(box.at).take_front(map.getNumDims()), dims,
        extents, [&](unsigned d) -> OpFoldResult {
          if (!box.hasEdge(d))
            return {};
          padded = true;
          return affine::makeComposedFoldedAffineMin(
              b, b.getLoc(),
              AffineMap::get(1, 0,
                             {b.getAffineConstantExpr(box.extents[d]),
                              b.getAffineConstantExpr(box.sizes[d]) -
                                  b.getAffineDimExpr(0)},
                             b.getContext()),
              {box.at[d]});
        });
  }

  void copy(Operand &operand, const Box &box) {
    SmallVector<unsigned> dims(operand.map.getNumDims());
    std::iota(dims.begin(), dims.end(), 0);
    bool padded = false;
    Value source = view(operand.memory, operand.map, box, dims, padded).memory;
    auto type = cast<tile::RingType>(rings[&operand].getType());
    StringRef engine = operand.hop.getEngine();
    operand.copy = tile::CopyOp::create(
        b, type.getSlotType(), tile::TokenType::get(b.getContext()), source,
        /*offsets=*/ValueRange(), rings[&operand],
        b.getMultiDimIdentityMap(type.getShape().size()), padded,
        engine.empty() ? StringAttr() : b.getStringAttr(engine));
  }

  //===-- Accumulators
  //-----------------------------------------------------===//

  tile::AccType typeOf(const Box &box, Type element,
                       tile::StrategyAttr strategy) {
    SmallVector<int64_t> shape = {box.extents[box.row],
                                  box.extents[box.column]};
    tile::LevelAttr group = strategy.getGroups().front();
    SmallVector<int64_t> part(shape);
    const unsigned dims[] = {box.row, box.column};
    for (auto [size, d] : llvm::zip(part, dims))
      if (int64_t tile = group.getTile(d))
        size = std::min(size, tile);
    SmallVector<tile::LevelAttr> groups = {
        tile::LevelAttr::get(b.getContext(), group.getKind(), group.getScope(),
                             part, /*reduced=*/{}, /*order=*/{})};
    return tile::AccType::get(b.getContext(), shape, element, /*registers=*/{},
                              groups, strategy.getFragment());
  }

  using Body = llvm::function_ref<Value(ValueRange)>;

  void fill(Region &region, ArrayRef<Type> types, Body body) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(
        &region, {}, types, SmallVector<Location>(types.size(), b.getLoc()));
    tile::YieldOp::create(b, body(block->getArguments()));
  }

  Value map(tile::AccType result, ValueRange inputs, ArrayRef<AffineMap> maps,
            bool padded, Body body) {
    auto made = tile::MapOp::create(b, result, inputs,
                                    b.getAffineMapArrayAttr(maps), padded);
    SmallVector<Type> types;
    for (Value input : inputs)
      types.push_back(
          isa<tile::AccType>(input.getType())
              ? cast<tile::AccType>(input.getType()).getElementType()
              : cast<MemRefType>(input.getType()).getElementType());
    fill(made.getBody(), types, body);
    return made;
  }
  /// Each element with its row's number.
  Value mapRows(Value all, Value rows, Body body) {
    return map(cast<tile::AccType>(all.getType()), {all, rows},
               {columns, rowsAlone}, /*padded=*/false, body);
  }
  Value mapBoth(Value x, Value y, Body body) {
    return map(cast<tile::AccType>(x.getType()), {x, y}, {columns, columns},
               /*padded=*/false, body);
  }
  Value reduce(Value all, Body body) {
    auto type = cast<tile::AccType>(all.getType());
    auto made = tile::ReduceOp::create(b, type.getRowsAlone(), all,
                                       b.getDenseI64ArrayAttr({1}));
    fill(made.getBody(), {type.getElementType(), type.getElementType()}, body);
    return made;
  }

  Value multiply(Value sums, Value a, AffineMap aMap, Operand &right,
                 const Box &box, unsigned term) {
    // Over rows, columns and terms.
    auto inSlot = [&](AffineMap map) {
      SmallVector<AffineExpr> places;
      for (AffineExpr expr : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        unsigned d = dim ? dim.getPosition() : ~0u;
        places.push_back(d == box.row      ? b.getAffineDimExpr(0)
                         : d == box.column ? b.getAffineDimExpr(1)
                         : d == term       ? b.getAffineDimExpr(2)
                                           : b.getAffineConstantExpr(0));
      }
      return AffineMap::get(3, 0, places, b.getContext());
    };
    aMap =
        aMap ? inSlot(aMap)
             : AffineMap::getMultiDimMapWithTargets(3, {0, 2}, b.getContext());
    return tile::StepOp::create(b, sums.getType(), /*token=*/Type(), sums, a,
                                /*aOffsets=*/ValueRange(), right.copy.getSlot(),
                                /*bOffsets=*/ValueRange(),
                                ArrayRef<int64_t>{box.extents[term]},
                                /*unroll=*/1, aMap, inSlot(right.map),
                                /*aUnsigned=*/false, /*bUnsigned=*/false,
                                /*grouped=*/false, /*ahead=*/0)
        .getResult();
  }

  //===-- One tile of keys
  //--------------------------------------------------===//

  Value inlined(Region &region, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(region.front().getArguments(), arguments);
    for (Operation &inner : region.front().without_terminator()) {
      if (auto place = dyn_cast<tile::IndexOp>(inner))
        mapping.map(place.getResult(), placeOf(place.getDim()));
      else
        b.clone(inner, mapping);
    }
    return mapping.lookupOrDefault(
        region.front().getTerminator()->getOperand(0));
  }
  /// Of a score, in a body.
  Value placeOf(unsigned d) {
    Value begin = begins[d];
    if (d != scores.row && d != scores.column)
      return begin;
    Value own =
        tile::IndexOp::create(b, b.getIndexType(), d == scores.column ? 1 : 0);
    return arith::AddIOp::create(b, begin, own);
  }

  Value makeScores() {
    tile::AccType acc =
        typeOf(scores, op.getScore().front().getArgument(0).getType(),
               op.getScoresStrategyAttr());
    Value none =
        arith::ConstantOp::create(b, b.getZeroAttr(acc.getElementType()));
    unsigned term = rank;
    while (term + 1 != scores.sizes.size() && scores.sizes[term] == 1)
      ++term;
    Value sums =
        multiply(tile::InitOp::create(b, acc, none), queries.copy.getSlot(),
                 queries.map, keys, scores, term);
    tile::ReleaseOp::create(b, keys.copy.getSlot(), ValueRange());
    SmallVector<Value> inputs = {sums};
    SmallVector<AffineMap> maps = {columns};
    bool padded = false;
    auto read = [&](Value memory, AffineMap at) {
      BoxView part =
          view(memory, at, scores, {scores.row, scores.column}, padded);
      inputs.push_back(part.memory);
      maps.push_back(part.map);
    };
    for (auto [operand, at] :
         llvm::zip(op.getScoring(),
                   llvm::drop_begin(
                       op.getScoresMaps().getAsValueRange<AffineMapAttr>(), 2)))
      read(operand, at);
    for (auto [operand, at] : llvm::zip(
             op.getHiding(), op.getHideMaps().getAsValueRange<AffineMapAttr>()))
      read(operand, at);
    begins.clear();
    for (unsigned d = 0; d != rank; ++d)
      begins.push_back(valueOf(scores.at[d]));
    Value end = index(scores.sizes[scores.column]);
    tile::AccType result = typeOf(scores, type, op.getScoresStrategyAttr());
    return map(result, inputs, maps, padded, [&](ValueRange arguments) {
      size_t own = 1 + op.getScoring().size();
      SmallVector<Value> hiding = {
          inlined(op.getScore(), arguments.take_front(own))};
      llvm::append_range(hiding, arguments.drop_front(own));
      Value score = inlined(op.getHide(), hiding);
      if (!scores.hasEdge(scores.column))
        return score;
      Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                           placeOf(scores.column), end);
      return arith::SelectOp::create(b, exists, score, lowest).getResult();
    });
  }

  /// A number that is `special` becomes `instead`.
  Value replace(Value value, Value special, Value instead) {
    Value is =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, special);
    return arith::SelectOp::create(b, is, instead, value);
  }
  /// Of the distance to the largest score; that to none is to zero.
  Value power(Value score, Value largest) {
    Value distance =
        arith::SubFOp::create(b, score, replace(largest, lowest, zero));
    auto exp = math::ExpOp::create(b, distance);
    // Weights of 16 bits are rounded by far more than an approximation's error.
    if (op.getWeightType() != type)
      exp.setFastmath(arith::FastMathFlags::afn);
    return exp;
  }

  SmallVector<Value> step(Value from, ValueRange before) {
    scores.at[scores.column] = from;
    values.at[keyDim] = from;
    copy(keys, scores);
    copy(weighed, values);
    tile::WaitOp::create(b, keys.copy.getToken());
    Value all = makeScores();
    Value largest =
        mapBoth(before[1],
                reduce(all,
                       [&](ValueRange both) -> Value {
                         return arith::MaximumFOp::create(b, both[0], both[1]);
                       }),
                [&](ValueRange both) -> Value {
                  return arith::MaximumFOp::create(b, both[0], both[1]);
                });
    auto power = [&](ValueRange both) { return this->power(both[0], both[1]); };
    Value powers = mapRows(all, largest, power);
    Value scale = mapBoth(before[1], largest, power);
    Value own = reduce(powers, [&](ValueRange both) -> Value {
      return arith::AddFOp::create(b, both[0], both[1]);
    });
    tile::AccType rows = cast<tile::AccType>(own.getType());
    Value total =
        map(rows, {before[2], scale, own}, {columns, columns, columns},
            /*padded=*/false, [&](ValueRange of) -> Value {
              Value old = arith::MulFOp::create(b, of[0], of[1]);
              return arith::AddFOp::create(b, old, of[2]);
            });
    Value weights =
        map(typeOf(scores, op.getWeightType(), op.getScoresStrategyAttr()),
            {powers}, {columns}, /*padded=*/false,
            [&](ValueRange of) { return inlined(op.getWeigh(), of); });
    Value sums = mapRows(before[0], scale, [&](ValueRange of) -> Value {
      return arith::MulFOp::create(b, of[0], of[1]);
    });
    tile::WaitOp::create(b, weighed.copy.getToken());
    sums = multiply(sums, weights, AffineMap(), weighed, values, keyDim);
    tile::ReleaseOp::create(b, weighed.copy.getSlot(), ValueRange());
    return {sums, largest, total};
  }

  void finish(Value sums, Value total) {
    SmallVector<Value> inputs = {sums, total};
    SmallVector<AffineMap> maps = {columns, rowsAlone};
    bool padded = false, clipped = false;
    SmallVector<unsigned> dims = {values.row, values.column};
    for (auto [i, operand] : llvm::enumerate(op.getEpilogue())) {
      BoxView part = view(operand, op.getMap(2 + i), values, dims, padded);
      inputs.push_back(part.memory);
      maps.push_back(part.map);
    }
    auto target = cast<MemRefType>(op.getInit().getType());
    Value one = op.getZeroRows() ? number(APFloat(semantics(), 1)) : Value();
    Value result =
        map(typeOf(values, target.getElementType(), op.getStrategyAttr()),
            inputs, maps, padded, [&](ValueRange of) {
              Value by = one ? replace(of[1], zero, one) : of[1];
              SmallVector<Value> taken = {
                  arith::DivFOp::create(b, of[0], by).getResult()};
              llvm::append_range(taken, of.drop_front(2));
              return inlined(op.getBody(), taken);
            });
    BoxView to = view(op.getInit(), op.getResultMap(), values, dims, clipped);
    auto drain =
        tile::DrainOp::create(b, result, /*epilogue=*/ValueRange(), to.memory,
                              b.getAffineMapArrayAttr({to.map}), clipped);
    fill(drain.getBody(), {target.getElementType()},
         [](ValueRange of) { return of[0]; });
  }

  tile::AttentionOp op;
  ImplicitLocOpBuilder b;
  Type type; ///< of scores and sums
  unsigned rank, keyDim;
  AffineMap columns, rowsAlone;
  Box scores, values;
  Operand queries, keys, weighed;
  llvm::DenseMap<const Operand *, Value> rings;
  SmallVector<Value> begins; ///< of the present tile of scores
  Value lowest, zero;
};

struct ExpandHeldAttention
    : ashlar::impl::ExpandHeldAttentionPassBase<ExpandHeldAttention> {
  void runOnOperation() override {
    SmallVector<tile::AttentionOp> ops;
    getOperation().walk([&](tile::AttentionOp op) { ops.push_back(op); });
    for (tile::AttentionOp op : ops) {
      if (!op.hasGroup() || !isa<MemRefType>(op.getInit().getType())) {
        op.emitOpError("expected memory, and levels with a group, in front of "
                       "accumulators");
        return signalPassFailure();
      }
      giveStaticStrides(cast<DestinationStyleOpInterface>(op.getOperation()));
      Expander(op).run();
    }
  }
};
} // namespace
