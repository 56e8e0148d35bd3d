// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Margins.h"
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
