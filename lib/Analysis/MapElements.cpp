// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/MapElements.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

static linalg::GenericOp make(OpBuilder &b, Location loc, Value source,
                              AffineMap read, Value empty, ElementBody body) {
  AffineMap maps[] = {read, b.getMultiDimIdentityMap(read.getNumDims())};
  SmallVector<utils::IteratorType> loops(read.getNumDims(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      b, loc, empty.getType(), source, empty, ArrayRef(maps), loops,
      [&](OpBuilder &inner, Location at, ValueRange values) {
        linalg::YieldOp::create(inner, at, body(inner, at, values[0]));
      });
}

linalg::GenericOp ashlar::mapElements(OpBuilder &b, Location loc, Value source,
                                      Type element, ElementBody body) {
  int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, source), element);
  return make(b, loc, source, b.getMultiDimIdentityMap(rank), empty, body);
}

linalg::GenericOp ashlar::copyElements(OpBuilder &b, Location loc, Value source,
                                       AffineMap read,
                                       ArrayRef<int64_t> shape) {
  Value empty = tensor::EmptyOp::create(b, loc, shape,
                                        getElementTypeOrSelf(source.getType()));
  return make(b, loc, source, read, empty,
              [](OpBuilder &, Location, Value value) { return value; });
}
