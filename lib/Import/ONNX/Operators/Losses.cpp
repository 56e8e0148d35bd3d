// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Checks scores (N, C, ...), labels (N, ...) and weights (C).
static LogicalResult checkOperands(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  SmallVector<int64_t> labels(node.shape(0));
  int64_t classes = labels[1];
  labels.erase(labels.begin() + 1);
  if (failed(expectShape(node, 1, labels)) ||
      (node.hasOperand(2) && failed(expectShape(node, 2, classes))))
    return failure();
  if (classes == 0 && node.tensorType(1).getNumElements() != 0)
    return node.invalid("expected one class or more, found shape " +
                        spellShape(node.shape(0)));
  return success();
}

/// One number for each label: from the class that it names (as an index that
/// is inside), or zero where the label is to be ignored.
static Value
perLabel(NodeImporter &node, Type element,
         llvm::function_ref<Value(FloatScalars &, ValueRange at, Value label)>
             body) {
  Value labels = node.operand(1);
  bool ignores = node.hasAttribute("ignore_index");
  int64_t ignored = node.intAttribute("ignore_index", 0);
  int64_t classes = node.shape(0)[1];
  return generate(
      node.b, node.shape(1), element,
      [&](OpBuilder &b, Location loc, ValueRange at) {
        FloatScalars s(b, loc, element);
        Value label = tensor::ExtractOp::create(b, loc, labels, at);
        if (label.getType() != b.getI64Type())
          label = arith::ExtSIOp::create(b, loc, b.getI64Type(), label);
        auto constant = [&](int64_t value) {
          return scalarIntConstant(b, loc, b.getI64Type(), value);
        };
        // Labels come from the caller: none may lead outside the tensor.
        Value inside = arith::MaxSIOp::create(b, loc, label, constant(0));
        inside = arith::MinSIOp::create(b, loc, inside, constant(classes - 1));
        Value index =
            arith::IndexCastOp::create(b, loc, b.getIndexType(), inside);
        Value value = body(s, at, index);
        if (!ignores)
          return value;
        Value isIgnored = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::eq, label, constant(ignored));
        return s.select(isIgnored, s.constant(0), value);
      });
}

/// The loss of log-probabilities, reduced as the node asks.
static LogicalResult setLoss(NodeImporter &node, Value logProbabilities) {
  std::string reduction = node.stringAttribute("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return node.invalid("expected attribute 'reduction' to be none, sum or "
                        "mean, found '" +
                        reduction + "'");
  ImplicitLocOpBuilder &b = node.b;
  Type element = node.tensorType(0).getElementType();
  Type compute = computeType(element);
  auto weightOf = [&](FloatScalars &s, Value label) -> Value {
    if (!node.hasOperand(2))
      return s.constant(1);
    Value weight =
        tensor::ExtractOp::create(s.b, s.loc, node.operand(2), label);
    return resizeFloat(s.b, s.loc, weight, compute);
  };
  Value loss =
      perLabel(node, compute, [&](FloatScalars &s, ValueRange at, Value label) {
        SmallVector<Value> from(at);
        from.insert(from.begin() + 1, label);
        Value logProbability =
            tensor::ExtractOp::create(s.b, s.loc, logProbabilities, from);
        Value negated = s.neg(resizeFloat(s.b, s.loc, logProbability, compute));
        return node.hasOperand(2) ? s.mul(negated, weightOf(s, label))
                                  : negated;
      });
  SmallVector<int64_t> axes = allAxes(node.rank(1));
  if (reduction == "mean" &&
      (node.hasOperand(2) || node.hasAttribute("ignore_index"))) {
    Value weights =
        perLabel(node, compute, [&](FloatScalars &s, ValueRange, Value label) {
          return weightOf(s, label);
        });
    loss =
        floatElementwise(b, {sumOver(b, loss, axes), sumOver(b, weights, axes)},
                         compute, [](FloatScalars &s, ValueRange args) {
                           return s.div(args[0], args[1]);
                         });
  } else if (reduction == "mean") {
    loss = meanOver(b, loss, axes);
  } else if (reduction == "sum") {
    loss = sumOver(b, loss, axes);
  }
  ElementType type = node.operandType(0);
  node.setResult(0, castTensor(b, loss, computeType(type), type), type);
  return success();
}

static LogicalResult importNegativeLogLikelihood(NodeImporter &node) {
  if (failed(checkOperands(node)))
    return failure();
  return setLoss(node, node.operand(0));
}

static LogicalResult importSoftmaxCrossEntropy(NodeImporter &node) {
  if (failed(checkOperands(node)))
    return failure();
  Value logProbabilities =
      softmax(node.b, node.operand(0), {1}, /*logarithm=*/true);
  node.setResult(1, logProbabilities, node.operandType(0));
  return setLoss(node, logProbabilities);
}

void ashlar::onnx_import::registerLossesOperators(OperatorRegistry &registry) {
  registry.add("NegativeLogLikelihoodLoss", 12, importNegativeLogLikelihood);
  registry.add("SoftmaxCrossEntropyLoss", 12, importSoftmaxCrossEntropy);
}
