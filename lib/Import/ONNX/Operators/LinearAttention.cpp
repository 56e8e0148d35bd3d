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

/// `x` with one more dim of size one, in front of dim `place`.
static Value withDim(ImplicitLocOpBuilder &b, Value x, unsigned place) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(x.getType()).getShape());
  shape.insert(shape.begin() + place, 1);
  return reshape(b, x, shape);
}

/// Along the rows (keys) of the state, and along its columns (values).
static Value asColumn(ImplicitLocOpBuilder &b, Value x) {
  return withDim(b, x, cast<RankedTensorType>(x.getType()).getRank());
}
static Value asRow(ImplicitLocOpBuilder &b, Value x) {
  return withDim(b, x, 2);
}

namespace {
/// What each step reads, by step; null: it does not.
struct StepInputs {
  Value q, k, v, decay, beta;

  /// Those of one step.
  StepInputs at(ImplicitLocOpBuilder &b, Value step) const {
    auto now = [&](Value x) -> Value {
      if (!x)
        return x;
      auto type = cast<RankedTensorType>(x.getType());
      OpFoldResult one = b.getIndexAttr(1);
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
          sizes{one}, strides(type.getRank(), one);
      offsets[0] = step;
      for (int64_t dim : type.getShape().drop_front())
        sizes.push_back(b.getIndexAttr(dim));
      return tensor::ExtractSliceOp::create(
          b,
          RankedTensorType::get(type.getShape().drop_front(),
                                type.getElementType()),
          x, offsets, sizes, strides);
    };
    return {now(q), now(k), now(v), now(decay), now(beta)};
  }
};
} // namespace

/// The state after a step: decayed, and the new values added along the keys;
/// with beta, the difference of these and what the state held for the keys.
static Value updateState(ImplicitLocOpBuilder &b, const Sizes &s,
                         const StepInputs &now, Value state) {
  Type f32 = b.getF32Type();
  Value values = now.v;
  if (now.decay)
    state = floatElementwise(b, {state, asColumn(b, now.decay)}, f32,
                             [](FloatScalars &s, ValueRange args) {
                               return s.mul(args[0], s.exp(args[1]));
                             });
  if (now.beta) {
    AffineExpr n = b.getAffineDimExpr(0), h = b.getAffineDimExpr(1),
               m = b.getAffineDimExpr(2), d = b.getAffineDimExpr(3);
    AffineMap maps[] = {AffineMap::get(4, 0, {n, h, d, m}, b.getContext()),
                        AffineMap::get(4, 0, {n, h, d}, b.getContext()),
                        AffineMap::get(4, 0, {n, h, m}, b.getContext())};
    Value zero = arith::ConstantOp::create(b, zeroOf(f32));
    Value held = contract(b, state, now.k,
                          fill(b, {s.batch, s.heads, s.values}, zero), maps);
    values = floatElementwise(b, {values, held, now.beta}, f32,
                              [](FloatScalars &s, ValueRange args) {
                                return s.mul(args[2], s.sub(args[0], args[1]));
                              });
  }
  return floatElementwise(b, {state, asColumn(b, now.k), asRow(b, values)}, f32,
                          [](FloatScalars &s, ValueRange args) {
                            return s.add(args[0], s.mul(args[1], args[2]));
                          });
}

/// What the queries of a step read of the state, scaled. A group of query heads
/// reads one state.
static Value readState(ImplicitLocOpBuilder &b, const Sizes &s, Value queries,
                       Value state, double scale) {
  int64_t group = s.queryHeads / s.heads;
  Type f32 = b.getF32Type();
  AffineExpr n = b.getAffineDimExpr(0), h = b.getAffineDimExpr(1),
             m = b.getAffineDimExpr(2), d = b.getAffineDimExpr(3),
             g = b.getAffineDimExpr(4);
  AffineMap maps[] = {AffineMap::get(5, 0, {n, h, g, d}, b.getContext()),
                      AffineMap::get(5, 0, {n, h, d, m}, b.getContext()),
                      AffineMap::get(5, 0, {n, h, g, m}, b.getContext())};
  Value zero = arith::ConstantOp::create(b, zeroOf(f32));
  queries = reshape(b, queries, {s.batch, s.heads, group, s.keys});
  Value result =
      contract(b, queries, state,
               fill(b, {s.batch, s.heads, group, s.values}, zero), maps);
  result =
      floatElementwise(b, {result}, f32, [&](FloatScalars &f, ValueRange args) {
        return f.mul(args[0], f.constant(scale));
      });
  return reshape(b, result, {s.batch, s.queryHeads, s.values});
}

static StepInputs readStepInputs(NodeImporter &node, const Sizes &s) {
  StepInputs inputs = {readByStep(node, 0, s.queryHeads),
                       readByStep(node, 1, s.heads),
                       readByStep(node, 2, s.heads),
                       {},
                       {}};
  if (s.gates)
    inputs.decay = readByStep(node, 4, s.heads);
  if (s.corrects)
    inputs.beta = readByStep(node, 5, node.shape(5)[2] == 1 ? 1 : s.heads);
  return inputs;
}

static Value firstState(NodeImporter &node, const Sizes &s) {
  ImplicitLocOpBuilder &b = node.b;
  if (node.hasOperand(3))
    return castTensor(b, node.operand(3), node.operandType(3),
                      ElementType::F32);
  return fill(b, {s.batch, s.heads, s.keys, s.values},
              arith::ConstantOp::create(b, zeroOf(b.getF32Type())));
}

static LogicalResult importLinearAttention(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  FailureOr<Sizes> read = readLinearSizes(node);
  if (failed(read))
    return failure();
  const Sizes &s = *read;
  double scale = node.floatAttribute("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(double(s.keys));
  StepInputs inputs = readStepInputs(node, s);
  Value state = firstState(node, s);
  Value outputs = tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{s.steps, s.batch, s.queryHeads, s.values},
      b.getF32Type());
  auto step = [&](OpBuilder &builder, Location loc, ValueRange at,
                  ValueRange carried) -> SmallVector<Value> {
    ImplicitLocOpBuilder b(loc, builder);
    StepInputs now = inputs.at(b, at[0]);
    Value after = updateState(b, s, now, carried[0]);
    Value result = readState(b, s, now.q, after, scale);
    // The state stays where it is from step to step.
    after = linalg::CopyOp::create(b, after, carried[0]).getResult(0);
    OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
    SmallVector<OpFoldResult> offsets{at[0], none, none, none}, strides(4, one),
        sizes{one, b.getIndexAttr(s.batch), b.getIndexAttr(s.queryHeads),
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
