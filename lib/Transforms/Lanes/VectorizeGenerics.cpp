// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the loops of a VectorPlan: outer loops over single coordinates, then
// register tiles whose accumulators are loop-carried vectors. Edges use masks
// along the vector and single rows beside it.
#include "OpenLoss.h"
#include "VectorBody.h"
#include "VectorPlan.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_VECTORIZEGENERICSPASS
#include "ashlar/Transforms/Lanes/Passes.h.inc"
} // namespace ashlar

namespace {
/// One register tile while it is written.
struct RegisterTile {
  SmallVector<int64_t> rows; ///< as in plan.rows, one at an edge
  int64_t vectors;
  Value mask; ///< null: all lanes

  int64_t count() const {
    int64_t n = vectors;
    for (int64_t row : rows)
      n *= row;
    return n;
  }
};

class GenericExpander {
public:
  GenericExpander(linalg::GenericOp op, const VectorPlan &plan)
      : op(op), plan(plan), b(op.getLoc(), op), ivs(plan.ranges.size()) {}

  void run() {
    auto structured = cast<linalg::LinalgOp>(op.getOperation());
    for (Range range : structured.createLoopRanges(b, b.getLoc()))
      sizes.push_back(
          getValueOrCreateConstantIndexOp(b, b.getLoc(), range.size));
    zero = index(0);
    emitOuter(0);
  }

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Type elementType(const VectorOperand &operand) {
    return cast<MemRefType>(operand.memref.getType()).getElementType();
  }
  VectorType vectorOf(Type element) {
    return VectorType::get({plan.lanes}, element);
  }

  /// A loop from `from` to `to`; `body` writes its inside.
  void loop(Value from, Value to, int64_t step, unsigned dim,
            llvm::function_ref<void()> body) {
    auto loop = scf::ForOp::create(b, from, to, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ivs[dim] = loop.getInductionVar();
    body();
  }

  /// The part of a dim that whole steps cover.
  Value wholeSteps(unsigned dim, int64_t step) {
    if (!ShapedType::isDynamic(plan.ranges[dim]))
      return index(plan.ranges[dim] / step * step);
    AffineExpr size = b.getAffineSymbolExpr(0);
    return affine::AffineApplyOp::create(
        b, AffineMap::get(0, 1, size.floorDiv(step) * step),
        ValueRange{sizes[dim]});
  }
  bool hasEdge(unsigned dim, int64_t step) {
    return ShapedType::isDynamic(plan.ranges[dim]) ||
           plan.ranges[dim] % step != 0;
  }
  bool hasWhole(unsigned dim, int64_t step) {
    return ShapedType::isDynamic(plan.ranges[dim]) || plan.ranges[dim] >= step;
  }

  void emitOuter(size_t depth) {
    if (depth != plan.outer.size()) {
      unsigned dim = plan.outer[depth];
      loop(zero, sizes[dim], 1, dim, [&] { emitOuter(depth + 1); });
      return;
    }
    if (plan.vectorIsReduced) {
      RegisterTile tile{{}, plan.vectors, {}};
      emitRows(0, tile);
      return;
    }
    int64_t block = plan.lanes * plan.vectors;
    unsigned dim = plan.vectorDim;
    Value whole = wholeSteps(dim, block);
    if (hasWhole(dim, block))
      loop(zero, whole, block, dim, [&] {
        RegisterTile tile{{}, plan.vectors, {}};
        emitRows(0, tile);
      });
    if (hasEdge(dim, block))
      loop(whole, sizes[dim], plan.lanes, dim, [&] {
        RegisterTile tile{{}, 1, makeMask()};
        emitRows(0, tile);
      });
  }

  /// The lanes that lie before the end of the vector dim.
  Value makeMask() {
    Value left =
        arith::SubIOp::create(b, sizes[plan.vectorDim], ivs[plan.vectorDim]);
    return vector::CreateMaskOp::create(
        b, VectorType::get({plan.lanes}, b.getI1Type()), ValueRange{left});
  }

  void emitRows(size_t depth, RegisterTile tile) {
    if (depth == plan.rows.size()) {
      emitTile(tile);
      return;
    }
    unsigned dim = plan.rows[depth].first;
    int64_t count = plan.rows[depth].second;
    Value whole = wholeSteps(dim, count);
    auto rowsOf = [&](int64_t rows) {
      RegisterTile inner = tile;
      inner.rows.push_back(rows);
      emitRows(depth + 1, inner);
    };
    if (hasWhole(dim, count))
      loop(zero, whole, count, dim, [&] { rowsOf(count); });
    if (hasEdge(dim, count))
      loop(whole, sizes[dim], 1, dim, [&] { rowsOf(1); });
  }

  /// Calls `body` with the offset of each element of the tile: one number per
  /// dim of the nest (in elements along the vector dim), in a fixed order.
  void forEachElement(const RegisterTile &tile,
                      llvm::function_ref<void(ArrayRef<int64_t>)> body) {
    SmallVector<int64_t> offset(plan.ranges.size(), 0);
    auto walk = [&](auto &self, size_t depth) -> void {
      if (depth == tile.rows.size()) {
        for (int64_t v = 0; v != tile.vectors; ++v) {
          offset[plan.vectorDim] = v * plan.lanes;
          body(offset);
        }
        return;
      }
      for (int64_t r = 0; r != tile.rows[depth]; ++r) {
        offset[plan.rows[depth].first] = r;
        self(self, depth + 1);
      }
    };
    walk(walk, 0);
  }

  /// Addresses of `operand` at the present coordinates.
  SmallVector<Value> baseIndices(const VectorOperand &operand) {
    SmallVector<Value> indices;
    for (AffineExpr expr : operand.map.getResults()) {
      AffineMap map = AffineMap::get(operand.map.getNumDims(), 0, expr);
      SmallVector<OpFoldResult> coordinates;
      for (Value iv : ivs)
        coordinates.push_back(iv ? OpFoldResult(iv)
                                 : OpFoldResult(b.getIndexAttr(0)));
      indices.push_back(getValueOrCreateConstantIndexOp(
          b, b.getLoc(),
          affine::makeComposedFoldedAffineApply(b, b.getLoc(), map,
                                                coordinates)));
    }
    return indices;
  }
  SmallVector<Value> indicesAt(const VectorOperand &operand,
                               ArrayRef<Value> base, ArrayRef<int64_t> offset) {
    SmallVector<Value> indices(base);
    SmallVector<int64_t> origin(offset.size(), 0);
    for (auto [index, from, to] : llvm::zip(
             indices, operand.map.compose(origin), operand.map.compose(offset)))
      if (from != to)
        index = arith::AddIOp::create(b, index, this->index(to - from));
    return indices;
  }

  Value load(const VectorOperand &operand, ArrayRef<Value> base,
             ArrayRef<int64_t> offset, Value mask) {
    SmallVector<Value> indices = indicesAt(operand, base, offset);
    VectorType type = vectorOf(elementType(operand));
    int64_t step = *operand.steps[plan.vectorDim];
    if (step == 0) {
      Value scalar = memref::LoadOp::create(b, operand.memref, indices);
      return vector::BroadcastOp::create(b, type, scalar);
    }
    if (step == 1 && !mask)
      return vector::LoadOp::create(b, type, operand.memref, indices);
    Value rest = arith::ConstantOp::create(b, b.getZeroAttr(type));
    if (step == 1)
      return vector::MaskedLoadOp::create(b, type, operand.memref, indices,
                                          mask, rest);
    auto maskType = VectorType::get({plan.lanes}, b.getI1Type());
    if (!mask)
      mask =
          arith::ConstantOp::create(b, DenseElementsAttr::get(maskType, true));
    SmallVector<int32_t> lanes;
    for (int64_t lane = 0; lane != plan.lanes; ++lane)
      lanes.push_back(lane * step);
    Value steps = arith::ConstantOp::create(b, b.getI32VectorAttr(lanes));
    return vector::GatherOp::create(b, type, operand.memref, indices, steps,
                                    mask, rest);
  }

  /// Of the elements of a vector, `offset` behind the present coordinates.
  Value placesAlong(unsigned dim, int64_t offset) {
    Value first = index(offset);
    if (ivs[dim])
      first = arith::AddIOp::create(b, ivs[dim], first);
    auto type = vectorOf(b.getIndexType());
    Value places = vector::BroadcastOp::create(b, type, first);
    if (dim != plan.vectorDim)
      return places;
    return arith::AddIOp::create(b, places, vector::StepOp::create(b, type));
  }

  /// All elements of the tile for one step of the sums: those of the first
  /// output, then those of the next.
  SmallVector<Value> emitStep(const RegisterTile &tile, ValueRange sums) {
    SmallVector<SmallVector<Value>> bases;
    for (const VectorOperand &input : plan.inputs)
      bases.push_back(baseIndices(input));
    std::map<std::pair<size_t, SmallVector<int64_t>>, Value> loaded;
    size_t element = 0, count = tile.count();
    SmallVector<Value> results(count * plan.outputs.size());
    forEachElement(tile, [&](ArrayRef<int64_t> offset) {
      SmallVector<Value> arguments;
      for (auto [i, input] : llvm::enumerate(plan.inputs)) {
        // An operand is loaded once for all elements that share it.
        SmallVector<int64_t> key(offset);
        for (auto [dim, step] : llvm::enumerate(input.steps))
          if (step == 0)
            key[dim] = 0;
        Value &value = loaded[{i, key}];
        if (!value && !op.getBody()->getArgument(i).use_empty())
          value = load(input, bases[i], key, tile.mask);
        arguments.push_back(value);
      }
      size_t at = element++;
      for (size_t o = 0; o != plan.outputs.size(); ++o)
        arguments.push_back(sums.empty() ? Value() : sums[o * count + at]);
      for (auto [o, result] : llvm::enumerate(emitVectorBody(
               b, op.getBody(), arguments, plan.lanes,
               [&](unsigned dim) { return placesAlong(dim, offset[dim]); })))
        results[o * count + at] =
            tile.mask && plan.vectorIsReduced
                ? Value(arith::SelectOp::create(b, tile.mask, result,
                                                sums[o * count + at]))
                : result;
    });
    return results;
  }

  /// The loops over the reduced dims from `depth` on, around emitStep.
  SmallVector<Value> emitSums(const RegisterTile &tile, size_t depth,
                              ValueRange sums) {
    if (depth == plan.reduced.size())
      return plan.vectorIsReduced ? emitVectorSums(tile, sums)
                                  : emitStep(tile, sums);
    unsigned dim = plan.reduced[depth];
    auto body = [&](ValueRange inner) {
      return emitSums(tile, depth + 1, inner);
    };
    if (depth != 0 || plan.partialSteps == 0)
      return carryingLoop(zero, sizes[dim], 1, dim, sums, body);
    return carryingLoop(
        zero, sizes[dim], plan.partialSteps, dim, sums, [&](ValueRange totals) {
          Value from = ivs[dim];
          Value to = arith::AddIOp::create(b, from, index(plan.partialSteps));
          SmallVector<Value> parts =
              carryingLoop(from, to, 1, dim, neutralSums(tile), body);
          for (auto [i, part] : llvm::enumerate(parts))
            part = combine(i / tile.count(), totals[i], part);
          return parts;
        });
  }

  /// What no sum begins with yet.
  SmallVector<Value> neutralSums(const RegisterTile &tile) {
    SmallVector<Value> sums;
    for (auto [output, combiner] : llvm::zip(plan.outputs, plan.combiners)) {
      Value neutral = arith::ConstantOp::create(
          b, DenseElementsAttr::get(
                 vectorOf(elementType(output)),
                 ArrayRef<Attribute>(*arith::getNeutralElement(combiner))));
      sums.append(tile.count(), neutral);
    }
    return sums;
  }
  Value combine(size_t output, Value x, Value y) {
    return vector::makeArithReduction(
        b, b.getLoc(), *linalg::getCombinerOpKind(plan.combiners[output]), x,
        y);
  }

  SmallVector<Value>
  carryingLoop(Value from, Value to, int64_t step, unsigned dim,
               ValueRange values,
               llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
    auto loop = scf::ForOp::create(b, from, to, index(step), values);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ivs[dim] = loop.getInductionVar();
    SmallVector<Value> results = body(loop.getRegionIterArgs());
    scf::YieldOp::create(b, results);
    ivs[dim] = Value();
    return SmallVector<Value>(loop.getResults());
  }

  /// The loop along a reduced vector dim; its edge adds to the first vector of
  /// each row.
  SmallVector<Value> emitVectorSums(const RegisterTile &tile, ValueRange sums) {
    unsigned dim = plan.vectorDim;
    int64_t block = plan.lanes * tile.vectors;
    Value whole = wholeSteps(dim, block);
    SmallVector<Value> results(sums);
    if (hasWhole(dim, block))
      results =
          carryingLoop(zero, whole, block, dim, results,
                       [&](ValueRange inner) { return emitStep(tile, inner); });
    if (!hasEdge(dim, block))
      return results;
    SmallVector<Value> first;
    for (size_t i = 0; i < results.size(); i += tile.vectors)
      first.push_back(results[i]);
    first = carryingLoop(whole, sizes[dim], plan.lanes, dim, first,
                         [&](ValueRange inner) {
                           RegisterTile edge{tile.rows, 1, makeMask()};
                           return emitStep(edge, inner);
                         });
    for (size_t i = 0; i < results.size(); i += tile.vectors)
      results[i] = first[i / tile.vectors];
    return results;
  }

  void emitTile(const RegisterTile &tile) {
    if (plan.vectorIsReduced) {
      emitReducedTile(tile);
      return;
    }
    // One map for all outputs, and so one place.
    SmallVector<Value> base = baseIndices(plan.outputs.front());
    SmallVector<Value> sums;
    for (const VectorOperand &output : plan.outputs)
      if (plan.readsOutput)
        forEachElement(tile, [&](ArrayRef<int64_t> offset) {
          sums.push_back(load(output, base, offset, tile.mask));
        });
    sums = emitSums(tile, 0, sums);
    size_t element = 0;
    for (const VectorOperand &output : plan.outputs)
      forEachElement(tile, [&](ArrayRef<int64_t> offset) {
        SmallVector<Value> indices = indicesAt(output, base, offset);
        Value value = sums[element++];
        if (tile.mask)
          vector::MaskedStoreOp::create(b, output.memref, indices, tile.mask,
                                        value);
        else
          vector::StoreOp::create(b, value, output.memref, indices);
      });
  }

  /// Sums along the vectors themselves: start from the neutral element, add
  /// the lanes up at the end, then the output's old value.
  void emitReducedTile(const RegisterTile &tile) {
    SmallVector<Value> sums = emitSums(tile, 0, neutralSums(tile));
    ivs[plan.vectorDim] = Value();
    SmallVector<Value> base = baseIndices(plan.outputs.front());
    size_t at = 0;
    for (size_t o = 0; o != plan.outputs.size(); ++o) {
      Value memory = plan.outputs[o].memref;
      vector::CombiningKind kind =
          *linalg::getCombinerOpKind(plan.combiners[o]);
      Value total;
      forEachElement(tile, [&](ArrayRef<int64_t> offset) {
        Value sum = sums[at++];
        bool isFirst = offset[plan.vectorDim] == 0;
        total = isFirst ? sum : combine(o, total, sum);
        if (at % tile.vectors != 0)
          return;
        SmallVector<int64_t> row(offset);
        row[plan.vectorDim] = 0;
        SmallVector<Value> indices = indicesAt(plan.outputs[o], base, row);
        Value scalar = vector::ReductionOp::create(b, kind, total);
        Value old = memref::LoadOp::create(b, memory, indices);
        memref::StoreOp::create(b, combine(o, old, scalar), memory, indices);
      });
    }
  }

  linalg::GenericOp op;
  const VectorPlan &plan;
  ImplicitLocOpBuilder b;
  SmallVector<Value> ivs;   ///< coordinate of each dim, null: not in a loop
  SmallVector<Value> sizes; ///< extent of each dim
  Value zero;
};

struct VectorizeGenerics
    : ashlar::impl::VectorizeGenericsPassBase<VectorizeGenerics> {
  using VectorizeGenericsPassBase::VectorizeGenericsPassBase;

  void runOnOperation() override {
    explainOpenLoss(getOperation(), vectorBytes, registers);
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp op : generics) {
      std::optional<VectorPlan> plan = planVectors(op, vectorBytes, registers);
      if (!plan)
        continue;
      GenericExpander(op, *plan).run();
      op.erase();
    }
  }
};
} // namespace
