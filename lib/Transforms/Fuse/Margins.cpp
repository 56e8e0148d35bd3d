// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Margins.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ashlar;

tile::DecodeOp ashlar::addMargins(OpBuilder &b, Location at, Value input,
                                  RankedTensorType type,
                                  ArrayRef<int64_t> before) {
  SmallVector<AffineExpr> places;
  for (auto [d, margin] : llvm::enumerate(before))
    places.push_back(b.getAffineDimExpr(d) - margin);
  auto map = AffineMap::get(type.getRank(), 0, places, b.getContext());
  auto made =
      tile::DecodeOp::create(b, at, type, input, b.getAffineMapArrayAttr(map),
                             /*padded=*/true);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&made.getBody());
  Value element = body->addArgument(type.getElementType(), at);
  for (int64_t d = 0; d != type.getRank(); ++d)
    body->addArgument(b.getIndexType(), at);
  tile::DecodedOp::create(b, at, element);
  return made;
}

tile::DecodeOp ashlar::expandMargins(OpBuilder &b, tile::DecodeOp margins,
                                     unsigned dim, int64_t outer) {
  Value input = margins.getInputs().front();
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> before = *margins.getMargins();
  SmallVector<int64_t> padded(margins.getType().getShape());
  assert(before[dim] == 0 && type.getDimSize(dim) == padded[dim] &&
         "a dim without margins");
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0, i = 0; d != type.getRank(); ++d) {
    groups.push_back({i++});
    if (d == int64_t(dim))
      groups.back().push_back(i++);
  }
  auto expand = [&](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> shape(sizes);
    shape[dim] /= outer;
    shape.insert(shape.begin() + dim, outer);
    return RankedTensorType::get(shape, type.getElementType());
  };
  before.insert(before.begin() + dim, 0);
  return addMargins(b, margins.getLoc(),
                    tensor::ExpandShapeOp::create(b, margins.getLoc(),
                                                  expand(type.getShape()),
                                                  input, groups),
                    expand(padded), before);
}
