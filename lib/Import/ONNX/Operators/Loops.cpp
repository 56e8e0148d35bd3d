// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop: a body runs a number of times, as long as it says so, or both.
#include "../OperandRules.h"
#include "LoopImporter.h"
#include "ashlar/Analysis/EvaluateConstant.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// Steps that a loop which decides by itself is followed for.
static constexpr int64_t maximumFollowedSteps = 16384;

namespace {
class LoopNodeImporter : public LoopImporter {
public:
  using LoopImporter::LoopImporter;
  LogicalResult import();

private:
  LogicalResult readOperands();
  std::optional<int64_t> followSteps(bool &isWrong);
  LogicalResult inAnyForm(int64_t steps);
};
} // namespace

LogicalResult LoopNodeImporter::readOperands() {
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

/// How many steps there are where that is known for all that the body decides
/// by what it decides about them: exporters write a loop over time as one that
/// counts by itself. Only what the condition is computed from is followed.
std::optional<int64_t> LoopNodeImporter::followSteps(bool &isWrong) {
  if (firstCondition != true || !areTensors(initial))
    return std::nullopt;
  StepBlock inner(node);
  Value number = inner.add(RankedTensorType::get({}, b.getI64Type()));
  Value before = inner.add(RankedTensorType::get({}, b.getI1Type()));
  SmallVector<ImportedValue> arguments =
      stepArguments(inner, number, before, number);
  SmallVector<DenseElementsAttr> carried;
  for (const ImportedValue &value : initial) {
    carried.push_back(node.constantValue(value.value));
    if (carried.back() && carried.back().getNumElements() > 16)
      carried.back() = {};
  }
  auto attempt = [&] { return importBody(inner.block, arguments); };
  auto counter = cast<RankedTensorType>(number.getType());
  auto decided = cast<RankedTensorType>(before.getType());
  std::optional<int64_t> found;
  int64_t steps =
      succeeded(node.tryTo(attempt, isWrong)) ? maximumFollowedSteps : 0;
  for (int64_t step = 0; step != steps; ++step) {
    ConstantEvaluator evaluator;
    evaluator.assume(number, DenseElementsAttr::get(counter, step));
    evaluator.assume(before, DenseElementsAttr::get(decided, true));
    for (auto [argument, value] :
         llvm::zip(ArrayRef(arguments).drop_front(2), carried))
      if (value)
        evaluator.assume(argument.value, value);
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
  return found;
}

/// No more than `steps` times, in the first form that can be.
LogicalResult LoopNodeImporter::inAnyForm(int64_t steps) {
  bool isWrong = false;
  bool collects = unsigned(body.output_size()) != initial.size() + 1;
  LogicalResult done = node.tryTo([&] { return counted(steps); }, isWrong);
  if (failed(done) && !isWrong && !collects)
    done = node.tryTo([&] { return conditional(); }, isWrong);
  // Sizes that are known are better than those of a loop that decides.
  if (failed(done) && !isWrong && canUnroll(steps))
    done = node.tryTo([&] { return unroll(steps); }, isWrong);
  if (failed(done) && !isWrong && collects)
    done = node.tryTo([&] { return conditional(); }, isWrong);
  if (failed(done) && !isWrong)
    done = node.tryTo([&] { return sized(); }, isWrong);
  if (succeeded(done) || isWrong)
    return done;
  // Written out, it needs the least; what that lacks is said.
  return canUnroll(steps) && !decides ? unroll(steps) : sized();
}

LogicalResult LoopNodeImporter::import() {
  if (failed(readOperands()))
    return failure();
  if (firstCondition == false)
    limit = 0;
  if (areTensors(initial))
    carryAsTheyBegin();
  if (!limit && !limitTensor) {
    bool isWrong = false;
    limit = followSteps(isWrong);
    endsAtLimit = limit.has_value();
    if (isWrong)
      return failure();
  }
  if (limit && firstCondition) {
    if (failed(inAnyForm(*limit)))
      return failure();
  } else {
    bool isWrong = false;
    LogicalResult done = node.tryTo([&] { return conditional(); }, isWrong);
    if (failed(done) && (isWrong || failed(sized())))
      return failure();
  }
  for (auto [i, result] : llvm::enumerate(results))
    node.setImported(i, result);
  return success();
}

static LogicalResult importLoop(NodeImporter &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  return body ? LoopNodeImporter(node, *body).import() : failure();
}

void ashlar::onnx_import::registerLoopsOperators(OperatorRegistry &registry) {
  registry.add("Loop", 1, importLoop);
}
