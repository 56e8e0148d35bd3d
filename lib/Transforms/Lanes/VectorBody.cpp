// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VectorBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

SmallVector<Value, 1>
ashlar::emitVectorBody(ImplicitLocOpBuilder &b, Block *body,
                       ArrayRef<Value> arguments, int64_t lanes,
                       llvm::function_ref<Value(unsigned)> placeAlong) {
  auto vectorOf = [&](Type type) { return VectorType::get({lanes}, type); };
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(body->getArguments(), arguments))
    if (to)
      mapping.map(from, to);
  auto lookup = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    Value broadcast;
    Attribute constant;
    VectorType type = vectorOf(value.getType());
    if (matchPattern(value, m_Constant(&constant)))
      broadcast =
          arith::ConstantOp::create(b, DenseElementsAttr::get(type, constant));
    else
      broadcast = vector::BroadcastOp::create(b, type, value);
    mapping.map(value, broadcast);
    return broadcast;
  };
  for (Operation &inner : body->without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    if (auto place = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(place.getResult(), placeAlong(place.getDim()));
      continue;
    }
    OperationState state(b.getLoc(), inner.getName());
    for (Value operand : inner.getOperands())
      state.operands.push_back(lookup(operand));
    for (Type type : inner.getResultTypes())
      state.types.push_back(vectorOf(type));
    state.attributes = inner.getDiscardableAttrDictionary();
    state.propertiesAttr = inner.getPropertiesAsAttribute();
    Operation *clone = b.create(state);
    mapping.map(inner.getResults(), clone->getResults());
  }
  return llvm::map_to_vector<1>(body->getTerminator()->getOperands(), lookup);
}
