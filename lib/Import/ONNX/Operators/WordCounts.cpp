// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TfIdfVectorizer: how often each of the sequences of numbers that it knows
// (its n-grams) occurs in a row, where up to so many numbers may be skipped
// between two of them. Every n-gram is tried at every place with every skip.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// The n-grams in the order of the result: as many numbers for each as the
/// longest has, and how many it has; none where nothing is counted.
struct NGrams {
  int64_t longest = 1;
  SmallVector<SmallVector<int64_t>> numbers;
  SmallVector<double> weights;
  int64_t count() const { return numbers.size(); }
};
} // namespace

static FailureOr<NGrams> readNGrams(NodeImporter &node) {
  SmallVector<int64_t> pool = node.intsAttribute("pool_int64s");
  SmallVector<int64_t> starts = node.intsAttribute("ngram_counts");
  SmallVector<int64_t> places = node.intsAttribute("ngram_indexes");
  SmallVector<double> weights = node.floatsAttribute("weights");
  int64_t least = node.intAttribute("min_gram_length", 1);
  int64_t most = node.intAttribute("max_gram_length", 1);
  if (node.hasAttribute("pool_strings"))
    return node.unsupported("of strings");
  if (places.empty())
    return node.invalid("expected attribute 'ngram_indexes' with a place for "
                        "each n-gram, found none");
  int64_t last = *llvm::max_element(places);
  if (*llvm::min_element(places) < 0 || last > int64_t(pool.size()) * 64)
    return node.invalid("attribute ngram_indexes holds " +
                        Twine(*llvm::min_element(places)) + " to " +
                        Twine(last) + "; expected places of a result");
  if (!weights.empty() && weights.size() != places.size())
    return node.invalid("expected " + Twine(places.size()) +
                        " weights, one for each n-gram, found " +
                        Twine(weights.size()));
  NGrams grams;
  grams.numbers.resize(last + 1);
  grams.weights.assign(last + 1, 1);
  size_t number = 0;
  llvm::SmallDenseSet<int64_t> seen;
  for (size_t i = 0; i != starts.size(); ++i) {
    int64_t length = i + 1, begin = starts[i];
    int64_t end = i + 1 == starts.size() ? int64_t(pool.size()) : starts[i + 1];
    if (begin < 0 || begin > end || end > int64_t(pool.size()) ||
        (end - begin) % length != 0)
      return node.invalid("attribute ngram_counts says that n-grams of " +
                          Twine(length) + " are numbers " + Twine(begin) +
                          " to " + Twine(end) + " of " + Twine(pool.size()));
    for (; begin != end; begin += length, ++number) {
      if (number == places.size())
        return node.invalid("attribute ngram_indexes has " +
                            Twine(places.size()) +
                            " places; expected one for each n-gram");
      int64_t at = places[number];
      if (!seen.insert(at).second)
        return node.unsupported("two n-grams counted in one place");
      if (!weights.empty())
        grams.weights[at] = weights[number];
      if (length < least || length > most)
        continue;
      grams.numbers[at].assign(pool.begin() + begin,
                               pool.begin() + begin + length);
      grams.longest = std::max(grams.longest, length);
    }
  }
  return grams;
}

/// 1 where n-gram at[1] stands in row at[0] from place at[3] on, with at[2]
/// numbers skipped between each two of its own; else 0.
static Value isThere(OpBuilder &b, Location loc, ValueRange at, Value rows,
                     Value table, Value lengths, int64_t longest) {
  FloatScalars s(b, loc, b.getF32Type());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x,
                     Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  using Predicate = arith::CmpIPredicate;
  int64_t width = cast<RankedTensorType>(rows.getType()).getDimSize(1);
  Value length = tensor::ExtractOp::create(b, loc, lengths, at[1]);
  length = arith::IndexCastOp::create(b, loc, b.getIndexType(), length);
  Value step = s.make<arith::AddIOp>(at[2], index(1));
  // One number alone has nothing to skip.
  Value isOne = compare(Predicate::eq, length, index(1));
  Value skipsNone = compare(Predicate::eq, at[2], index(0));
  Value there = s.make<arith::OrIOp>(
      skipsNone, s.make<arith::XOrIOp>(
                     isOne, scalarIntConstant(b, loc, b.getI1Type(), 1)));
  there =
      s.make<arith::AndIOp>(there, compare(Predicate::sgt, length, index(0)));
  for (int64_t i = 0; i != longest; ++i) {
    Value place =
        s.make<arith::AddIOp>(at[3], s.make<arith::MulIOp>(step, index(i)));
    Value fits = compare(Predicate::slt, place, index(width));
    place = s.make<arith::MinSIOp>(place, index(width - 1));
    Value number =
        tensor::ExtractOp::create(b, loc, rows, ValueRange{at[0], place});
    Value wanted =
        tensor::ExtractOp::create(b, loc, table, ValueRange{at[1], index(i)});
    Value same =
        s.make<arith::AndIOp>(fits, compare(Predicate::eq, number, wanted));
    Value isBeyond = compare(Predicate::sle, length, index(i));
    there = s.make<arith::AndIOp>(there, s.make<arith::OrIOp>(isBeyond, same));
  }
  return s.select(there, s.constant(1), s.constant(0));
}

static LogicalResult importTfIdfVectorizer(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  int64_t rank = node.rank(0);
  if (rank != 1 && rank != 2)
    return node.invalid("expected input 0 of rank 1 or 2, found shape " +
                        spellShape(node.shape(0)));
  std::string mode = node.stringAttribute("mode", "TF");
  if (failed(expectOneOf(node, "mode", mode, {"TF", "IDF", "TFIDF"})))
    return failure();
  int64_t skips = node.intAttribute("max_skip_count", 0);
  if (skips < 0 || skips > 1 << 20)
    return node.invalid("attribute max_skip_count is " + Twine(skips) +
                        "; expected 0 or more");
  FailureOr<NGrams> grams = readNGrams(node);
  if (failed(grams))
    return failure();
  int64_t width = node.shape(0).back(),
          height = rank == 2 ? node.shape(0)[0] : 1;
  // Longer skips than the row has numbers lead out of it.
  skips = std::min(skips, std::max<int64_t>(width - 1, 0));
  int64_t count = grams->count(), longest = grams->longest;
  SmallVector<int64_t> shape = {height, count, skips + 1, width};
  if (failed(expectSize(node, shape)))
    return failure();
  SmallVector<int64_t> table, lengths;
  for (const SmallVector<int64_t> &numbers : grams->numbers) {
    lengths.push_back(numbers.size());
    for (int64_t i = 0; i != longest; ++i)
      table.push_back(i < int64_t(numbers.size()) ? numbers[i] : 0);
  }
  Type f32 = b.getF32Type();
  Value counts;
  if (width == 0) {
    counts = splat(b, {height, count}, zeroOf(f32));
  } else {
    Value rows = castTensor(b, reshape(b, node.operand(0), {height, width}),
                            node.operandType(0), ElementType::I64);
    Value tables = constantTensor(b, table, {count, longest});
    Value sizes = constantTensor(b, lengths, {count});
    Value found =
        generate(b, shape, f32, [&](OpBuilder &b, Location loc, ValueRange at) {
          return isThere(b, loc, at, rows, tables, sizes, longest);
        });
    counts = sumOver(b, found, {2, 3});
  }
  if (mode != "TF") {
    Value weights = constantTable(b, grams->weights, {count});
    weights = floatElementwise(
        b, {weights}, f32,
        [](FloatScalars &, ValueRange args) { return args[0]; });
    counts = floatElementwise(
        b, {counts, weights}, f32, [&](FloatScalars &s, ValueRange args) {
          Value number =
              mode == "IDF" ? s.min(args[0], s.constant(1)) : args[0];
          return s.mul(number, args[1]);
        });
  }
  SmallVector<int64_t> result = {count};
  if (rank == 2)
    result.insert(result.begin(), height);
  node.setResult(0, reshape(b, counts, result), ElementType::F32);
  return success();
}

void ashlar::onnx_import::registerWordCountsOperators(
    OperatorRegistry &registry) {
  registry.add("TfIdfVectorizer", 9, importTfIdfVectorizer);
}
