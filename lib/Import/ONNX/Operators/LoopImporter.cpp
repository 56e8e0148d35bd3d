// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopImporter.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// Nodes that writing out a loop may make.
static constexpr int64_t maximumUnrolledNodes = 8192;

Value ashlar::onnx_import::constantBool(ImplicitLocOpBuilder &b, bool value) {
  auto type = RankedTensorType::get({}, b.getI1Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, value));
}

std::optional<bool> ashlar::onnx_import::knownBool(NodeImporter &node,
                                                   Value value) {
  DenseElementsAttr known = node.constantValue(value);
  if (!known || known.getNumElements() != 1)
    return std::nullopt;
  return !(*known.getValues<APInt>().begin()).isZero();
}

bool ashlar::onnx_import::areTensors(ArrayRef<ImportedValue> values) {
  return llvm::all_of(values, [](const ImportedValue &value) {
    return value.kind == ImportedValue::Tensor;
  });
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

bool LoopImporter::canUnroll(int64_t steps) const {
  return steps * countNodes(body) <= maximumUnrolledNodes;
}

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

bool LoopImporter::goesOnForever(Value before) {
  return isScan() || endsAtLimit ||
         (firstCondition == true &&
          (condition == before || knownBool(node, condition) == true));
}

FailureOr<RankedTensorType> LoopImporter::typeOfRows(const ImportedValue &row,
                                                     int64_t steps) {
  auto type = cast<RankedTensorType>(row.value.getType());
  SmallVector<int64_t> shape = {steps};
  llvm::append_range(shape, type.getShape());
  if (failed(expectSize(node, shape)))
    return failure();
  return RankedTensorType::get(shape, type.getElementType());
}

Value LoopImporter::noRows(RankedTensorType type) {
  return fill(b, type.getShape(),
              arith::ConstantOp::create(b, zeroOf(type.getElementType())));
}

SmallVector<Value> LoopImporter::decidingArguments(StepBlock &step) {
  SmallVector<Value> arguments = {
      step.add(RankedTensorType::get({}, b.getI64Type())),
      step.add(RankedTensorType::get({}, b.getI1Type()))};
  step.add(initial, arguments);
  return arguments;
}

Value LoopImporter::counterAfter(Value counter) {
  return elementwise(b, b.getI64Type(), counter,
                     [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       Value one = scalarIntConstant(b, loc, b.getI64Type(), 1);
                       return arith::AddIOp::create(b, loc, x[0], one);
                     });
}
