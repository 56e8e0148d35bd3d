// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PadMargins.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

static void fill(ImplicitLocOpBuilder &b, Value target, ArrayRef<int64_t> from,
                 ArrayRef<int64_t> size, TypedAttr pad) {
  if (llvm::is_contained(size, 0))
    return;
  SmallVector<int64_t> steps(size.size(), 1);
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
                         ArrayRef<int64_t> sizes, TypedAttr pad,
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
  SmallVector<int64_t> from(type.getRank(), 0), size(type.getShape());
  // The places between the first and the last point are written by others.
  SmallVector<int64_t> lastPoint;
  for (int64_t extent : sizes)
    lastPoint.push_back(extent - 1);
  SmallVector<int64_t> begins =
      map.compose(SmallVector<int64_t>(sizes.size(), 0));
  SmallVector<int64_t> lasts = map.compose(lastPoint);
  for (auto [d, begin, lastIndex] : llvm::enumerate(begins, lasts)) {
    int64_t end = lastIndex + 1, whole = type.getDimSize(d);
    from[d] = 0, size[d] = begin;
    fill(b, target, from, size, pad);
    from[d] = end, size[d] = whole - end;
    fill(b, target, from, size, pad);
    from[d] = begin, size[d] = end - begin;
  }
}
