// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop and Scan. A body that runs a known number of times becomes an scf.for
// between kernels, one that decides by itself an scf.while. A known number of
// steps that cannot be one loop, since the shapes change from one to the next
// or the step's number must be known, is written out.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "ashlar/Analysis/EvaluateConstant.h"
#include "ashlar/Transforms/Fuse/ControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// Steps that a loop which decides by itself is followed for.
static constexpr int64_t maximumFollowedSteps = 16384;

/// Nodes that writing out a loop may make.
static constexpr int64_t maximumUnrolledNodes = 8192;

static Value constantBool(ImplicitLocOpBuilder &b, bool value) {
  auto type = RankedTensorType::get({}, b.getI1Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, value));
}

static std::optional<bool> knownBool(NodeImporter &node, Value value) {
  DenseElementsAttr known = node.constantValue(value);
  if (!known || known.getNumElements() != 1)
    return std::nullopt;
  return !(*known.getValues<APInt>().begin()).isZero();
}

static int64_t countNodes(const onnx::GraphProto &graph) {
  int64_t nodes = 0;
  for (const onnx::NodeProto &node : graph.node()) {
    ++nodes;
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        nodes += countNodes(attribute.g());
  }
  return nodes;
}

namespace {
/// A Loop or Scan while its body is imported.
class LoopImporter {
public:
  LoopImporter(NodeImporter &node, const onnx::GraphProto &body)
      : node(node), b(node.b), body(body) {}

  LogicalResult importLoop();
  LogicalResult importScan();
  LogicalResult importBatchedScan();

private:
  /// Scans have neither a counter nor a condition.
  bool isScan() const { return node.opType() == "Scan"; }

  LogicalResult readLoop();
  LogicalResult walk();
  std::optional<int64_t> followSteps(bool &isWrong);
  LogicalResult counted(int64_t steps);
  LogicalResult unroll(int64_t steps);
  LogicalResult conditional();
  LogicalResult importBody(Block &block, ArrayRef<Value> firstArguments);
  LogicalResult importBody(Block &block, ArrayRef<ImportedValue> arguments);
  LogicalResult checkCarried();
  bool goesOnForever(Value condition);
  Value counterAfter(Value counter);
  Value row(Value rows, Value step);
  Value putRow(Value row, Value rows, Value step);
  Value putRowAt(Value row, Value rows, Value step);
  FailureOr<SmallVector<int64_t>> readAxes(StringRef axes, StringRef directions,
                                           unsigned count,
                                           SmallVector<int64_t> &flags);
  FailureOr<Value> walkable(unsigned operand, int64_t axis, bool isReversed);
  Value reversed(Value value, int64_t axis);

  NodeImporter &node;
  ImplicitLocOpBuilder &b;
  const onnx::GraphProto &body;
  SmallVector<ImportedValue> initial;
  SmallVector<ImportedValue> scanned; ///< their axis 0 is walked
  std::optional<int64_t> limit;       ///< of steps, when it is known
  Value limitTensor;                  ///< when it is not; null: none
  std::optional<bool> firstCondition; ///< null: not known
  bool endsAtLimit = false;           ///< the body says so itself
  SmallVector<ImportedValue> results; ///< of the body, without the condition
  Value condition;                    ///< what the body says
};
} // namespace

/// Imports the body with `firstArguments`, then the carried values as arguments
/// of `block` that are there.
LogicalResult LoopImporter::importBody(Block &block,
                                       ArrayRef<Value> firstArguments) {
  SmallVector<ImportedValue> arguments;
  if (!isScan()) {
    arguments.push_back({firstArguments[0], ElementType::I64});
    arguments.push_back({firstArguments[1], ElementType::Bool});
    firstArguments = firstArguments.drop_front(2);
  }
  for (auto [i, value] : llvm::enumerate(firstArguments))
    arguments.push_back({value, i < initial.size()
                                    ? initial[i].type
                                    : scanned[i - initial.size()].type});
  return importBody(block, ArrayRef<ImportedValue>(arguments));
}

LogicalResult LoopImporter::importBody(Block &block,
                                       ArrayRef<ImportedValue> arguments) {
  auto imported = node.importGraph(body, arguments, &block);
  if (failed(imported))
    return failure();
  results.assign(imported->begin(), imported->end());
  if (!isScan()) {
    if (results[0].kind != ImportedValue::Tensor ||
        results[0].type != ElementType::Bool ||
        cast<RankedTensorType>(results[0].value.getType()).getNumElements() !=
            1)
      return node.invalid("output 0 of the body is no boolean; it says whether "
                          "the loop goes on");
    condition = results[0].value;
    results.erase(results.begin());
  }
  return success();
}

/// Whether all that is carried or made is a tensor.
static bool areTensors(ArrayRef<ImportedValue> values) {
  return llvm::all_of(values, [](const ImportedValue &value) {
    return value.kind == ImportedValue::Tensor;
  });
}

LogicalResult LoopImporter::checkCarried() {
  if (!areTensors(results))
    return node.unsupported("the body makes a sequence or an optional, and "
                            "its steps cannot be written out");
  for (const ImportedValue &result : results) {
    if (result.sizes.empty())
      continue;
    // Written out, a step knows its number and with it many a size.
    if (limitTensor)
      return node.needsConstant(0, "how often it runs, while a size of what "
                                   "its body makes depends on data,");
    if (!firstCondition)
      return node.needsConstant(1, "whether it begins, while a size of what "
                                   "its body makes depends on data,");
    return node.unsupportedSize("a size of what the body makes depends on "
                                "data, and its steps cannot be written out");
  }
  for (auto [i, value] : llvm::enumerate(initial)) {
    if (results[i].type != value.type)
      return node.invalid(
          "the value that input " + Twine(i + (isScan() ? 0 : 2)) +
          " starts is " + elementTypeName(value.type) +
          " at first, but the body makes " + elementTypeName(results[i].type));
    if (results[i].value.getType() != value.value.getType())
      return node.unsupported(
          "the value that input " + Twine(i + (isScan() ? 0 : 2)) +
          " starts changes its shape from " +
          spellShape(cast<RankedTensorType>(value.value.getType()).getShape()) +
          " to " +
          spellShape(
              cast<RankedTensorType>(results[i].value.getType()).getShape()) +
          " in a step");
  }
  return success();
}

Value LoopImporter::counterAfter(Value counter) {
  return elementwise(b, b.getI64Type(), counter,
                     [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       Value one = scalarIntConstant(b, loc, b.getI64Type(), 1);
                       return arith::AddIOp::create(b, loc, x[0], one);
                     });
}

namespace {
/// Where row `step` of `rows` lies.
struct RowSlice {
  RowSlice(OpBuilder &b, Value rows, Value step)
      : type(cast<RankedTensorType>(rows.getType())),
        offsets(type.getRank(), b.getIndexAttr(0)),
        strides(type.getRank(), b.getIndexAttr(1)) {
    for (int64_t dim : type.getShape())
      sizes.push_back(b.getIndexAttr(dim));
    offsets[0] = step;
    sizes[0] = b.getIndexAttr(1);
  }
  RankedTensorType type;
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

Value LoopImporter::row(Value rows, Value step) {
  RowSlice at(b, rows, step);
  auto result = RankedTensorType::get(at.type.getShape().drop_front(),
                                      at.type.getElementType());
  return tensor::ExtractSliceOp::create(b, result, rows, at.offsets, at.sizes,
                                        at.strides);
}

Value LoopImporter::putRow(Value row, Value rows, Value step) {
  RowSlice at(b, rows, step);
  return tensor::InsertSliceOp::create(b, row, rows, at.offsets, at.sizes,
                                       at.strides);
}

/// The same where the step's number is a tensor.
Value LoopImporter::putRowAt(Value row, Value rows, Value step) {
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t rank = type.getRank();
  MLIRContext *context = b.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(rank, context);
  AffineMap ofRow =
      AffineMap::get(rank, 0, all.getResults().drop_front(), context);
  return parallel(b, type.getShape(), type.getElementType(), {rows, row, step},
                  {all, ofRow, AffineMap::get(rank, 0, {}, context)},
                  [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                    Value number = arith::IndexCastOp::create(
                        b, loc, x[2].getType(),
                        linalg::IndexOp::create(b, loc, 0));
                    Value isHere = arith::CmpIOp::create(
                        b, loc, arith::CmpIPredicate::eq, number, x[2]);
                    return arith::SelectOp::create(b, loc, isHere, x[1], x[0]);
                  });
}

/// Whether the body's condition, with `before` as what it gets, never ends the
/// loop.
bool LoopImporter::goesOnForever(Value before) {
  return isScan() || endsAtLimit ||
         (firstCondition == true &&
          (condition == before || knownBool(node, condition) == true));
}

/// How many steps there are where that is known for all that the body decides
/// by what it decides about them: exporters write a loop over time as one that
/// counts by itself. Only what the condition is computed from is followed.
std::optional<int64_t> LoopImporter::followSteps(bool &isWrong) {
  if (isScan() || firstCondition != true || !areTensors(initial))
    return std::nullopt;
  Region region;
  Block &block = region.emplaceBlock();
  auto scalar = RankedTensorType::get({}, b.getI64Type());
  auto boolean = RankedTensorType::get({}, b.getI1Type());
  SmallVector<Value> arguments = {block.addArgument(scalar, b.getLoc()),
                                  block.addArgument(boolean, b.getLoc())};
  SmallVector<DenseElementsAttr> carried;
  for (const ImportedValue &value : initial) {
    arguments.push_back(block.addArgument(value.value.getType(), b.getLoc()));
    carried.push_back(node.constantValue(value.value));
    if (carried.back() && carried.back().getNumElements() > 16)
      carried.back() = {};
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&block);
  auto attempt = [&] { return importBody(block, ArrayRef<Value>(arguments)); };
  std::optional<int64_t> found;
  int64_t steps =
      succeeded(node.tryTo(attempt, isWrong)) ? maximumFollowedSteps : 0;
  for (int64_t step = 0; step != steps; ++step) {
    ConstantEvaluator evaluator;
    evaluator.assume(arguments[0], DenseElementsAttr::get(scalar, step));
    evaluator.assume(arguments[1], DenseElementsAttr::get(boolean, true));
    for (auto [argument, value] :
         llvm::zip(ArrayRef(arguments).drop_front(2), carried))
      if (value)
        evaluator.assume(argument, value);
    DenseElementsAttr decision = evaluator.evaluate(condition);
    if (!decision)
      break;
    if ((*decision.getValues<APInt>().begin()).isZero()) {
      found = step + 1;
      break;
    }
    for (auto [value, result] : llvm::zip(carried, results))
      if (value)
        value = evaluator.evaluate(result.value);
  }
  // Its values go away with the region.
  node.forgetConstants();
  return found;
}

/// `steps` times, and the rows of each step.
LogicalResult LoopImporter::counted(int64_t steps) {
  if (!areTensors(initial))
    return node.unsupported("it carries a sequence or an optional, and its "
                            "steps cannot be written out");
  Region region;
  Block &block = region.emplaceBlock();
  auto fail = [&] {
    // Values that were evaluated go away with the region.
    node.forgetConstants();
    return failure();
  };
  Value step = block.addArgument(b.getIndexType(), b.getLoc());
  auto scalar = RankedTensorType::get({}, b.getI64Type());
  Value counter, before;
  SmallVector<Value> arguments, starts;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&block);
  if (!isScan()) {
    counter = block.addArgument(scalar, b.getLoc());
    before = constantBool(b, true);
    arguments = {counter, before};
  }
  for (const ImportedValue &value : initial) {
    arguments.push_back(block.addArgument(value.value.getType(), b.getLoc()));
    starts.push_back(value.value);
  }
  for (const ImportedValue &rows : scanned)
    arguments.push_back(row(rows.value, step));
  if (failed(importBody(block, arguments)) || failed(checkCarried()))
    return fail();
  if (!goesOnForever(before)) {
    (void)node.unsupported(
        "the body decides when to end, and collects rows in each step; the "
        "size of what it collects is not known");
    return fail();
  }
  // What each step makes.
  SmallVector<Value> yielded;
  for (unsigned i = 0; i != initial.size(); ++i)
    yielded.push_back(results[i].value);
  b.setInsertionPointToEnd(&block);
  SmallVector<SmallVector<int64_t>> shapes;
  for (const ImportedValue &result :
       ArrayRef(results).drop_front(initial.size())) {
    auto type = cast<RankedTensorType>(result.value.getType());
    SmallVector<int64_t> shape = {steps};
    llvm::append_range(shape, type.getShape());
    if (failed(expectSize(node, shape)))
      return fail();
    Value rows = block.addArgument(
        RankedTensorType::get(shape, type.getElementType()), b.getLoc());
    yielded.push_back(putRow(result.value, rows, step));
    shapes.push_back(shape);
  }
  bool counts = counter && !counter.use_empty();
  if (counts)
    yielded.insert(yielded.begin(), counterAfter(counter));
  else if (counter)
    block.eraseArgument(1);
  scf::YieldOp::create(b, yielded);

  b.setInsertionPointToEnd(node.resultBlock());
  if (counts)
    starts.insert(starts.begin(), constantTensor(b, {0}, {}));
  for (auto [shape, result] :
       llvm::zip(shapes, ArrayRef(results).drop_front(initial.size()))) {
    Type element = getElementTypeOrSelf(result.value);
    starts.push_back(
        fill(b, shape, arith::ConstantOp::create(b, zeroOf(element))));
  }
  Value first = arith::ConstantIndexOp::create(b, 0);
  Value last = arith::ConstantIndexOp::create(b, steps);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto loop = scf::ForOp::create(b, first, last, one, starts);
  loop->setAttr(commandsAttrName, b.getUnitAttr());
  loop.getRegion().takeBody(region);
  for (auto [i, result] : llvm::enumerate(results))
    results[i].value = loop.getResult(i + counts);
  return success();
}

/// As long as the body says so, and no more often than the limit says.
LogicalResult LoopImporter::conditional() {
  if (!areTensors(initial)) {
    if (limitTensor)
      return node.needsConstant(0, "how often it runs, while it carries a "
                                   "sequence or an optional,");
    return node.unsupported("it carries a sequence or an optional, and how "
                            "often it runs depends on the model's inputs");
  }
  if (unsigned(body.output_size()) != initial.size() + 1 && !limit) {
    if (limitTensor)
      return node.needsConstant(0, "how often the body runs, which collects "
                                   "rows in each step,");
    return node.unsupported("how often the body runs depends on the model's "
                            "inputs, and it collects rows in each step; the "
                            "size of what it collects is not known");
  }
  Region region;
  Block &block = region.emplaceBlock();
  auto scalar = RankedTensorType::get({}, b.getI64Type());
  auto boolean = RankedTensorType::get({}, b.getI1Type());
  SmallVector<Value> arguments = {block.addArgument(scalar, b.getLoc()),
                                  block.addArgument(boolean, b.getLoc())};
  for (const ImportedValue &value : initial)
    arguments.push_back(block.addArgument(value.value.getType(), b.getLoc()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&block);
  if (failed(importBody(block, arguments)) || failed(checkCarried())) {
    node.forgetConstants();
    return failure();
  }
  // Goes on where the condition holds and the next step is below the limit.
  auto goesOn = [&](Value condition, Value counter) -> Value {
    condition = reshape(b, condition, {});
    if (!limit && !limitTensor)
      return condition;
    Value bound =
        limit ? constantTensor(b, {*limit}, {}) : reshape(b, limitTensor, {});
    return elementwise(b, b.getI1Type(), {condition, counter, bound},
                       [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                         Value below = arith::CmpIOp::create(
                             b, loc, arith::CmpIPredicate::slt, x[1], x[2]);
                         return arith::AndIOp::create(b, loc, x[0], below);
                       });
  };
  b.setInsertionPointToEnd(&block);
  Value next = counterAfter(arguments[0]);
  SmallVector<Value> yielded = {next, goesOn(condition, next)};
  for (unsigned i = 0; i != initial.size(); ++i)
    yielded.push_back(results[i].value);
  // Room for the rows of as many steps as there can be.
  SmallVector<RankedTensorType> collected;
  for (const ImportedValue &result :
       ArrayRef(results).drop_front(initial.size())) {
    auto type = cast<RankedTensorType>(result.value.getType());
    SmallVector<int64_t> shape = {*limit};
    llvm::append_range(shape, type.getShape());
    if (failed(expectSize(node, shape))) {
      node.forgetConstants();
      return failure();
    }
    collected.push_back(RankedTensorType::get(shape, type.getElementType()));
    Value rows = block.addArgument(collected.back(), b.getLoc());
    yielded.push_back(putRowAt(result.value, rows, arguments[0]));
  }
  scf::YieldOp::create(b, yielded);

  b.setInsertionPointToEnd(node.resultBlock());
  Value zero = constantTensor(b, {0}, {});
  Value start = node.hasOperand(1) ? node.operand(1) : constantBool(b, true);
  SmallVector<Value> starts = {zero, goesOn(start, zero)};
  for (const ImportedValue &value : initial)
    starts.push_back(value.value);
  for (RankedTensorType type : collected)
    starts.push_back(
        fill(b, type.getShape(),
             arith::ConstantOp::create(b, zeroOf(type.getElementType()))));
  auto types = llvm::to_vector_of<Type>(ValueRange(starts).getTypes());
  auto loop = scf::WhileOp::create(b, types, starts);
  SmallVector<Location> locations(types.size(), b.getLoc());
  Block *decide = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value go = tensor::ExtractOp::create(b, decide->getArgument(1), ValueRange());
  scf::ConditionOp::create(b, go, decide->getArguments());
  loop.getAfter().takeBody(region);
  for (unsigned i = 0; i != results.size(); ++i)
    results[i].value = loop.getResult(i + 2);
  // There is a row for each step that was made.
  for (auto [result, type] : llvm::zip(
           MutableArrayRef(results).drop_front(initial.size()), collected)) {
    result.sizes.assign(type.getRank(), Value());
    result.sizes[0] = loop.getResult(0);
  }
  return success();
}

/// Each step by itself, its number and what it carries known as they are.
LogicalResult LoopImporter::unroll(int64_t steps) {
  SmallVector<ImportedValue> carried = initial;
  SmallVector<SmallVector<Value>> rows;
  for (int64_t i = 0; i != steps; ++i) {
    Block *block = node.resultBlock();
    b.setInsertionPointToEnd(block);
    SmallVector<ImportedValue> arguments;
    if (!isScan())
      arguments = {{constantTensor(b, {i}, {}), ElementType::I64},
                   {constantBool(b, true), ElementType::Bool}};
    llvm::append_range(arguments, carried);
    for (const ImportedValue &value : scanned) {
      auto type = cast<RankedTensorType>(value.value.getType());
      SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
          strides(type.getRank(), 1);
      offsets[0] = i;
      sizes[0] = 1;
      arguments.push_back(
          {reshape(b, slice(b, value.value, offsets, sizes, strides),
                   type.getShape().drop_front()),
           value.type});
    }
    if (failed(importBody(*block, arguments)))
      return failure();
    b.setInsertionPointToEnd(block);
    for (auto [value, result] : llvm::zip(carried, results)) {
      if (result.type != value.type)
        return node.invalid("the body makes " + elementTypeName(result.type) +
                            " of a value that is " +
                            elementTypeName(value.type) + " at first");
      value = result;
    }
    rows.resize(results.size() - initial.size());
    for (auto [all, result] :
         llvm::zip(rows, ArrayRef(results).drop_front(initial.size()))) {
      if (result.kind != ImportedValue::Tensor)
        return node.invalid("the body makes rows that are no tensors");
      if (!result.sizes.empty())
        return node.unsupportedSize("the size of a row that the body makes "
                                    "depends on data");
      SmallVector<int64_t> shape = {1};
      llvm::append_range(
          shape, cast<RankedTensorType>(result.value.getType()).getShape());
      all.push_back(reshape(b, result.value, shape));
      if (all.back().getType() != all.front().getType())
        return node.invalid("the rows that the body makes have different "
                            "shapes");
    }
    if (isScan())
      continue;
    std::optional<bool> goesOn = knownBool(node, condition);
    if (!goesOn)
      return node.unsupported("the body decides when to end, and its shapes "
                              "change from one step to the next");
    if (!*goesOn)
      break;
  }
  if (steps == 0) {
    if (!isScan() && unsigned(body.output_size()) != initial.size() + 1)
      return node.unsupported("it runs no step, and what its rows would be is "
                              "not known");
    results.assign(carried.begin(), carried.end());
  }
  for (auto [value, result] : llvm::zip(carried, results))
    result = value;
  for (auto [i, all] : llvm::enumerate(rows))
    results[initial.size() + i].value = concat(b, all, 0);
  return success();
}

LogicalResult LoopImporter::readLoop() {
  if (node.numOperands() < 2 ||
      unsigned(body.input_size()) != node.numOperands())
    return node.invalid("the body has " + Twine(body.input_size()) +
                        " inputs; expected the step's number, the condition "
                        "and " +
                        Twine(std::max(node.numOperands(), 2u) - 2) +
                        " values that the loop carries");
  for (unsigned i = 2; i != node.numOperands(); ++i) {
    if (!node.hasOperand(i))
      return node.invalid("input " + Twine(i) +
                          " is missing; it starts a value that the loop "
                          "carries");
    initial.push_back(node.importedOperand(i));
  }
  if (unsigned(body.output_size()) < initial.size() + 1)
    return node.invalid("the body has " + Twine(body.output_size()) +
                        " outputs; expected the condition and at least " +
                        Twine(initial.size()) + " values");
  if (node.numResults() > unsigned(body.output_size()) - 1)
    return node.invalid("the node has " + Twine(node.numResults()) +
                        " outputs, but the body makes " +
                        Twine(body.output_size() - 1));
  for (unsigned i : {0, 1})
    if (node.hasOperand(i) && failed(expectOneElement(node, i)))
      return failure();
  firstCondition = node.hasOperand(1) ? knownBool(node, node.operand(1)) : true;
  if (!node.hasOperand(0))
    return success();
  if (DenseElementsAttr known = node.constantOperand(0)) {
    int64_t steps = (*known.getValues<APInt>().begin()).getSExtValue();
    // Exporters write the largest number for a loop that ends by itself.
    if (steps < std::numeric_limits<int32_t>::max())
      limit = std::max<int64_t>(steps, 0);
  } else {
    limitTensor = node.operand(0);
  }
  return success();
}

LogicalResult LoopImporter::importLoop() {
  if (failed(readLoop()))
    return failure();
  if (firstCondition == false)
    limit = 0;
  bool isWrong = false;
  LogicalResult done = failure();
  bool collects = unsigned(body.output_size()) != initial.size() + 1;
  if (!limit && !limitTensor) {
    limit = followSteps(isWrong);
    endsAtLimit = limit.has_value();
    if (isWrong)
      return failure();
  }
  if (limit && firstCondition) {
    done = node.tryTo([&] { return counted(*limit); }, isWrong);
    if (failed(done) && !isWrong && !collects)
      done = node.tryTo([&] { return conditional(); }, isWrong);
    bool isShort = *limit * countNodes(body) <= maximumUnrolledNodes;
    // Sizes that are known are better than those of a loop that decides.
    if (failed(done) && !isWrong && collects && isShort)
      done = node.tryTo([&] { return unroll(*limit); }, isWrong);
    if (failed(done) && !isWrong && collects)
      done = node.tryTo([&] { return conditional(); }, isWrong);
    if (failed(done) && !isWrong)
      done = isShort ? unroll(*limit) : counted(*limit);
  } else {
    done = conditional();
  }
  if (failed(done))
    return failure();
  for (auto [i, result] : llvm::enumerate(results))
    node.setImported(i, result);
  return success();
}

/// The axes and directions of a Scan's inputs or outputs.
FailureOr<SmallVector<int64_t>>
LoopImporter::readAxes(StringRef axes, StringRef directions, unsigned count,
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

Value LoopImporter::reversed(Value value, int64_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineExpr> place;
  for (int64_t i = 0; i != type.getRank(); ++i)
    place.push_back(i == axis
                        ? type.getDimSize(axis) - 1 - b.getAffineDimExpr(i)
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

FailureOr<Value> LoopImporter::walkable(unsigned operand, int64_t axis,
                                        bool isReversed) {
  if (failed(expectRankAtLeast(node, operand, 1)))
    return failure();
  FailureOr<int64_t> normal = node.normalizeAxis(axis, node.rank(operand));
  if (failed(normal))
    return failure();
  Value value = node.operand(operand);
  if (*normal != 0)
    value = transpose(b, value, toFront(node.rank(operand), *normal));
  return isReversed ? reversed(value, 0) : value;
}

/// All steps of a scan.
LogicalResult LoopImporter::walk() {
  bool isWrong = false;
  LogicalResult done = node.tryTo([&] { return counted(*limit); }, isWrong);
  if (failed(done) && !isWrong)
    done = *limit * countNodes(body) <= maximumUnrolledNodes ? unroll(*limit)
                                                             : counted(*limit);
  return done;
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
LogicalResult LoopImporter::importBatchedScan() {
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
  if (batch == 0 || batch * countNodes(body) > maximumUnrolledNodes)
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
        part = reversed(part, 0);
      (i > states ? scanned : initial).push_back({part, node.operandType(i)});
    }
    if (failed(walk()))
      return failure();
    types.clear();
    for (auto [all, result] : llvm::zip(parts, results)) {
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

LogicalResult LoopImporter::importScan() {
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
    initial.push_back({node.operand(i), node.operandType(i)});
  for (int64_t i = 0; i != count; ++i) {
    auto rows = walkable(states + i, (*inputAxes)[i], inputFlags[i] != 0);
    if (failed(rows))
      return failure();
    scanned.push_back({*rows, node.operandType(states + i)});
  }
  auto steps = [](const ImportedValue &rows) {
    return cast<RankedTensorType>(rows.value.getType()).getDimSize(0);
  };
  for (auto [i, rows] : llvm::enumerate(scanned))
    if (steps(rows) != steps(scanned[0]))
      return node.invalid("input " + Twine(states + i) + " has " +
                          Twine(steps(rows)) + " steps, input " +
                          Twine(states) + " has " + Twine(steps(scanned[0])));
  limit = steps(scanned[0]);
  if (failed(walk()))
    return failure();
  for (auto [i, result] : llvm::enumerate(results)) {
    Value value = result.value;
    if (int64_t(i) >= states) {
      int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
      FailureOr<int64_t> axis =
          node.normalizeAxis((*outputAxes)[i - states], rank);
      if (failed(axis))
        return failure();
      if (outputFlags[i - states])
        value = reversed(value, 0);
      // The first axis goes where the attribute says.
      SmallVector<int64_t> order(rank);
      for (auto [to, from] : llvm::enumerate(toFront(rank, *axis)))
        order[from] = to;
      if (*axis != 0)
        value = transpose(b, value, order);
    }
    node.setResult(i, value, result.type);
  }
  return success();
}

static LogicalResult importLoop(NodeImporter &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  return body ? LoopImporter(node, *body).importLoop() : failure();
}

static LogicalResult importScan(NodeImporter &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  return body ? LoopImporter(node, *body).importScan() : failure();
}

static LogicalResult importBatchedScan(NodeImporter &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  return body ? LoopImporter(node, *body).importBatchedScan() : failure();
}

void ashlar::onnx_import::registerLoopsOperators(OperatorRegistry &registry) {
  registry.add("Loop", 1, importLoop);
  registry.add("Scan", 8, importBatchedScan);
  registry.add("Scan", 9, importScan);
}
