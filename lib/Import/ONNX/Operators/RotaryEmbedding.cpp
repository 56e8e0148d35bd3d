// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RotaryEmbedding: turns pairs of elements of each head by the angle of their
// position. Element d of a pair becomes x cos - y sin or y cos + x sin, where
// the other element lies half the width away or is the neighbour.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// x as (batch, sequence, head, element), or the middle two exchanged.
struct Layout {
  SmallVector<int64_t> shape;
  unsigned sequenceAxis;
  int64_t width; ///< of the elements that are turned
};
} // namespace

static FailureOr<Layout> readLayout(NodeImporter &node) {
  ArrayRef<int64_t> shape = node.shape(0);
  Layout layout;
  if (shape.size() == 4) {
    layout = {SmallVector<int64_t>(shape), 2, 0};
  } else if (shape.size() == 3) {
    int64_t heads = node.intAttribute("num_heads", 0);
    if (heads <= 0 || shape[2] % heads != 0)
      return node.invalid("expected attribute 'num_heads' to divide " +
                          Twine(shape[2]) + ", found " + Twine(heads));
    layout = {{shape[0], shape[1], heads, shape[2] / heads}, 1, 0};
  } else {
    return node.invalid("expected input 0 of rank 3 or 4, found shape " +
                        spellShape(shape));
  }
  layout.width = node.intAttribute("rotary_embedding_dim", 0);
  if (layout.width == 0)
    layout.width = layout.shape[3];
  if (layout.width < 0 || layout.width > layout.shape[3] ||
      layout.width % 2 != 0)
    return node.invalid("expected attribute 'rotary_embedding_dim' to be even "
                        "and at most " +
                        Twine(layout.shape[3]) + ", found " +
                        Twine(layout.width));
  return layout;
}

/// Checks the tables of cosines and sines, and the positions into them.
static LogicalResult checkTables(NodeImporter &node, const Layout &layout) {
  int64_t batch = layout.shape[0], rows = layout.shape[layout.sequenceAxis];
  bool hasPositions = node.hasOperand(3);
  if (hasPositions && failed(expectShape(node, 3, {batch, rows})))
    return failure();
  for (unsigned i : {1, 2}) {
    SmallVector<int64_t> expected = {batch, rows, layout.width / 2};
    if (hasPositions && failed(expectRankAtLeast(node, 1, 1)))
      return failure();
    if (hasPositions)
      expected = {node.shape(1)[0], layout.width / 2};
    if (failed(expectShape(node, i, expected)))
      return failure();
    if (hasPositions && expected[0] == 0)
      return node.invalid("expected tables with rows, found input " + Twine(i) +
                          " without");
  }
  return success();
}

static LogicalResult importRotaryEmbedding(NodeImporter &node) {
  FailureOr<Layout> layout = readLayout(node);
  if (failed(layout) || failed(checkTables(node, *layout)))
    return failure();
  bool interleaved = node.intAttribute("interleaved", 0);
  int64_t half = layout->width / 2;
  if (half == 0 || node.tensorType(0).getNumElements() == 0) {
    node.setResult(0, node.operand(0), node.operandType(0));
    return success();
  }
  Value x = reshape(node.b, node.operand(0), layout->shape);
  Type element = node.tensorType(0).getElementType();
  Value result = generate(
      node.b, layout->shape, element,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        auto index = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        auto isAtLeast = [&](Value value, int64_t bound) -> Value {
          return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, value,
                                       index(bound));
        };
        FloatScalars s(b, loc, computeType(element));
        // What is not turned computes with the first pair and is not used.
        Value passes = isAtLeast(at[3], layout->width);
        Value d = s.select(passes, index(0), at[3]);
        Value pair, isSecond;
        if (interleaved) {
          pair = arith::DivUIOp::create(b, loc, d, index(2));
          Value odd = arith::RemUIOp::create(b, loc, d, index(2));
          isSecond = isAtLeast(odd, 1);
        } else {
          pair = arith::RemUIOp::create(b, loc, d, index(half));
          isSecond = isAtLeast(d, half);
        }
        Value distance = index(interleaved ? 1 : half);
        Value below = arith::SubIOp::create(b, loc, d, distance);
        Value above = arith::AddIOp::create(b, loc, d, distance);
        Value otherPlace = s.select(isSecond, below, above);

        Value row = at[layout->sequenceAxis];
        SmallVector<Value> angle = {at[0], row, pair};
        if (node.hasOperand(3)) {
          Value position = tensor::ExtractOp::create(b, loc, node.operand(3),
                                                     ValueRange{at[0], row});
          position =
              arith::IndexCastOp::create(b, loc, b.getIndexType(), position);
          // Positions come from the caller: none may lead outside the tables.
          position = arith::MaxSIOp::create(b, loc, position, index(0));
          position = arith::MinSIOp::create(b, loc, position,
                                            index(node.shape(1)[0] - 1));
          angle = {position, pair};
        }
        auto read = [&](Value tensor, ValueRange from) {
          Value value = tensor::ExtractOp::create(b, loc, tensor, from);
          return resizeFloat(b, loc, value, s.type);
        };
        Value self = read(x, at);
        Value other = read(x, {at[0], at[1], at[2], otherPlace});
        Value turned = s.mul(self, read(node.operand(1), angle));
        Value part = s.mul(other, read(node.operand(2), angle));
        turned = s.select(isSecond, s.add(turned, part), s.sub(turned, part));
        return resizeFloat(b, loc, s.select(passes, self, turned), element);
      });
  node.setResult(0, reshape(node.b, result, node.shape(0)),
                 node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerRotaryEmbeddingOperators(
    OperatorRegistry &registry) {
  registry.add("RotaryEmbedding", 23, importRotaryEmbedding);
}
