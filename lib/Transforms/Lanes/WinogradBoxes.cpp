// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WinogradBoxes.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ashlar;

WinogradBoxes::WinogradBoxes(tile::WinogradOp op, ImplicitLocOpBuilder &b)
    : b(b), size(op.getOutputSize()), perWorker(op.getPerWorker()[0]) {
  for (auto [open, fixed] :
       llvm::zip(openDims(op, op.getParallel().size()), op.getParallel()))
    sizes.push_back(open ? OpFoldResult(open) : b.getIndexAttr(fixed));
  AffineExpr extent = b.getAffineSymbolExpr(0);
  rows = apply(extent.ceilDiv(size), sizes[1]);
  columns = apply(extent.ceilDiv(size), sizes[2]);
  int64_t cut = op.getPerWorker()[1];
  perRow = cut != 0 ? cut : op.getBoxes(2);
  alike = cut == 0 && getConstantIntValue(rows) &&
          *getConstantIntValue(rows) % perWorker == 0 &&
          getConstantIntValue(columns);
}

Value WinogradBoxes::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value WinogradBoxes::value(OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
}

OpFoldResult WinogradBoxes::apply(AffineExpr expr,
                                  ArrayRef<OpFoldResult> symbols) {
  return affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), AffineMap::get(0, symbols.size(), expr), symbols);
}

Value WinogradBoxes::least(Value x, Value y) {
  return arith::MinSIOp::create(b, x, y);
}

void WinogradBoxes::loop(Value from, Value to,
                         llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, from, to, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void WinogradBoxes::emitWorkers() {
  SmallVector<OpFoldResult> from(2, b.getIndexAttr(0)),
      to = {sizes[0], rows},
      step = {b.getIndexAttr(1), b.getIndexAttr(perWorker)};
  if (!alike) {
    from.push_back(b.getIndexAttr(0));
    to.push_back(columns);
    step.push_back(b.getIndexAttr(perRow));
  }
  // Where rows are shorter than at the largest sizes, a share has more of them:
  // each reads all weights.
  Value shareRows;
  if (!getConstantIntValue(columns)) {
    shareRows = arith::DivUIOp::create(b, index(most()),
                                       least(value(columns), index(perRow)));
    Value last = arith::SubIOp::create(b, shareRows, index(1));
    to[1] = Value(arith::DivUIOp::create(
        b, arith::AddIOp::create(b, value(rows), last), shareRows));
    step[1] = b.getIndexAttr(1);
  }
  auto shares =
      scf::ForallOp::create(b, from, to, step, ValueRange(), std::nullopt);
  b.setInsertionPoint(shares.getTerminator());
  indices = shares.getInductionVars();
  boxesHere = b.getIndexAttr(most());
  if (alike)
    return;
  if (shareRows)
    indices[1] = arith::MulIOp::create(b, indices[1], shareRows);
  auto rest = [&](OpFoldResult all, Value first, Value most) {
    return least(most, arith::SubIOp::create(b, value(all), first));
  };
  rowsHere = rest(rows, indices[1], shareRows ? shareRows : index(perWorker));
  columnsHere = rest(columns, indices[2], index(perRow));
  boxesHere = Value(arith::MulIOp::create(b, rowsHere, columnsHere));
}

Value WinogradBoxes::numberOf(const WinogradBox &box) {
  if (!alike)
    return arith::AddIOp::create(
        b, arith::MulIOp::create(b, box.row, columnsHere), box.column);
  AffineExpr place = b.getAffineDimExpr(0) * perRow + b.getAffineDimExpr(1);
  return affine::AffineApplyOp::create(b, AffineMap::get(2, 0, place),
                                       ValueRange{box.row, box.column});
}

void WinogradBoxes::forEach(
    llvm::function_ref<void(const WinogradBox &)> body) {
  alike ? forEachAlike(body) : forEachInShares(body);
}

/// The last box of a row and the last row are written apart where they are
/// smaller than the others.
void WinogradBoxes::forEachAlike(
    llvm::function_ref<void(const WinogradBox &)> body) {
  int64_t highRest = *getConstantIntValue(sizes[1]) % size,
          wideRest = *getConstantIntValue(sizes[2]) % size;
  auto alongRow = [&](Value row, Value number, int64_t high) {
    int64_t whole = perRow - (wideRest != 0);
    if (whole != 0)
      loop(index(0), index(whole), [&](Value column) {
        body({row, column, number, column, high, size, {}, {}});
      });
    Value last = index(perRow - 1);
    if (wideRest != 0)
      body({row, last, number, last, high, wideRest, {}, {}});
  };
  loop(index(0), index(perWorker), [&](Value row) {
    Value number = arith::AddIOp::create(b, indices[1], row);
    if (highRest == 0)
      return alongRow(row, number, size);
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number,
                                         index(*getConstantIntValue(rows) - 1));
    auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    alongRow(row, number, highRest);
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    alongRow(row, number, size);
  });
}

/// Whole boxes of each row, then those at the edge: all of them in the last
/// row.
void WinogradBoxes::forEachInShares(
    llvm::function_ref<void(const WinogradBox &)> body) {
  Value zero = index(0), whole = index(size);
  AffineExpr extent = b.getAffineSymbolExpr(0);
  Value wholeRows = value(apply(extent.floorDiv(size), sizes[1])),
        wholeColumns = value(apply(extent.floorDiv(size), sizes[2]));
  Value before =
      least(columnsHere, arith::SubIOp::create(b, wholeColumns, indices[2]));
  auto existing = [&](OpFoldResult extent, Value number) -> Value {
    return least(
        whole, arith::SubIOp::create(b, value(extent),
                                     arith::MulIOp::create(b, number, whole)));
  };
  loop(zero, rowsHere, [&](Value row) {
    Value number = arith::AddIOp::create(b, indices[1], row);
    Value isWhole =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number, wholeRows);
    Value inside = arith::SelectOp::create(b, isWhole, before, zero);
    auto across = [&](Value column) -> Value {
      return arith::AddIOp::create(b, indices[2], column);
    };
    loop(zero, inside, [&](Value column) {
      body({row, column, number, across(column), size, size, {}, {}});
    });
    loop(inside, columnsHere, [&](Value column) {
      Value place = across(column);
      body({row, column, number, place, size, size, existing(sizes[1], number),
            existing(sizes[2], place)});
    });
  });
}
