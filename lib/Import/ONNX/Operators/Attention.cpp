// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention and FlexAttention: softmax(scale Q K' + bias) V for each head.
// Queries share keys and values in groups of heads. Heads that lie inside the
// rows of operands of rank 3 are read in place, by the maps of the
// contractions.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "onnx-ml.pb.h"
#include <numeric>

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// Q, K or V with its heads as an axis of their own: before the sequence
/// (batch, head, row, column) or after it.
struct Heads {
  Value value;
  int64_t batch, heads, rows, columns;
  bool headsFirst;
};
} // namespace

static FailureOr<Heads> readHeads(NodeImporter &node, unsigned i,
                                  StringRef countAttribute) {
  ArrayRef<int64_t> shape = node.shape(i);
  if (shape.size() == 4)
    return Heads{node.operand(i), shape[0], shape[1], shape[2], shape[3], true};
  if (shape.size() != 3)
    return node.invalid("expected input " + Twine(i) +
                        " of rank 3 or 4, found shape " + spellShape(shape));
  int64_t heads = node.intAttribute(countAttribute, 0);
  if (heads <= 0 || shape[2] % heads != 0)
    return node.invalid("expected attribute " + countAttribute +
                        " to divide the last size of input " + Twine(i) + ", " +
                        Twine(shape[2]) + ", found " + Twine(heads));
  int64_t columns = shape[2] / heads;
  Value value =
      reshape(node.b, node.operand(i), {shape[0], shape[1], heads, columns});
  return Heads{value, shape[0], heads, shape[1], columns, false};
}

static LogicalResult checkMatch(NodeImporter &node, const Heads &q,
                                const Heads &k, const Heads &v) {
  if (k.batch == q.batch && v.batch == q.batch && k.heads == v.heads &&
      k.rows == v.rows && k.columns == q.columns && k.heads != 0 &&
      q.heads % k.heads == 0)
    return success();
  return node.invalid("expected queries, keys and values that match, found " +
                      spellShape(node.shape(0)) + ", " +
                      spellShape(node.shape(1)) + " and " +
                      spellShape(node.shape(2)));
}

/// The rows of operand `past` before those of `heads`, heads first.
static LogicalResult appendToPast(NodeImporter &node, unsigned past,
                                  unsigned result, Heads &heads,
                                  ElementType type) {
  if (!node.hasOperand(past) && !node.hasResult(result))
    return success();
  if (!heads.headsFirst)
    heads.value = transpose(node.b, heads.value, {0, 2, 1, 3});
  heads.headsFirst = true;
  if (node.hasOperand(past)) {
    if (node.rank(past) != 4 ||
        failed(expectShape(
            node, past,
            {heads.batch, heads.heads, node.shape(past)[2], heads.columns})))
      return node.rank(past) == 4
                 ? failure()
                 : node.invalid("expected input " + Twine(past) +
                                " of rank 4, found shape " +
                                spellShape(node.shape(past)));
    heads.rows += node.shape(past)[2];
    heads.value = concat(node.b, {node.operand(past), heads.value}, 2);
  }
  node.setResult(result, heads.value, type);
  return success();
}

/// Which keys a query may see.
namespace {
struct Visibility {
  bool causal;
  int64_t left, right; ///< -1: unbounded
  int64_t offset;      ///< of the first query among the keys
  /// How many keys each element of the batch has; then its queries are the
  /// last of them. Null: all.
  Value lengths;
  int64_t queries;
  unsigned rank; ///< of scores, whose last dims are queries and keys
  bool bounds() const { return causal || left >= 0 || right >= 0 || lengths; }
};
} // namespace

static Value isVisible(OpBuilder &b, Location loc, const Visibility &rule) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value row = linalg::IndexOp::create(b, loc, rule.rank - 2);
  Value column = linalg::IndexOp::create(b, loc, rule.rank - 1);
  Value length, offset = constant(rule.offset);
  if (rule.lengths) {
    Value batch = linalg::IndexOp::create(b, loc, 0);
    length = tensor::ExtractOp::create(b, loc, rule.lengths, batch);
    length = arith::IndexCastOp::create(b, loc, b.getIndexType(), length);
    offset = arith::SubIOp::create(b, loc, length, constant(rule.queries));
  }
  Value place = arith::AddIOp::create(b, loc, row, offset);
  Value visible = scalarIntConstant(b, loc, b.getI1Type(), 1);
  auto require = [&](Value low, Value high) {
    Value holds =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, low, high);
    visible = arith::AndIOp::create(b, loc, visible, holds);
  };
  if (length)
    require(arith::AddIOp::create(b, loc, column, constant(1)), length);
  if (rule.causal)
    require(column, place);
  if (rule.left >= 0)
    require(place, arith::AddIOp::create(b, loc, column, constant(rule.left)));
  if (rule.right >= 0)
    require(column, arith::AddIOp::create(b, loc, place, constant(rule.right)));
  return visible;
}

/// Operand 3, as wide as there are keys: those it does not reach are hidden.
static FailureOr<Value> readMask(NodeImporter &node,
                                 ArrayRef<int64_t> scoresShape) {
  Value mask = node.operand(3);
  SmallVector<int64_t> shape(node.shape(3));
  ElementType type = node.operandType(3);
  if (type != ElementType::Bool && !isFloat(type))
    return node.unsupported("with a mask of " + elementTypeName(type));
  if (!shape.empty() && shape.back() > 1 && shape.back() < scoresShape.back()) {
    Type element = node.tensorType(3).getElementType();
    SmallVector<int64_t> low(shape.size(), 0), high(shape.size(), 0);
    high.back() = scoresShape.back() - shape.back();
    mask = pad(node.b, mask, low, high,
               arith::ConstantOp::create(node.b, lowestOf(element, false)));
    shape.back() = scoresShape.back();
  }
  FailureOr<SmallVector<int64_t>> result =
      broadcastShapes({shape, scoresShape});
  if (failed(result) || ArrayRef<int64_t>(*result) != scoresShape)
    return node.invalid("expected a mask that broadcasts to " +
                        spellShape(scoresShape) + ", found shape " +
                        spellShape(node.shape(3)));
  return mask;
}

/// softmax over the last axis, where a row without any visible key gives zeros.
static Value maskedSoftmax(ImplicitLocOpBuilder &b, Value scores, Type result) {
  int64_t rank = cast<RankedTensorType>(scores.getType()).getRank();
  Type element = getElementTypeOrSelf(scores), compute = computeType(element);
  SmallVector<int64_t> kept = allAxes(rank - 1);
  Aligned max = {maxOver(b, scores, rank - 1), kept};
  Type step = stepType(scores, rank - 1);
  Value powers = alignedElementwise(
      b, scores, max, compute, step, [&](FloatScalars &s, ValueRange args) {
        Value none = s.compare(FloatScalars::Predicate::OEQ, args[1],
                               s.infinity(/*negative=*/true));
        Value distance = s.sub(args[0], s.select(none, s.constant(0), args[1]));
        return s.exp(roundTo(s.b, s.loc, distance, step));
      });
  Aligned sum = {roundedSumOver(b, powers, rank - 1), kept};
  return alignedElementwise(
      b, powers, sum, compute, result, [&](FloatScalars &s, ValueRange args) {
        Value none =
            s.compare(FloatScalars::Predicate::OEQ, args[1], s.constant(0));
        Value weight = s.div(args[0], s.select(none, s.constant(1), args[1]));
        return result == element ? weight
                                 : roundTo(s.b, s.loc, weight, element);
      });
}

/// Batch, head of K, head in its group, row, column. Where each head of K has
/// one of Q, there are no groups.
static SmallVector<int64_t> ofHeads(int64_t batch, int64_t heads, int64_t group,
                                    int64_t rows, int64_t columns) {
  if (group == 1)
    return {batch, heads, rows, columns};
  return {batch, heads, group, rows, columns};
}

/// A mask of scores with the heads of queries apart as `ofHeads` has them.
static Value groupMask(ImplicitLocOpBuilder &b, Value mask, int64_t heads,
                       int64_t group) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(mask.getType()).getShape());
  if (group == 1 || shape.size() < 3)
    return mask;
  auto *own = shape.end() - 3;
  bool isShared = *own == 1;
  *own = isShared ? 1 : heads;
  shape.insert(own + 1, isShared ? 1 : group);
  return reshape(b, mask, shape);
}

/// The contraction of a tensor of scores or weights with the heads of K or V.
/// Loops: those of `shape`, as `ofHeads` says it, and the reduced one.
static Value contractHeads(ImplicitLocOpBuilder &b, Value lhs,
                           bool lhsHeadsFirst, const Heads &rhs,
                           ArrayRef<int64_t> shape, bool rhsTransposed) {
  unsigned rank = shape.size();
  auto map = [&](ArrayRef<unsigned> dims) {
    return AffineMap::getMultiDimMapWithTargets(rank + 1, dims, b.getContext());
  };
  // The reduced loop is the last; it runs along the columns of K, the rows of
  // V.
  unsigned row = rhsTransposed ? rank - 1 : rank,
           column = rhsTransposed ? rank : rank - 1;
  SmallVector<unsigned> left = {0};
  if (!lhsHeadsFirst)
    left.push_back(rank - 2);
  for (unsigned d = 1; d != rank - 2; ++d)
    left.push_back(d);
  if (lhsHeadsFirst)
    left.push_back(rank - 2);
  left.push_back(rank);
  SmallVector<unsigned> result(rank);
  std::iota(result.begin(), result.end(), 0);
  AffineMap maps[] = {map(left),
                      rhs.headsFirst ? map({0, 1, row, column})
                                     : map({0, row, 1, column}),
                      map(result)};
  Type compute = computeType(getElementTypeOrSelf(lhs));
  Value zero = arith::ConstantOp::create(b, zeroOf(compute));
  return contract(b, lhs, rhs.value, fill(b, shape, zero), maps);
}

namespace {
/// What an Attention reads, and the past rows joined in front.
struct AttentionInputs {
  Heads q, k, v;
  ElementType type, precision; ///< of the operands; of the softmax
  int64_t newRows;             ///< of keys and values, without the past
  Type element, compute;       ///< of queries; of sums

  int64_t group() const { return q.heads / k.heads; }
  SmallVector<int64_t> grouped(int64_t rows, int64_t columns) const {
    return ofHeads(q.batch, k.heads, group(), rows, columns);
  }
  SmallVector<int64_t> scoresShape() const {
    return {q.batch, q.heads, q.rows, k.rows};
  }
  SmallVector<int64_t> valuesShape() const {
    return {q.batch, q.heads, q.rows, v.columns};
  }
};
} // namespace

static LogicalResult checkPast(NodeImporter &node, const Heads &q) {
  if (node.hasOperand(6) && (node.hasOperand(4) || node.hasOperand(5)))
    return node.invalid("expected past keys or nonpad_kv_seqlen, found both");
  if (node.hasOperand(6) && failed(expectShape(node, 6, {q.batch})))
    return failure();
  if (node.hasOperand(4) != node.hasOperand(5))
    return node.invalid("expected both past_key and past_value or neither");
  return success();
}

static LogicalResult readInputs(NodeImporter &node, AttentionInputs &in) {
  struct {
    Heads &heads;
    const char *count;
  } operands[] = {
      {in.q, "q_num_heads"}, {in.k, "kv_num_heads"}, {in.v, "kv_num_heads"}};
  for (auto [i, operand] : llvm::enumerate(operands)) {
    FailureOr<Heads> heads = readHeads(node, i, operand.count);
    if (failed(heads))
      return failure();
    operand.heads = *heads;
  }
  in.type = node.operandType(0);
  in.precision = static_cast<ElementType>(
      node.intAttribute("softmax_precision", int(in.type)));
  if (!isFloat(in.precision))
    return node.invalid("expected attribute 'softmax_precision' to name a "
                        "float type, found " +
                        elementTypeName(in.precision));
  if (failed(checkPast(node, in.q)))
    return failure();
  if (node.operandType(2) != in.type)
    return node.unsupported("with values of another type than queries");
  if (failed(checkMatch(node, in.q, in.k, in.v)))
    return failure();
  in.newRows = in.k.rows;
  if (failed(appendToPast(node, 4, 1, in.k, in.type)) ||
      failed(appendToPast(node, 5, 2, in.v, in.type)))
    return failure();
  if (in.k.rows != in.v.rows)
    return node.invalid("expected past keys and values of one length");
  in.element = node.tensorType(0).getElementType();
  in.compute = computeType(in.element);
  return failure(failed(expectSize(node, in.scoresShape(), in.compute)) ||
                 failed(expectSize(node, in.valuesShape(), in.compute)));
}

/// Scores of all queries and keys, scaled and capped.
static Value scoresOf(NodeImporter &node, AttentionInputs &in) {
  ImplicitLocOpBuilder &b = node.b;
  Type element = in.element;
  SmallVector<int64_t> queryShape = in.grouped(in.q.rows, in.q.columns);
  if (!in.q.headsFirst)
    std::rotate(queryShape.begin() + 1, queryShape.end() - 2,
                queryShape.end() - 1);
  double scale =
      node.floatAttribute("scale", 1 / std::sqrt(double(in.q.columns)));
  double cap = node.floatAttribute("softcap", 0);
  if (in.compute != element) {
    // Scaled before the product, each by its share, and rounded as ONNX's
    // reference does it: its tests hold that to the last bits.
    auto share = [&](Value x, double own) {
      return floatElementwise(b, {x}, element,
                              [&](FloatScalars &s, ValueRange args) {
                                Value factor = s.constant(own);
                                factor = roundTo(s.b, s.loc, factor, element);
                                return s.mul(args[0], factor);
                              });
    };
    double root = std::sqrt(std::abs(scale));
    in.q.value = share(in.q.value, std::copysign(root, scale));
    in.k.value = share(in.k.value, root);
    scale = 1;
  }
  Value scores =
      contractHeads(b, reshape(b, in.q.value, queryShape), in.q.headsFirst,
                    in.k, in.grouped(in.q.rows, in.k.rows),
                    /*rhsTransposed=*/true);
  if (cap == 0 && scale == 1 && in.compute == element)
    return scores;
  return floatElementwise(
      b, {scores}, element, [&](FloatScalars &s, ValueRange args) {
        auto round = [&](Value x) { return roundTo(s.b, s.loc, x, element); };
        Value x = args[0];
        if (scale != 1)
          x = s.mul(x, s.constant(scale));
        if (cap == 0)
          return x;
        x = round(s.div(round(x), s.constant(cap)));
        return s.mul(round(s.tanh(x)), s.constant(cap));
      });
}

/// Minus infinity where a mask or a key's place hides it.
static FailureOr<Value> hideScores(NodeImporter &node,
                                   const AttentionInputs &in, Value scores) {
  ImplicitLocOpBuilder &b = node.b;
  Visibility rule = {node.intAttribute("is_causal", 0) != 0,
                     node.intAttribute("left_window_size", -1),
                     node.intAttribute("right_window_size", -1),
                     in.k.rows - in.newRows,
                     node.operand(6),
                     in.q.rows,
                     unsigned(in.grouped(in.q.rows, in.k.rows).size())};
  SmallVector<Value> inputs = {scores};
  if (node.hasOperand(3)) {
    FailureOr<Value> mask = readMask(node, in.scoresShape());
    if (failed(mask))
      return failure();
    inputs.push_back(groupMask(b, *mask, in.k.heads, in.group()));
  }
  return elementwise(
      b, in.element, inputs, [&](OpBuilder &b, Location loc, ValueRange args) {
        FloatScalars s(b, loc, in.compute);
        Value x = resizeFloat(b, loc, args[0], in.compute);
        Value hidden = s.infinity(/*negative=*/true);
        if (args.size() > 1)
          x = args[1].getType().isInteger(1)
                  ? s.select(args[1], x, hidden)
                  : s.add(x, resizeFloat(b, loc, args[1], in.compute));
        if (rule.bounds())
          x = s.select(isVisible(b, loc, rule), x, hidden);
        return resizeFloat(b, loc, x, in.element);
      });
}

static Value weighValues(ImplicitLocOpBuilder &b, const AttentionInputs &in,
                         Value weights) {
  Value result = contractHeads(b, weights, /*lhsHeadsFirst=*/true, in.v,
                               in.grouped(in.q.rows, in.v.columns),
                               /*rhsTransposed=*/false);
  result = castTensor(b, result, computeType(in.type), in.type);
  result = reshape(b, result, in.valuesShape());
  if (in.q.headsFirst)
    return result;
  return reshape(b, transpose(b, result, {0, 2, 1, 3}),
                 {in.q.batch, in.q.rows, in.q.heads * in.v.columns});
}

static LogicalResult importAttention(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  AttentionInputs in;
  if (failed(readInputs(node, in)))
    return failure();
  int64_t mode = node.intAttribute("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return node.invalid("expected attribute 'qk_matmul_output_mode' from 0 to "
                        "3, found " +
                        Twine(mode));
  auto giveScores = [&](Value given) {
    if (node.hasResult(3))
      node.setResult(3, reshape(b, given, in.scoresShape()), in.type);
  };
  Value scores = scoresOf(node, in);
  if (mode < 2)
    giveScores(scores);
  FailureOr<Value> hidden = hideScores(node, in, scores);
  if (failed(hidden))
    return failure();
  if (mode == 2)
    giveScores(*hidden);
  Value weights = maskedSoftmax(
      b, castTensor(b, *hidden, in.type, in.precision), in.element);
  if (mode == 3)
    giveScores(weights);
  node.setResult(0, weighValues(b, in, weights), in.type);
  return success();
}

/// What the graph in attribute `name` makes of `value`; the value itself where
/// there is none.
static FailureOr<Value> modify(NodeImporter &node, StringRef name, Value value,
                               ElementType type) {
  if (!node.hasAttribute(name))
    return value;
  const onnx::GraphProto *graph = node.graphAttribute(name);
  if (!graph)
    return failure();
  if (graph->input_size() != 1 || graph->output_size() != 1)
    return node.invalid("expected a graph of one input and one output in "
                        "attribute '" +
                        name + "', found " + Twine(graph->input_size()) +
                        " and " + Twine(graph->output_size()));
  auto results =
      node.importGraph(*graph, ImportedValue{value, type}, node.resultBlock());
  if (failed(results))
    return failure();
  const ImportedValue &result = results->front();
  if (result.kind != ImportedValue::Tensor || result.type != type ||
      result.value.getType() != value.getType())
    return node.invalid("expected the graph in attribute '" + name +
                        "' to keep shape and type of its input");
  node.b.setInsertionPointToEnd(node.resultBlock());
  return result.value;
}

/// Attention whose scores and weights go through graphs of the model's own.
static LogicalResult importFlexAttention(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  if (failed(expectOperands(node, 3, 3)) || failed(expectFloat(node, 0)))
    return failure();
  for (unsigned i : {0, 1, 2})
    if (failed(expectRank(node, i, 4)) || failed(expectSameType(node, i)))
      return failure();
  FailureOr<Heads> q = readHeads(node, 0, ""), k = readHeads(node, 1, ""),
                   v = readHeads(node, 2, "");
  if (failed(q) || failed(k) || failed(v) ||
      failed(checkMatch(node, *q, *k, *v)))
    return failure();
  ElementType type = node.operandType(0);
  auto precision = static_cast<ElementType>(
      node.intAttribute("softmax_precision", int(computeType(type))));
  if (!isFloat(precision))
    return node.invalid(
        "expected attribute 'softmax_precision' to name a float "
        "type, found " +
        elementTypeName(precision));
  int64_t group = q->heads / k->heads;
  SmallVector<int64_t> scoresShape = {q->batch, q->heads, q->rows, k->rows};
  SmallVector<int64_t> grouped =
      ofHeads(q->batch, k->heads, group, q->rows, k->rows);
  SmallVector<int64_t> valuesShape = {q->batch, q->heads, q->rows, v->columns};
  Type compute = computeType(node.tensorType(0).getElementType());
  if (failed(expectSize(node, scoresShape)) ||
      failed(expectSize(node, valuesShape)))
    return failure();
  Value queries = reshape(
      b, q->value, ofHeads(q->batch, k->heads, group, q->rows, q->columns));
  Value scores = reshape(b,
                         contractHeads(b, queries, /*lhsHeadsFirst=*/true, *k,
                                       grouped, /*rhsTransposed=*/true),
                         scoresShape);
  double scale =
      node.floatAttribute("scale", 1 / std::sqrt(double(q->columns)));
  scores = floatElementwise(b, {scores}, compute,
                            [&](FloatScalars &s, ValueRange args) {
                              return s.mul(args[0], s.constant(scale));
                            });
  scores = castTensor(b, scores, computeType(type), precision);
  FailureOr<Value> modified = modify(node, "score_mod", scores, precision);
  if (failed(modified))
    return failure();
  modified =
      modify(node, "prob_mod", softmax(b, *modified, {3}, false), precision);
  if (failed(modified))
    return failure();
  Value weights = castTensor(b, *modified, precision, type);
  Value result =
      contractHeads(b, reshape(b, weights, grouped), /*lhsHeadsFirst=*/true, *v,
                    ofHeads(q->batch, k->heads, group, q->rows, v->columns),
                    /*rhsTransposed=*/false);
  result =
      castTensor(b, reshape(b, result, valuesShape), computeType(type), type);
  node.setResult(0, result, type);
  return success();
}

void ashlar::onnx_import::registerAttentionOperators(
    OperatorRegistry &registry) {
  registry.add("Attention", 23, importAttention);
  registry.add("FlexAttention", 1, importFlexAttention, "ai.onnx.preview");
}
