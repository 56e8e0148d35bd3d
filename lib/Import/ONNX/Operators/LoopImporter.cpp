// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopImporter.h"
#include "../ComputedSizes.h"
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

int64_t LoopImporter::stepsToWriteOut() const {
  return maximumUnrolledNodes / std::max<int64_t>(countNodes(body), 1);
}

bool LoopImporter::canUnroll(int64_t steps) const {
  return steps <= stepsToWriteOut();
}

ImportedValue StepBlock::add(const CommonShape &shape,
                             const ImportedValue &like) {
  SmallVector<Type> types;
  appendTypes(node.b, shape, getElementTypeOrSelf(like.value), types);
  SmallVector<Value> arguments;
  for (Type type : types)
    arguments.push_back(add(type));
  ArrayRef<Value> rest = arguments;
  return takeAs(shape, like.type, rest);
}

void LoopImporter::carryAsTheyBegin() {
  hasSettled = false;
  growth.clear();
  least.clear();
  shapes.clear();
  for (const ImportedValue &value : initial)
    shapes.push_back(ownShape(value));
}

std::optional<int64_t> LoopImporter::mostSteps() {
  if (limit || !limitTensor)
    return limit;
  Number most = numberOf(node, reshape(b, limitTensor, {}));
  if (most.high >= std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return std::max<int64_t>(most.high, 0);
}

SmallVector<ImportedValue> LoopImporter::stepArguments(StepBlock &step,
                                                       Value counter,
                                                       Value condition,
                                                       Value at) {
  SmallVector<ImportedValue> arguments;
  if (!isScan()) {
    arguments.push_back({counter, ElementType::I64});
    // A step that is done has a number below that of all.
    if (std::optional<int64_t> most = mostSteps())
      arguments.back().range = {0, std::max<int64_t>(*most - 1, 0)};
    arguments.push_back({condition, ElementType::Bool});
  }
  for (auto [i, value, shape] : llvm::enumerate(initial, shapes)) {
    arguments.push_back(step.add(shape, value));
    // What the body makes of a size may be known where it is not too small.
    for (auto [axis, size] : llvm::enumerate(arguments.back().sizes))
      if (size && !least.empty())
        size = max(node, {0, shape.bounds[axis], size},
                   knownNumber(least[i][axis]))
                   .tensor;
    if (ownShape(arguments.back()).sized.empty())
      arguments.back().sizes.clear();
  }
  for (const ImportedValue &rows : scanned)
    arguments.push_back(row(rows, at));
  return arguments;
}

LogicalResult LoopImporter::importBody(Block &block,
                                       ArrayRef<ImportedValue> arguments) {
  auto imported = node.importGraph(body, arguments, &block);
  if (failed(imported))
    return failure();
  results.assign(imported->begin(), imported->end());
  if (isScan())
    return success();
  ImportedValue decision = results[0];
  results.erase(results.begin());
  auto type = dyn_cast_or_null<RankedTensorType>(
      decision.value ? decision.value.getType() : Type());
  if (decision.kind != ImportedValue::Tensor ||
      decision.type != ElementType::Bool ||
      (type.getNumElements() != 1 && decision.sizes.empty()) ||
      type.getNumElements() == 0)
    return node.invalid("output 0 of the body is no boolean; it says whether "
                        "the loop goes on");
  condition = decision.value;
  // Of a size that depends on data, which can be one alone.
  if (type.getNumElements() != 1) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&block);
    SmallVector<int64_t> zeros(type.getRank(), 0), ones(type.getRank(), 1);
    condition = slice(b, condition, zeros, ones, ones);
  }
  return success();
}

bool LoopImporter::goesOnForever(Value before) {
  return isScan() || endsAtLimit ||
         (firstCondition == true &&
          (condition == before || knownBool(node, condition) == true));
}

LogicalResult LoopImporter::makeRoomForRows(int64_t steps) {
  rooms.clear();
  for (const ImportedValue &made : rowsMade()) {
    CommonShape row = ownShape(made), &room = rooms.emplace_back();
    room.bounds.push_back(steps);
    llvm::append_range(room.bounds, row.bounds);
    for (int64_t axis : row.sized)
      room.sized.push_back(axis + 1);
    if (failed(expectSize(node, room.bounds)))
      return failure();
  }
  return success();
}

void LoopImporter::collectRows(StepBlock &step, Value at,
                               SmallVectorImpl<Value> &yielded) {
  for (auto [made, room] : llvm::zip(rowsMade(), rooms)) {
    ImportedValue rows = step.add(room, made);
    yielded.push_back(putRow(made.value, rows.value, at));
    // All rows have the sizes of the last one.
    for (int64_t axis : room.sized)
      yielded.push_back(made.sizes[axis - 1]);
  }
}

void LoopImporter::yieldCarried(SmallVectorImpl<Value> &yielded) {
  for (auto [result, shape] : llvm::zip(results, shapes))
    appendAs(b, result, shape, yielded);
}

void LoopImporter::appendStarts(SmallVectorImpl<Value> &starts) {
  for (auto [value, shape] : llvm::zip(initial, shapes))
    appendAs(b, value, shape, starts);
  for (auto [made, room] : llvm::zip(rowsMade(), rooms)) {
    Type type = getElementTypeOrSelf(made.value);
    starts.push_back(
        fill(b, room.bounds, arith::ConstantOp::create(b, zeroOf(type))));
    starts.append(room.sized.size(), constantTensor(b, {0}, {}));
  }
}

void LoopImporter::takeResults(ArrayRef<Value> made) {
  for (auto [result, shape] : llvm::zip(results, shapes))
    result = takeAs(shape, result.type, made);
  for (auto [result, room] : llvm::zip(rowsMade(), rooms))
    result = takeAs(room, result.type, made);
}

Value LoopImporter::counterAfter(Value counter) {
  return elementwise(b, b.getI64Type(), counter,
                     [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       Value one = scalarIntConstant(b, loc, b.getI64Type(), 1);
                       return arith::AddIOp::create(b, loc, x[0], one);
                     });
}
