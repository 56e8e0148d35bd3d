// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What several workers made of one result becomes it, in a kernel of its own.
#include "MergeParts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

template <typename Op>
Value ashlar::mergeParts(
    Op op, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> merge) {
  OpBuilder b(op);
  AffineMap back = inversePermutation(op.getResultMap());
  SmallVector<Value> operands(inputs);
  SmallVector<AffineMap> places(maps);
  for (auto [i, operand] : llvm::enumerate(op.getEpilogue())) {
    operands.push_back(operand);
    places.push_back(op.getMap(2 + i).compose(back));
  }
  unsigned rank = op.getParallel().size();
  places.push_back(b.getMultiDimIdentityMap(rank));
  auto type = cast<RankedTensorType>(op.getInit().getType());
  Value empty = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(),
                                        type.getElementType());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, op.getLoc(), type, operands, empty, places, loops,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               ValueRange parts = arguments.take_front(inputs.size());
               Block &body = op.getBody().front();
               IRMapping mapping;
               mapping.map(body.getArgument(0), merge(inner, at, parts));
               mapping.map(
                   body.getArguments().drop_front(),
                   arguments.slice(inputs.size(), op.getEpilogue().size()));
               for (Operation &each : body.without_terminator())
                 inner.clone(each, mapping);
               linalg::YieldOp::create(
                   inner, at,
                   mapping.lookupOrDefault(
                       body.getTerminator()->getOperand(0)));
             })
      .getResult(0);
}

namespace ashlar {
using Merge = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;
template Value mergeParts(tile::ContractOp, ArrayRef<Value>,
                          ArrayRef<AffineMap>, Merge);
template Value mergeParts(tile::AttentionOp, ArrayRef<Value>,
                          ArrayRef<AffineMap>, Merge);
} // namespace ashlar
