// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/PadMargins.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

static void fill(ImplicitLocOpBuilder &b, Value target,
                 ArrayRef<OpFoldResult> from, ArrayRef<OpFoldResult> size,
                 TypedAttr pad) {
  if (llvm::any_of(size, [](OpFoldResult s) { return isZeroInteger(s); }))
    return;
  SmallVector<OpFoldResult> steps(size.size(), b.getIndexAttr(1));
  Value part = memref::SubViewOp::create(b, target, from, size, steps);
  AffineMap identity = b.getMultiDimIdentityMap(size.size());
  SmallVector<utils::IteratorType> loops(size.size(),
                                         utils::IteratorType::parallel);
  Value value = arith::ConstantOp::create(b, pad);
  linalg::GenericOp::create(
      b, TypeRange(), ValueRange(), part, identity, loops,
      [&](OpBuilder &inner, Location location, ValueRange) {
        linalg::YieldOp::create(inner, location, value);
      });
}

void ashlar::fillMargins(ImplicitLocOpBuilder &b, Value target, AffineMap map,
                         ArrayRef<OpFoldResult> sizes, TypedAttr pad,
                         ValueRange workers) {
  OpBuilder::InsertionGuard guard(b);
  Value first;
  for (Value iv : workers) {
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, iv,
                                          arith::ConstantIndexOp::create(b, 0));
    first = first ? arith::AndIOp::create(b, first, isFirst) : isFirst;
  }
  if (first) {
    auto branch = scf::IfOp::create(b, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
  }
  auto type = cast<MemRefType>(target.getType());
  SmallVector<OpFoldResult> from(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> size = memref::getMixedSizes(b, b.getLoc(), target);
  // The places between the first and the last point are written by others.
  SmallVector<AffineExpr> last;
  for (unsigned d = 0; d != sizes.size(); ++d)
    last.push_back(b.getAffineDimExpr(d) - 1);
  SmallVector<int64_t> begins =
      map.compose(SmallVector<int64_t>(sizes.size(), 0));
  AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1);
  for (auto [d, begin] : llvm::enumerate(begins)) {
    OpFoldResult end = affine::makeComposedFoldedAffineApply(
        b, b.getLoc(),
        AffineMap::get(sizes.size(), 0, map.getResult(d).replaceDims(last) + 1),
        sizes);
    OpFoldResult whole = size[d];
    auto minus = [&](OpFoldResult left, OpFoldResult right) {
      return affine::makeComposedFoldedAffineApply(b, b.getLoc(), x - y,
                                                   {left, right});
    };
    from[d] = b.getIndexAttr(0), size[d] = b.getIndexAttr(begin);
    fill(b, target, from, size, pad);
    from[d] = end, size[d] = minus(whole, end);
    fill(b, target, from, size, pad);
    from[d] = b.getIndexAttr(begin), size[d] = minus(end, from[d]);
  }
}
