// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gather, GatherElements and GatherND: elements of a tensor at
// places that another one holds.
#include "Gathers.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "IndexArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static LogicalResult expectElements(NodeImporter &node, int64_t axis,
                                    ArrayRef<int64_t> result) {
  if (node.shape(0)[axis] != 0 || ShapedType::getNumElements(result) == 0)
    return success();
  return node.invalid("axis " + Twine(axis) +
                      " of input 0 has no elements to gather");
}

Value ashlar::onnx_import::gatherAxis(ImplicitLocOpBuilder &b, Value data,
                                      Value indices, int64_t axis) {
  auto type = cast<RankedTensorType>(data.getType());
  auto indexType = cast<RankedTensorType>(indices.getType());
  int64_t extra = indexType.getRank();
  SmallVector<int64_t> shape(type.getShape().take_front(axis));
  llvm::append_range(shape, indexType.getShape());
  llvm::append_range(shape, type.getShape().drop_front(axis + 1));
  SmallVector<AffineExpr> place;
  for (int64_t i = 0; i != extra; ++i)
    place.push_back(b.getAffineDimExpr(axis + i));
  AffineMap map = AffineMap::get(shape.size(), 0, place, b.getContext());
  return parallel(
      b, shape, type.getElementType(), indices, map,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        SmallVector<Value> at;
        for (int64_t i = 0; i != type.getRank(); ++i)
          at.push_back(
              i == axis ? boundedIndex(b, loc, args[0], type.getDimSize(axis))
                        : linalg::IndexOp::create(b, loc,
                                                  i < axis ? i : i + extra - 1)
                              .getResult());
        return tensor::ExtractOp::create(b, loc, data, at);
      });
}

static LogicalResult importGather(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectIndexType(node, 1)) ||
      failed(expectRankAtLeast(node, 0, 1)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  ArrayRef<int64_t> data = node.shape(0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), data.size());
  if (failed(axis))
    return failure();
  SmallVector<int64_t> result(data.take_front(*axis));
  llvm::append_range(result, node.shape(1));
  llvm::append_range(result, data.drop_front(*axis + 1));
  if (failed(expectSize(node, result)) ||
      failed(expectElements(node, *axis, result)))
    return failure();
  DenseElementsAttr constant = node.constantOperand(1);
  int64_t dim = data[*axis];
  if (constant)
    for (const APInt &place : constant.getValues<APInt>())
      if (int64_t at = place.getSExtValue(); at < -dim || at >= dim)
        return node.invalid("index " + Twine(at) + " is outside [" +
                            Twine(-dim) + ", " + Twine(dim - 1) +
                            "], the places of axis " + Twine(*axis));
  // One known place is a view, unless it is one of a table of places that has
  // as many as an input is long: where the input is short it is imported as
  // where it is long, so that a module can be for both.
  if (node.rank(1) != 0 &&
      node.operand(1).getDefiningOp<tensor::ExtractSliceOp>())
    constant = {};
  if (constant && constant.getNumElements() == 1) {
    int64_t at = (*constant.getValues<APInt>().begin()).getSExtValue();
    SmallVector<int64_t> offsets(data.size(), 0), sizes(data),
        strides(data.size(), 1);
    offsets[*axis] = at < 0 ? at + dim : at;
    sizes[*axis] = 1;
    Value part = slice(b, node.operand(0), offsets, sizes, strides);
    node.setResult(0, reshape(b, part, result), node.operandType(0));
    return success();
  }
  node.setResult(0, gatherAxis(b, node.operand(0), node.operand(1), *axis),
                 node.operandType(0));
  return success();
}

static LogicalResult importGatherElements(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectIndexType(node, 1)) ||
      failed(expectRankAtLeast(node, 0, 1)) ||
      failed(expectRank(node, 1, node.rank(0))))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), data.size());
  if (failed(axis) || failed(expectElements(node, *axis, indices)))
    return failure();
  for (auto [i, dim] : llvm::enumerate(indices))
    if (int64_t(i) != *axis && dim > data[i])
      return node.invalid("input 1 has shape " + spellShape(indices) +
                          "; expected sizes within those of input 0, " +
                          spellShape(data) + ", but along axis " +
                          Twine(*axis));
  Value source = node.operand(0);
  Value result = parallel(
      b, indices, node.tensorType(0).getElementType(), node.operand(1),
      b.getMultiDimIdentityMap(indices.size()),
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        SmallVector<Value> at;
        for (int64_t i = 0, e = data.size(); i != e; ++i)
          at.push_back(i == *axis
                           ? boundedIndex(b, loc, args[0], data[i])
                           : linalg::IndexOp::create(b, loc, i).getResult());
        return tensor::ExtractOp::create(b, loc, source, at);
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

static LogicalResult importGatherND(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectIndexType(node, 1)) ||
      failed(expectRankAtLeast(node, 0, 1)) ||
      failed(expectRankAtLeast(node, 1, 1)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  int64_t batch = node.intAttribute("batch_dims", 0);
  if (batch < 0 || batch >= int64_t(std::min(data.size(), indices.size())))
    return node.invalid("attribute 'batch_dims' is " + Twine(batch) +
                        "; expected less than both inputs' ranks");
  int64_t depth = indices.back(), lead = indices.size() - 1;
  if (depth < 1 || batch + depth > int64_t(data.size()))
    return node.invalid("the last size of input 1 is " + Twine(depth) +
                        "; expected 1 to " +
                        Twine(int64_t(data.size()) - batch));
  if (data.take_front(batch) != indices.take_front(batch))
    return node.invalid("the inputs' batch sizes differ: " +
                        spellShape(data.take_front(batch)) + " and " +
                        spellShape(indices.take_front(batch)));
  SmallVector<int64_t> result(indices.drop_back());
  llvm::append_range(result, data.drop_front(batch + depth));
  if (failed(expectSize(node, result)))
    return failure();
  for (int64_t i = batch; i != batch + depth; ++i)
    if (failed(expectElements(node, i, result)))
      return failure();
  Value source = node.operand(0), places = node.operand(1);
  Value gathered =
      generate(b, result, node.tensorType(0).getElementType(),
               [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                 SmallVector<Value> from(at.take_front(batch));
                 SmallVector<Value> place(at.take_front(lead));
                 place.push_back({});
                 for (int64_t i = 0; i != depth; ++i) {
                   place.back() = arith::ConstantIndexOp::create(b, loc, i);
                   Value index =
                       tensor::ExtractOp::create(b, loc, places, place);
                   from.push_back(boundedIndex(b, loc, index, data[batch + i]));
                 }
                 llvm::append_range(from, at.drop_front(lead));
                 return tensor::ExtractOp::create(b, loc, source, from);
               });
  node.setResult(0, gathered, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerGathersOperators(OperatorRegistry &registry) {
  registry.add("Gather", 1, importGather);
  registry.add("GatherElements", 11, importGatherElements);
  registry.add("GatherND", 11, importGatherND);
}
