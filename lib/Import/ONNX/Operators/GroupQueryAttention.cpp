// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// com.microsoft: GroupQueryAttention, what exporters of language models write.
// Queries, keys and values may lie in one tensor and be turned by their
// positions; new keys and values go behind those of the past, which each
// element of the batch has its own number of. As ai.onnx's Attention.
#include "../Composition.h"
#include "../OperandRules.h"

using namespace mlir;
using namespace ashlar::onnx_import;

using Name = Composition::Name;

namespace {
enum Operand : unsigned {
  Queries,
  Keys,
  Values,
  PastKeys,
  PastValues,
  Lengths,
  Total,
  Cosines,
  Sines,
  Positions,
  Bias,
  HeadSink,
  KeyScale,
  ValueScale,
  QueryNorm,
  KeyNorm
};

class GroupQueryAttention {
public:
  explicit GroupQueryAttention(NodeImporter &node) : node(node), c(node) {}

  LogicalResult import();

private:
  LogicalResult refuseUnsupported();
  LogicalResult readSizes();
  LogicalResult readLengths();
  LogicalResult checkOthers();
  void split();
  void findPlaces();
  Name normalize(Name x, unsigned weight, int64_t count);
  Name rotate(Name x, int64_t count);
  Name store(Name rows, unsigned past);
  Name mask();

  NodeImporter &node;
  Composition c;
  int64_t heads = 0, groups = 0;         ///< of queries, and of keys and values
  int64_t batch = 0, rows = 0, size = 0; ///< size: of a head
  int64_t past = 0, total = 0; ///< rows of the past's tensors, and keys
  int64_t window = -1;         ///< how many keys are seen; -1: all
  bool isCausal = true;
  bool isPrompt = false; ///< nothing of the past counts
  /// All of the past's rows are there, and these go behind them.
  bool appends = false;
  Name queries, keys, values;
  /// Where each new row lies, from 0 on: (batch, rows), i64.
  Name places;
  Name start; ///< the first of them: (batch)
};
} // namespace

/// Attributes and operands whose value is another one than that of nodes
/// without them.
LogicalResult GroupQueryAttention::refuseUnsupported() {
  struct Number {
    StringRef name;
    int64_t expected;
  };
  for (auto [name, expected] : {Number{"smooth_softmax", 0},
                                {"qk_output", 0},
                                {"sliding_window_cache", 0}})
    if (int64_t found = node.intAttribute(name, expected);
        found != expected && !(name == "smooth_softmax" && found == -1))
      return node.unsupported("with attribute " + name + ": expected " +
                              Twine(expected) + ", found " + Twine(found));
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (std::string found = node.stringAttribute(name, "NONE"); found != "NONE")
      return node.unsupported("with attribute " + name +
                              ": expected NONE, found " + found);
  struct Refused {
    unsigned operand;
    StringRef name;
  };
  for (auto [operand, name] : {Refused{HeadSink, "head_sink"},
                               {KeyScale, "k_scale"},
                               {ValueScale, "v_scale"}})
    if (node.hasOperand(operand))
      return node.unsupported("with input " + Twine(operand) + ", " + name);
  if (node.hasResult(3))
    return node.unsupported("with its scores as a result");
  int64_t causal = node.intAttribute("causal", 1);
  if (causal != 0 && causal != 1)
    return node.invalid("expected attribute causal of 0 or 1, found " +
                        Twine(causal));
  isCausal = causal != 0;
  window = node.intAttribute("local_window_size", -1);
  if (window != -1 && (window < 1 || !isCausal))
    return node.invalid("expected attribute local_window_size of 1 or more, "
                        "beside causal of 1, found " +
                        Twine(window));
  return success();
}

LogicalResult GroupQueryAttention::readSizes() {
  for (unsigned i : {Lengths, Total})
    if (!node.hasOperand(i))
      return node.invalid(
          "input " + Twine(i) + " is missing; expected " +
          (i == Lengths ? "seqlens_k" : "total_sequence_length"));
  if (failed(expectRank(node, Queries, 3)))
    return failure();
  heads = node.intAttribute("num_heads", 0);
  groups = node.intAttribute("kv_num_heads", 0);
  if (heads < 1 || groups < 1 || heads % groups != 0)
    return node.invalid("expected attribute num_heads to be a multiple of "
                        "kv_num_heads, found " +
                        Twine(heads) + " and " + Twine(groups));
  batch = node.shape(Queries)[0];
  rows = node.shape(Queries)[1];
  int64_t width = node.shape(Queries)[2];
  if (heads > width)
    return node.invalid("expected input 0 with rows of " + Twine(heads) +
                        " heads, found " + Twine(width) + " elements");
  bool isPacked = !node.hasOperand(Keys);
  if (isPacked != !node.hasOperand(Values))
    return node.invalid("expected both keys and values, or neither");
  int64_t parts = isPacked ? heads + 2 * groups : heads;
  if (width % parts != 0)
    return node.invalid("expected input 0 with rows of " + Twine(parts) +
                        " heads, found " + Twine(width) + " elements");
  size = width / parts;
  for (unsigned i : {Keys, Values})
    if (!isPacked &&
        (failed(expectShape(node, i, {batch, rows, groups * size})) ||
         failed(expectSameType(node, i))))
      return failure();
  if (node.hasOperand(PastKeys) != node.hasOperand(PastValues))
    return node.invalid("expected both past keys and past values, or neither");
  if (!node.hasOperand(PastKeys))
    return success();
  if (failed(expectRank(node, PastKeys, 4)))
    return failure();
  past = node.shape(PastKeys)[2];
  for (unsigned i : {PastKeys, PastValues})
    if (failed(expectShape(node, i, {batch, groups, past, size})) ||
        failed(expectSameType(node, i)))
      return failure();
  return success();
}

/// How many keys there are: of all elements of the batch at most, and of each.
LogicalResult GroupQueryAttention::readLengths() {
  if (node.rank(Lengths) == 2 && node.shape(Lengths)[1] == 1) {
    if (failed(expectShape(node, Lengths, {batch, 1})))
      return failure();
  } else if (failed(expectShape(node, Lengths, {batch}))) {
    return failure();
  }
  FailureOr<SmallVector<int64_t>> read =
      node.constantInts(Total, "the total sequence length");
  if (failed(read))
    return failure();
  if (read->size() != 1)
    return node.invalid("expected one number in input 6, found " +
                        Twine(read->size()));
  int64_t seen = read->front();
  if (seen < rows || seen > past + rows)
    return node.invalid("expected a total sequence length from " + Twine(rows) +
                        " to " + Twine(past + rows) + ", found " + Twine(seen));
  total = std::max(seen, past);
  if (window >= total)
    window = -1;
  // One element has the total itself; others say theirs when they run.
  bool isKnown = batch == 1;
  if (auto lengths = node.constantOperand(Lengths))
    isKnown = llvm::all_of(lengths.getValues<APInt>(), [&](const APInt &last) {
      return last.getSExtValue() == seen - 1;
    });
  isPrompt = seen == rows;
  appends = isKnown && seen == past + rows && isCausal;
  return success();
}

LogicalResult GroupQueryAttention::checkOthers() {
  bool turns = node.intAttribute("do_rotary", 0) != 0;
  if (turns) {
    if (!node.hasOperand(Cosines) || !node.hasOperand(Sines))
      return node.invalid("expected cosines and sines in inputs 7 and 8, as "
                          "attribute do_rotary is 1");
    if (failed(expectRank(node, Cosines, 2)) ||
        failed(expectShape(node, Sines, node.shape(Cosines))))
      return failure();
    int64_t width = 2 * node.shape(Cosines)[1];
    if (width == 0 || width > size)
      return node.invalid("expected cosines for 1 to " + Twine(size / 2) +
                          " pairs of a head, found " + Twine(width / 2));
    if (node.hasOperand(Positions) &&
        failed(expectShape(node, Positions, {batch, rows})))
      return failure();
  }
  if (node.hasOperand(Bias)) {
    if (failed(expectRank(node, Bias, 4)) || failed(expectSameType(node, Bias)))
      return failure();
    SmallVector<int64_t> found(node.shape(Bias)),
        expected = {batch, heads, rows, found[3]};
    for (unsigned i : {0, 1})
      expected[i] = found[i] == 1 ? 1 : expected[i];
    if (failed(expectShape(node, Bias, expected)))
      return failure();
    if (found[3] > total)
      return node.invalid("expected a bias of at most " + Twine(total) +
                          " keys in input 10, found " + Twine(found[3]));
  }
  if (node.hasOperand(QueryNorm) != node.hasOperand(KeyNorm))
    return node.invalid("expected both norms of queries and keys, or neither");
  for (unsigned i : {QueryNorm, KeyNorm})
    if (node.hasOperand(i) && failed(expectShape(node, i, {size})))
      return failure();
  return success();
}

void GroupQueryAttention::split() {
  queries = c.operand(Queries);
  keys = c.operand(Keys);
  values = c.operand(Values);
  if (node.hasOperand(Keys))
    return;
  auto parts = c.addNode(
      "Split", {queries, c.ints({heads * size, groups * size, groups * size})},
      {{"axis", -1}}, 3);
  queries = parts[0];
  keys = parts[1];
  values = parts[2];
}

void GroupQueryAttention::findPlaces() {
  auto number = [&](int64_t value) {
    return c.integer(value, ElementType::I64);
  };
  if (appends) {
    start = c.ints(SmallVector<int64_t>(batch, past));
  } else {
    // None before the first, whose rows may be fewer than there are.
    auto last =
        c.reshape(c.cast(c.operand(Lengths), ElementType::I64), {batch});
    start = c.add("Max", {c.add("Sub", {last, number(rows - 1)}), number(0)});
  }
  auto range = c.add("Range", {number(0), number(rows), number(1)});
  places = c.add("Add", {c.reshape(start, {batch, 1}), range});
}

/// Each head by its root mean square.
Name GroupQueryAttention::normalize(Name x, unsigned weight, int64_t count) {
  if (!node.hasOperand(weight))
    return x;
  auto byHead = c.reshape(x, {batch, rows, count, size});
  auto normal =
      c.add("RMSNormalization", {byHead, c.operand(weight)},
            {{"axis", -1},
             {"epsilon", node.floatAttribute("qk_norm_epsilon", 1e-6f)}});
  return c.reshape(normal, {batch, rows, count * size});
}

Name GroupQueryAttention::rotate(Name x, int64_t count) {
  if (node.intAttribute("do_rotary", 0) == 0)
    return x;
  Name at = places;
  if (node.hasOperand(Positions)) {
    at = c.operand(Positions);
    // Of a prompt, the first one counts.
    if ((past == 0 || isPrompt) && batch * rows != 0) {
      auto number = [&](int64_t value) {
        return c.integer(value, ElementType::I64);
      };
      auto first = c.add("Gather", {c.reshape(at, {batch * rows}), c.ints({0})},
                         {{"axis", 0}});
      auto range = c.add("Range", {number(0), number(rows), number(1)});
      at = c.add("Expand",
                 {c.add("Add", {first, range}), c.ints({batch, rows})});
    }
  }
  return c.add("RotaryEmbedding", {x, c.operand(Cosines), c.operand(Sines), at},
               {{"interleaved", node.intAttribute("rotary_interleaved", 0)},
                {"rotary_embedding_dim", 2 * node.shape(Cosines)[1]},
                {"num_heads", count}});
}

/// The past's rows with the new ones, heads first.
Name GroupQueryAttention::store(Name added, unsigned from) {
  auto turned =
      c.transpose(c.reshape(added, {batch, rows, groups, size}), {0, 2, 1, 3});
  Name room = past != 0 ? c.operand(from) : "";
  if (total != past) {
    auto rest = c.add("Expand", {c.cast(c.number(0), node.operandType(Queries)),
                                 c.ints({batch, groups, total - past, size})});
    room = room.empty() ? rest : c.add("Concat", {room, rest}, {{"axis", 2}});
  }
  return c.add("TensorScatter", {room, turned, start},
               {{"axis", 2}, {"mode", "linear"}});
}

/// Which keys a query sees, and what is added to its scores; empty: neither.
Name GroupQueryAttention::mask() {
  Name bias = c.operand(Bias), seen;
  auto number = [&](int64_t value) {
    return c.integer(value, ElementType::I64);
  };
  if (!appends) {
    auto columns = c.add("Range", {number(0), number(total), number(1)});
    auto at = c.reshape(places, {batch, 1, rows, 1});
    if (!isCausal)
      at = c.reshape(c.cast(c.operand(Lengths), ElementType::I64),
                     {batch, 1, 1, 1});
    seen = c.add("LessOrEqual", {columns, at});
    if (window > 0)
      seen = c.add(
          "And", {seen, c.add("Greater",
                              {columns, c.add("Sub", {at, number(window)})})});
  }
  if (bias.empty() || seen.empty())
    return bias.empty() ? seen : bias;
  // Of the columns that it has; those behind are never seen.
  int64_t width = node.shape(Bias).back();
  ElementType type = node.operandType(Bias);
  if (width < total)
    bias = c.add("Pad", {bias, c.ints({0, total - width}),
                         c.cast(c.number(0), type), c.ints({-1})});
  return c.add(
      "Where",
      {seen, bias,
       c.cast(c.number(-std::numeric_limits<double>::infinity()), type)});
}

LogicalResult GroupQueryAttention::import() {
  if (failed(expectOperands(node, 1, 16)) || failed(refuseUnsupported()) ||
      failed(readSizes()) || failed(readLengths()) || failed(checkOthers()))
    return failure();
  split();
  findPlaces();
  queries = rotate(normalize(queries, QueryNorm, heads), heads);
  keys = rotate(normalize(keys, KeyNorm, groups), groups);
  Composition::Attributes attributes = {{"q_num_heads", heads},
                                        {"kv_num_heads", groups}};
  if (double scale = node.floatAttribute("scale", 0))
    attributes.emplace_back("scale", scale);
  if (double cap = node.floatAttribute("softcap", 0))
    attributes.emplace_back("softcap", cap);
  if (appends) {
    attributes.emplace_back("is_causal", 1);
    if (window > 0)
      attributes.emplace_back("left_window_size", window - 1);
    Name pastKeys = past != 0 ? c.operand(PastKeys) : "",
         pastValues = past != 0 ? c.operand(PastValues) : "";
    return c.import(c.addNode(
        "Attention", {queries, keys, values, mask(), pastKeys, pastValues},
        attributes, 3));
  }
  auto presentKeys = store(keys, PastKeys),
       presentValues = store(values, PastValues);
  auto byHead =
      c.transpose(c.reshape(queries, {batch, rows, heads, size}), {0, 2, 1, 3});
  auto result = c.add("Attention", {byHead, presentKeys, presentValues, mask()},
                      attributes);
  result =
      c.reshape(c.transpose(result, {0, 2, 1, 3}), {batch, rows, heads * size});
  return c.import({result, presentKeys, presentValues});
}

static LogicalResult importGroupQueryAttention(NodeImporter &node) {
  return GroupQueryAttention(node).import();
}

void ashlar::onnx_import::registerGroupQueryAttentionOperators(
    OperatorRegistry &registry) {
  registry.add("GroupQueryAttention", 1, importGroupQueryAttention,
               "com.microsoft");
}
