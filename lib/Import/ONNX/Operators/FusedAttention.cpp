// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// com.microsoft: Attention, QAttention, MultiHeadAttention and RotaryEmbedding,
// as ai.onnx's operators of the same meaning.
#include "../Composition.h"
#include "../OperandRules.h"

using namespace mlir;
using namespace ashlar::onnx_import;

using Name = Composition::Name;

namespace {
/// Queries, keys and values with what weighs them. Positions of operands that
/// a node does not have are beyond its last.
struct AttentionParts {
  Name queries, keys, values; ///< batch, rows, heads and columns in one
  unsigned mask, bias;        ///< operands: of keys, and of scores
  Name pastKeys, pastValues;
  int64_t batch, rows, total; ///< total: keys, the past ones too
  ElementType type;           ///< of queries
};
} // namespace

/// A summand of the scores, 0 where a key is seen, from an operand that says
/// which ones are: by key, by query and key, or by the number of keys of each
/// element of the batch (and where they start).
static FailureOr<Name> readKeyMask(NodeImporter &node, Composition &c,
                                   const AttentionParts &parts) {
  ArrayRef<int64_t> shape = node.shape(parts.mask);
  ElementType type = node.operandType(parts.mask);
  if (!isInteger(type) && type != ElementType::Bool)
    return node.invalid("expected a mask of integers in input " +
                        Twine(parts.mask) + ", found " + elementTypeName(type));
  int64_t batch = parts.batch, total = parts.total;
  Name mask = c.operand(parts.mask), seen;
  if (shape.size() == 1 && batch > 0 &&
      (shape[0] == batch || shape[0] == 2 * batch)) {
    auto place = c.add("Range", {c.integer(0, type), c.integer(total, type),
                                 c.integer(1, type)});
    auto part = [&](int64_t at) {
      return c.add("Slice", {c.reshape(mask, {shape[0] / batch, batch, 1}),
                             c.ints({at}), c.ints({at + 1}), c.ints({0})});
    };
    seen = c.add("Less", {place, part(0)});
    if (shape[0] == 2 * batch)
      seen = c.add("And", {seen, c.add("GreaterOrEqual", {place, part(1)})});
    seen = c.reshape(seen, {batch, 1, 1, total});
  } else if (shape == ArrayRef<int64_t>{batch, total}) {
    seen = c.reshape(c.cast(mask, ElementType::Bool), {batch, 1, 1, total});
  } else if (shape == ArrayRef<int64_t>{batch, parts.rows, total}) {
    seen = c.reshape(c.cast(mask, ElementType::Bool),
                     {batch, 1, parts.rows, total});
  } else {
    return node.unsupported("a mask of shape " + spellShape(shape));
  }
  double hidden = node.floatAttribute("mask_filter_value", -10000);
  return c.cast(c.add("Where", {seen, c.number(0), c.number(hidden)}),
                parts.type);
}

/// The result, and the keys and values with the past ones before them.
static FailureOr<SmallVector<Name>> attend(NodeImporter &node, Composition &c,
                                           const AttentionParts &parts) {
  int64_t heads = node.intAttribute("num_heads", 0);
  Name mask;
  if (node.hasOperand(parts.mask)) {
    FailureOr<Name> read = readKeyMask(node, c, parts);
    if (failed(read))
      return failure();
    mask = *read;
  }
  if (node.hasOperand(parts.bias)) {
    Name bias = c.operand(parts.bias);
    mask = mask.empty() ? bias : c.add("Add", {mask, bias});
  }
  Composition::Attributes attributes = {
      {"q_num_heads", heads},
      {"kv_num_heads", heads},
      {"is_causal", node.intAttribute("unidirectional", 0)}};
  if (double scale = node.floatAttribute("scale", 0))
    attributes.emplace_back("scale", scale);
  return c.addNode("Attention",
                   {parts.queries, parts.keys, parts.values, mask,
                    parts.pastKeys, parts.pastValues},
                   attributes, 3);
}

/// Past keys and values lie in one tensor, those that come out as well.
static LogicalResult attendToStack(NodeImporter &node, Composition &c,
                                   AttentionParts parts, unsigned past) {
  parts.total = parts.rows;
  if (node.hasOperand(past)) {
    if (failed(expectRank(node, past, 5)))
      return failure();
    ArrayRef<int64_t> shape = node.shape(past);
    if (shape[0] != 2)
      return node.invalid("expected keys and values in input " + Twine(past) +
                          ", found shape " + spellShape(shape));
    parts.total += shape[3];
    auto both = c.addNode("Split", {c.operand(past)}, {{"num_outputs", 2}}, 2);
    parts.pastKeys = c.reshape(both[0], shape.drop_front());
    parts.pastValues = c.reshape(both[1], shape.drop_front());
  }
  FailureOr<SmallVector<Name>> made = attend(node, c, parts);
  if (failed(made))
    return failure();
  SmallVector<Name> results = {(*made)[0]};
  if (node.hasResult(1)) {
    auto axis = c.ints({0});
    results.push_back(c.add("Concat",
                            {c.add("Unsqueeze", {(*made)[1], axis}),
                             c.add("Unsqueeze", {(*made)[2], axis})},
                            {{"axis", 0}}));
  }
  return c.import(results);
}

/// What both forms with weights share; `last` is the size of the weights' rows.
static LogicalResult checkStacked(NodeImporter &node, unsigned weights) {
  if (node.intAttribute("do_rotary", 0))
    return node.unsupported("with do_rotary");
  if (node.intAttribute("past_present_share_buffer", 0))
    return node.unsupported("with past_present_share_buffer");
  if (failed(expectRank(node, 0, 3)) || failed(expectRank(node, weights, 2)))
    return failure();
  return success();
}

/// The three parts of the last axis, of the sizes that the node names.
static FailureOr<SmallVector<Name>>
splitRows(NodeImporter &node, Composition &c, Name rows, int64_t width) {
  SmallVector<int64_t> sizes = node.intsAttribute("qkv_hidden_sizes");
  if (sizes.empty())
    sizes.assign(3, width / 3);
  if (sizes.size() != 3 || llvm::any_of(sizes, [](int64_t n) { return n < 0; }))
    return node.invalid("expected three sizes in attribute qkv_hidden_sizes");
  return c.addNode("Split", {rows, c.ints(sizes)}, {{"axis", -1}}, 3);
}

static LogicalResult importAttention(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 7)) || failed(checkStacked(node, 1)))
    return failure();
  if (node.hasOperand(6))
    return node.unsupported("with past_sequence_length");
  Composition c(node);
  Name rows = c.add("MatMul", {c.operand(0), c.operand(1)});
  if (node.hasOperand(2))
    rows = c.add("Add", {rows, c.operand(2)});
  auto parts = splitRows(node, c, rows, node.shape(1)[1]);
  if (failed(parts))
    return failure();
  return attendToStack(node, c,
                       {(*parts)[0], (*parts)[1], (*parts)[2], 3, 5, "", "",
                        node.shape(0)[0], node.shape(0)[1], 0,
                        node.operandType(0)},
                       4);
}

/// Operands: input, weights, bias, their scales, a mask, their zero points, the
/// past.
static LogicalResult importQAttention(NodeImporter &node) {
  if (failed(expectOperands(node, 5, 9)) || failed(checkStacked(node, 1)))
    return failure();
  Composition c(node);
  auto product = c.add("MatMulInteger", {c.operand(0), c.operand(1),
                                         c.operand(6), c.operand(7)});
  auto scale = c.add("Mul", {c.operand(3), c.operand(4)});
  Name rows = c.add("Mul", {c.cast(product, ElementType::F32), scale});
  rows = c.add("Add", {rows, c.operand(2)});
  auto parts = splitRows(node, c, rows, node.shape(1)[1]);
  if (failed(parts))
    return failure();
  return attendToStack(node, c,
                       {(*parts)[0], (*parts)[1], (*parts)[2], 5, 9, "", "",
                        node.shape(0)[0], node.shape(0)[1], 0,
                        ElementType::F32},
                       8);
}

/// Element i of an axis that is 3 (queries, keys, values) or 2 (the latter).
static Name unpack(Composition &c, Name packed, int64_t i,
                   ArrayRef<int64_t> shape) {
  auto part =
      c.add("Gather", {packed, c.integer(i, ElementType::I64)}, {{"axis", 3}});
  return c.reshape(part, {shape[0], shape[1], shape[2] * shape[4]});
}

/// Operands: queries, keys, values, bias, mask, bias of scores, past keys and
/// values. Keys may lie beside values, and both beside queries.
static LogicalResult importMultiHeadAttention(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 8)))
    return failure();
  Composition c(node);
  AttentionParts parts = {c.operand(0),
                          c.operand(1),
                          c.operand(2),
                          4,
                          5,
                          c.operand(6),
                          c.operand(7),
                          0,
                          0,
                          0,
                          node.operandType(0)};
  unsigned packed = node.hasOperand(1) ? 1 : 0;
  bool isPacked = !node.hasOperand(2);
  if (isPacked) {
    int64_t count = packed == 0 ? 3 : 2;
    if (failed(expectRank(node, packed, 5)))
      return failure();
    ArrayRef<int64_t> shape = node.shape(packed);
    if (shape[3] != count)
      return node.invalid("expected " + Twine(count) + " in axis 3 of input " +
                          Twine(packed) + ", found shape " + spellShape(shape));
    if (packed == 0)
      parts.queries = unpack(c, c.operand(0), 0, shape);
    parts.keys = unpack(c, c.operand(packed), count - 2, shape);
    parts.values = unpack(c, c.operand(packed), count - 1, shape);
  } else if (!node.hasOperand(1)) {
    return node.invalid("has values, but no keys");
  }
  if ((packed == 1 && failed(expectRank(node, 0, 3))) ||
      failed(expectRankAtLeast(node, packed, 3)))
    return failure();
  // Keys of rank 4 have their heads before their rows, and no bias.
  bool headsFirst = node.rank(packed) == 4;
  int64_t width = node.shape(0)[2];
  if (packed == 0)
    width *= node.shape(0)[4];
  parts.batch = node.shape(0)[0];
  parts.rows = node.shape(0)[1];
  parts.total = node.shape(packed)[headsFirst ? 2 : 1];
  if (node.hasOperand(6)) {
    if (failed(expectRank(node, 6, 4)))
      return failure();
    parts.total += node.shape(6)[2];
  }
  if (node.hasOperand(3)) {
    if (failed(expectRank(node, 3, 1)))
      return failure();
    if (headsFirst)
      return node.unsupported("a bias beside keys of rank 4");
    int64_t rest = node.shape(3)[0] - 2 * width;
    if (rest < 0)
      return node.invalid("expected a bias of at least " + Twine(2 * width) +
                          " values, found " + Twine(node.shape(3)[0]));
    auto biases =
        c.addNode("Split", {c.operand(3), c.ints({width, width, rest})},
                  {{"axis", 0}}, 3);
    parts.queries = c.add("Add", {parts.queries, biases[0]});
    parts.keys = c.add("Add", {parts.keys, biases[1]});
    parts.values = c.add("Add", {parts.values, biases[2]});
  }
  FailureOr<SmallVector<Name>> made = attend(node, c, parts);
  return failed(made) ? failure() : c.import(*made);
}

/// Operands: input, positions or the first of them, cosines, sines.
static LogicalResult importRotaryEmbedding(NodeImporter &node) {
  if (failed(expectOperands(node, 4, 4)) ||
      failed(expectRankAtLeast(node, 0, 3)) ||
      failed(expectRankAtLeast(node, 1, 1)) || failed(expectRank(node, 2, 2)))
    return failure();
  if (node.floatAttribute("scale", 1) != 1)
    return node.unsupported("with a scale other than 1");
  if (node.intAttribute("is_packed_batching", 0))
    return node.unsupported("with is_packed_batching");
  Composition c(node);
  int64_t batch = node.shape(0)[0];
  int64_t rows = node.shape(0)[node.rank(0) == 4 ? 2 : 1];
  Name positions = c.operand(1);
  if (node.rank(1) == 1) {
    auto place = c.add("Range", {c.integer(0, ElementType::I64),
                                 c.integer(rows, ElementType::I64),
                                 c.integer(1, ElementType::I64)});
    positions = c.add(
        "Expand", {c.add("Add", {place, positions}), c.ints({batch, rows})});
  }
  int64_t heads = node.intAttribute("num_heads", 0);
  int64_t width = node.intAttribute("rotary_embedding_dim", 0);
  if (heads == 0 && node.rank(0) == 3 && width == 0 && node.shape(2)[1] > 0)
    heads = node.shape(0)[2] / (2 * node.shape(2)[1]);
  Composition::Attributes attributes = {
      {"interleaved", node.intAttribute("interleaved", 0)},
      {"rotary_embedding_dim", width}};
  if (heads != 0)
    attributes.emplace_back("num_heads", heads);
  auto result =
      c.add("RotaryEmbedding",
            {c.operand(0), c.operand(2), c.operand(3), positions}, attributes);
  return c.import({result});
}

void ashlar::onnx_import::registerFusedAttentionOperators(
    OperatorRegistry &registry) {
  constexpr StringLiteral domain = "com.microsoft";
  registry.add("Attention", 1, importAttention, domain);
  registry.add("QAttention", 1, importQAttention, domain);
  registry.add("MultiHeadAttention", 1, importMultiHeadAttention, domain);
  registry.add("RotaryEmbedding", 1, importRotaryEmbedding, domain);
}
