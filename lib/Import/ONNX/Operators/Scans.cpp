// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scan: a body walks the rows of tensors.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "LoopImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

namespace {
class ScanImporter : public LoopImporter {
public:
  using LoopImporter::LoopImporter;
  LogicalResult import();
  /// The form of opset 8.
  LogicalResult importBatched();

private:
  LogicalResult walk();
  FailureOr<SmallVector<int64_t>> readAxes(StringRef axes, StringRef directions,
                                           unsigned count,
                                           SmallVector<int64_t> &flags);
  FailureOr<ImportedValue> walkable(unsigned operand, int64_t axis,
                                    bool isReversed);
  LogicalResult countSteps(unsigned states);
  Value reversed(Value value, Value size = {});
};
} // namespace

/// The axes and directions of a Scan's inputs or outputs.
FailureOr<SmallVector<int64_t>>
ScanImporter::readAxes(StringRef axes, StringRef directions, unsigned count,
                       SmallVector<int64_t> &flags) {
  SmallVector<int64_t> values = node.intsAttribute(axes);
  flags = node.intsAttribute(directions);
  for (auto [name, list] : {std::pair(axes, &values), {directions, &flags}}) {
    if (list->empty())
      list->assign(count, 0);
    if (list->size() != count)
      return node.invalid("attribute '" + name + "' has " +
                          Twine(list->size()) + " values; expected " +
                          Twine(count));
  }
  for (int64_t flag : flags)
    if (flag != 0 && flag != 1)
      return node.invalid("attribute '" + directions + "' holds " +
                          Twine(flag) + "; expected 0 or 1");
  return values;
}

/// Along axis 0, whose size is in a tensor, or known.
Value ScanImporter::reversed(Value value, Value size) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t dim = type.getDimSize(0);
  if (size && type.getNumElements() != 0)
    return generate(b, type.getShape(), type.getElementType(),
                    [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                      SmallVector<Value> place(at);
                      Value count = asIndex(b, loc, {0, dim, size});
                      Value one = arith::ConstantIndexOp::create(b, loc, 1);
                      Value last = arith::SubIOp::create(b, loc, count, one);
                      place[0] = clampTo(
                          b, loc, arith::SubIOp::create(b, loc, last, at[0]),
                          knownNumber(dim));
                      return tensor::ExtractOp::create(b, loc, value, place);
                    });
  SmallVector<AffineExpr> place;
  for (int64_t i = 0; i != type.getRank(); ++i)
    place.push_back(i == 0 ? dim - 1 - b.getAffineDimExpr(i)
                           : b.getAffineDimExpr(i));
  AffineMap map = AffineMap::get(type.getRank(), 0, place, b.getContext());
  return parallel(b, type.getShape(), type.getElementType(), value, map,
                  [](OpBuilder &, Location, ValueRange x) { return x[0]; });
}

/// `axis` becomes the first one.
static SmallVector<int64_t> toFront(int64_t rank, int64_t axis) {
  SmallVector<int64_t> order = {axis};
  for (int64_t i = 0; i != rank; ++i)
    if (i != axis)
      order.push_back(i);
  return order;
}

/// The dimensions of a value in another order.
static ImportedValue permute(ImplicitLocOpBuilder &b, ImportedValue value,
                             ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  value.value = transpose(b, value.value, order);
  SmallVector<Value, 0> sizes;
  for (int64_t from : order)
    if (!value.sizes.empty())
      sizes.push_back(value.sizes[from]);
  value.sizes = std::move(sizes);
  return value;
}

static Value firstSize(const ImportedValue &value) {
  return value.sizes.empty() ? Value() : value.sizes[0];
}

FailureOr<ImportedValue> ScanImporter::walkable(unsigned operand, int64_t axis,
                                                bool isReversed) {
  if (failed(expectRankAtLeast(node, operand, 1)))
    return failure();
  FailureOr<int64_t> normal = node.normalizeAxis(axis, node.rank(operand));
  if (failed(normal))
    return failure();
  ImportedValue value = permute(b, node.importedOperand(operand),
                                toFront(node.rank(operand), *normal));
  if (isReversed)
    value.value = reversed(value.value, firstSize(value));
  return value;
}

/// All that is walked has as many rows; where no number of them is known, it
/// is the first one's.
LogicalResult ScanImporter::countSteps(unsigned states) {
  auto most = [&](unsigned i) {
    return cast<RankedTensorType>(scanned[i].value.getType()).getDimSize(0);
  };
  unsigned known = 0;
  for (unsigned i = scanned.size(); i-- > 0;)
    if (!firstSize(scanned[i]))
      known = i;
  for (unsigned i = 0; i != scanned.size(); ++i)
    if (firstSize(scanned[i])
            ? !firstSize(scanned[known]) && most(i) < most(known)
            : most(i) != most(known))
      return node.invalid("input " + Twine(states + i) + " has " +
                          (firstSize(scanned[i]) ? "at most " : "") +
                          Twine(most(i)) + " steps, input " +
                          Twine(states + known) + " has " + Twine(most(known)));
  if (firstSize(scanned[known]))
    limitTensor = firstSize(scanned[known]);
  else
    limit = most(known);
  return success();
}

/// All steps of a scan.
LogicalResult ScanImporter::walk() {
  carryAsTheyBegin();
  bool isWrong = false;
  LogicalResult done = node.tryTo(
      [&] { return limit ? counted(*limit) : conditional(); }, isWrong);
  if (failed(done) && !isWrong && limit && canUnroll(*limit))
    done = node.tryTo([&] { return unroll(*limit); }, isWrong);
  if (failed(done) && !isWrong)
    done = node.tryTo([&] { return sized(); }, isWrong);
  if (succeeded(done) || isWrong)
    return done;
  return limit && canUnroll(*limit) ? unroll(*limit) : sized();
}

/// What operand i has for one of a batch.
static Value ofBatch(NodeImporter &node, unsigned i, int64_t number) {
  SmallVector<int64_t> shape(node.shape(i)), offsets(shape.size(), 0),
      strides(shape.size(), 1);
  offsets[0] = number;
  shape[0] = 1;
  Value part = slice(node.b, node.operand(i), offsets, shape, strides);
  return reshape(node.b, part, ArrayRef(shape).drop_front());
}

/// The form of opset 8: the lengths of sequences, then what the states start
/// with and what is walked, all with a batch as their first dimension.
LogicalResult ScanImporter::importBatched() {
  int64_t count = node.intAttribute("num_scan_inputs", 0);
  int64_t total = int64_t(node.numOperands()) - 1, states = total - count;
  if (count < 1 || count > total || body.input_size() != total ||
      body.output_size() < states ||
      int64_t(node.numResults()) > body.output_size())
    return node.invalid(
        "the node has " + Twine(total) + " values and " +
        Twine(node.numResults()) + " outputs, attribute 'num_scan_inputs' is " +
        Twine(count) + ", and the body has " + Twine(body.input_size()) +
        " inputs and " + Twine(body.output_size()) + " outputs");
  if (node.hasOperand(0))
    return node.unsupported("the sequences have lengths (input 0); convert the "
                            "model to opset 9");
  SmallVector<int64_t> flags = node.intsAttribute("directions");
  flags.resize(std::max<size_t>(flags.size(), count));
  for (int64_t i = 1; i <= total; ++i) {
    if (!node.hasOperand(i))
      return node.invalid("input " + Twine(i) + " is missing");
    if (!node.sizes(i).empty())
      return node.unsupportedSize("a size of input " + Twine(i) +
                                  " depends on data; convert the model to "
                                  "opset 9");
    if (failed(expectRankAtLeast(node, i, i <= states ? 1 : 2)))
      return failure();
    if (node.shape(i)[0] != node.shape(1)[0] ||
        (i > states && node.shape(i)[1] != node.shape(states + 1)[1]))
      return node.invalid("input " + Twine(i) + " has shape " +
                          spellShape(node.shape(i)) +
                          "; expected the batch of input 1, and the steps of "
                          "input " +
                          Twine(states + 1));
  }
  int64_t batch = node.shape(1)[0];
  limit = node.shape(states + 1)[1];
  if (batch == 0 || !canUnroll(batch))
    return node.unsupported("the batch has a size of " + Twine(batch) +
                            "; convert the model to opset 9");
  SmallVector<SmallVector<Value>> parts(body.output_size());
  SmallVector<ElementType> types;
  for (int64_t number = 0; number != batch; ++number) {
    initial.clear();
    scanned.clear();
    for (int64_t i = 1; i <= total; ++i) {
      Value part = ofBatch(node, i, number);
      if (i > states && flags[i - states - 1] != 0)
        part = reversed(part);
      (i > states ? scanned : initial).push_back({part, node.operandType(i)});
    }
    if (failed(walk()))
      return failure();
    types.clear();
    for (auto [all, result] : llvm::zip(parts, results)) {
      if (!result.sizes.empty())
        return node.unsupportedSize("a size of what the body makes depends on "
                                    "data; convert the model to opset 9");
      SmallVector<int64_t> shape = {1};
      llvm::append_range(
          shape, cast<RankedTensorType>(result.value.getType()).getShape());
      all.push_back(reshape(b, result.value, shape));
      types.push_back(result.type);
    }
  }
  for (auto [i, all] : llvm::enumerate(parts))
    node.setResult(i, concat(b, all, 0), types[i]);
  return success();
}

LogicalResult ScanImporter::import() {
  int64_t count = node.intAttribute("num_scan_inputs", 0);
  int64_t total = node.numOperands();
  if (count < 1 || count > total)
    return node.invalid("attribute 'num_scan_inputs' is " + Twine(count) +
                        "; expected 1 to " + Twine(total));
  int64_t states = total - count;
  if (body.input_size() != total)
    return node.invalid("the body has " + Twine(body.input_size()) +
                        " inputs; expected " + Twine(total));
  int64_t collected = int64_t(body.output_size()) - states;
  if (collected < 0 || int64_t(node.numResults()) > body.output_size())
    return node.invalid("the body has " + Twine(body.output_size()) +
                        " outputs; expected at least " +
                        Twine(std::max<int64_t>(states, node.numResults())));
  SmallVector<int64_t> inputFlags, outputFlags;
  auto inputAxes =
      readAxes("scan_input_axes", "scan_input_directions", count, inputFlags);
  if (failed(inputAxes))
    return failure();
  auto outputAxes = readAxes("scan_output_axes", "scan_output_directions",
                             collected, outputFlags);
  if (failed(outputAxes))
    return failure();
  for (unsigned i = 0; i != node.numOperands(); ++i)
    if (!node.hasOperand(i))
      return node.invalid("input " + Twine(i) + " is missing");
  for (int64_t i = 0; i != states; ++i)
    initial.push_back(node.importedOperand(i));
  for (int64_t i = 0; i != count; ++i) {
    auto rows = walkable(states + i, (*inputAxes)[i], inputFlags[i] != 0);
    if (failed(rows))
      return failure();
    scanned.push_back(*rows);
  }
  if (failed(countSteps(states)) || failed(walk()))
    return failure();
  for (auto [i, result] : llvm::enumerate(results)) {
    ImportedValue value = result;
    if (int64_t(i) >= states) {
      int64_t rank = cast<RankedTensorType>(value.value.getType()).getRank();
      FailureOr<int64_t> axis =
          node.normalizeAxis((*outputAxes)[i - states], rank);
      if (failed(axis))
        return failure();
      if (outputFlags[i - states])
        value.value = reversed(value.value, firstSize(value));
      // The first axis goes where the attribute says.
      SmallVector<int64_t> order(rank);
      for (auto [to, from] : llvm::enumerate(toFront(rank, *axis)))
        order[from] = to;
      value = permute(b, value, order);
    }
    node.setResult(i, value);
  }
  return success();
}
static LogicalResult importScan(NodeImporter &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  return body ? ScanImporter(node, *body).import() : failure();
}

static LogicalResult importBatchedScan(NodeImporter &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  return body ? ScanImporter(node, *body).importBatched() : failure();
}
void ashlar::onnx_import::registerScansOperators(OperatorRegistry &registry) {
  registry.add("Scan", 8, importBatchedScan);
  registry.add("Scan", 9, importScan);
}
