// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PackOperand.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Reshapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

bool ashlar::packConstant(ContractShape &shape, int64_t columnsOfBox,
                          AffineMap plain) {
  tile::ContractOp op = shape.op;
  int64_t groupSize = shape.core.group;
  TypedAttr constant = constantBehindReshapes(op.getB());
  if (!constant || !plain.isProjectedPermutation())
    return false;
  SmallVector<std::pair<unsigned, int64_t>> others;
  int64_t columns = -1;
  for (auto [i, expr] : llvm::enumerate(plain.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim == shape.last)
      columns = i;
    else
      others.emplace_back(dim, i);
  }
  llvm::sort(others);
  // A weight of a loop's body is one of the program.
  auto function = op->getParentOfType<func::FuncOp>();
  OpBuilder b(function.getBody().front().findAncestorOpInBlock(*op));
  int64_t panel = llvm::alignTo(columnsOfBox, shape.lanes);
  auto type = cast<RankedTensorType>(op.getB().getType());
  SmallVector<int64_t> order;
  SmallVector<int64_t> panels = {
      int64_t(llvm::divideCeil(shape.sizes[shape.last], panel))};
  AffineExpr column = b.getAffineDimExpr(shape.last);
  SmallVector<AffineExpr> place = {column.floorDiv(panel)};
  for (auto [dim, i] : others) {
    order.push_back(i);
    panels.push_back(type.getDimSize(i));
    place.push_back(b.getAffineDimExpr(dim));
  }
  panels.push_back(panel);
  place.push_back(column % panel);
  IntegerAttr group;
  if (groupSize > 1) {
    group = b.getI64IntegerAttr(groupSize);
    panels[panels.size() - 2] /= groupSize;
    panels.push_back(groupSize);
    place.push_back(b.getAffineDimExpr(shape.sizes.size() - 1));
  }
  Value source = arith::ConstantOp::create(b, op.getB().getLoc(), constant);
  Value packed = tile::PackOp::create(
      b, op.getLoc(), RankedTensorType::get(panels, type.getElementType()),
      source, b.getI64IntegerAttr(columns), b.getDenseI64ArrayAttr(order),
      group);
  op.getBMutable().assign(packed);
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  maps[1] = AffineMap::get(shape.sizes.size(), 0, place, op.getContext());
  op.setMapsAttr(b.getAffineMapArrayAttr(maps));
  return true;
}

bool ashlar::packRows(tile::ContractOp op, int64_t alignment) {
  TypedAttr constant = constantBehindReshapes(op.getB());
  AffineMap plain = op.getBMap();
  if (!constant || !plain.isProjectedPermutation())
    return false;
  unsigned last = op.getParallel().size() - 1;
  int64_t columns = -1;
  SmallVector<std::pair<unsigned, int64_t>> others;
  for (auto [i, expr] : llvm::enumerate(plain.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim == last)
      columns = i;
    else
      others.emplace_back(dim, i);
  }
  auto type = cast<RankedTensorType>(op.getB().getType());
  if (columns < 0 || (llvm::is_sorted(others) &&
                      columns == int64_t(plain.getNumResults()) - 1 &&
                      type.getDimSize(columns) % alignment == 0))
    return false;
  llvm::sort(others);
  OpBuilder b(op);
  SmallVector<int64_t> order, shape = {1};
  SmallVector<AffineExpr> place = {b.getAffineConstantExpr(0)};
  for (auto [dim, i] : others) {
    order.push_back(i);
    shape.push_back(type.getDimSize(i));
    place.push_back(b.getAffineDimExpr(dim));
  }
  shape.push_back(llvm::alignTo(type.getDimSize(columns), alignment));
  place.push_back(b.getAffineDimExpr(last));
  Value source = arith::ConstantOp::create(b, op.getB().getLoc(), constant);
  op.getBMutable().assign(tile::PackOp::create(
      b, op.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      source, b.getI64IntegerAttr(columns), b.getDenseI64ArrayAttr(order),
      /*group=*/IntegerAttr()));
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  maps[1] = AffineMap::get(plain.getNumDims(), 0, place, op.getContext());
  op.setMapsAttr(b.getAffineMapArrayAttr(maps));
  return true;
}

bool ashlar::packLarge(ContractShape &shape, int64_t panel) {
  tile::ContractOp op = shape.op;
  constexpr int64_t many = 192;
  AffineMap map = op.getBMap();
  if (shape.core.openSizes || !map.isProjectedPermutation() ||
      shape.countRows() < many || shape.sizes[shape.last] % panel != 0)
    return false;
  SmallVector<unsigned> batches;
  int64_t columns = -1, term = -1;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    if (d == shape.last)
      columns = i;
    else if (d < shape.numParallel)
      batches.push_back(i);
    else if (term >= 0)
      return false;
    else
      term = i;
  }
  if (term < 0 || columns < 0 ||
      (batches.empty() ? byteSize(op.getB().getType()) < shape.core.farBytes
                       : shape.core.group > 1 || !shape.needsPacking()))
    return false;
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(op.getB().getType());
  // Loops go along the rows of b, which lie pages apart: over its columns,
  // then terms, or the other way round, and the columns of a panel.
  unsigned rank = batches.size() + 3;
  SmallVector<AffineExpr> read(type.getRank()), written, place;
  SmallVector<int64_t> lengths;
  for (auto [loop, i] : llvm::enumerate(batches)) {
    read[i] = b.getAffineDimExpr(loop);
    written.push_back(read[i]);
    lengths.push_back(type.getDimSize(i));
    place.push_back(map.getResult(i));
  }
  AffineExpr outer = b.getAffineDimExpr(rank - 3),
             inner = b.getAffineDimExpr(rank - 2),
             c = b.getAffineDimExpr(rank - 1);
  bool isTransposed = columns < term;
  AffineExpr p = isTransposed ? outer : inner;
  AffineExpr k = isTransposed ? inner : outer;
  read[term] = k;
  read[columns] = p * panel + c;
  llvm::append_values(written, p, k, c);
  llvm::append_values(lengths, shape.sizes[shape.last] / panel,
                      type.getDimSize(term), panel);
  AffineMap maps[] = {AffineMap::get(rank, 0, read, op.getContext()),
                      AffineMap::get(rank, 0, written, op.getContext())};
  Value empty =
      tensor::EmptyOp::create(b, op.getLoc(), lengths, type.getElementType());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      b, op.getLoc(), empty.getType(), op.getB(), empty, maps, loops,
      [](OpBuilder &inner, Location at, ValueRange arguments) {
        linalg::YieldOp::create(inner, at, arguments[0]);
      });
  AffineExpr column = b.getAffineDimExpr(shape.last);
  op.getBMutable().assign(copy.getResult(0));
  llvm::append_values(place, column.floorDiv(panel), map.getResult(term),
                      column % panel);
  SmallVector<AffineMap> changed(op.getMaps().getAsValueRange<AffineMapAttr>());
  changed[1] = AffineMap::get(shape.sizes.size(), 0, place, op.getContext());
  op.setMapsAttr(b.getAffineMapArrayAttr(changed));
  return true;
}
