// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LinearAttention: a state of keys by values for each head, which every token
// decays, corrects and adds to, and every query reads. Computed in f32.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "LoopNest.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Operand i, batch x steps x (heads * width), as steps x batch x heads x width
/// in f32.
static Value readByStep(NodeImporter &node, unsigned i, int64_t heads) {
  ArrayRef<int64_t> s = node.shape(i);
  Value x = reshape(node.b, node.operand(i), {s[0], s[1], heads, s[2] / heads});
  return castTensor(node.b, transpose(node.b, x, {1, 0, 2, 3}),
                    node.operandType(i), ElementType::F32);
}

namespace {
struct Sizes {
  int64_t batch, steps, queryHeads, heads, keys, values;
  bool gates, corrects;
};
} // namespace

static FailureOr<Sizes> readLinearSizes(NodeImporter &node) {
  std::string rule = node.stringAttribute("update_rule", "gated_delta");
  if (failed(expectOneOf(node, "attribute 'update_rule'", rule,
                         {"linear", "gated", "delta", "gated_delta"})))
    return failure();
  Sizes s;
  s.gates = rule == "gated" || rule == "gated_delta";
  s.corrects = rule == "delta" || rule == "gated_delta";
  if (node.hasOperand(4) != s.gates || node.hasOperand(5) != s.corrects)
    return node.invalid("expected a decay for gated rules only and a beta for "
                        "delta rules only; the rule is '" +
                        rule + "'");
  for (unsigned i : {0, 1, 2})
    if (failed(expectRank(node, i, 3)))
      return failure();
  s.queryHeads = node.intAttribute("q_num_heads", 0);
  s.heads = node.intAttribute("kv_num_heads", 0);
  s.batch = node.shape(0)[0];
  s.steps = node.shape(0)[1];
  int64_t queries = node.shape(0)[2], values = node.shape(2)[2];
  if (s.queryHeads <= 0 || s.heads <= 0 || s.queryHeads % s.heads != 0 ||
      queries % s.queryHeads != 0 || values % s.heads != 0)
    return node.invalid("expected q_num_heads to be a multiple of kv_num_heads "
                        "and both to divide the sizes " +
                        Twine(queries) + " and " + Twine(values) + ", found " +
                        Twine(s.queryHeads) + " and " + Twine(s.heads));
  s.keys = queries / s.queryHeads;
  s.values = values / s.heads;
  if (failed(expectShape(node, 1, {s.batch, s.steps, s.heads * s.keys})) ||
      failed(expectShape(node, 2, {s.batch, s.steps, values})) ||
      (node.hasOperand(3) &&
       failed(expectShape(node, 3, {s.batch, s.heads, s.keys, s.values}))))
    return failure();
  auto lastIs = [&](unsigned i, int64_t one, int64_t other) -> LogicalResult {
    if (failed(expectRank(node, i, 3)))
      return failure();
    int64_t last = node.shape(i)[2] == other ? other : one;
    return expectShape(node, i, {s.batch, s.steps, last});
  };
  if ((s.gates && failed(lastIs(4, s.heads, s.heads * s.keys))) ||
      (s.corrects && failed(lastIs(5, s.heads, 1))) ||
      failed(expectSize(node, {s.steps, s.batch, s.queryHeads, s.values},
                        node.b.getF32Type())))
    return failure();
  return s;
}

static LogicalResult importLinearAttention(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  FailureOr<Sizes> read = readLinearSizes(node);
  if (failed(read))
    return failure();
  const Sizes &s = *read;
  Type f32 = b.getF32Type();
  int64_t group = s.queryHeads / s.heads;
  double scale = node.floatAttribute("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(double(s.keys));
  Value q = readByStep(node, 0, s.queryHeads), k = readByStep(node, 1, s.heads),
        v = readByStep(node, 2, s.heads), decay, beta;
  if (s.gates)
    decay = readByStep(node, 4, s.heads);
  if (s.corrects)
    beta = readByStep(node, 5, node.shape(5)[2] == 1 ? 1 : s.heads);
  Value zero = arith::ConstantOp::create(b, zeroOf(f32));
  SmallVector<int64_t> stateShape{s.batch, s.heads, s.keys, s.values};
  Value state = node.hasOperand(3)
                    ? castTensor(b, node.operand(3), node.operandType(3),
                                 ElementType::F32)
                    : fill(b, stateShape, zero);
  Value outputs = tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{s.steps, s.batch, s.queryHeads, s.values}, f32);

  auto step = [&](OpBuilder &builder, Location loc, ValueRange at,
                  ValueRange carried) -> SmallVector<Value> {
    ImplicitLocOpBuilder b(loc, builder);
    OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
    SmallVector<OpFoldResult> offsets{at[0], none, none, none}, strides(4, one);
    auto now = [&](Value x) -> Value {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(x.getType()).getShape().drop_front();
      SmallVector<OpFoldResult> sizes{one};
      for (int64_t dim : shape)
        sizes.push_back(b.getIndexAttr(dim));
      return tensor::ExtractSliceOp::create(
          b, RankedTensorType::get(shape, f32), x, offsets, sizes, strides);
    };
    // Along the rows (keys) or the columns (values) of the state.
    auto column = [&](Value x) {
      SmallVector<int64_t> shape(
          cast<RankedTensorType>(x.getType()).getShape());
      shape.push_back(1);
      return reshape(b, x, shape);
    };
    auto row = [&](Value x) {
      SmallVector<int64_t> shape(
          cast<RankedTensorType>(x.getType()).getShape());
      shape.insert(shape.begin() + 2, 1);
      return reshape(b, x, shape);
    };
    AffineExpr n = b.getAffineDimExpr(0), h = b.getAffineDimExpr(1),
               m = b.getAffineDimExpr(2), d = b.getAffineDimExpr(3);
    Value before = carried[0], keys = now(k), values = now(v);
    if (decay)
      before = floatElementwise(b, {before, column(now(decay))}, f32,
                                [](FloatScalars &s, ValueRange args) {
                                  return s.mul(args[0], s.exp(args[1]));
                                });
    if (beta) {
      AffineMap maps[] = {AffineMap::get(4, 0, {n, h, d, m}, b.getContext()),
                          AffineMap::get(4, 0, {n, h, d}, b.getContext()),
                          AffineMap::get(4, 0, {n, h, m}, b.getContext())};
      Value held = contract(b, before, keys,
                            fill(b, {s.batch, s.heads, s.values}, zero), maps);
      values =
          floatElementwise(b, {values, held, now(beta)}, f32,
                           [](FloatScalars &s, ValueRange args) {
                             return s.mul(args[2], s.sub(args[0], args[1]));
                           });
    }
    Value after =
        floatElementwise(b, {before, column(keys), row(values)}, f32,
                         [](FloatScalars &s, ValueRange args) {
                           return s.add(args[0], s.mul(args[1], args[2]));
                         });
    // A group of query heads reads one state.
    AffineExpr g = b.getAffineDimExpr(4);
    AffineMap maps[] = {AffineMap::get(5, 0, {n, h, g, d}, b.getContext()),
                        AffineMap::get(5, 0, {n, h, d, m}, b.getContext()),
                        AffineMap::get(5, 0, {n, h, g, m}, b.getContext())};
    Value queries = reshape(b, now(q), {s.batch, s.heads, group, s.keys});
    Value result =
        contract(b, queries, after,
                 fill(b, {s.batch, s.heads, group, s.values}, zero), maps);
    result = floatElementwise(b, {result}, f32,
                              [&](FloatScalars &f, ValueRange args) {
                                return f.mul(args[0], f.constant(scale));
                              });
    result = reshape(b, result, {s.batch, s.queryHeads, s.values});
    // The state stays where it is from step to step.
    after = linalg::CopyOp::create(b, after, carried[0]).getResult(0);
    SmallVector<OpFoldResult> sizes{one, b.getIndexAttr(s.batch),
                                    b.getIndexAttr(s.queryHeads),
                                    b.getIndexAttr(s.values)};
    Value next = tensor::InsertSliceOp::create(b, result, carried[1], offsets,
                                               sizes, strides);
    return {after, next};
  };
  SmallVector<Value> done =
      loopOver(b, b.getLoc(), {s.steps}, {state, outputs}, step);
  ElementType type = node.operandType(0);
  Value result = castTensor(b, transpose(b, done[1], {1, 0, 2, 3}),
                            ElementType::F32, type);
  node.setResult(
      0, reshape(b, result, {s.batch, s.steps, s.queryHeads * s.values}), type);
  ElementType stateType = node.hasOperand(3) ? node.operandType(3) : type;
  node.setResult(1, castTensor(b, done[0], ElementType::F32, stateType),
                 stateType);
  return success();
}

void ashlar::onnx_import::registerLinearAttentionOperators(
    OperatorRegistry &registry) {
  registry.add("LinearAttention", 27, importLinearAttention);
}
